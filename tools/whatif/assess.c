// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses the estimator of a change. The best one assumes that a run does the
 * same work in each condition, so that its CPU time tells the speed of the
 * machine. If a test of that fails, the next one is taken.
 */
#include "answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* A difference by chance this rare is taken for one of the work. */
#define RARE	0.01

/* An answer is not trusted if the instruments may change it by more points. */
#define BIAS_POINTS_MAX	1.5

/* Threads run at the same time if a run's CPU time is so many times its length. */
#define PARALLEL_MIN	1.05
/* In % of a run. A smaller difference of the CPU time outside of a function gets no note. */
#define ORDER_POINTS_MIN	1

/* The input of a conclusion. */
struct measured {
	const struct whatif_question *q;
	const struct whatif_plan *plan;
	const struct whatif_samples *samples;
};

/* Figures of the instrumented conditions, the null experiment first. */
struct figures {
	const struct measured *m;
	size_t conditions;
	size_t rounds;
	double *y;
	double *cpu;		/* log of CPU time */
	double *per_call;	/* log of CPU time per call */
	double *reference;
	double *own;		/* log of what the run's own share explains */
};

static double *grid(const struct figures *f)
{
	return xmalloc(f->conditions * f->rounds * sizeof(double));
}

static double part(const struct whatif_sample *s, unsigned int slot)
{
	return s->slot[slot].ran / whatif_own_ran(s);
}

/* The calls of the varied functions, and the CPU time in them. */
static double varied_calls(const struct whatif_plan *plan, size_t condition,
			   const struct whatif_sample *s)
{
	double sum = 0;

	for (unsigned int i = 1; i < WHATIF_SLOTS; i++)
		if (whatif_varied(plan, condition, i))
			sum += s->slot[i].calls;
	return sum;
}

static double varied_ran(const struct whatif_plan *plan, size_t condition,
			 const struct whatif_sample *s)
{
	double sum = 0;

	for (unsigned int i = 1; i < WHATIF_SLOTS; i++)
		if (whatif_varied(plan, condition, i))
			sum += s->slot[i].ran;
	return sum;
}

/*
 * The virtual CPU time of a condition over that of the null experiment, if a
 * run has its time where this one has it.
 */
static double expected(const struct whatif_plan *plan, size_t condition,
		       const struct whatif_sample *s)
{
	double rest = 1;

	for (unsigned int i = 1; i < WHATIF_SLOTS; i++)
		if (whatif_varied(plan, condition, i))
			rest -= part(s, i) *
				whatif_cut(plan->conditions[condition].percent[i]);
	return log(rest > 1e-9 ? rest : 1e-9);
}

/*
 * A control for runs that by chance spent more time in the varied functions
 * than the other runs of their round: the effect on their virtual time. Its
 * mean is 0 if the conditions do the same work.
 */
static double own(const struct figures *f, size_t condition, size_t round)
{
	double sum = 0;

	for (size_t c = 0; c < f->conditions; c++)
		sum += expected(f->m->plan, condition,
				whatif_at(f->m->samples, c + 1, round));
	return expected(f->m->plan, condition,
			whatif_at(f->m->samples, condition, round)) -
	       sum / f->conditions;
}

static struct figures figures_of(const struct measured *m)
{
	struct figures f = {
		.m = m, .conditions = m->plan->nr_conditions - 1,
		.rounds = whatif_rounds(m->samples),
	};

	f.y = grid(&f);
	f.cpu = grid(&f);
	f.per_call = grid(&f);
	f.reference = grid(&f);
	f.own = grid(&f);
	for (size_t c = 0; c < f.conditions; c++) {
		for (size_t r = 0; r < f.rounds; r++) {
			const struct whatif_sample *s = whatif_at(m->samples,
								  c + 1, r);
			size_t i = c * f.rounds + r;
			double calls = 0;

			for (unsigned int k = 1; k < WHATIF_SLOTS; k++)
				calls += s->slot[k].calls;
			f.y[i] = log(s->metric);
			f.cpu[i] = log(whatif_own_ran(s));
			f.per_call[i] = f.cpu[i] - log(calls + 1);
			f.reference[i] = log(s->reference + 1.0);
			f.own[i] = own(&f, c + 1, r);
		}
	}
	return f;
}

static void figures_free(struct figures *f)
{
	free(f->y);
	free(f->cpu);
	free(f->per_call);
	free(f->reference);
	free(f->own);
}

/* Differs, by more than matters? All in percent. */
static bool differs(struct difference d, double matters)
{
	return d.p < RARE && fabs(d.mean) > matters;
}

