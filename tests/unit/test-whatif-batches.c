// SPDX-License-Identifier: GPL-2.0
/* Runs deterministic rounds in batches, of a fake program. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake-program.h"
#include "tap.h"
#include "base/util.h"
#include "whatif/batches.h"
#include "whatif/json.h"
#include "whatif/options.h"

static char *command[] = { "fake", NULL };

struct setting {
	double noise;		/* scatter of the fake program between rounds */
	int fail_at;		/* batch that fails, from 1 on, or 0 */
	int kill_at;		/* batch whose process is killed, likewise */
	bool late;		/* the first batch is the last to be ready */
	bool interrupts;	/* the first batch, which succeeds nevertheless */
};

static struct whatif ask(unsigned int runs, unsigned int max_runs)
{
	struct whatif w = { .question = {
		.argv = command, .precision = 1, .percent = 100, .seed = 5,
		.runs = runs, .max_runs = max_runs, .deterministic = true,
		.quiet = true,
	} };

	free(whatif_parse_func(&w.question, "f"));
	free(whatif_parse_cuts(&w.question, "20", false));
	if (whatif_limit_runs(&w.question))
		die(1, "not a number of runs");
	return w;
}

static int run(const struct whatif_batch *batch, void *arg)
{
	const struct setting *setting = arg;
	struct whatif w = ask(batch->rounds, 0);
	struct fake_program p;
	const struct whatif_runner runner = {
		.run = fake_program_run, .progress = fake_program_progress,
		.arg = &p,
	};
	FILE *answer = fdopen(batch->job->answer, "w");

	if (setting->fail_at == (int)batch->job->number + 1)
		return 3;
	if (setting->kill_at == (int)batch->job->number + 1)
		raise(SIGKILL);
	if (setting->interrupts && !batch->job->number) {
		signal(SIGINT, SIG_IGN);
		kill(getppid(), SIGINT);
		usleep(100000);
	}
	if (setting->late && !batch->job->number)
		usleep(100000);
	w.question.seed = batch->seed;
	fake_program_init(&p, batch->seed);
	p.drift = 0;
	p.share_sd = 0;
	p.noise = setting->noise;
	whatif_plan(&w.question, &w.plan);
	if (whatif_measure(&w, &runner) || whatif_json_write(answer, &w))
		return 1;
	fake_program_free(&p);
	whatif_free(&w);
	if (!batch->job->number)
		job_ready(batch->job);
	return 0;
}

/* Returns the JSON of the answer, or NULL with *status set. */
static char *answer(struct whatif *asked, struct setting *setting,
		    unsigned int parallel, unsigned int least,
		    size_t *rounds, int *status)
{
	const struct whatif_batches b = {
		.run = run, .arg = setting, .parallel = parallel,
		.least = least, .ahead = least > 1, .each = WHATIF_EXACT_ROUNDS,
	};
	struct whatif w;
	char *text = NULL;
	size_t size;
	FILE *f;

	*status = whatif_batches(&asked->question, &w, &b);
	*rounds = *status ? 0 : whatif_rounds(&w.samples);
	if (*status)
		return NULL;
	f = open_memstream(&text, &size);
	whatif_json_write(f, &w);
	fclose(f);
	whatif_free(&w);
	return text;
}

static void test_same(double noise, unsigned int runs, unsigned int max_runs,
		      unsigned int least, size_t expected, const char *what)
{
	struct whatif w = ask(runs, max_runs);
	struct setting one_by_one = { .noise = noise };
	struct setting at_once = { .noise = noise, .late = true };
	size_t rounds, again;
	int status, other;
	char *serial = answer(&w, &one_by_one, 1, least, &rounds, &status);
	char *parallel = answer(&w, &at_once, 4, least, &again, &other);

	ok(!status && !other, "%s: both have an answer", what);
	ok(rounds == expected, "%s: %zu rounds", what, rounds);
	ok(serial && parallel && !strcmp(serial, parallel),
	   "%s: serial and parallel batches give the same", what);
	free(serial);
	free(parallel);
	whatif_free(&w);
}

