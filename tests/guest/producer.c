// SPDX-License-Identifier: GPL-2.0
/*
 * A producer and a consumer, processes on a CPU each, of which each can be slower
 * or faster: really, by its units of work, or imagined, by its percent.
 *
 *	producer HOW UNITS PERCENT UNITS PERCENT
 *
 * The producer's units for an item, on average, and percent, and the consumer's.
 * The other's speed decides how one finds the queue or the variable after an
 * item. HOW they meet:
 *
 *	drop	by a queue: if that is full, the producer drops the item
 *	wait	by a queue: if that is full, the producer waits for room
 *	race	by a variable that the producer overwrites, consumed or not, and
 *		the consumer reads, new or not
 *
 * The output is "WHAT COUNT" by the line: "fill" is how many places of the queue
 * the producer found taken, summed up, "took" are virtual us.
 */
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tense.h>
#include <time.h>
#include <unistd.h>

#define ITEMS		200
#define CAPACITY	4

struct side {
	unsigned long units;
	int percent;
	uint32_t random;
};

struct meeting {
	sem_t room, items;
	volatile unsigned int ready, newest;
	volatile bool over;
	/* The producer's: */
	unsigned int produced, dropped, full, fill;
	/* The consumer's: */
	unsigned int consumed, empty, missed, again;
};

static struct meeting *meeting;

static __attribute__((noreturn)) void fail(const char *what)
{
	fprintf(stderr, "producer: %s\n", what);
	exit(1);
}

/* Two instructions a unit. */
static void spin(unsigned long units)
{
	asm volatile("1: dec %0; jnz 1b" : "+r"(units) : : "cc");
}

/* From half to one and a half of the units, the same ones each time. */
static unsigned long units_of(struct side *s)
{
	s->random = s->random * 1664525 + 1013904223;
	return s->units / 2 + ((uint64_t)s->units * (s->random >> 16) >> 16);
}

static void work(struct side *s)
{
	unsigned long units = units_of(s);

	if (tense_scale_percent(s->percent))
		fail("cannot change the percent");
	spin(units);
	if (tense_scale_pop())
		fail("cannot change the percent back");
}

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

/* How many of the queue's places are taken. */
static unsigned int taken(void)
{
	int room;

	sem_getvalue(&meeting->room, &room);
	return CAPACITY - room;
}

static void produce_for_queue(struct side *s, bool drop)
{
	for (int i = 0; i < ITEMS; i++) {
		work(s);
		meeting->produced++;
		meeting->fill += taken();
		if (sem_trywait(&meeting->room)) {
			meeting->full++;
			if (drop) {
				meeting->dropped++;
				continue;
			}
			wait_for(&meeting->room);
		}
		sem_post(&meeting->items);
	}
	meeting->over = true;
	sem_post(&meeting->items);
}

static void consume_from_queue(struct side *s)
{
	for (;;) {
		if (sem_trywait(&meeting->items)) {
			meeting->empty++;
			wait_for(&meeting->items);
		}
		if (meeting->over && !taken())
			break;
		sem_post(&meeting->room);
		meeting->consumed++;
		work(s);
	}
}

static void produce_for_race(struct side *s)
{
	for (int i = 0; i < ITEMS; i++) {
		work(s);
		meeting->produced++;
		meeting->newest++;
	}
	meeting->over = true;
}

static void consume_from_race(struct side *s)
{
	unsigned int last = 0, newest;

	while (!meeting->over) {
		work(s);
		newest = meeting->newest;
		meeting->consumed++;
		if (newest == last)
			meeting->again++;
		else
			meeting->missed += newest - last - 1;
		last = newest;
	}
}

static void take_cpu(int nth)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(nth, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("there are no two CPUs");
}

static void start_together(void)
{
	__atomic_fetch_add(&meeting->ready, 1, __ATOMIC_SEQ_CST);
	while (meeting->ready < 2)
		;
}

static void produce(const char *how, struct side *s)
{
	take_cpu(0);
	start_together();
	if (!strcmp(how, "race"))
		produce_for_race(s);
	else
		produce_for_queue(s, !strcmp(how, "drop"));
}

static void consume(const char *how, struct side *s)
{
	take_cpu(1);
	start_together();
	if (!strcmp(how, "race"))
		consume_from_race(s);
	else
		consume_from_queue(s);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static void report(const char *how, uint64_t took)
{
	printf("took %lu\nproduced %u\nconsumed %u\n", (unsigned long)took,
	       meeting->produced, meeting->consumed);
	if (!strcmp(how, "race"))
		printf("missed %u\nagain %u\n", meeting->missed, meeting->again);
	else
		printf("dropped %u\nfull %u\nempty %u\nfill %u\n",
		       meeting->dropped, meeting->full, meeting->empty,
		       meeting->fill);
}

static struct side side_of(char **words, uint32_t random)
{
	return (struct side) {
		.units = strtoul(words[0], NULL, 10),
		.percent = atoi(words[1]),
		.random = random,
	};
}

int main(int argc, char **argv)
{
	struct side producer, consumer;
	uint64_t begin;
	int status;
	pid_t pid;

	if (argc != 6)
		fail("HOW UNITS PERCENT UNITS PERCENT");
	producer = side_of(argv + 2, 1);
	consumer = side_of(argv + 4, 2);
	meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (meeting == MAP_FAILED ||
	    sem_init(&meeting->room, true, CAPACITY) ||
	    sem_init(&meeting->items, true, 0))
		fail("no memory");
	begin = now_us();
	pid = fork();
	if (pid < 0)
		fail("no process");
	if (!pid) {
		consume(argv[1], &consumer);
		_exit(0);
	}
	produce(argv[1], &producer);
	if (waitpid(pid, &status, 0) != pid || status)
		fail("the consumer has failed");
	report(argv[1], now_us() - begin);
	return fflush(stdout) ? 1 : 0;
}