/* A figure of a variant and of the null experiment, over the rounds. */
static struct difference compare(const struct measured *m, size_t condition,
				 double (*figure)(const struct measured *m,
						  size_t condition,
						  const struct whatif_sample *))
{
	size_t n = whatif_rounds(m->samples);
	double *a = xmalloc(n * sizeof(*a)), *b = xmalloc(n * sizeof(*b));
	struct difference d;

	for (size_t r = 0; r < n; r++) {
		a[r] = figure(m, condition,
			      whatif_at(m->samples, condition, r));
		b[r] = figure(m, condition, whatif_at(m->samples, 1, r));
	}
	d = paired_difference(a, b, n);
	free(a);
	free(b);
	return d;
}

static double log_calls(const struct measured *m, size_t condition,
			const struct whatif_sample *s)
{
	return 100 * log(varied_calls(m->plan, condition, s) + 1);
}

static double log_cpu(const struct measured *m, size_t condition,
		      const struct whatif_sample *s)
{
	(void)m;
	(void)condition;
	return 100 * log(whatif_own_ran(s));
}

/* Both times are of the same run, so the machine's speed is in neither. */
static double outside(const struct measured *m, size_t condition,
		      const struct whatif_sample *s)
{
	double in = varied_ran(m->plan, condition, s);
	double all = whatif_own_ran(s), out = all > in ? all - in : 1;

	return 100 * log(out / (in + 1)) * (out / all);
}

static enum estimator fall_back(const struct figures *f)
{
	struct panel p = {
		.conditions = f->conditions, .rounds = f->rounds, .y = f->y,
		.control = { f->reference },
	};

	return panel_explained(&p) > 0.5 ? ESTIMATOR_REFERENCE :
					   ESTIMATOR_MEDIAN;
}

static struct whatif_remark __attribute__((format(printf, 2, 3)))
remark(const char *id, const char *format, ...)
{
	struct whatif_remark r = { .id = id };
	va_list args;

	va_start(args, format);
	r.text = xvprintf(format, args);
	va_end(args);
	return r;
}

/* Sets *why if it cannot choose the best one. */
static enum estimator choose_control(const struct figures *f, size_t condition,
				     double share, struct whatif_remark *why)
{
	const struct measured *m = f->m;
	double matters = m->q->precision / 4;
	struct difference calls = compare(m, condition, log_calls);
	struct difference out = compare(m, condition, outside);
	struct difference cpu = compare(m, condition, log_cpu);

	/* In less than that, times are of other things than the work. */
	if (share > 0.01 && differs(out, matters)) {
		*why = remark("outside-differs",
			      "CPU time outside of the function differs by %+.2f %% of the run",
			      out.mean);
		return fall_back(f);
	}
	if (differs(calls, matters)) {
		*why = remark("calls-differ",
			      "the number of calls differs by %+.2f %%",
			      calls.mean);
		return share > 0.01 ? ESTIMATOR_CPU_PER_CALL : fall_back(f);
	}
	if (differs(cpu, 2 * matters)) {
		*why = remark("cpu-differs", "CPU time differs by %+.2f %%",
			      cpu.mean);
		return fall_back(f);
	}
	return ESTIMATOR_CPU;
}

static enum estimator choose(const struct figures *f, size_t condition,
			     double share, struct whatif_remark *why)
{
	/* There is no speed of the machine to be told from the program's. */
	if (f->m->q->deterministic)
		return ESTIMATOR_MEDIAN;
	return choose_control(f, condition, share, why);
}

static struct panel panel_of(const struct figures *f, enum estimator e)
{
	struct panel p = {
		.conditions = f->conditions, .rounds = f->rounds, .y = f->y,
	};

	if (e == ESTIMATOR_REFERENCE)
		p.control[0] = f->reference;
	if (e == ESTIMATOR_CPU)
		p.control[0] = f->cpu;
	if (e == ESTIMATOR_CPU_PER_CALL)
		p.control[0] = f->per_call;
	if (e == ESTIMATOR_CPU || e == ESTIMATOR_CPU_PER_CALL)
		p.control[1] = f->own;
	return p;
}

/* Logarithms of a ratio to percent of change. */
static struct interval to_percent(struct interval i)
{
	return (struct interval){
		.value = 100 * expm1(i.value),
		.low = 100 * expm1(i.low),
		.high = 100 * expm1(i.high),
	};
}

/*
 * Returns the virtual time in a slot as a part of a run of the null experiment.
 * Virtual time does not include the start of the instruments.
 */
