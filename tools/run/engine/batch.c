// SPDX-License-Identifier: GPL-2.0
#include "batch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/remove-tree.h"
#include "base/util.h"
#include "run/guest.h"

static char *script_path(const char *directory, const char *end)
{
	return xprintf("%s/command%s", directory, end);
}

FILE *batch_script_begin(const char *directory)
{
	char *part = script_path(directory, ".part");
	FILE *f = fopen(part, "we");

	guest_check(f, part);
	free(part);
	return f;
}

void batch_script_end(FILE *script, const char *directory)
{
	char *part = script_path(directory, ".part"), *path = script_path(directory, "");

	guest_check(!ferror(script) && !fclose(script), part);
	guest_check(!rename(part, path), path);
	free(part);
	free(path);
}

void batch_write_word(FILE *script, const char *word)
{
	fputc('\'', script);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", script);
		else
			fputc(*word, script);
	}
	fputs("' ", script);
}

/* Reads the directory: a network file system may remember that a file is not there. */
bool batch_is_done(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	bool done = false;

	while (dir && !done && (entry = readdir(dir)))
		done = !strcmp(entry->d_name, "result");
	if (dir)
		closedir(dir);
	return done;
}

void batch_copy_result(const char *directory, const char *name, int to)
{
	char *path = xprintf("%s/result/%s", directory, name), text[65536];
	int from = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	guest_check(from >= 0, path);
	while ((n = read(from, text, sizeof(text))) > 0)
		guest_check(!write_full(to, text, n), "cannot copy a result");
	guest_check(n == 0, path);
	close(from);
	free(path);
}

/* Returns 0 if the command succeeds. */
static int run_command(char *const *argv)
{
	int status = -1;
	sigset_t none;
	pid_t pid = fork();

	guest_check(pid >= 0, "cannot start a process");
	if (pid == 0) {
		/* The caller has blocked the signals that end tense. */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(argv[0], argv);
		_exit(STATUS_NOT_FOUND);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* A copy gets its name when it is complete, so that two processes may make it. */
char *batch_share(const char *path, const char *directory, const char *name)
{
	char *copy = xprintf("%s/%s", directory, name);
	char *part = xprintf("%s/part-XXXXXX", directory), *to;
	bool copied;

	if (!access(copy, F_OK)) {
		free(part);
		return copy;
	}
	guest_check(mkdtemp(part), part);
	to = xprintf("%s/%s", part, name);
	copied = !run_command((char *[]){ "cp", "-aT", "--", (char *)path, to, NULL });
	/* Another process may have been faster. */
	if (copied && rename(to, copy))
		copied = !access(copy, F_OK);
	remove_tree(part);
	if (!copied)
		die(STATUS_FAILED, "cannot copy %s to %s", path, directory);
	free(to);
	free(part);
	return copy;
}
