// SPDX-License-Identifier: GPL-2.0
/*
 * futex-count PROCESSES TIMES: are the kernel's operations on a user's word atomic?
 *
 * Processes with one word in common count it up, each so many times: every second
 * time by FUTEX_WAKE_OP, which the kernel does, every other time by itself. Prints the
 * word, and fails if a count is lost.
 */
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void count(unsigned int *word, unsigned int *other, int times)
{
	for (int i = 0; i < times; i += 2) {
		syscall(SYS_futex, other, FUTEX_WAKE_OP, 1, 1, word,
			FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
		__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int *words = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int processes, times, status;

	if (argc != 3 || words == MAP_FAILED)
		return 2;
	processes = atoi(argv[1]);
	times = atoi(argv[2]) & ~1;
	for (int i = 0; i < processes; i++)
		if (fork() == 0)
			count(&words[0], &words[1], times);
	while (wait(&status) > 0)
		;
	printf("counted %u of %d\n", words[0], processes * times);
	return words[0] != (unsigned int)(processes * times);
}
