// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "base/util.h"
#include "measure/daemons.h"

static const struct option_row options[] = {
	OPTIONS_HEADING("learn",
			"learn runs a program that does nothing but count, finds the daemons that made\n"
			"it slower, and stores their cutoffs. By default it takes some six minutes:"),
	{ "task-length", "TIME", NULL, LENGTH, "CPU time of a sample; default 1s" },
	{ "samples", "N", NULL, SAMPLES, "number of samples; default 300" },
	{ "long-length", "TIME", NULL, LONG_LENGTH,
	  "also long tasks, such as 60s, which have cutoffs of their own" },
	{ "long-samples", "N", NULL, LONG_SAMPLES, "number of long samples; default 30" },
	{ "periods", "LIST", NULL, PERIODS,
	  "how often a daemon runs long, as in rhnsd=4h,sshd=90m, if it is known better than it can be seen" },
	{ "cutoffs", "FILE", "-f", CUTOFFS,
	  "store them there, not in the user's own file" },
	{ "csv", "DIR", "-d", CSV,
	  "write the tables that cutoffs takes, and all samples" },
	{ "quiet", NULL, NULL, QUIET, "say nothing of the progress" },
	OPTIONS_HEADING("show", "show prints what is stored:"),
	{ "cutoffs", "FILE", "-f", CUTOFFS, "there, not in the user's own file" },
	OPTIONS_HEADING("learn show", "learn and show:"),
	{ "plot", NULL, NULL, PLOT,
	  "draw the dual-execution scatter plot, as is done on a terminal" },
	{ "svg", "FILE", "-f", SVG, "draw the answer" },
	OPTIONS_HEADING("cutoffs",
			"cutoffs computes them from tables, of samples of short and of long tasks:"),
	{ "short-central", "FILE", "-f", SHORT_CENTRAL,
	  "of each daemon its longest and the deviation of its process times in samples of the central cluster" },
	{ "short-l", "FILE", "-f", SHORT_L,
	  "each daemon's executions in the other samples" },
	{ "long-central", "FILE", "-f", LONG_CENTRAL,
	  "the same of long tasks: both or none of the two" },
	{ "long-l", "FILE", "-f", LONG_L, "see --long-central" },
	{ "periods", "LIST", NULL, PERIODS, "how often a daemon runs long" },
	{ "samples", NULL, NULL, DISCARDED,
	  "the samples that the cutoffs discard, not the cutoffs" },
	OPTIONS_HEADING(NULL, "All of them:"),
	{ "json", NULL, NULL, JSON, "as JSON; else as text, and of cutoffs as CSV" },
	OPTIONS_END
};

static int main_daemons(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*act)(const struct subcommand *command, int argc,
			   char **argv);
	} actions[] = {
		{ "learn", daemons_learn }, { "show", daemons_show },
		{ "cutoffs", daemons_cutoffs },
	};

	if (argc < 2) {
		warn("daemons: say what to do: tense daemons learn, show or cutoffs");
		return STATUS_FAILED;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		options_help(&cmd_daemons);
		return 0;
	}
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(argv[1], actions[i].name))
			return actions[i].act(&cmd_daemons, argc - 1, argv + 1);
	warn("daemons: '%s' is not what it can do: see tense daemons --help",
	     argv[1]);
	return STATUS_FAILED;
}

const struct subcommand cmd_daemons = {
	.name = "daemons",
	.summary = "learn which runs of daemons spoil a measurement",
	.run = main_daemons,
	.usage =
		"Usage: tense daemons learn [OPTION...]\n"
		"       tense daemons show [OPTION...]\n"
		"       tense daemons cutoffs OPTION...\n"
		"\n"
		"How long each infrequent daemon of this machine may run during a sample of\n"
		"tense measure before the sample is dropped (protocol SEDONA).\n",
	.options = options,
	.actions = "learn show cutoffs",
	.notes =
		"Exit status: 0; 1 if nothing is stored; 125 if a file cannot be read or tense\n"
		"failed or was misused; 128 + N if learn was ended by signal N.\n",
};
