// SPDX-License-Identifier: GPL-2.0
#include "native-batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fatal-signals.h"
#include "base/paths.h"
#include "base/util.h"
#include "batch.h"
#include "run/guest.h"
#include "run/kernel.h"

/* How often a shared directory is read, which many processes watch. */
#define INTERVAL_MS	250

char *native_batch_share(const char *kernel, const char *shared)
{
	static const char *const names[] = { "config", "linux", "tense.ko" };
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

static char *part(const char *directory, const char *name)
{
	return xprintf("%s/%s", directory, name);
}

static void write_part(const char *directory, const char *name,
		       int (*write)(FILE *f, const void *arg), const void *arg)
{
	char *path = part(directory, name);
	FILE *f = fopen(path, "we");

	guest_check(f && !write(f, arg) && !fclose(f), path);
	free(path);
}

/* No shell keeps all of it, and the arguments of a command are no secret on a node. */
static int write_environment(FILE *f, const void *arg)
{
	(void)arg;
	for (char **e = environ; *e; e++)
		fwrite(*e, strlen(*e) + 1, 1, f);
	return ferror(f) ? -1 : 0;
}

static void write_parts(const struct native_batch *b, const char *directory,
			int (*write)(FILE *f, const void *arg), const void *arg)
{
	char *kernel = part(directory, "kernel");

	write_part(directory, "request", write, arg);
	write_part(directory, "environment", write_environment, NULL);
	guest_check(!symlink(b->kernel, kernel), kernel);
	free(kernel);
}

static void write_script(FILE *f, const struct native_batch *b, const char *directory)
{
	char *here = getcwd(NULL, 0), *tense = find_part("bin/tense");
	char *batch = xprintf("%u:%s", b->cpus, directory);
	char *request = part(directory, "request");

	guest_check(here, "the current directory");
	fputs("# The argument is a directory for the output.\n"
	      "exec 2>>\"$1/log\"\n[ -x ", f);
	batch_write_word(f, tense);
	fputs("] || { echo it does not see ", f);
	batch_write_word(f, tense);
	fputs(">&2; exit 1; }\ncd -- ", f);
	batch_write_word(f, here);
	fputs("|| exit\nexec ", f);
	batch_write_word(f, tense);
	batch_write_word(f, b->argv[0]);
	fputs("--batch ", f);
	batch_write_word(f, batch);
	for (char **word = b->argv + 1; *word; word++)
		batch_write_word(f, *word);
	fputc('<', f);
	batch_write_word(f, request);
	fputs(">\"$1/answer\"\n", f);
	free(request);
	free(batch);
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

/* Copies the answer without its first line, which is the status. Returns that. */
static int take_answer(const char *directory, int to)
{
	char *path = part(directory, "result/answer"), text[65536];
	FILE *f = fopen(path, "re");
	int status;
	size_t n;

	guest_check(f && fscanf(f, "%d", &status) == 1 && fgetc(f) == '\n', path);
	while ((n = fread(text, 1, sizeof(text), f)) > 0)
		guest_check(!write_full(to, text, n), "cannot copy an answer");
	guest_check(!ferror(f), path);
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

	write_parts(b, directory, write, arg);
	script = batch_script_begin(directory);
	write_script(script, b, directory);
	batch_script_end(script, directory);
	sig = wait_for(directory);
	if (sig)
		return STATUS_SIGNAL + sig;
	batch_copy_result(directory, "log", STDERR_FILENO);
	return take_answer(directory, answer);
}

/* Reads a file with "NAME=VALUE" texts that end with '\0'. */
static void read_environment(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t size = 0;
	char *text = NULL;

	guest_check(f, path);
	clearenv();
	/* putenv() keeps the text. */
	while (getdelim(&text, &size, '\0', f) > 0) {
		guest_check(!putenv(text), path);
		text = NULL;
		size = 0;
	}
	guest_check(feof(f), path);
	free(text);
	fclose(f);
}

void native_batch_begin(const char *directory)
{
	char *environment = part(directory, "environment");
	char *link = part(directory, "kernel"), *kernel = realpath(link, NULL);

	guest_check(kernel, link);
	kernel_use(kernel);
	free(kernel);
	read_environment(environment);
	/* The other machine may have a directory for each user or session. */
	if (access(find_temporary(), W_OK | X_OK))
		setenv("TMPDIR", "/tmp", 1);
	free(environment);
	free(link);
}
