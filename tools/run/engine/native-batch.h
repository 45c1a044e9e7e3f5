/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lets a node of a cluster run a guest at native speed. The node runs this same tense
 * with the same arguments and --batch. Besides the script, the directory of the batch has
 * "environment", "request" for the guest, and "kernel", a link to the directory of its
 * kernel. The result's "answer" begins with a line that has the status of the guest's
 * command, before what the command wrote. A node that failed leaves no result.
 */
#ifndef TOOLS_NATIVE_BATCH_H
#define TOOLS_NATIVE_BATCH_H

#include <stdio.h>

struct native_batch {
	char **argv;		/* of tense, from the name of its command on */
	const char *kernel;	/* a directory that all nodes see */
	unsigned int cpus;	/* of the guest; 0: as --cpus says */
};

/*
 * Copies what a guest needs of the directory that kernel_build() returned into a
 * directory in shared. Returns its path, which the caller frees.
 */
char *native_batch_share(const char *kernel, const char *shared);

/*
 * In the process of a job, with the signals of fatal-signals.h blocked: waits until a
 * node has run the batch that has the directory. write() writes the request. The answer
 * goes to a descriptor, and the messages to standard error. Returns the status to exit with.
 */
int native_batch_run(const struct native_batch *b, const char *directory,
		     int (*write)(FILE *f, const void *arg), const void *arg,
		     int answer);

/*
 * On the node: from here on, this process has the environment of the tense that sent the
 * batch, and kernel_build() returns the batch's kernel.
 */
void native_batch_begin(const char *directory);

#endif
