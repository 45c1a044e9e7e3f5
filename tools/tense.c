// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "util.h"

static const char usage[] =
"Usage: tense COMMAND [OPTION...]\n"
"\n"
"Runs programs in virtual time, on a kernel whose scheduler keeps it.\n"
"\n"
"Commands:\n"
"  run        run a program in virtual time, here or on a kernel in a process\n"
"  whatif     predict how a program changes if a function takes another time\n"
"  functions  list the functions of a program that can be named\n"
"  kernel     build, list and remove the kernels of guests\n"
"  check      say what is there, what is missing, and how to get it\n"
"  version    print the version\n"
"  help       print this text\n"
"\n"
"`tense COMMAND --help` tells more of a command, man tense(1) the rest.\n";

static int cmd_version(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		warn("version takes no arguments");
		return STATUS_FAILED;
	}
	puts("tense " TENSE_VERSION);
	return 0;
}

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs(usage, stdout);
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", cmd_run },
	{ "whatif", cmd_whatif },
	{ "check", cmd_check },
	{ "functions", cmd_functions },
	{ "kernel", cmd_kernel },
	{ "version", cmd_version },
	{ "--version", cmd_version },
	{ "help", cmd_help },
	{ "--help", cmd_help },
	{ "-h", cmd_help },
};

int main(int argc, char **argv)
{
	int status;

	if (argc < 2) {
		fputs(usage, stderr);
		return STATUS_FAILED;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, argv[1]) != 0)
			continue;
		status = commands[i].run(argc - 1, argv + 1);
		if (fflush(stdout) || ferror(stdout)) {
			warn("cannot write to standard output");
			return STATUS_FAILED;
		}
		return status;
	}
	warn("unknown command '%s': see tense --help", argv[1]);
	return STATUS_FAILED;
}
