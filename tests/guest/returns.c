// SPDX-License-Identifier: GPL-2.0
/*
 * returns HOW: threads that end in a known way, for the lines of TENSE_REPORT. Each
 * way is a function of its own below.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <tense.h>

#define MANY 16

static sem_t ready;

static void name_thread(const char *name)
{
	prctl(PR_SET_NAME, name);
}

/* Charges two seconds. */
static void *work(void *arg)
{
	name_thread("worker");
	tense_move_ns(2000000000);
	return arg;
}

/* Sleeps five seconds. */
static void *sleep_long(void *arg)
{
	name_thread("sleeper");
	sleep(5);
	return arg;
}

static void *leave(void *arg)
{
	name_thread("leaver");
	pthread_exit(arg);
}

static void *wait_for_ever(void *arg)
{
	name_thread("waiter");
	sem_post(&ready);
	for (;;)
		pause();
	return arg;
}

static void *end_program(void *arg)
{
	name_thread("ender");
	(void)arg;
	exit(3);
}

static int standard(void *arg)
{
	(void)arg;
	name_thread("c11");
	return 7;
}

static void *oddly_named(void *arg)
{
	name_thread("a\tb\nc d");
	return arg;
}

static void *fork_in_thread(void *arg)
{
	pid_t pid;

	name_thread("forker");
	pid = fork();
	if (!pid) {
		name_thread("returner");
		return arg;
	}
	waitpid(pid, NULL, 0);
	return arg;
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, &ready)) {
		perror("pthread_create");
		_exit(1);
	}
	return thread;
}

static void run(void *(*function)(void *))
{
	void *result = NULL;

	if (pthread_join(start(function), &result) || result != &ready)
		_exit(2);
}

static void ways(void)
{
	pthread_t thread;
	thrd_t c11;
	int result = 0;

	run(work);
	run(sleep_long);
	run(leave);
	thread = start(wait_for_ever);
	sem_wait(&ready);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	if (thrd_create(&c11, standard, NULL) != thrd_success ||
	    thrd_join(c11, &result) != thrd_success || result != 7)
		_exit(2);
	run(oddly_named);
}

/* exit() while another thread runs, which never returns. */
static void running(void)
{
	start(wait_for_ever);
	sem_wait(&ready);
}

/* exit() in another thread than main(), which never returns. */
static void elsewhere(void)
{
	pthread_join(start(end_program), NULL);
}

/* exit() in a thread that is to be cancelled, but has not come to such a point. */
static void *end_cancelled(void *arg)
{
	name_thread("cancelled");
	pthread_cancel(pthread_self());
	(void)arg;
	exit(4);
}

static void pending(void)
{
	pthread_join(start(end_cancelled), NULL);
}

/* main() returns first. */
static void early(void)
{
	start(sleep_long);
	pthread_exit(NULL);
}

static void forks(void)
{
	pid_t pid = fork();

	if (!pid) {
		name_thread("child");
		exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = fork();
	if (!pid) {
		name_thread("silent");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	run(fork_in_thread);
}

/* The thread goes on as another program, in another directory. */
static void execs(void)
{
	if (chdir("/"))
		_exit(1);
	execl("/bin/true", "true", NULL);
	_exit(1);
}

static void *return_at_once(void *arg)
{
	name_thread("one-of-many");
	return arg;
}

/* Many threads of several processes at once. */
static void many(void)
{
	pthread_t threads[MANY];

	if (fork() < 0 || fork() < 0)
		_exit(1);
	for (int i = 0; i < MANY; i++)
		threads[i] = start(return_at_once);
	for (int i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
}

/* The program has files where the library might have had a descriptor. */
static void closes(void)
{
	closefrom(0);
	run(work);
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
	{ "ways", ways }, { "running", running }, { "elsewhere", elsewhere },
	{ "pending", pending }, { "early", early }, { "forks", forks }, { "execs", execs },
	{ "many", many }, { "closes", closes },
};

int main(int argc, char **argv)
{
	sem_init(&ready, 0, 0);
	name_thread("main");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], all[i].name)) {
			all[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: returns HOW\n");
	return 125;
}
