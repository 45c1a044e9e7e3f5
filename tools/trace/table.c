// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json-text.h"
#include "output.h"
#include "base/util.h"

/* A column of times has one unit, so that the eye can compare. */
static double seconds(uint64_t ns)
{
	return ns / 1e9;
}

static uint64_t elapsed(const struct model *m)
{
	return m->stats ? m->stats->gvt : m->virtual_end;
}

void trace_table(FILE *f, const struct model *m,
		 const struct trace_about *about)
{
	char *machine = machine_text(&about->machine);

	fprintf(f, "\n%zu thread%s on %s, %.6f s virtual, %.6f s real\n\n",
		m->nr_lanes, m->nr_lanes == 1 ? "" : "s", machine, seconds(elapsed(m)),
		seconds(about->real_ns));
	free(machine);
	fprintf(f, "  %7s  %-15s %14s %12s %12s %11s %10s\n", "thread", "name",
		"percent", "virtual s", "real s", "gated s", "migrations");
	for (size_t i = 0; i < m->nr_lanes; i++) {
		const struct lane *l = &m->lanes[i];
		char *percent = lane_percent(l);

		fprintf(f, "  %7d  %-15.15s %14s %12.6f %12.6f %11.6f %10u\n",
			l->pid, l->name, percent, seconds(lane_charged(l)),
			seconds(lane_ran(l)), seconds(lane_gated(l)),
			l->migrations);
		free(percent);
	}
	fputs("\n", f);
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *lane_json(const struct lane *l)
{
	json_t *percents = json_array();

	for (unsigned int i = 0; i < l->nr_percents; i++)
		json_array_append_new(percents,
			json_real((double)l->percents[i] / TENSE_FINE));
	return json_pack(
		"{si si so so sf so so so so so si}",
		"pid", (int)l->pid,
		"tgid", (int)l->tgid,
		"name", json_text(l->name, strlen(l->name)),
		"percents", percents,
		"mean_percent", (double)l->mean_percent / TENSE_FINE,
		"virtual_ns", integer(lane_charged(l)),
		"real_ns", integer(lane_ran(l)),
		"gated_ns", integer(lane_gated(l)),
		"recorded_virtual_ns", integer(l->charged),
		"recorded_real_ns", integer(l->ran),
		"migrations", (int)l->migrations);
}

int trace_table_json(FILE *f, const struct model *m,
		     const struct trace_about *about)
{
	json_t *command = json_array(), *threads = json_array(), *root;

	for (char *const *arg = about->argv; *arg; arg++)
		json_array_append_new(command, json_text(*arg, strlen(*arg)));
	for (size_t i = 0; i < m->nr_lanes; i++)
		json_array_append_new(threads, lane_json(&m->lanes[i]));
	root = json_pack("{si so ss so si so so so so si so so}",
		"version", TRACE_JSON_VERSION,
		"command", command,
		"backend", about->backend,
		"machine", machine_json(&about->machine),
		"status", about->status,
		"elapsed_virtual_ns", integer(elapsed(m)),
		"elapsed_real_ns", integer(about->real_ns),
		"recorded_ns", integer(m->end),
		"window_ns", integer(m->window),
		"cpus", (int)m->cpus,
		"lost_events", integer(m->lost),
		"threads", threads);
	return json_write(f, root);
}
