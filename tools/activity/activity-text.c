// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "output.h"

/* Kinds of interrupts that are told by name. */
#define INTERRUPTS	4

const char *unit_name(const struct watcher *w)
{
	return w->counter.clock == TENSE_CLOCK_COUNTER ? "cycles" : "ns";
}

char *counter_text(const struct watcher *w)
{
	if (w->counter.clock == TENSE_CLOCK_COUNTER)
		return xprintf("cycle counter of %.3f GHz, of constant rate",
			       1 / w->counter.ns);
	return xstrdup("clock_gettime(): this CPU has no cycle counter of constant rate");
}

char *load_text(unsigned int load)
{
	return !load ? xstrdup("no load added") :
	       xprintf("%u busy process%s added", load, load > 1 ? "es" : "");
}

static double ms(const struct recording *r, double units)
{
	return units * r->ns / 1e6;
}

static double us(const struct recording *r, double units)
{
	return units * r->ns / 1e3;
}

static double percent(const struct recording *r, uint64_t units)
{
	return (double)units / (double)r->length * 100;
}

static void put_share(FILE *f, const struct recording *r, const char *name,
		      const struct share *s)
{
	fprintf(f, "  %-18s %8zu", name, s->count);
	if (s->count)
		fprintf(f, " %13.2f %11.2f %12.2f %9.2f %%\n",
			us(r, (double)s->shortest), us(r, (double)s->median),
			us(r, (double)s->longest), percent(r, s->total));
	else
		fputs("             -           -            -    0.00 %\n", f);
}

static void put_shares(FILE *f, const struct recording *r)
{
	struct share all = periods_inactive(r);

	fputs("  inactive by         periods  shortest, us  median, us  longest, us  of the time\n",
	      f);
	for (int i = 0; i < NR_CAUSES; i++) {
		struct share s = periods_share(r, i);

		put_share(f, r, cause_name(i), &s);
	}
	put_share(f, r, "all", &all);
}

/* More than an interval can be off. */
static bool is_no_tick(double interval_ns, double tick_ns)
{
	return tick_ns > 0 && fabs(interval_ns / tick_ns - 1) > 0.01;
}

static void put_timer(FILE *f, const struct recording *r,
		      const struct watcher *w)
{
	const char *unit = unit_name(w);
	const struct timer *t = &r->timer;
	struct share timer = periods_share(r, CAUSE_TIMER);

	if (t->interval > 0)
		fprintf(f, "  timer interval      %.5f ms +- %.6f (%.2f per second), %zu of %zu seen\n",
			ms(r, t->interval), ms(r, t->error),
			1e3 / ms(r, t->interval), t->seen, t->expected);
	if (t->interval > 0 && is_no_tick(ms(r, t->interval) * 1e6, w->tick_ns))
		fputs("                      not the kernel's tick: a timer that was more regular here\n",
		      f);
	if (!t->interval)
		fputs("  timer interval      none seen: inactive periods do not come at even times\n",
		      f);
	if (r->least_ns > 0)
		fprintf(f, "  an interrupt costs  at least %.2f us (%.0f %s)%s\n",
			r->least_ns / 1e3, r->least_ns / r->ns, unit,
			timer.count ? "" : ", as seen after the recording");
	else
		fputs("  an interrupt costs  unknown: no timer interrupts without a switch agree\n",
		      f);
}

static void put_interrupts(FILE *f, const struct recording *r)
{
	size_t count = r->interrupts.count;

	if (!count)
		return;
	fputs("  Linux counted      ", f);
	for (size_t i = 0; i < count && i < INTERRUPTS; i++) {
		const struct interrupt *one = &r->interrupts.list[i];

		fprintf(f, "%s %" PRIu64 " %s", i ? "," : "", one->count,
			*one->what ? one->what : one->name);
	}
	fprintf(f, "%s\n", count > INTERRUPTS ? ", and others" : "");
}

static void put_periods(FILE *f, const struct activity *a,
			const struct recording *r)
{
	const char *unit = unit_name(&a->watcher);
	size_t count = periods_count(r), i;

	fprintf(f, "\n  period     start, %-6s   start, ms  duration, %-6s  duration, ms  by\n",
		unit, unit);
	for (i = 0; i < count && i < 2 * a->listed; i++) {
		struct period p = periods_at(r, i);

		fprintf(f, "  %c%-6zu %15" PRIu64 " %11.3f %17" PRIu64 " %13.6f  %s\n",
			p.gap ? 'I' : 'A', p.index, p.begin,
			ms(r, (double)p.begin), p.end - p.begin,
			ms(r, (double)(p.end - p.begin)),
			p.gap ? cause_name(p.gap->cause) : "");
	}
	if (i < count)
		fprintf(f, "  and %zu more: --periods N lists them, --csv and --json have all\n",
			count - i);
}

static void put_recording(FILE *f, const struct activity *a,
			  const struct recording *r)
{
	struct share inactive = periods_inactive(r);
	char *load = load_text(r->load);

	fprintf(f, "\nCPU %d, %s, %.3f ms\n\n", a->watcher.cpu, load,
		ms(r, (double)r->length));
	fprintf(f, "  active              %.3f ms, %.2f %%, in %zu periods\n",
		ms(r, (double)(r->length - inactive.total)),
		percent(r, r->length - inactive.total), r->count + 1);
	if (r->full)
		fputs("  it ended early: too many inactive periods; use --threshold\n",
		      f);
	put_timer(f, r, &a->watcher);
	put_interrupts(f, r);
	if (r->stolen > 0)
		fprintf(f, "  the host took       %.2f s of all CPUs\n",
			r->stolen);
	fputc('\n', f);
	put_shares(f, r);
	if (a->listed)
		put_periods(f, a, r);
	free(load);
}

static void put_quality(FILE *f, const char *clock,
			const struct tense_clock_quality *q)
{
	if (q->latency_ns > 0)
		fprintf(f, "%s: resolution %.1f ns, a reading takes %.1f ns\n",
			clock, q->resolution_ns, q->latency_ns);
}

int activity_text(FILE *f, const struct activity *a)
{
	const struct watcher *w = &a->watcher;
	char *counter = counter_text(w);

	fprintf(f, "\n%s; a turn of the loop takes %" PRIu64 " %s\n", counter,
		w->turn, unit_name(w));
	fprintf(f, "inactive is what is longer than %" PRIu64 " %s, %.2f us\n",
		w->threshold, unit_name(w),
		(double)w->threshold * w->counter.ns / 1e3);
	put_quality(f, "cycle counter", &w->counter.counter);
	put_quality(f, "clock_gettime()", &w->counter.gettime);
	if (w->tick_ns > 0)
		fprintf(f, "a tick of the kernel is %.3f ms, as it says\n",
			w->tick_ns / 1e6);
	free(counter);
	for (size_t i = 0; i < a->count; i++)
		put_recording(f, a, &a->recordings[i]);
	return ferror(f) ? -1 : 0;
}
