// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <stdbool.h>
#include <string.h>

#include "result-file.h"
#include "util.h"

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

int options_next(const char *command, int argc, char **argv,
		 const char *letters, const struct option *options,
		 int *index)
{
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, letters, options, index);
	if (c == ':') {
		warn("%s: %s needs an argument: see tense %s --help", command,
		     argv[optind - 1], command);
	} else if (c == '?') {
		warn("%s: unknown option '%s': see tense %s --help", command,
		     argv[optind - 1], command);
	} else if (c != -1 && optarg && optarg == argv[optind - 1] &&
		   is_option(optarg, options)) {
		warn("%s: %s needs an argument, but '%s' is an option: see tense %s --help",
		     command, argv[optind - 2], optarg, command);
	} else {
		return c;
	}
	return '?';
}

char *options_word(int argc, char **argv)
{
	if (optarg || optind >= argc ||
	    (argv[optind][0] == '-' && argv[optind][1]))
		return optarg;
	return argv[optind++];
}

size_t options_on_stdout(const char *const *outputs, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += result_file_is_stdout(outputs[i]);
	return found;
}
