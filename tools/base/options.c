// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nearest.h"
#include "result-file.h"
#include "util.h"

#define OPTIONS_MAX	64
#define HELP_COLUMNS	80

static bool is_option(const char *word, const struct option *options)
{
	size_t size = strcspn(word, "=");

	if (!strcmp(word, "--"))
		return true;
	for (; options->name; options++)
		if (!strncmp(word, "--", 2) &&
		    size == strlen(options->name) + 2 &&
		    !strncmp(word + 2, options->name, size - 2))
			return true;
	return false;
}

static bool has_word(const char *words, const char *word)
{
	size_t size = strlen(word);

	while (words) {
		words += strspn(words, " ");
		if (strcspn(words, " ") == size && !strncmp(words, word, size))
			return true;
		words = strchr(words, ' ');
	}
	return false;
}

bool option_is_taken(const struct subcommand *command,
		     const struct option_row *row, const char *action)
{
	if (row->id <= 0)
		return false;
	while (row > command->options && row->id != OPTION_HEADING)
		row--;
	return row->id != OPTION_HEADING || !row->argument || !action ||
	       !has_word(command->actions, action) ||
	       has_word(row->argument, action);
}

static int has_argument(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return row->argument[0] == '[' ? optional_argument : required_argument;
}

/* The table as getopt_long() takes it. */
struct parser {
	struct option options[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 4];
};

static void fill_parser(struct parser *parser, const struct subcommand *command,
			const char *action)
{
	struct option *option = parser->options;
	char *letter = parser->letters;

	/* If an operand is a command, the options after it belong to that. */
	letter = stpcpy(letter, has_word(command->operands, "-c") ? "+:h" : ":h");
	for (const struct option_row *row = command->options; row->id; row++) {
		if (!option_is_taken(command, row, action))
			continue;
		if (row - command->options >= OPTIONS_MAX)
			die(STATUS_FAILED, "%s has more than %d options",
			    command->name, OPTIONS_MAX);
		if (row->name[0] != '-') {
			*option++ = (struct option){
				row->name, has_argument(row), NULL, row->id,
			};
		} else {
			*letter++ = row->name[1];
			if (row->argument)
				*letter++ = ':';
		}
	}
	*option = (struct option){ 0 };
	*letter = '\0';
}

/* The option that the word may be meant for, or NULL. */
static const char *nearest_option(const char *word, const struct option *options)
{
	char *name = xprintf("%.*s", (int)strcspn(word, "="), word);
	const char *found = NULL;

	for (; options->name && !strncmp(name, "--", 2); options++)
		found = nearest_of(name + 2, found, options->name);
	free(name);
	return found;
}

static void refuse_option(const char *command, const char *word,
			  const struct option *options)
{
	const char *near = nearest_option(word, options);

	die(STATUS_FAILED, "%s: unknown option '%s'%s%s: see tense %s --help", command, word,
	    near ? ", perhaps --" : "", near ? near : "", command);
}

/* getopt_long() passes a word of several short options only after the last of them. */
static const char *refused_word(char **argv)
{
	const char *last = argv[optind - 1], *next = argv[optind];
	bool is_next = optopt > 0 && optopt < 256 && next && next[0] == '-' && next[1] != '-' &&
		       strchr(next, optopt);

	return is_next && !(last[0] == '-' && last[1] != '-' && strchr(last, optopt)) ? next : last;
}

/* Ends the program if getopt_long() did not find a good option. */
static void check_option(const char *command, int c, char **argv,
			 const struct option *options)
{
	if (c == ':')
		die(STATUS_FAILED, "%s: %s needs an argument: see tense %s --help",
		    command, argv[optind - 1], command);
	if (c == '?')
		refuse_option(command, refused_word(argv), options);
	if (c != -1 && optarg && optarg == argv[optind - 1] &&
	    is_option(optarg, options))
		die(STATUS_FAILED, "%s: %s needs an argument, but '%s' is an option: see tense %s --help",
		    command, argv[optind - 2], optarg, command);
}

