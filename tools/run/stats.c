// SPDX-License-Identifier: GPL-2.0
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <linux/tense.h>

#include "base/json-text.h"
#include "base/machine.h"
#include "base/util.h"
#include "setup.h"
#include "time-unit.h"

/* A column of times has one unit, so that the eye can compare. */
static double seconds(uint64_t ns)
{
	return ns / 1e9;
}

static void row(FILE *f, const char *name, uint64_t ns)
{
	fprintf(f, "  %-26s %14.6f s\n", name, seconds(ns));
}

static const struct tense_thread *threads_of(const struct tense_stats *s)
{
	return (const void *)((const char *)s + s->size);
}

/*
 * A system call or page fault in User-Mode Linux costs two switches between
 * processes of the host, where one natively is a fraction of a microsecond. If the
 * guest does not trace its programs, half of the cost counts as theirs. The times come
 * from ticks, so small ones mean nothing.
 */
static void hint(FILE *f, const struct outcome *out)
{
	if (2 * out->system_ns <= out->user_ns || out->system_ns < 200000000)
		return;
	fprintf(f,
		"\n"
		"  Much CPU time went into system calls and page faults: the guest's kernel\n"
		"  took %.2f s. Each of them costs 4 to 20 us in User-Mode Linux, so do not\n"
		"  take these figures for those of the program on real hardware.\n",
		seconds(out->system_ns));
}

static void thread_row(FILE *f, const struct tense_thread *t)
{
	char name[sizeof(t->comm) + 1] = "";

	memcpy(name, t->comm, sizeof(t->comm));
	mask_controls(name);
	fprintf(f, "  %7d  %-15s %7u %13.6f %13.6f %11.6f %11.6f\n", t->pid, name,
		t->percent, seconds(t->charged), seconds(t->ran), seconds(t->gated),
		seconds(t->overhead));
}

void stats_print(FILE *f, const struct run *run, const struct backend *backend,
		 const struct outcome *out, const void *stats)
{
	bool uml = backend == &backend_uml;
	const struct machine machine = setup_machine(run, backend);
	char *on = machine_text(&machine);
	const struct tense_stats *s = stats;
	const struct tense_thread *t;

	fputs("\n", f);
	if (run->deterministic)
		fprintf(f, "Times are counts of %s\n\n", time_unit_text());
	if (!s) {
		fprintf(f, "Real time, no experiment, on %s\n\n", on);
		free(on);
		row(f, "elapsed", out->real_ns);
		row(f, "CPU time, user", out->user_ns);
		row(f, "CPU time, system", out->system_ns);
		if (uml)
			hint(f, out);
		fputs("\n", f);
		return;
	}
	fprintf(f, "%u thread%s in virtual time on %s\n\n", s->tasks_total,
		s->tasks_total == 1 ? "" : "s", on);
	free(on);
	row(f, "elapsed, virtual", s->gvt);
	row(f, "elapsed, real", s->elapsed);
	row(f, "CPU time, virtual", s->charged);
	row(f, "CPU time, real", s->ran);
	row(f, "gated", s->gated);
	row(f, "worst skew", s->skew);
	row(f, "beyond the window, user", s->over_user);
	row(f, "beyond the window, kernel", s->over_kernel);
	row(f, "overhead given back", s->overhead);
	fprintf(f, "\n  %7s  %-15s %7s %13s %13s %11s %11s\n", "thread",
		"name", "percent", "virtual s", "real s", "gated s",
		"overhead s");
	t = threads_of(s);
	for (uint32_t i = 0; i < s->threads; i++, t++)
		thread_row(f, t);
	if (s->threads < s->tasks_total)
		fprintf(f, "  and %u that ended earlier\n",
			s->tasks_total - s->threads);
	fputs("\n  tense-run(1) explains these figures.\n", f);
	if (uml)
		hint(f, out);
	fputs("\n", f);
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *experiment(const struct tense_stats *s)
{
	const struct tense_thread *t = threads_of(s);
	json_t *list = json_array();

	for (uint32_t i = 0; i < s->threads; i++, t++)
		json_array_append_new(list, json_pack(
			"{si si so si sb so so so so}",
			"pid", (int)t->pid,
			"tgid", (int)t->tgid,
			"name", json_text(t->comm, strnlen(t->comm,
						      sizeof(t->comm))),
			"percent", (int)t->percent,
			"exited", !!(t->flags & TENSE_THREAD_EXITED),
			"virtual_ns", integer(t->charged),
			"real_ns", integer(t->ran),
			"gated_ns", integer(t->gated),
			"overhead_ns", integer(t->overhead)));

	return json_pack(
		"{so so so so so so so so so so so so so so}",
		"elapsed_virtual_ns", integer(s->gvt),
		"elapsed_real_ns", integer(s->elapsed),
		"cpu_virtual_ns", integer(s->charged),
		"cpu_real_ns", integer(s->ran),
		"gated_ns", integer(s->gated),
		"window_ns", integer(s->window),
		"worst_skew_ns", integer(s->skew),
		"worst_over_user_ns", integer(s->over_user),
		"worst_over_kernel_ns", integer(s->over_kernel),
		"overhead_ns", integer(s->overhead),
		"call_ns", integer(s->call),
		"deadlines", integer(s->deadlines),
		"threads_total", integer(s->tasks_total),
		"threads", list);
}

int stats_json(FILE *f, const struct run *run, const struct backend *backend,
	       int status, const struct outcome *out, const void *stats)
{
	json_t *command = json_array(), *root;
	const struct machine machine = setup_machine(run, backend);

	for (char **arg = run->argv; *arg; arg++)
		json_array_append_new(command, json_text(*arg, strlen(*arg)));
	root = json_pack("{si so ss so sb ss so si so so so so}",
		"version", STATS_JSON_VERSION,
		"command", command,
		"backend", backend->name,
		"machine", machine_json(&machine),
		"deterministic", run->deterministic,
		"time_unit", run->deterministic ? "instructions" : "ns",
		"percent", run->real ? json_null() : integer(run->percent),
		"status", status,
		"elapsed_real_ns", integer(out->real_ns),
		"user_ns", integer(out->user_ns),
		"system_ns", integer(out->system_ns),
		"experiment", stats ? experiment(stats) : json_null());
	return json_write(f, root);
}
