// SPDX-License-Identifier: GPL-2.0
#include "exact-remote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/remove-tree.h"
#include "base/util.h"
#include "run/guest.h"

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

static char *initramfs_path(const char *directory)
{
	return xprintf("%s/initramfs", directory);
}

int exact_remote_initramfs(const char *directory)
{
	char *path = initramfs_path(directory);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	guest_check(fd >= 0, path);
	free(path);
	return fd;
}

/* Writes a word so that a shell reads it as one. */
static void write_word(FILE *f, const char *word)
{
	fputc('\'', f);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	}
	fputs("' ", f);
}

/*
 * The emulator finds each file by the descriptor that m has. The memory is a file of the
 * other machine, which needs no room on the shared file system.
 */
static void write_command(FILE *f, const struct exact_remote *r,
			  const struct qemu_machine *m, char *const *argv)
{
	char *initramfs = initramfs_path(r->directory);

	fputs("# The argument is a directory for the output.\nexec ", f);
	fprintf(f, "%d<", m->initramfs);
	write_word(f, initramfs);
	free(initramfs);
	fputs("|| exit\n", f);
	fputs("memory=$(mktemp /dev/shm/tense-XXXXXX) || memory=$(mktemp) || exit\n", f);
	fprintf(f, "exec %d<>\"$memory\" || exit\nrm -f \"$memory\"\n", m->memory);
	for (int i = 0; i < m->nr_ports; i++)
		fprintf(f, "exec %d<>\"$1/channel-%d\" || exit\n", m->ports[i], i);
	fputs("exec </dev/null >>\"$1/log\" 2>&1\n", f);
	/* env would take a path with "=" for a variable. */
	fputs("exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ /bin/sh -c 'exec \"$0\" \"$@\"' ",
	      f);
	for (; *argv; argv++)
		write_word(f, *argv);
	fputc('\n', f);
}

void exact_remote_send(const struct exact_remote *r, const struct qemu_machine *m)
{
	char *path = xprintf("%s/command", r->directory);
	char *part = xprintf("%s.part", path);
	FILE *f = fopen(part, "we");

	guest_check(f, part);
	write_command(f, r, m, qemu_machine_command(m));
	guest_check(!ferror(f) && !fclose(f), part);
	/* The script gets its name when it is complete. */
	guest_check(!rename(part, path), path);
	free(part);
	free(path);
}

/* Reads the directory: a network file system may remember that a file is not there. */
bool exact_remote_is_done(const char *directory)
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

static void copy(const char *directory, const char *name, int to)
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

void exact_remote_receive(const struct exact_remote *r, int nr_ports)
{
	copy(r->directory, "log", r->log);
	for (int i = 0; i < nr_ports; i++) {
		char *name = xprintf("channel-%d", i);

		copy(r->directory, name, r->files[i]);
		free(name);
	}
}

/* A copy gets its name when it is complete, so that two processes may make it. */
char *exact_remote_share(const char *path, const char *directory, const char *name)
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

char *exact_remote_share_emulator(const char *path, const char *directory)
{
	char *from = xprintf("%.*s", (int)(base_name(path) - path - 1), path);
	char *to, *result;

	if (strncmp(base_name(from), "qemu-", 5) != 0) {
		free(from);
		return xstrdup(path);
	}
	to = exact_remote_share(from, directory, base_name(from));
	result = xprintf("%s/%s", to, base_name(path));
	free(from);
	free(to);
	return result;
}
