// SPDX-License-Identifier: GPL-2.0
/*
 * Real processes of this machine spoil rounds of tense whatif, whose runs are
 * fake.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake-program.h"
#include "measure/taskstats.h"
#include "tap.h"
#include "base/util.h"
#include "whatif/daemons.h"
#include "whatif/options.h"

#define SPOILED	4	/* round */

static char *command[] = { "fake", NULL };

static void burn(int ms)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

/*
 * Until a process by that name has run so long. A stranger is no child of ours,
 * and ends; a child, whose number is returned, goes on to live.
 */
static pid_t visit(bool stranger)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		exit(1);
	pid = fork();
	if (pid == 0) {
		pid_t parent = getpid();

		close(ends[0]);
		if (stranger && fork())
			_exit(0);
		/* Until another one has adopted it. */
		while (stranger && getppid() == parent)
			usleep(1000);
		prctl(PR_SET_NAME, "visitor");
		burn(80);
		close(ends[1]);
		if (!stranger)
			pause();
		_exit(0);
	}
	close(ends[1]);
	/* Ends when the last process that has it closes it. */
	if (read(ends[0], &byte, 1) != 0)
		exit(1);
	close(ends[0]);
	return pid;
}

static struct whatif measure(void)
{
	struct whatif w = { .question = {
		.argv = command, .precision = 1e-3, .max_runs = 8, .seed = 3,
		.percent = 100,
	} };
	struct fake_program p;
	const struct whatif_runner runner = {
		.run = fake_program_run, .progress = fake_program_progress,
		.arg = &p,
	};

	free(whatif_parse_func(&w.question, "f"));
	free(whatif_parse_cuts(&w.question, "10", false));
	fake_program_init(&p, 1);
	whatif_plan(&w.question, &w.plan);
	whatif_measure(&w, &runner);
	fake_program_free(&p);
	return w;
}

/* A round, while somebody visits, and others, which were before. */
static struct whatif measure_visited(struct whatif_watch *watch, bool stranger,
				     bool *spoiled)
{
	struct whatif w = measure();
	struct whatif_sample *s =
		&w.samples.list[SPOILED * w.plan.nr_conditions + 1];

	pid_t child;

	s->began = wall_ns();
	child = visit(stranger);
	s->ended = wall_ns();
	*spoiled = whatif_watch_end(watch, &w.samples);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return w;
}

static void test_stranger(void)
{
	struct whatif_watch *watch = whatif_watch_begin(true);
	struct whatif w;
	bool spoiled;

	if (!ok(watch, "this machine is watched"))
		return;
	w = measure_visited(watch, true, &spoiled);
	is_i64((int64_t)w.samples.nr_spoiled, 1, "a stranger spoils a round");
	ok(w.samples.nr_spoiled == 1 && w.samples.spoiled[0].round == SPOILED &&
	   !strcmp(w.samples.spoiled[0].daemon, "visitor") &&
	   w.samples.spoiled[0].ms > 40 && w.samples.spoiled[0].cutoff == 10 &&
	   w.samples.spoiled[0].dropped, "that one, by its name");
	is_i64((int64_t)whatif_rounds(&w.samples), 7, "the others are left");
	ok(spoiled, "and the caller is to draw the conclusion anew");
	whatif_assess(&w.question, &w.plan, &w.samples, &w.answer);
	ok(w.answer.nr_warnings == 2 &&
	   !strcmp(w.answer.warnings[0].id, "rounds-dropped") &&
	   !strcmp(w.answer.warnings[1].id, "limit"),
	   "the next one tells, and that the most rounds were made");
	whatif_free(&w);
}

/* A clock that is ahead says nothing of when it was. */
static void test_other_clock(void)
{
	struct whatif_watch *watch = whatif_watch_begin(true);
	struct whatif w = measure();
	struct whatif_sample *s =
		&w.samples.list[SPOILED * w.plan.nr_conditions + 1];

	s->began = wall_ns();
	waitpid(visit(true), NULL, 0);
	s->ended = wall_ns() + 3600 * 1000000000ULL;
	whatif_watch_end(watch, &w.samples);
	is_i64((int64_t)w.samples.nr_spoiled, 0,
	       "with another clock nothing is known");
	whatif_free(&w);
}

static void test_own(void)
{
	struct whatif_watch *watch = whatif_watch_begin(true);
	struct whatif w;
	bool spoiled;

	if (!ok(watch, "this machine is watched"))
		return;
	w = measure_visited(watch, false, &spoiled);
	is_i64((int64_t)w.samples.nr_spoiled, 0,
	       "what it runs itself does not");
	is_i64((int64_t)whatif_rounds(&w.samples), 8, "all rounds are left");
	ok(!spoiled, "and so is the conclusion");
	whatif_free(&w);
}

static void write_cutoffs(const char *directory)
{
	char *path = xprintf("%s/tense", directory);
	char *file = xprintf("%s/cutoffs.json", path);
	FILE *f;

	mkdir(path, 0700);
	f = fopen(file, "we");
	if (f) {
		fputs("{\"version\": 1, \"cutoffs\": [{\"daemon\": \"visitor\", \"task_time_limit_s\": null, \"final_short_ms\": 10, \"final_long_ms\": 10}]}\n",
		      f);
		fclose(f);
	}
	free(path);
	free(file);
}

int main(void)
{
	char directory[] = "/tmp/tense-watch-XXXXXX", *remove, *why = NULL;
	struct task_source *source = taskstats_open(&why);

	ok(mkdtemp(directory), "a directory");
	setenv("XDG_DATA_HOME", directory, 1);
	ok(!whatif_watch_begin(true), "without cutoffs nothing is watched");
	write_cutoffs(directory);
	if (source) {
		taskstats_close(source);
		test_stranger();
		test_own();
		test_other_clock();
	} else {
		skip("who runs: %s", why);
		ok(!whatif_watch_begin(false), "nor without taskstats");
	}
	remove = xprintf("rm -r %s", directory);
	is_i64(system(remove), 0, "is removed");
	free(remove);
	free(why);
	return done();
}
