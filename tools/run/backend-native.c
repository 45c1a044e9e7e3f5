// SPDX-License-Identifier: GPL-2.0
/* Runs the command here, on a kernel that has /dev/tense. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "backend.h"
#include "base/paths.h"
#include "trace-file.h"
#include "base/util.h"

#define WINDOW_PARAMETER	"/sys/module/tense/parameters/window"

extern char **environ;

static bool native_usable(void)
{
	return access(TENSE_DEVICE, R_OK | W_OK) == 0;
}

/* It is set when the module is loaded. */
void backend_native_check_window(const struct run *run)
{
	unsigned long long window = TENSE_WINDOW_NS;
	FILE *f = fopen(WINDOW_PARAMETER, "re");

	if (f && fscanf(f, "%llu", &window) != 1)
		window = 0;
	if (f)
		fclose(f);
	if (window != run->window_ns)
		die(STATUS_FAILED, "--window: here tense.ko was loaded with a window of %llu ns: load it with window=%" PRIu64 ", or use --backend uml",
		    window, run->window_ns);
}

static int close_streams(void *arg, const char **what)
{
	const struct run *run = arg;

	(void)what;
	for (int i = 0; i < 3; i++)
		if (run->closed[i])
			close(i);
	return 0;
}

static void tell_started(void *arg)
{
	const struct run *run = arg;

	if (run->started)
		run->started(run->started_arg);
}

/* The shell is to see that the command stopped. */
static void stop_too(void *arg, int sig)
{
	(void)arg;
	(void)sig;
	raise(SIGSTOP);
}

static int take_part(void *arg, const struct trace_part *part, const void *data)
{
	trace_file_add(arg, part, sizeof(*part));
	trace_file_add(arg, data, part->size);
	return 0;
}

static void native_run(const struct run *run, struct outcome *out,
		       void **stats)
{
	struct trace_record record = { .take = take_part, .arg = run->trace };
	struct samples_record samples = {
		.ask = run->samples, .take = take_part, .arg = run->trace,
	};
	char **env = run->real ? environ : preload_environment();
	struct launch l = {
		.argv = run->argv,
		.env = env,
		.percent = run->real ? 0 : run->percent,
		.experiment = run->experiment,
		.prepare = run->prepare,
		.input = run->input,
		.choice = run->choice,
		.stats = run->stats,
		.tty = -1,
		.ignored = run->ignored,
		.mask = run->mask,
		.setup = close_streams,
		.started = tell_started,
		.stopped = stop_too,
		.arg = (void *)run,
	};

	if ((!run->real || run->device) && access(TENSE_DEVICE, R_OK | W_OK)) {
		if (errno == EACCES)
			die(STATUS_FAILED, TENSE_DEVICE ": permission denied: "
			    "add yourself to the group tense, or use --backend uml");
		die(STATUS_FAILED, TENSE_DEVICE ": %s: load tense.ko on a patched kernel, or use --backend uml",
		    strerror(errno));
	}
	if (run->window_ns)
		backend_native_check_window(run);
	if (run->trace && run->trace->buffer_kib) {
		record.buffer_kib = run->trace->buffer_kib;
		l.record = &record;
	}
	if (run->trace && run->samples.period_ns)
		l.samples = &samples;
	launch(&l, out, stats);
	preload_environment_free(env);
}

const struct backend backend_native = {
	.name = "native",
	.probes = true,
	.usable = native_usable,
	.run = native_run,
};
