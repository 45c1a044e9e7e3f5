/* SPDX-License-Identifier: GPL-2.0 */
/* An engine decides where and how many guests of a measurement run at the same time. */
#ifndef TOOLS_ENGINE_H
#define TOOLS_ENGINE_H

#include "run/backend.h"

struct engine {
	bool asked;		/* by --engine */
	bool slurm;		/* on machines of a cluster */
	unsigned int guests;	/* 0: as many as this machine has CPUs for */
	char *directory;	/* of slurm, or NULL */
	char *options;		/* of sbatch, or NULL */
	/* This process is a node's: it runs one batch, see native-batch.h. */
	const char *batch;	/* its directory, or NULL */
	unsigned int batch_cpus;	/* of the guest; 0: as --cpus says */
};

/* The values that getopt_long() returns, and the rows of a table of options. */
#define ENGINE_OPTION	0x500
#define ENGINE_BATCH	0x501
#define ENGINE_OPTION_ROW(values) \
	{ "engine", "local[:N]", values, ENGINE_OPTION, \
	  "use N guests at the same time on this machine, which divide its CPUs by default; without :N, as many as the machine has CPUs for, by default with one each; default: local:1, or local with --deterministic" }
#define ENGINE_SLURM_ROWS \
	OPTIONS_OPERAND("--engine slurm[:OPTS]", \
			"use the nodes of a Slurm cluster; OPTS are dir=DIR, a directory that all nodes share (default: the cache of tense), guests=N, the most guests at the same time, and long options of sbatch, such as partition=short,time=10"), \
	{ "batch", "CPUS:DIR", NULL, ENGINE_BATCH, NULL }

/* Returns NULL, or an error in the text, which the caller frees. */
char *engine_parse(struct engine *engine, const char *text);
char *engine_parse_batch(struct engine *engine, const char *text);

/*
 * Returns how many guests share the CPUs of this machine by default: UINT_MAX means that
 * each gets one. So it is on nodes of a cluster, which may have fewer than this machine.
 */
unsigned int engine_sharers(const struct engine *engine);

/*
 * Returns how many guests run at the same time. Ends the program if the back end or
 * this machine does not allow what was asked for.
 */
unsigned int engine_guests(const struct engine *engine,
			   const struct backend *backend, const struct run *run);

#endif
