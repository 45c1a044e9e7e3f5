// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "base/util.h"

static const char usage[] =
"Usage: tense COMMAND [OPTION...]\n"
"\n"
"Runs programs in virtual time, on a kernel whose scheduler keeps it.\n"
"\n"
"Commands:\n"
"  run             run a program in virtual time, on this kernel or on another\n"
"  trace           run it so, and draw what its threads did\n"
"  whatif          predict how a program changes if a function is faster\n"
"  functions       list the functions of a program that can be named\n"
"  measure         say how long a command takes, and how sure that is\n"
"  noise           say by how much the same work takes longer, and how often\n"
"  trace-activity  show when a program has its CPU, and what interrupts it\n"
"  daemons         learn which runs of daemons spoil a measurement\n"
"  kernel          build, list and remove the kernels of guests\n"
"  check           say what is there, what is missing, and how to get it\n"
"  version         print the version\n"
"  help            print this text, or that of a command\n"
"\n"
"`tense help COMMAND` tells more of a command, man tense(1) the rest.\n";

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

static int cmd_help(int argc, char **argv);

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", cmd_run },
	{ "trace", cmd_trace },
	{ "trace-activity", cmd_trace_activity },
	{ "whatif", cmd_whatif },
	{ "check", cmd_check },
	{ "functions", cmd_functions },
	{ "measure", cmd_measure },
	{ "noise", cmd_noise },
	{ "daemons", cmd_daemons },
	{ "kernel", cmd_kernel },
	{ "version", cmd_version },
	{ "--version", cmd_version },
	{ "help", cmd_help },
	{ "--help", cmd_help },
	{ "-h", cmd_help },
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	warn("unknown command '%s': see tense --help", name);
	return NULL;
}

static int cmd_help(int argc, char **argv)
{
	char *help[] = { argv[argc - 1], "--help", NULL };
	const struct command *command;

	if (argc > 2) {
		warn("help is for one command at a time");
		return STATUS_FAILED;
	}
	command = argc == 2 ? find(argv[1]) : NULL;
	if (argc == 2 && !command)
		return STATUS_FAILED;
	if (command && command->run != cmd_help && command->run != cmd_version)
		return command->run(2, help);
	fputs(usage, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	if (argc < 2) {
		fputs(usage, stderr);
		return STATUS_FAILED;
	}
	command = find(argv[1]);
	if (!command)
		return STATUS_FAILED;
	status = command->run(argc - 1, argv + 1);
	if (fflush(stdout) || ferror(stdout)) {
		warn("cannot write to standard output");
		return STATUS_FAILED;
	}
	return status;
}
