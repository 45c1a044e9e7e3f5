// SPDX-License-Identifier: GPL-2.0
#include "daemon-list.h"

#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/util.h"
#include "csv.h"
#include "units.h"

#define CHARACTERS	"abcdefghijklmnopqrstuvwxyz" \
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@"

/* systemctl would add .service to a name that has no type. */
static bool is_unit(const char *name)
{
	static const char *const types[] = { ".service", ".timer", ".path",
					     ".socket" };
	size_t size = strlen(name);

	if (*name == '-' || *name == '.' || name[strspn(name, CHARACTERS)])
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t end = strlen(types[i]);

		if (size > end && !strcmp(name + size - end, types[i]))
			return true;
	}
	return false;
}

static const struct daemon_unit *find_daemon(const struct daemon_list *list,
					     const char *daemon)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->list[i].daemon, daemon))
			return &list->list[i];
	return NULL;
}

static const struct daemon_unit *find_unit(const struct daemon_list *list,
					   const char *unit)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->list[i].unit, unit))
			return &list->list[i];
	return NULL;
}

/* Distributions share units, but the list has each unit only once. */
static int add_unit(struct daemon_list *list, const struct csv *csv,
		    const char *daemon, const char *unit)
{
	const struct daemon_unit *same = find_unit(list, unit);
	const struct daemon_unit *first = find_daemon(list, daemon);
	unsigned int line = first ? first->line : csv->line;

	if (!is_unit(unit)) {
		csv_complain(csv, "'%s' is not a unit of systemd: write it with its type, as in cron.service or fstrim.timer",
			     unit);
		return -1;
	}
	if (same && strcmp(same->daemon, daemon) != 0) {
		csv_complain(csv, "'%s' is a unit of '%s' already, in line %u",
			     unit, same->daemon, same->line);
		return -1;
	}
	if (same)
		return 0;
	list->list = xrealloc(list->list, (list->count + 1) *
					  sizeof(*list->list));
	list->list[list->count++] = (struct daemon_unit){
		.daemon = xstrdup(daemon), .unit = xstrdup(unit), .line = line,
	};
	return 0;
}

static int add_row(struct daemon_list *list, const struct csv *csv,
		   char **values)
{
	char *rest = values[1], *unit;
	size_t count = 0;

	if (!*values[0]) {
		csv_complain(csv, "the daemon has no name");
		return -1;
	}
	while ((unit = strsep(&rest, " \t"))) {
		if (*unit && add_unit(list, csv, values[0], unit))
			return -1;
		count += *unit != '\0';
	}
	if (count)
		return 0;
	csv_complain(csv, "'%s' has no unit", values[0]);
	return -1;
}

static int read_rows(struct daemon_list *list)
{
	static const char *const names[] = { "daemon", "units" };
	char *values[2];
	struct csv csv;
	int more;

	if (csv_open(&csv, list->path, names, 2))
		return -1;
	while ((more = csv_next(&csv, values)) > 0) {
		more = add_row(list, &csv, values);
		if (more)
			break;
	}
	csv_close(&csv);
	if (!more && !list->count) {
		warn("%s: names no daemon", list->path);
		more = -1;
	}
	return more;
}

int daemon_list_read(struct daemon_list *list, const char *path)
{
	*list = (struct daemon_list){
		.path = path ? xstrdup(path) : find_part(PATH_DAEMONS),
		.strict = path,
	};
	if (!read_rows(list))
		return 0;
	daemon_list_free(list);
	return -1;
}

void daemon_list_free(struct daemon_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->list[i].daemon);
		free(list->list[i].unit);
	}
	free(list->list);
	free(list->path);
	*list = (struct daemon_list){ 0 };
}

const char **daemon_list_units(const struct daemon_list *list)
{
	const char **units = xmalloc((list->count + 1) * sizeof(*units));

	for (size_t i = 0; i < list->count; i++)
		units[i] = list->list[i].unit;
	units[list->count] = NULL;
	return units;
}

/* The states are in the order of the list. */
static bool exists(const struct daemon_list *list,
		   const struct unit_states *states, const char *daemon)
{
	for (size_t i = 0; i < list->count; i++)
		if (states->list[i].loaded &&
		    !strcmp(list->list[i].daemon, daemon))
			return true;
	return false;
}

static int check_states(const struct daemon_list *list,
			const struct unit_states *states)
{
	if (states->count != list->count) {
		warn("%s: systemctl tells of %zu units instead of %zu: nothing is changed",
		     list->path, states->count, list->count);
		return -1;
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct daemon_unit *u = &list->list[i];

		if (exists(list, states, u->daemon))
			continue;
		warn("%s:%u: this machine has no unit of '%s', such as %s: nothing is changed; correct the line or remove it",
		     list->path, u->line, u->daemon, u->unit);
		return -1;
	}
	return 0;
}

int daemon_list_check(const struct daemon_list *list, const char *systemctl)
{
	const char **units;
	struct unit_states states;
	char *why;
	int err;

	if (!list->strict)
		return 0;
	units = daemon_list_units(list);
	err = units_look(systemctl, units, &states, &why);
	free(units);
	if (err) {
		warn("%s: cannot be compared with the units of this machine: %s: nothing is changed",
		     list->path, why);
		free(why);
		return -1;
	}
	err = check_states(list, &states);
	units_free(&states);
	return err;
}
