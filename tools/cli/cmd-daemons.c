// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "base/util.h"
#include "measure/daemons.h"

static const struct option_row options[] = {
	OPTIONS_HEADING("learn",
			"learn times a program that only counts, finds the daemons that made it slower,\n"
			"and stores their cutoffs. By default this takes about 20 minutes:"),
	{ "time", "TIME", NULL, TIME,
	  "time for all samples, as in 20m or 3h; default 20m, or what the other options need" },
	{ "task-length", "TIME", NULL, LENGTH, "CPU time of a sample; default 1s" },
	{ "samples", "N", NULL, SAMPLES, "number of samples; default 300, or what a third of --time allows" },
	{ "long-length", "TIME", NULL, LONG_LENGTH,
	  "CPU time of a long sample; default what --time allows, up to 128 times --task-length" },
	{ "long-samples", "N", NULL, LONG_SAMPLES, "number of long samples; default 30; 0 learns short tasks only" },
	{ "periods", "LIST", NULL, PERIODS,
	  "how often a daemon runs for long, where you know it, as in rhnsd=4h,sshd=90m; default as seen in the samples" },
	{ "cutoffs", "FILE", "-f", CUTOFFS,
	  "store the cutoffs in FILE instead of the user's own file" },
	{ "csv", "DIR", "-d", CSV,
	  "write all samples, and the tables that cutoffs reads, to DIR" },
	{ "quiet", NULL, NULL, QUIET, "do not show the progress" },
	OPTIONS_HEADING("show", "show prints the stored cutoffs:"),
	{ "cutoffs", "FILE", "-f", CUTOFFS, "read FILE instead of the user's own file" },
	OPTIONS_HEADING("learn show", "learn and show:"),
	{ "plot", NULL, NULL, PLOT,
	  "print the scatter plot of successive samples; default only on a terminal" },
	{ "svg", "FILE", "-f", SVG, "draw this plot" },
	OPTIONS_HEADING("cutoffs",
			"cutoffs computes cutoffs from tables of samples of short and of long tasks:"),
	{ "short-central", "FILE", "-f", SHORT_CENTRAL,
	  "the longest process time of each daemon, and the deviation of these times, in samples of the central cluster" },
	{ "short-l", "FILE", "-f", SHORT_L,
	  "the executions of each daemon in the other samples, the L-samples" },
	{ "long-central", "FILE", "-f", LONG_CENTRAL,
	  "as --short-central, for long tasks" },
	{ "long-l", "FILE", "-f", LONG_L, "as --short-l, for long tasks; needed with --long-central" },
	{ "periods", "LIST", NULL, PERIODS, "how often a daemon runs for long" },
	{ "samples", NULL, NULL, DISCARDED,
	  "print the samples that the cutoffs discard, instead of the cutoffs" },
	OPTIONS_HEADING(NULL, "All of them:"),
	{ "json", NULL, NULL, JSON, "print JSON; default text, or CSV for cutoffs" },
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
		"Finds the cutoff of each rare daemon of this machine: how long it may run during\n"
		"a sample of tense measure before the sample is dropped (protocol SEDONA).\n",
	.options = options,
	.actions = "learn show cutoffs",
	.examples =
		"  tense daemons learn --time 90m && tense measure -- ./app\n",
	.notes =
		"Exit status: 0; 1 if nothing is stored; 125 if a file cannot be read or tense\n"
		"failed or was misused; 128 + N if learn was ended by signal N.\n",
};
