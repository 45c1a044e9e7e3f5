// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings whose parts and pages are damaged, read and shown in every way. Their formats
 * are good ones, because libtraceevent trusts what the kernel says there; but a field may be
 * anywhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake-recording.h"
#include "fake-story.h"
#include "fuzz.h"
#include "trace/output.h"

static void show(const struct trace *t)
{
	static char *argv[] = { "program", NULL };
	struct trace_about about = { .argv = argv, .backend = "uml" };
	FILE *f = fopen("/dev/null", "we");
	struct model m;

	if (!f)
		abort();
	model_build(&m, t, NULL);
	trace_svg(f, &m, &about);
	trace_chrome(f, &m, &about);
	about.virtual_axis = true;
	trace_chrome(f, &m, &about);
	trace_table(f, &m, &about);
	trace_table_json(f, &m, &about);
	model_free(&m);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fake_recording r = { 0 };
	uint32_t place[3];
	struct trace t;
	char *error;

	if (size >= sizeof(place) && *data == 'f') {
		memcpy(place, data, sizeof(place));
		data += sizeof(place);
		size -= sizeof(place);
		fake_begin_switch(&r, STORY_LAUNCHER, place[1], place[2]);
	} else {
		fake_begin(&r, STORY_LAUNCHER, STORY_PROGRAM, STORY_VIRTUAL);
	}
	r.data = realloc(r.data, r.size + size);
	if (!r.data)
		abort();
	memcpy(r.data + r.size, data, size);
	r.size += size;
	error = trace_read(&t, r.data, r.size);
	if (!error) {
		show(&t);
		trace_free(&t);
	}
	free(error);
	fake_free(&r);
	return 0;
}
