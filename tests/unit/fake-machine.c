// SPDX-License-Identifier: GPL-2.0
#include "fake-machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "base/util.h"
#include "profile/measure.h"
#include "whatif/log.h"

struct function {
	const char *name;
	double seconds;		/* of CPU time in a run */
	bool off_path;		/* nobody waits for it */
	unsigned int calls;	/* 0: never called */
	bool refused;
};

static const struct function functions[FAKE_FUNCTIONS] = {
	{ "second", 0.20, false, 10, false },
	{ "fourth", 0.06, false, 10, false },
	{ "hidden", 0.30, true, 10, false },
	{ "first", 0.30, false, 10, false },
	{ "hot", 0.02, false, 3000000, false },
	{ "third", 0.12, false, 10, false },
	{ "never", 0, false, 0, false },
	{ "refused", 0, false, 0, true },
};

/* They run at the same time. */
#define GUESTS	4
/* The cost of an entry and exit of an instrumented function. */
#define PAIR_NS	43.5
/* Work outside of all functions. */
#define REST	0.3

/* main() calls all others and has the rest of the work, with which outer() calls first(). */
static const struct function callers[] = {
	{ "main", REST - 0.001, false, 1, false },
	{ "outer", 0.001, false, 10, false },
};

/*
 * There are any number of these. None of those above calls them. Instruments of a busy
 * one take 0.13 s.
 */
static const struct function small = { "small", 0.0001, false, 10, false };
static const struct function busy = { "busy", 0.0001, false, 3000000, false };

static bool is_one_of(const struct function *f, const char *name)
{
	return !strncmp(name, f->name, strlen(f->name));
}

