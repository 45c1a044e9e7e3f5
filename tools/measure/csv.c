// SPDX-License-Identifier: GPL-2.0
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* More columns than these are not looked at. */
#define MAX_FIELDS	64

void csv_complain(const struct csv *csv, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	warn("%s:%u: %s", csv->path, csv->line, text);
}

/* Returns the end of a field. Unquotes a quoted field in its place. */
static char *end_of_field(char *text)
{
	char *to = text;

	if (*text != '"')
		return text + strcspn(text, ",");
	for (text++; *text; text++) {
		if (*text == '"' && text[1] != '"') {
			*to = '\0';
			return text + 1;
		}
		if (*text == '"')
			text++;
		*to++ = *text;
	}
	return NULL;
}

/* The number of fields, or -1 after a message. */
static int split(const struct csv *csv, char **fields)
{
	char *text = csv->buffer, *end;
	int count = 0;

	for (;;) {
		end = end_of_field(text);
		if (!end || (*end && *end != ',')) {
			csv_complain(csv, "a quote is not closed, or not at the end of its value");
			return -1;
		}
		if (count < MAX_FIELDS)
			fields[count++] = text;
		if (!*end)
			return count;
		*end = '\0';
		text = end + 1;
	}
}

/* The number of fields of the next line that has any, 0 at the end, or -1. */
static int next_line(struct csv *csv, char **fields)
{
	ssize_t len;

	do {
		csv->line++;
		errno = 0;
		len = getline(&csv->buffer, &csv->size, csv->f);
		if (len < 0 && !errno)
			return 0;
		if (len < 0) {
			warn("%s: %s", csv->path, strerror(errno));
			return -1;
		}
		if (strlen(csv->buffer) != (size_t)len) {
			csv_complain(csv, "is not text");
			return -1;
		}
		csv->buffer[strcspn(csv->buffer, "\r\n")] = '\0';
	} while (!*csv->buffer);
	return split(csv, fields);
}

static int find_columns(struct csv *csv, char **fields, size_t count)
{
	for (size_t i = 0; i < csv->nr_names; i++) {
		csv->at[i] = count;
		for (size_t j = 0; j < count; j++)
			if (!strcmp(fields[j], csv->names[i]))
				csv->at[i] = j;
		if (csv->at[i] == count) {
			csv_complain(csv, "no column '%s': the first line names the columns",
				     csv->names[i]);
			return -1;
		}
	}
	return 0;
}

int csv_open(struct csv *csv, const char *path, const char *const *names,
	     size_t nr_names)
{
	FILE *f = fopen(path, "re");

	if (!f) {
		warn("%s: %s", path, strerror(errno));
		return -1;
	}
	return csv_begin(csv, f, path, names, nr_names);
}

int csv_begin(struct csv *csv, FILE *f, const char *path,
	      const char *const *names, size_t nr_names)
{
	char *fields[MAX_FIELDS];
	int count;

	*csv = (struct csv){ .path = path, .f = f, .names = names,
			     .nr_names = nr_names };
	count = next_line(csv, fields);
	if (!count)
		warn("%s: is empty", path);
	if (count <= 0 || find_columns(csv, fields, count)) {
		csv_close(csv);
		return -1;
	}
	return 0;
}

void csv_close(struct csv *csv)
{
	fclose(csv->f);
	free(csv->buffer);
}

int csv_next(struct csv *csv, char **values)
{
	char *fields[MAX_FIELDS];
	int count = next_line(csv, fields);

	if (count <= 0)
		return count;
	for (size_t i = 0; i < csv->nr_names; i++) {
		if (csv->at[i] >= (size_t)count) {
			csv_complain(csv, "'%s' is missing", csv->names[i]);
			return -1;
		}
		values[i] = fields[csv->at[i]];
	}
	return 1;
}

/* strtod() reads more than that: spaces, hexadecimal, inf and nan. */
static bool is_decimal(const char *text)
{
	return *text && text[strspn(text, "0123456789.eE+-")] == '\0';
}

int csv_number(const struct csv *csv, const char *text, double *number)
{
	char *end = NULL;

	*number = is_decimal(text) ? strtod(text, &end) : -1;
	if (end && !*end && *number >= 0 && isfinite(*number))
		return 0;
	csv_complain(csv, "'%s' is not a number that is 0 or more", text);
	return -1;
}

int csv_whole(const struct csv *csv, const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return 0;
	csv_complain(csv, "'%s' is not a whole number", text);
	return -1;
}

void csv_put(FILE *f, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, f);
		return;
	}
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}
