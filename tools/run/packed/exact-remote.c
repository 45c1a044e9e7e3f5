// SPDX-License-Identifier: GPL-2.0
#include "exact-remote.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "booted.h"
#include "base/paths.h"
#include "base/util.h"
#include "run/engine/batch.h"
#include "run/guest.h"

/* Descriptors below are the standard streams. */
#define FIRST	3

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

static void write_memory(FILE *f, int fd)
{
	fputs("memory=$(mktemp /dev/shm/tense-XXXXXX) || memory=$(mktemp) || exit\n", f);
	fprintf(f, "exec %d<>\"$memory\" || exit\nrm -f \"$memory\"\n", fd);
}

static void write_booted(FILE *f, const char *booted, const struct qemu_machine *m)
{
	for (int i = 0; i < QEMU_BOOTED_FILES; i++) {
		char *path = booted_path(booted, i);

		fprintf(f, "exec %d<", m->booted[i]);
		batch_write_word(f, path);
		fputs("|| exit\n", f);
		free(path);
	}
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
	batch_write_word(f, initramfs);
	free(initramfs);
	fputs("|| exit\n", f);
	if (m->start == QEMU_BOOT)
		write_memory(f, m->memory);
	else
		write_booted(f, r->booted, m);
	for (int i = 0; i < m->nr_ports; i++)
		fprintf(f, "exec %d<>\"$1/channel-%d\" || exit\n", m->ports[i], i);
	fputs("exec </dev/null >>\"$1/log\" 2>&1\n", f);
	/* env would take a path with "=" for a variable. */
	fputs("exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ /bin/sh -c 'exec \"$0\" \"$@\"' ",
	      f);
	for (; *argv; argv++)
		batch_write_word(f, *argv);
	fputc('\n', f);
}

void exact_remote_number(int booted[QEMU_BOOTED_FILES])
{
	for (int i = 0; i < QEMU_BOOTED_FILES; i++)
		booted[i] = FIRST + 1 + i;
}

/* The shell uses descriptors from 10 on itself. */
static void number_files(struct qemu_machine *m)
{
	int next = FIRST;

	m->initramfs = next++;
	if (m->start == QEMU_BOOT)
		m->memory = next++;
	else
		next = m->booted[QEMU_BOOTED_FILES - 1] + 1;
	for (int i = 0; i < m->nr_ports; i++)
		m->ports[i] = next++;
	guest_check(next <= 10, "too many descriptors");
}

void exact_remote_send(const struct exact_remote *r, struct qemu_machine *m)
{
	FILE *f = batch_script_begin(r->directory);

	number_files(m);
	write_command(f, r, m, qemu_machine_command(m));
	batch_script_end(f, r->directory);
}

void exact_remote_receive(const struct exact_remote *r, int nr_ports)
{
	batch_copy_result(r->directory, "log", r->log);
	for (int i = 0; i < nr_ports; i++) {
		char *name = xprintf("channel-%d", i);

		batch_copy_result(r->directory, name, r->files[i]);
		free(name);
	}
}

char *exact_remote_share_emulator(const char *path, const char *directory)
{
	char *from = xprintf("%.*s", (int)(base_name(path) - path - 1), path);
	char *to, *result;

	if (strncmp(base_name(from), "qemu-", 5) != 0) {
		free(from);
		return xstrdup(path);
	}
	to = batch_share(from, directory, base_name(from));
	result = xprintf("%s/%s", to, base_name(path));
	free(from);
	free(to);
	return result;
}
