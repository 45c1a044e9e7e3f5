// SPDX-License-Identifier: GPL-2.0
#include "native-batch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fatal-signals.h"
#include "base/paths.h"
#include "base/util.h"
#include "batch.h"
#include "run/guest.h"

/* How often a shared directory is read, which many processes watch. */
#define INTERVAL_MS	250

char *native_batch_share(const char *kernel, const char *shared)
{
	static const char *const names[] = { "linux", "tense.ko" };
	/* The name of the directory has the key of the kernel and of the module. */
	char *directory = xprintf("%s/%s", shared, base_name(kernel));

	guest_check(!mkdir(directory, 0700) || errno == EEXIST, directory);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = xprintf("%s/%s", kernel, names[i]);
		/* The kernel is a link to the one of all versions of the module. */
		char *file = realpath(path, NULL);

		guest_check(file, path);
		free(batch_share(file, directory, names[i]));
		free(file);
		free(path);
	}
	return directory;
}

static char *request_path(const char *directory)
{
	return xprintf("%s/request", directory);
}

static void write_request(const char *directory,
			  int (*write)(FILE *f, const void *arg), const void *arg)
{
	char *path = request_path(directory);
	FILE *f = fopen(path, "we");

	guest_check(f && !write(f, arg) && !fclose(f), path);
	free(path);
}

/*
 * Writes this tense's own command line, with --batch added. /bin/sh stands between because
 * env takes a path that has "=" as a variable.
 */
static void write_tense(FILE *f, const struct native_batch *b, const char *tense)
{
	char *batch = xprintf("%u:%s", b->cpus, b->kernel);

	fputs("env -i ", f);
	for (char **e = environ; *e; e++)
		batch_write_word(f, *e);
	fputs("/bin/sh -c 'exec \"$0\" \"$@\"' ", f);
	batch_write_word(f, tense);
	batch_write_word(f, b->argv[0]);
	fputs("--batch ", f);
	batch_write_word(f, batch);
	for (char **word = b->argv + 1; *word; word++)
		batch_write_word(f, *word);
	free(batch);
}

/* Statuses from 125 on tell that tense failed, or was killed: the batch is lost. */
static void write_script(FILE *f, const struct native_batch *b, const char *directory)
{
	char *here = getcwd(NULL, 0), *tense = find_part("bin/tense");
	char *request = request_path(directory);

	guest_check(here, "the current directory");
	fputs("# The argument is a directory for the output.\n"
	      "exec 2>>\"$1/log\"\n[ -x ", f);
	batch_write_word(f, tense);
	fputs("] || { echo it does not see ", f);
	batch_write_word(f, tense);
	fputs(">&2; exit 1; }\ncd -- ", f);
	batch_write_word(f, here);
	fputs("|| exit\n", f);
	write_tense(f, b, tense);
	fputc('<', f);
	batch_write_word(f, request);
	fputs(">\"$1/answer\"\nstatus=$?\n"
	      "[ $status -lt 125 ] || exit $status\n"
	      "echo $status >\"$1/status\"\n", f);
	free(request);
	free(tense);
	free(here);
}

/* Returns 0 when the batch has a result, or a signal that ends tense. */
static int wait_for(const char *directory)
{
	const struct timespec interval = { .tv_nsec = INTERVAL_MS * 1000000L };
	sigset_t set;
	int sig;

	fatal_signals(&set);
	while (!batch_is_done(directory)) {
		sig = sigtimedwait(&set, NULL, &interval);
		if (sig > 0)
			return sig;
	}
	return 0;
}

static int read_status(const char *directory)
{
	char *path = xprintf("%s/result/status", directory);
	FILE *f = fopen(path, "re");
	int status;

	guest_check(f && fscanf(f, "%d", &status) == 1, path);
	fclose(f);
	free(path);
	return status;
}

int native_batch_run(const struct native_batch *b, const char *directory,
		     int (*write)(FILE *f, const void *arg), const void *arg,
		     int answer)
{
	FILE *script;
	int sig;

	write_request(directory, write, arg);
	script = batch_script_begin(directory);
	write_script(script, b, directory);
	batch_script_end(script, directory);
	sig = wait_for(directory);
	if (sig)
		return STATUS_SIGNAL + sig;
	batch_copy_result(directory, "log", STDERR_FILENO);
	batch_copy_result(directory, "answer", answer);
	return read_status(directory);
}