static const struct function *find(const char *name)
{
	if (is_one_of(&small, name))
		return &small;
	if (is_one_of(&busy, name))
		return &busy;
	for (size_t i = 0; i < FAKE_FUNCTIONS; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
		if (!strcmp(callers[i].name, name))
			return &callers[i];
	return NULL;
}

static bool calls(const char *caller, const char *name)
{
	return !strcmp(caller, "main") ||
	       (!strcmp(caller, "outer") && !strcmp(name, "first"));
}

/* A cut of a function is also one of all that it calls. */
static double cut_of(const struct whatif *w, size_t condition, unsigned int slot)
{
	const unsigned int *percent = w->plan.conditions[condition].percent;
	const struct whatif_func *func = w->question.func;
	double cut = whatif_cut(percent[slot]);

	for (unsigned int i = 1; i <= w->question.funcs; i++)
		if (i != slot && calls(func[i - 1].name, func[slot - 1].name))
			cut += whatif_cut(percent[i]);
	return cut;
}

static bool is_off_path(const struct fake_machine *m, const struct function *f)
{
	return f->off_path && !m->quiet;
}

static void instrument(struct whatif *w, struct whatif_sample *s,
		       unsigned int slot, const struct function *f)
{
	char *log = xprintf("%s\t7\t%u\t/lib/fake.so\t%s\t0x1a30\t%s\n"
			    "cost\t7\t%g\t120\n",
			    f->refused ? "refused" : "patched", slot, f->name,
			    f->refused ? "it is shorter than a jump" :
					 "in-process", PAIR_NS);

	whatif_log_read(&w->samples, log, s);
	free(log);
	s->slot[slot].calls = f->calls;
}

static int run_once(struct whatif *w, size_t condition, struct whatif_sample *s,
		    void *arg)
{
	struct fake_machine *m = arg;
	double cpu = REST, charged = REST, elapsed = REST, slow;

	m->runs++;
	if (m->runs == m->fail_at)
		return 1;
	if (m->runs == m->interrupt_at)
		return STATUS_SIGNAL + 2;
	if (m->no_metric_every && s->round && m->runs % m->no_metric_every == 0)
		return PROFILE_NO_METRIC;
	m->speed = 0.7 * m->speed + gsl_ran_gaussian(m->rng, 0.04);
	slow = exp(m->speed) * (m->length > 0 ? m->length / 1.3 : 1);
	for (size_t i = 0; i < FAKE_FUNCTIONS; i++) {
		cpu += functions[i].seconds;
		charged += functions[i].seconds;
		elapsed += is_off_path(m, &functions[i]) ? 0 : functions[i].seconds;
	}
	for (unsigned int slot = 1; slot <= w->question.funcs; slot++) {
		const struct function *f = find(w->question.func[slot - 1].name);
		double cut = cut_of(w, condition, slot);
		double ran = f->seconds * exp(gsl_ran_gaussian(m->rng, m->jitter));
		double saved;

		if (m->clocked && !strcmp(f->name, "second"))
			ran /= 1 - cut;
		saved = ran * cut;
		instrument(w, s, slot, f);
		if (f == &busy)
			s->overhead += slow * f->calls * PAIR_NS;
		s->slot[slot].ran = SECOND_NS * slow * ran;
		s->slot[slot].charged = s->slot[slot].ran * (1 - cut);
		cpu += ran - f->seconds;
		charged += ran - f->seconds;
		if (saved > 0 && !strcmp(f->name, "second")) {
			cpu += m->spins;
			charged += m->spins;
		}
		if (saved > 0 && m->disturb && !m->disturbed && !strcmp(f->name, m->disturb)) {
			elapsed += 1.3;
			m->disturbed = true;
		}
		m->shared_hot += s->round && f->calls > 1000 &&
				 w->question.funcs > 1;
		charged -= saved;
		elapsed += is_off_path(m, f) ? 0 : ran - f->seconds - saved;
	}
	s->threads = m->quiet ? 1 : 2;
	s->ran = SECOND_NS * slow * cpu;
	s->charged = SECOND_NS * slow * charged;
	s->elapsed = SECOND_NS * slow * elapsed *
		     exp(gsl_ran_gaussian(m->rng, m->quiet ? 0.0002 : 0.002));
	s->metric = s->elapsed;
	s->reference = 1e7 * slow * exp(gsl_ran_gaussian(m->rng, 0.01));
	m->clock += slow * cpu + s->overhead / SECOND_NS;
	return 0;
}

/* Makes the runs of a batch as guests would that run at the same time. */
static int run_many(struct profile *p, const struct profile_batch *batch,
		    uint64_t time_ns, struct profile_made *made, void *arg)
{
	struct fake_machine *m = arg;
	double began = m->clock;

	for (size_t i = 0; i < batch->count; i++) {
		struct whatif *w = &p->groups[batch->runs[i].group].w;
		struct whatif_samples *samples = &w->samples;
		struct whatif_sample s = {
			.round = batch->round, .order = batch->order + i,
			.condition = batch->runs[i].condition,
		};
		int status;

		if (SECOND_NS * (m->clock - began) / GUESTS >= time_ns)
			break;
		status = run_once(w, s.condition, &s, arg);
		if (status && status != PROFILE_NO_METRIC)
			return status;
		made->runs++;
		made->dropped += status == PROFILE_NO_METRIC;
		if (status)
			continue;
		samples->list = xrealloc(samples->list, (samples->count + 1) *
							sizeof(s));
		samples->list[samples->count++] = s;
	}
	made->took_ns = SECOND_NS * (m->clock - began);
	m->clock = began + (m->clock - began) / GUESTS;
	m->batches++;
	return 0;
}

static uint64_t now(void *arg)
{
	const struct fake_machine *m = arg;

	return SECOND_NS * m->clock;
}

static void progress(const struct profile *p, uint64_t passed_ns,
		     const char *what, void *arg)
{
	struct fake_machine *m = arg;

	(void)p;
	(void)passed_ns;
	snprintf(m->said, sizeof(m->said), "%s", what);
}

void fake_profile_add(struct profile *p, const char *name)
{
	struct profile_candidate *c = profile_add(p, xstrdup(name), xstrdup("/lib/fake.so"));

	c->found.specs[1] = xprintf("fake:%s", name);
}

struct profile fake_profile(double seconds)
{
	static char *command[] = { "fake", "a b", NULL };
	struct profile p = {
		.question = {
			.argv = command, .precision = 1, .seed = 5,
			.percent = 100,
		},
		.asked = { .time_ns = SECOND_NS * seconds, .top = 3 },
	};

	for (size_t i = 0; i < FAKE_FUNCTIONS; i++)
		fake_profile_add(&p, functions[i].name);
	return p;
}

int fake_measure(struct profile *p, struct fake_machine *m)
{
	const struct profile_runner runner = {
		.run = run_once, .many = m->many ? run_many : NULL, .guests = GUESTS,
		.now = now, .progress = progress, .arg = m,
	};
	int status;

	m->rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(m->rng, 3 + m->seed);
	status = profile_measure(p, &runner);
	gsl_rng_free(m->rng);
	return status;
}
