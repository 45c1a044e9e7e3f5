// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/nearest.h"
#include "base/util.h"

static int print_version(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		warn("version takes no arguments");
		return STATUS_FAILED;
	}
	puts("tense " TENSE_VERSION);
	return 0;
}

static int help(int argc, char **argv);

static const struct subcommand cmd_version = {
	.name = "version",
	.summary = "print the version",
	.run = print_version,
};

static const struct subcommand cmd_help = {
	.name = "help",
	.summary = "print this text, or the help of a command",
	.run = help,
};

static int complete(int argc, char **argv);

static const struct subcommand cmd_completion = { .run = complete };

static const struct subcommand *const commands[] = {
	&cmd_profile, &cmd_whatif, &cmd_run, &cmd_shell, &cmd_trace, &cmd_functions, &cmd_measure, &cmd_noise,
	&cmd_trace_activity, &cmd_daemons, &cmd_kernel, &cmd_check, &cmd_version,
	&cmd_help,
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void refuse(const char *name)
{
	const char *near = NULL;

	for (size_t i = 0; i < NR_COMMANDS; i++)
		near = nearest_of(name, near, commands[i]->name);
	warn("unknown command '%s'%s%s: see tense --help", name, near ? ", perhaps " : "",
	     near ? near : "");
}

static const struct subcommand *find(const char *name)
{
	if (!strcmp(name, "--version"))
		return &cmd_version;
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		return &cmd_help;
	if (!strcmp(name, "--completion"))
		return &cmd_completion;
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	refuse(name);
	return NULL;
}

static void print_usage(FILE *f)
{
	fputs("Usage: tense COMMAND [OPTION...]\n"
	      "\n"
	      "Runs programs in virtual time, which a patched scheduler of Linux keeps.\n"
	      "\n"
	      "Commands:\n", f);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(f, "  %-14s  %s\n", commands[i]->name,
			commands[i]->summary);
	fputs("\n"
	      "`tense help COMMAND` prints the options of a command, man tense(1) the rest.\n",
	      f);
}

static void print_names(bool only_with_options)
{
	fputs("- COMMAND", stdout);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i]->options || !only_with_options)
			printf(" %s", commands[i]->name);
	puts(only_with_options ? "" : " --help --version");
}

/* Prints the possible next words in the format of options_complete(). */
static int complete(int argc, char **argv)
{
	const struct subcommand *command = argc > 1 ? find(argv[1]) : NULL;

	if (argc > 1 && !command)
		return STATUS_FAILED;
	if (command && command->options)
		options_complete(command, argc > 2 ? argv[2] : NULL);
	else if (!command || command == &cmd_help)
		print_names(command);
	return 0;
}

static int help(int argc, char **argv)
{
	char *words[] = { argv[argc - 1], "--help", NULL };
	const struct subcommand *command;

	if (argc > 2) {
		warn("help is for one command at a time");
		return STATUS_FAILED;
	}
	command = argc == 2 ? find(argv[1]) : NULL;
	if (argc == 2 && !command)
		return STATUS_FAILED;
	if (command && command->options)
		return command->run(2, words);
	print_usage(stdout);
	return 0;
}

/* At any exit: a command that only prints is of no use if nobody can read it. */
static void check_stdout(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		warn("cannot write to standard output");
		_exit(STATUS_FAILED);
	}
}

int main(int argc, char **argv)
{
	const struct subcommand *command;

	if (argc < 2) {
		print_usage(stderr);
		return STATUS_FAILED;
	}
	command = find(argv[1]);
	if (!command)
		return STATUS_FAILED;
	atexit(check_stdout);
	return command->run(argc - 1, argv + 1);
}