static double slot_share(const struct whatif_question *q,
			 const struct whatif_samples *samples,
			 unsigned int slot)
{
	size_t rounds = whatif_rounds(samples);
	double sum = 0;

	for (size_t r = 0; r < rounds; r++) {
		const struct whatif_sample *s = whatif_at(samples, 1, r);
		double whole = s->charged;

		/* On several CPUs, of their sum. */
		if (q->metric.kind != METRIC_CPU &&
		    s->elapsed > s->charged)
			whole = s->elapsed;
		sum += whole > 0 ? s->slot[slot].charged / whole : 0;
	}
	return sum / rounds < 1 ? sum / rounds : 1;
}

static double calls_of(const struct measured *m, size_t condition, size_t round,
		       unsigned int slot)
{
	return whatif_at(m->samples, condition, round)->slot[slot].calls;
}

static void measure_share(const struct measured *m, size_t condition,
			  struct whatif_result *result)
{
	const struct whatif_condition *c = &m->plan->conditions[condition];
	size_t rounds = whatif_rounds(m->samples);
	double rest = 1;

	for (unsigned int i = 1; i < WHATIF_SLOTS; i++) {
		double cut, share;

		if (!whatif_varied(m->plan, condition, i))
			continue;
		/* Percents are rounded: prefer the cut of the user. */
		cut = isnan(c->cut) || m->q->func[i - 1].percent ?
		      whatif_cut(c->percent[i]) : c->cut;
		share = slot_share(m->q, m->samples, i);
		result->share += share;
		result->cut += share * cut;
		rest -= share * cut;
		for (size_t r = 0; r < rounds; r++)
			result->calls += calls_of(m, condition, r, i) / rounds;
	}
	result->cut = result->share > 0 ? result->cut / result->share : 0;
	result->amdahl = whatif_less(m->q) ? 100 * (rest - 1) :
					     100 * (1 / rest - 1);
}

/* The answer then owns the text. */
static void add_warning(struct whatif_answer *answer,
			struct whatif_remark warning)
{
	answer->warnings = xrealloc(answer->warnings,
				    (answer->nr_warnings + 1) *
				    sizeof(*answer->warnings));
	answer->warnings[answer->nr_warnings++] = warning;
}

/* Null against unmodified: its CPU time is what may differ, so no control. */
static void assess_bias(const struct measured *m, struct whatif_answer *answer)
{
	size_t n = whatif_rounds(m->samples);
	double *y = xmalloc(2 * n * sizeof(*y));
	double *reference = xmalloc(2 * n * sizeof(*reference));
	struct panel p = {
		.conditions = 2, .rounds = n, .y = y, .control = { reference },
	};

	for (size_t c = 0; c < 2; c++) {
		for (size_t r = 0; r < n; r++) {
			const struct whatif_sample *s = whatif_at(m->samples,
								  c, r);

			y[c * n + r] = log(s->metric);
			reference[c * n + r] = log(s->reference + 1.0);
		}
	}
	answer->bias_estimator = panel_explained(&p) > 0.5 ?
				 ESTIMATOR_REFERENCE : ESTIMATOR_MEDIAN;
	answer->bias = to_percent(answer->bias_estimator == ESTIMATOR_MEDIAN ?
				  panel_median(&p, 1, 0) :
				  panel_adjusted(&p, 1, 0));
	free(y);
	free(reference);
}

static bool excludes_zero(const struct interval *i)
{
	return i->low > 0 || i->high < 0;
}

/*
 * Counts functions, patched or not, that the condition varies or the metric
 * uses.
 */
static unsigned int count_patches(const struct whatif_plan *plan,
				  const struct whatif_samples *samples,
				  size_t condition, bool patched)
{
	unsigned int n = 0;

	for (size_t i = 0; i < samples->nr_patches; i++)
		if (samples->patches[i].patched == patched &&
		    (samples->patches[i].slot >= WHATIF_SLOTS ||
		     whatif_varied(plan, condition, samples->patches[i].slot)))
			n++;
	return n;
}

/*
 * The points of a change that the instruments may account for. Variant and null
 * experiment have the same instruments. A bias b outside of the function is in
 * both, and shifts a change x by b * x. The variant cuts a bias b inside the
 * function, which shifts the change by b * cut * (1 - share). So the bias alone
 * does not show whether an answer is wrong: -8 % is at most half a point of a
 * change by 6 %.
 */
static double bias_points(const struct interval *bias,
			  const struct whatif_result *r)
{
	if (!excludes_zero(bias))
		return 0;
	return fabs(bias->value) *
	       fmax(fabs(r->change.value) / 100,
		    fabs(r->cut) * (1 - fmin(r->share, 1)));
}

