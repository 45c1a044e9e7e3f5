// SPDX-License-Identifier: GPL-2.0
/*
 * talk ROLE FILE MESSAGES: a server or a client, which are started separately, send
 * each other so many readings of CLOCK_MONOTONIC. FILE tells the client the port.
 * Each prints how many readings were earlier than the message before them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange.h"

/* For a server that does not start: in tenths of a second. */
#define PATIENCE 600

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int serve(const char *path)
{
	uint16_t port;
	int fd = exchange_listen(&port);
	char other[4096];
	FILE *f;

	snprintf(other, sizeof(other), "%s.new", path);
	f = fopen(other, "w");
	if (fd < 0 || !f)
		return -1;
	fprintf(f, "%u\n", port);
	if (fclose(f) || rename(other, path))
		return -1;
	return accept(fd, NULL, NULL);
}

static int call(const char *path)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	unsigned int port = 0;
	FILE *f = NULL;

	for (int i = 0; !f && i < PATIENCE; i++) {
		f = fopen(path, "r");
		if (!f)
			nanosleep(&pause, NULL);
	}
	if (!f || fscanf(f, "%u", &port) != 1)
		return -1;
	fclose(f);
	return exchange_connect(port);
}

int main(int argc, char **argv)
{
	bool client = argc == 4 && !strcmp(argv[1], "client");
	long early;
	int fd;

	if (argc != 4) {
		fputs("usage: talk server|client FILE MESSAGES\n", stderr);
		return 2;
	}
	fd = client ? call(argv[2]) : serve(argv[2]);
	if (fd < 0) {
		perror("talk");
		return 1;
	}
	early = exchange(fd, atol(argv[3]) / 2, client, now);
	printf("%s: %ld early\n", argv[1], early);
	return early != 0;
}
