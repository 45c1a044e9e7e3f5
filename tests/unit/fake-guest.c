// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces User-Mode Linux: a guest that behaves as the file "mode" says, and makes
 * the file "there" when it has begun.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "run/launch.h"
#include "run/proto.h"
#include "base/util.h"

/* A late guest waits for so long before it answers. */
#define LATE_S	1

static int control = -1;

static void send_message(uint32_t type, const void *payload, uint32_t size)
{
	struct message m = { .type = type, .size = size };

	if (write_full(control, &m, sizeof(m)) ||
	    write_full(control, payload, size))
		exit(1);
}

static void read_message(struct message *m, char **payload)
{
	if (read_full(control, m, sizeof(*m)))
		exit(1);
	*payload = xmalloc(m->size + 1);
	if (read_full(control, *payload, m->size))
		exit(1);
}

static void make_file(const char *name)
{
	close(open(name, O_WRONLY | O_CREAT, 0666));
}

static void __attribute__((noreturn)) hang(void)
{
	make_file("there");
	for (;;)
		pause();
}

/* Answers so many signals, whichever they are; then the command exits. */
static void __attribute__((noreturn)) answer(int signals, int status)
{
	struct outcome out = { .kind = OUTCOME_EXITED, .value = status };
	char name[32], *payload;
	struct message m;

	for (int i = 1; i <= signals; i++) {
		do {
			read_message(&m, &payload);
			free(payload);
		} while (m.type != MESSAGE_SIGNAL);
		send_message(MESSAGE_TAKEN, NULL, 0);
		snprintf(name, sizeof(name), "taken-%d", i);
		make_file(name);
	}
	send_message(MESSAGE_OUTCOME, &out, sizeof(out));
	hang();
}

/* Ends as root in a guest could have it end: with statistics that hold less than they say. */
static void __attribute__((noreturn)) lie(const char *how)
{
	struct {
		struct outcome out;
		struct tense_stats stats;
	} lie = {
		.out = { .kind = OUTCOME_EXITED, .stats_size = sizeof(lie.stats) },
		.stats = {
			.version = TENSE_STATS_VERSION, .size = sizeof(lie.stats),
			.thread_size = sizeof(struct tense_thread),
		},
	};
	uint32_t size = sizeof(lie);

	if (!strcmp(how, "lies-threads"))
		lie.stats.threads = UINT32_MAX;
	if (!strcmp(how, "lies-size"))
		lie.stats.size = 0xfffffff0;
	if (!strcmp(how, "lies-short")) {
		lie.out.stats_size = 1;
		size = offsetof(typeof(lie), stats) + 1;
	}
	if (!strcmp(how, "lies-text")) {
		lie.out = (struct outcome){ .kind = OUTCOME_FAILED };
		memset(lie.out.text, 'x', sizeof(lie.out.text));
		size = sizeof(lie.out);
	}
	send_message(MESSAGE_OUTCOME, &lie, size);
	hang();
}

int main(int argc, char **argv)
{
	struct message m = { .type = MESSAGE_TAKEN, .size = 1000 };
	char mode[32] = "", *payload;
	FILE *f = fopen("mode", "r");

	for (int i = 1; i < argc; i++)
		sscanf(argv[i], "hostfd.fds=%d", &control);
	if (!f || fscanf(f, "%31s", mode) != 1 || control < 0)
		return 1;
	fclose(f);
	if (!strcmp(mode, "boot"))
		hang();
	read_message(&m, &payload);
	free(payload);
	send_message(MESSAGE_STARTED, NULL, 0);
	m = (struct message){ .type = MESSAGE_TAKEN, .size = 1000 };
	if (!strcmp(mode, "header"))
		write_full(control, &m, sizeof(m) / 2);
	if (!strcmp(mode, "payload"))
		write_full(control, &m, sizeof(m));
	if (!strcmp(mode, "closed")) {
		make_file("there");
		close(control);
	}
	if (!strncmp(mode, "lies", 4))
		lie(mode);
	if (!strcmp(mode, "answers")) {
		make_file("there");
		answer(3, 3);
	}
	if (!strcmp(mode, "late")) {
		make_file("there");
		sleep(LATE_S);
		answer(2, 4);
	}
	hang();
}