/* Returns why even a narrow interval is not to be trusted; no id if it is. */
static struct whatif_remark distrust(const struct measured *m, size_t condition,
				     const struct interval *bias,
				     const struct whatif_result *r)
{
	unsigned int refused = count_patches(m->plan, m->samples, condition,
					     false);
	double most = fmax(m->q->precision, BIAS_POINTS_MAX);

	if (r->calls == 0)
		return remark("never-called", "the function was never called");
	if (refused)
		return remark("refused",
			      "%u of %u functions that match could not be scaled",
			      refused, refused +
			      count_patches(m->plan, m->samples, condition,
					    true));
	if (r->bias_points > most)
		return remark("bias",
			      "the instruments alone change it by %+.2f %%, and up to %.1f points of that may be in this answer",
			      bias->value, r->bias_points);
	return (struct whatif_remark){ 0 };
}

static void judge(const struct measured *m, size_t condition,
		  const struct interval *bias, struct whatif_result *r)
{
	r->bias_points = bias_points(bias, r);
	r->reason = distrust(m, condition, bias, r);
	if (r->reason.id)
		r->verdict = VERDICT_NOT_TRUSTED;
	else if (whatif_width(&r->change) > m->q->precision)
		r->verdict = VERDICT_NOT_CONVERGED;
	else if (!excludes_zero(&r->change))
		r->verdict = VERDICT_NO_EFFECT;
	else
		r->verdict = VERDICT_PREDICTION;
}

/* Estimates a change, and the change in each round. */
static struct interval estimate(const struct figures *f, size_t condition,
				enum estimator e, double **rounds)
{
	struct panel p = panel_of(f, e);
	struct interval i;

	*rounds = xmalloc(f->rounds * sizeof(**rounds));
	/* The panel begins with the null experiment. */
	panel_differences(&p, condition - 1, 0, *rounds);
	for (size_t r = 0; r < f->rounds; r++)
		(*rounds)[r] = 100 * expm1((*rounds)[r]);
	i = e == ESTIMATOR_MEDIAN ? panel_median(&p, condition - 1, 0) :
				    panel_adjusted(&p, condition - 1, 0);
	return to_percent(i);
}

static void assess_variant(const struct figures *f, size_t condition,
			   struct whatif_answer *answer)
{
	struct whatif_result *r = answer->results + condition - CONDITIONS_FIRST;

	measure_share(f->m, condition, r);
	r->estimator = choose(f, condition, r->share, &r->fallback);
	r->change = estimate(f, condition, r->estimator, &r->rounds);
	r->plain = estimate(f, condition, ESTIMATOR_MEDIAN, &r->plain_rounds);
	judge(f->m, condition, &answer->bias, r);
}

static double charged_of(const struct whatif_sample *s)
{
	return s->charged;
}

static double elapsed_of(const struct whatif_sample *s)
{
	return s->elapsed;
}

/*
 * Threads that run at the same time may meet in another order than their virtual
 * times have, within the window. Then they wait more or less often than they
 * would, which nothing else shows but the CPU time of waiting and waking.
 */
static void assess_order(const struct measured *m, struct whatif_answer *answer)
{
	double most = fmax(m->q->precision, ORDER_POINTS_MIN);

	if (m->q->deterministic ||
	    whatif_mean(m->samples, 1, charged_of) <
		    PARALLEL_MIN * whatif_mean(m->samples, 1, elapsed_of))
		return;
	for (size_t c = CONDITIONS_FIRST; c < m->plan->nr_conditions; c++) {
		struct difference out = compare(m, c, outside);

		if (!differs(out, most))
			continue;
		add_warning(answer, remark("order",
			"%s: CPU time outside of the function is %s than in the null experiment, by %.1f %% of a run. Threads may have handed over work in another order than that of virtual time, so that the error may exceed the interval: compare with --deterministic",
			m->plan->conditions[c].name,
			out.mean > 0 ? "higher" : "lower", fabs(out.mean)));
	}
}

/* Tells of intervals that are still too wide when no more rounds are allowed. */
static void assess_limit(const struct measured *m, struct whatif_answer *answer)
{
	size_t rounds = whatif_rounds(m->samples), made = rounds, wide = 0;

	for (size_t i = 0; i < m->samples->nr_spoiled; i++)
		made += m->samples->spoiled[i].dropped;

	for (size_t i = 0; i < answer->nr_results; i++)
		wide += answer->results[i].verdict == VERDICT_NOT_CONVERGED;
	if (wide && made >= m->q->max_runs)
		add_warning(answer, remark("limit",
			"%zu of %zu intervals are wider than --precision %.3g after %zu rounds: raise %s for more",
			wide, answer->nr_results, m->q->precision, rounds,
			m->q->runs ? "--runs" : "--max-runs"));
}

