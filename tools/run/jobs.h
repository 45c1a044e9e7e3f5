/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs parts of a measurement at the same time, each in a process of its own. A job
 * gets its number, and leaves its answer in a file.
 */
#ifndef TOOLS_JOBS_H
#define TOOLS_JOBS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct job {
	unsigned int number;
	unsigned int place;	/* no other job has it at the same time; 0 is the first */
	int answer;		/* a file without a name */
	int ready, proceed;	/* pipes of job_ready() */
	pid_t pid;		/* 0: the process has been reaped */
	int log;		/* standard error of the process, or -1 */
	bool done;		/* complete: has an answer or has failed */
	int status;
	int killed_by;		/* a signal that ended the process, or 0 */
};

struct jobs {
	/*
	 * Runs the job and returns the status to exit with. Called in a process of
	 * its own, with the signals of launch_signals() blocked.
	 */
	int (*run)(const struct job *job, void *arg);
	void *arg;
	bool first_shows;	/* the first job writes to standard error itself */
	struct job *list;
	unsigned int begun;
	int ended_by;		/* the last signal that ends jobs, or 0 */
	int signals;
	sigset_t mask;		/* before launch_signals() were blocked */
};

/* The caller has set the first three fields. From here on the jobs get all signals. */
void jobs_open(struct jobs *jobs, unsigned int most);
void jobs_begin(struct jobs *jobs);
unsigned int jobs_running(const struct jobs *jobs);

/*
 * Waits until a job is done or a signal came, but not longer than the time-out. -1 is
 * no time-out.
 */
void jobs_wait(struct jobs *jobs, int timeout_ms);

/* Shows what a job wrote to standard error, and says if its process was killed. */
void job_show_messages(struct job *job);

/* Returns the answer of a job, from its beginning. The caller closes it. */
int job_take_answer(struct job *job);

/*
 * The process of a job may call this when its answer is complete. It returns only
 * in the first job, and only if jobs_close() keeps that job, after all others have
 * ended. The other jobs are killed while they wait. Until then the caller must not
 * change files that other jobs see.
 */
void job_ready(const struct job *job);

/*
 * Kills the jobs that still run, except for the first one if keep_first. Waits for
 * all. Returns the status of the first one.
 */
int jobs_close(struct jobs *jobs, bool keep_first);

#endif