static void test_samples(void)
{
	struct whatif asked = ask(7, 0), w;
	struct setting setting = { .noise = 0.01 };
	const struct whatif_batches b = {
		.run = run, .arg = &setting, .parallel = 2, .least = 1,
		.each = WHATIF_EXACT_ROUNDS,
	};
	bool rounds = true, orders = true, differ = true;

	ok(!whatif_batches(&asked.question, &w, &b),
	   "three batches give samples");
	for (size_t i = 0; i < w.samples.count; i++) {
		unsigned int seen = 0;

		rounds = rounds && w.samples.list[i].round == i / 3 &&
			 w.samples.list[i].condition == i % 3;
		for (size_t k = 0; k < w.samples.count; k++)
			seen += w.samples.list[k].order == i;
		orders = orders && seen == 1;
	}
	for (size_t r = 1; r < whatif_rounds(&w.samples); r++)
		differ = differ && whatif_at(&w.samples, 1, r)->metric !=
				   whatif_at(&w.samples, 1, 0)->metric;
	ok(rounds, "samples are in the order of rounds");
	ok(orders, "each sample has an order of its own");
	ok(differ, "rounds have different seeds");
	whatif_free(&w);
	whatif_free(&asked);
}

/* One round shows no variation: the statistics of such a batch would fail. */
static void test_sizes(void)
{
	const unsigned int odd[] = { 5, 7, 9 };

	for (size_t i = 0; i < 3; i++) {
		struct whatif asked = ask(0, odd[i]), w;
		struct setting setting = { .noise = 0.5 };
		const struct whatif_batches b = {
			.run = run, .arg = &setting, .parallel = 4, .least = 3,
			.ahead = true, .each = 2,
		};

		ok(!whatif_batches(&asked.question, &w, &b),
		   "at most %u rounds in batches of 2", odd[i]);
		is_i64(whatif_rounds(&w.samples), odd[i], "all of them were made");
		whatif_free(&w);
		whatif_free(&asked);
	}
}

static void test_failure(void)
{
	struct whatif w = ask(0, 30);
	struct setting setting = { .noise = 0.001, .fail_at = 2 };
	size_t rounds;
	int status;

	free(answer(&w, &setting, 4, 1, &rounds, &status));
	ok(!status && rounds == 3,
	   "a failed batch that is not needed does not matter");
	setting.noise = 0.1;
	free(answer(&w, &setting, 4, 1, &rounds, &status));
	is_i64(status, 3, "a failed batch that is needed fails the answer");
	whatif_free(&w);
}

/* Returns what is written to standard error meanwhile. The caller frees it. */
static char *answer_messages(struct whatif *w, struct setting *setting, int *status)
{
	int shown = dup(STDERR_FILENO);
	FILE *messages = tmpfile();
	char *text = NULL;
	size_t rounds, size = 0;

	dup2(fileno(messages), STDERR_FILENO);
	free(answer(w, setting, 2, 1, &rounds, status));
	dup2(shown, STDERR_FILENO);
	close(shown);
	rewind(messages);
	if (getdelim(&text, &size, '\0', messages) < 0)
		*text = '\0';
	fclose(messages);
	return text;
}

static void test_killed(void)
{
	for (int at = 1; at <= 2; at++) {
		struct whatif w = ask(4, 0);
		struct setting setting = { .noise = 0.1, .kill_at = at };
		int status;
		char *said = answer_messages(&w, &setting, &status);

		is_i64(status, STATUS_FAILED, "a killed batch fails the answer");
		ok(strstr(said, "the process of a guest was ended by signal 9"),
		   "and is reported: %s", said);
		free(said);
		whatif_free(&w);
	}
}

static void test_interrupted(void)
{
	struct whatif w = ask(0, 30);
	struct setting setting = { .noise = 0.1, .interrupts = true };
	size_t rounds;
	int status;

	free(answer(&w, &setting, 1, 1, &rounds, &status));
	is_i64(status, STATUS_SIGNAL + SIGINT,
	       "an interrupt ends it, although the batch that ran succeeds");
	whatif_free(&w);
}

int main(void)
{
	test_same(0.0005, 0, 30, 1, 3, "without scatter");
	test_same(0.0005, 0, 30, 2, 6, "without scatter, on several CPUs");
	test_same(0.5, 0, 11, 2, 11, "without convergence");
	test_same(0.5, 4, 0, 1, 4, "with a fixed number");
	test_samples();
	test_sizes();
	test_failure();
	test_killed();
	test_interrupted();
	return done();
}