/*
 * Takes the next word as the optional argument, unless that looks like an
 * option.
 */
static char *options_word(int argc, char **argv)
{
	if (optarg || optind >= argc ||
	    (argv[optind][0] == '-' && argv[optind][1]))
		return optarg;
	return argv[optind++];
}

int options_take(const struct subcommand *command, int argc, char **argv)
{
	struct parser parser;
	int c, index = -1;

	fill_parser(&parser, command, argv[0]);
	opterr = 0;
	c = getopt_long(argc, argv, parser.letters, parser.options, &index);
	check_option(command->name, c, argv, parser.options);
	if (c == 'h') {
		options_help(command);
		exit(0);
	}
	if (index >= 0 && parser.options[index].has_arg == optional_argument)
		optarg = options_word(argc, argv);
	return c;
}

const char *options_name(const struct subcommand *command, int id)
{
	for (const struct option_row *row = command->options; row->id; row++)
		if (row->id == id && row->name)
			return row->name + strspn(row->name, "-");
	return NULL;
}

int options_refuse_operands(const struct subcommand *command, int argc,
			    char **argv)
{
	if (optind == argc)
		return 0;
	warn("%s: takes no argument '%s': see tense %s --help", command->name,
	     argv[optind], command->name);
	return -1;
}

/* "--name ARGUMENT" */
static int write_term(char *term, size_t size, const struct option_row *row)
{
	if (!row->name)
		return snprintf(term, size, "%s", row->argument);
	return snprintf(term, size, "%s%s%s%s", row->name[0] == '-' ? "" : "--",
			row->name, row->argument ? " " : "",
			row->argument ? row->argument : "");
}

static int widest_term(const struct option_row *row)
{
	int widest = 0;

	for (; row->id; row++) {
		int width = row->help && row->id != OPTION_HEADING ?
			    write_term(NULL, 0, row) : 0;

		if (width > widest)
			widest = width;
	}
	return widest;
}

static bool names_time(const struct option_row *row)
{
	while (row->id && !(row->argument && !strcmp(row->argument, "TIME")))
		row++;
	return row->id;
}

void options_help(const struct subcommand *command)
{
	int width = widest_term(command->options);
	char term[HELP_COLUMNS];

	fputs(command->usage, stdout);
	if (command->options->id != OPTION_HEADING)
		putchar('\n');
	for (const struct option_row *row = command->options; row->id; row++) {
		if (row->id == OPTION_HEADING) {
			printf("\n%s\n\n", row->help);
		} else if (row->help) {
			write_term(term, sizeof(term), row);
			printf("  %-*s  ", width, term);
			put_wrapped(stdout, row->help, width + 4, HELP_COLUMNS);
			putchar('\n');
		}
	}
	if (names_time(command->options))
		fputs("\nTIME is a number with its unit: ns, us, ms, s, m, h or d.\n",
		      stdout);
	printf("\nExamples:\n%s\n%s", command->examples, command->notes);
}

void options_complete(const struct subcommand *command, const char *action)
{
	char term[HELP_COLUMNS];

	if (command->actions)
		printf("- ACTION %s\n", command->actions);
	if (command->operands)
		printf("-- OPERAND %s\n", command->operands);
	for (const struct option_row *row = command->options; row->id; row++) {
		if (!row->help || !option_is_taken(command, row, action))
			continue;
		write_term(term, sizeof(term), row);
		printf("%s%s%s\n", term, row->completion ? " " : "",
		       row->completion ? row->completion : "");
	}
}

size_t options_on_stdout(const char *const *outputs, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += result_file_is_stdout(outputs[i]);
	return found;
}

bool options_colour(FILE *f)
{
	const char *no_colour = getenv("NO_COLOR");

	return isatty(fileno(f)) && (!no_colour || !*no_colour);
}

void options_misuse(const char *command, const char *format, ...)
{
	va_list args;
	char line[1000];

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	die(STATUS_FAILED, "%s: %s: see tense %s --help", command, line, command);
}
