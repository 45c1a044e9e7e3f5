// SPDX-License-Identifier: GPL-2.0
#include "timed.h"

#include <fcntl.h>
#include <linux/tense.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

bool in_experiment;
static int device = -1;

bool has_module(void)
{
	return getenv("TENSE_KO");
}

bool has_experiments(void)
{
	return has_module() || getenv("TENSE_TIMED");
}

void load_experiments(void)
{
	int err = has_module() ? module_load() : 0;

	if (err) {
		dprintf(STDOUT_FILENO, "Bail out! cannot load tense.ko: %s\n",
			strerror(-err));
		exit(1);
	}
}

/* Nothing may be left of what ran. */
void unload_experiments(const char *after)
{
	const char *complaint;
	int err;

	if (!has_module())
		return;
	err = module_unload();
	check(!err, "%s: the module can be removed", after);
	if (err)
		note("%s", strerror(-err));
	complaint = module_complaint();
	check(!complaint, "%s: the kernel does not complain", after);
	if (complaint)
		note("%.200s", complaint);
}

bool join_experiment(void)
{
	if (!has_experiments())
		return true;
	device = open(TENSE_DEVICE, O_RDWR);
	in_experiment = device >= 0;
	return in_experiment;
}

void leave_experiment(void)
{
	close(device);
	device = -1;
	in_experiment = false;
}

void close_experiment_on_exec(void)
{
	fcntl(device, F_SETFD, FD_CLOEXEC);
}

bool set_percent(int percent)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", percent);

	return write(device, text, n) == n;
}

struct account account_of(pid_t tid)
{
	struct {
		struct tense_stats stats;
		struct tense_thread threads[256];
	} *buffer = calloc(1, sizeof(*buffer));
	struct account account = { 0 };

	if (!buffer)
		abort();
	if (read(device, buffer, sizeof(*buffer)) > 0) {
		account.elapsed = buffer->stats.elapsed;
		account.tasks = buffer->stats.tasks;
		account.all.charged = buffer->stats.charged;
		account.all.ran = buffer->stats.ran;
		for (size_t i = 0; i < buffer->stats.threads && i < 256; i++)
			if (buffer->threads[i].pid == tid) {
				account.one.charged = buffer->threads[i].charged;
				account.one.ran = buffer->threads[i].ran;
			}
	}
	free(buffer);
	return account;
}

int64_t virtual_now(void)
{
	return lseek(device, 0, SEEK_CUR);
}

void virtual_begin(struct virtual_span *span)
{
	span->outer = in_experiment ? virtual_now() : 0;
}

void virtual_inner_begin(struct virtual_span *span)
{
	span->inner = in_experiment ? virtual_now() : 0;
}

void virtual_inner_end(struct virtual_span *span)
{
	span->inner = in_experiment ? virtual_now() - span->inner : 0;
}

void virtual_end(struct virtual_span *span)
{
	span->outer = in_experiment ? virtual_now() - span->outer : 0;
}

/* A clock was read between the readings of the device, at either end. */
bool virtual_fits(const struct virtual_span *span, int64_t took)
{
	return !in_experiment || (took >= span->inner && took <= span->outer);
}