/* Warns if stubs cost much, or if refunds are a large part of the run. */
static void assess_overhead(const struct measured *m,
			    struct whatif_answer *answer)
{
	const struct whatif_sample *s = whatif_at(m->samples, 1, 0);
	double in = 0, calls = 0;

	for (unsigned int i = 1; i <= m->q->funcs; i++) {
		in += s->slot[i].ran;
		calls += s->slot[i].calls;
	}
	if (calls > 0 && s->pair_ns > 0 && s->pair_ns > 0.5 * in / calls)
		add_warning(answer, remark("slow-calls",
			"a call takes %.0f ns, and entering and leaving it another %.0f ns: Tense gives back an average for that",
			in / calls, s->pair_ns));
	if (s->overhead > s->ran / 4)
		add_warning(answer, remark("overhead",
			"a run spends %.0f %% of its CPU time in Tense's own work, which it gives back",
			100.0 * s->overhead / (s->ran + s->overhead)));
}

/* Calls that no latency is of. */
static void assess_pairs(const struct measured *m, struct whatif_answer *answer)
{
	double from = 0, to = 0, pairs = 0, lost = 0;
	size_t rounds = whatif_rounds(m->samples);

	for (size_t r = 0; r < rounds; r++) {
		const struct whatif_latency *l = &whatif_at(m->samples, 1,
							    r)->latency;

		from += (double)l->from / rounds;
		to += (double)l->to / rounds;
		pairs += (double)l->pairs / rounds;
		lost += (double)l->lost / rounds;
	}
	if (from > 1.01 * pairs)
		add_warning(answer, remark("unpaired-from",
			"of %.0f calls of %s in a run %.0f are in no pair: where there are more of them than of %s, the latency grows with the run",
			from, m->q->metric.from, from - pairs,
			m->q->metric.to));
	if (to > 1.01 * pairs)
		add_warning(answer, remark("unpaired-to",
			"of %.0f calls of %s in a run %.0f are in no pair: no call of %s was left for them",
			to, m->q->metric.to, to - pairs,
			m->q->metric.from));
	if (lost > 0)
		add_warning(answer, remark("latency-cut",
			"the latency is that of the first %.0f calls of a run; %.0f came after them",
			from + to, lost));
}

/* Rounds in which the same daemon ran longest, for the first of them. */
static size_t count_spoiled(const struct whatif_samples *samples, size_t first)
{
	size_t count = 0;

	for (size_t i = 0; i < samples->nr_spoiled; i++) {
		if (strcmp(samples->spoiled[i].daemon,
			   samples->spoiled[first].daemon) != 0)
			continue;
		if (i < first)
			return 0;
		count++;
	}
	return count;
}

static void assess_spoiled(const struct whatif_samples *samples,
			   struct whatif_answer *answer)
{
	for (size_t i = 0; i < samples->nr_spoiled; i++) {
		const struct whatif_spoiled *s = &samples->spoiled[i];
		size_t count = count_spoiled(samples, i);

		if (count && s->dropped)
			add_warning(answer, remark("rounds-dropped",
				"rounds dropped, since %s ran in them for longer than its cutoff of %.4g ms: %zu (%.4g ms in round %u)",
				s->daemon, s->cutoff, count, s->ms, s->round));
		else if (count)
			add_warning(answer, remark("rounds-kept",
				"rounds not dropped, although %s ran in them for longer than its cutoff of %.4g ms: %zu (%.4g ms in round %u); too few were left",
				s->daemon, s->cutoff, count, s->ms, s->round));
	}
}

void whatif_assess(const struct whatif_question *q,
		   const struct whatif_plan *plan,
		   const struct whatif_samples *samples,
		   struct whatif_answer *answer)
{
	const struct measured m = { .q = q, .plan = plan, .samples = samples };
	struct figures f = figures_of(&m);

	whatif_answer_free(answer);
	answer->nr_results = plan->nr_conditions - CONDITIONS_FIRST;
	answer->results = xmalloc(answer->nr_results *
				  sizeof(*answer->results));
	assess_bias(&m, answer);
	for (size_t c = CONDITIONS_FIRST; c < plan->nr_conditions; c++)
		assess_variant(&f, c, answer);
	assess_overhead(&m, answer);
	assess_spoiled(samples, answer);
	assess_order(&m, answer);
	assess_limit(&m, answer);
	if (q->metric.kind == METRIC_LATENCY)
		assess_pairs(&m, answer);
	figures_free(&f);
}
