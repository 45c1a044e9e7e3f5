// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "base/util.h"
#include "measure/daemons.h"

static const char usage[] =
"Usage: tense daemons learn [OPTION...]\n"
"       tense daemons show [OPTION...]\n"
"       tense daemons cutoffs OPTION...\n"
"\n"
"How long each infrequent daemon of this machine may run during a sample of\n"
"tense measure before the sample is dropped (protocol SEDONA).\n"
"\n"
"learn runs a program that does nothing but count, finds the daemons that made\n"
"it slower, and stores their cutoffs. By default it takes some six minutes:\n"
"\n"
"  --task-length TIME    CPU time of a sample; default 1s\n"
"  --samples N           so many of them; default 300\n"
"  --long-length TIME    also long tasks, such as 60s, which have cutoffs of\n"
"                        their own\n"
"  --long-samples N      so many of them; default 30\n"
"  --periods LIST        how often a daemon runs long, as in rhnsd=4h,sshd=90m,\n"
"                        if it is known better than it can be seen\n"
"  --cutoffs FILE        store them there, not in the user's own file\n"
"  --csv DIR             write the tables that cutoffs takes, and all samples\n"
"  --quiet               say nothing of the progress\n"
"\n"
"show prints what is stored:\n"
"\n"
"  --cutoffs FILE        there, not in the user's own file\n"
"\n"
"learn and show:\n"
"\n"
"  --plot                draw the dual-execution scatter plot, as is done on a\n"
"                        terminal\n"
"  --svg FILE            the same as a picture\n"
"\n"
"cutoffs computes them from tables, of samples of short and of long tasks:\n"
"\n"
"  --short-central FILE  of each daemon its longest and the deviation of its\n"
"                        process times in samples of the central cluster\n"
"  --short-l FILE        each daemon's executions in the other samples\n"
"  --long-central FILE   the same of long tasks: both or none of the two\n"
"  --long-l FILE\n"
"  --periods LIST        how often a daemon runs long\n"
"  --samples             the samples that the cutoffs discard, not the cutoffs\n"
"\n"
"All of them:\n"
"\n"
"  --json                as JSON; else as text, and of cutoffs as CSV\n"
"  --help                print this text\n"
"\n"
"TIME is a number with its unit: ns, us, ms, s, m, h or d.\n"
"\n"
"Exit status: 0; 1 if nothing is stored; 125 if a file cannot be read or tense\n"
"failed or was misused; 128 + N if learn was ended by signal N.\n";

int daemons_help(void)
{
	fputs(usage, stdout);
	return 0;
}

bool daemons_bad_argument(int argc, char **argv)
{
	if (optind == argc)
		return false;
	warn("daemons: takes no argument '%s': see tense daemons --help",
	     argv[optind]);
	return true;
}

static int main_daemons(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*act)(int argc, char **argv);
	} actions[] = {
		{ "learn", daemons_learn }, { "show", daemons_show },
		{ "cutoffs", daemons_cutoffs },
	};

	if (argc < 2) {
		warn("daemons: say what to do: tense daemons learn, show or cutoffs");
		return STATUS_FAILED;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return daemons_help();
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(argv[1], actions[i].name))
			return actions[i].act(argc - 1, argv + 1);
	warn("daemons: '%s' is not what it can do: see tense daemons --help",
	     argv[1]);
	return STATUS_FAILED;
}

const struct subcommand cmd_daemons = {
	.name = "daemons",
	.summary = "learn which runs of daemons spoil a measurement",
	.run = main_daemons,
};
