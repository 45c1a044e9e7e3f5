// SPDX-License-Identifier: GPL-2.0
/*
 * stall-watch COMMAND...: runs a command in its own experiment. Prints the longest
 * real time in which the experiment got nowhere: it was charged nothing, and its
 * virtual time stood still. Exits with the command's status, or with 99 if that time
 * was longer than a second.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/tense.h>

#define LONGEST_NS	1000000000ull

static struct tense_stats look(int device)
{
	struct tense_stats s;

	if (read(device, &s, sizeof(s)) != sizeof(s)) {
		perror("stall-watch: " TENSE_DEVICE);
		exit(98);
	}
	return s;
}

int main(int argc, char **argv)
{
	struct tense_stats last, now;
	uint64_t worst = 0;
	int device = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC), status;
	pid_t pid;

	if (argc < 2 || device < 0) {
		fprintf(stderr, "stall-watch: %s\n", argc < 2 ?
			"no command" : strerror(errno));
		return 98;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	last = look(device);
	while (!waitpid(pid, &status, WNOHANG)) {
		/* In virtual time: as long as that stands still, so does this. */
		usleep(20000);
		now = look(device);
		if (now.gvt - last.gvt < 30000000 &&
		    now.elapsed - last.elapsed > worst)
			worst = now.elapsed - last.elapsed;
		last = now;
	}
	printf("stall-watch: at worst %llu ms\n",
	       (unsigned long long)worst / 1000000);
	if (!WIFEXITED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status) ?: worst > LONGEST_NS ? 99 : 0;
}
