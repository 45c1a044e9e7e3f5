// SPDX-License-Identifier: GPL-2.0
#include "site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fatal-signals.h"
#include "base/paths.h"
#include "base/util.h"
#include "run/kernel.h"
#include "run/packed/backend-exact.h"

static struct slurm *begin_exactly(const struct engine *engine)
{
	char *cache = backend_exact_cache();
	const struct slurm_ask ask = {
		.shared = engine->directory ? engine->directory : cache,
		.options = engine->options, .cpus = 1,
		.needs = "Debian's package qemu-system-x86",
	};
	struct slurm *s = slurm_begin(&ask);

	/* The cache has the kernel and the emulator already. */
	backend_exact_share(engine->directory ? slurm_private(s) : NULL,
			    slurm_directory(s));
	free(cache);
	return s;
}

static void begin_natively(struct whatif_site *site)
{
	const struct engine *engine = site->guest->engine;
	unsigned int cpus = site->guest->run->cpus;
	char *kernel = site->kernel;
	char *cache = xprintf("%.*s", (int)(base_name(kernel) - kernel - 1), kernel);
	const struct slurm_ask ask = {
		.shared = engine->directory ? engine->directory : cache,
		.options = engine->options, .cpus = cpus,
		.needs = "this tense, the command and its files",
	};

	site->slurm = slurm_begin(&ask);
	/* The cache has the kernel already. */
	if (engine->directory) {
		site->kernel = native_batch_share(kernel, slurm_private(site->slurm));
		free(kernel);
	}
	site->batch = (struct native_batch){
		.argv = site->guest->argv, .kernel = site->kernel, .cpus = cpus,
	};
	free(cache);
}

void whatif_site_begin(struct whatif_site *site, const struct whatif_guest *guest)
{
	sigset_t signals;

	*site = (struct whatif_site){
		.guest = guest, .exact = guest->run->deterministic,
	};
	if (site->exact) {
		run_options_end(guest->options, guest->run);
		backend_exact_prepare(guest->run);
	} else if (guest->engine->slurm) {
		/* Now, because ^C should end a build. */
		site->kernel = kernel_build("um");
	} else {
		site->directory = whatif_guest_answers(guest);
	}
	/* A signal must leave no job in the queue, and lose no answer: jobs_wait() takes it. */
	launch_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &site->mask);
	if (guest->engine->slurm && site->exact)
		site->slurm = begin_exactly(guest->engine);
	else if (guest->engine->slurm)
		begin_natively(site);
}

/* Standard output carries the guest's answer; standard error is the user's. */
static void redirect_output(struct run *run, int answer)
{
	if (dup2(answer, STDOUT_FILENO) < 0)
		die(STATUS_FAILED, "cannot redirect standard output: %s",
		    strerror(errno));
	run->closed[STDOUT_FILENO] = false;
}

static int run_exactly(const struct whatif_site *site, const struct job *job,
		       const struct whatif_site_job *what)
{
	struct run *run = site->guest->run;

	whatif_guest_send(run, what->write, what->arg);
	run->seed = what->seed;
	run->discard = !what->keeps_files;
	redirect_output(run, job->answer);
	if (site->slurm)
		run->remote = slurm_batch(site->slurm, site->first_batch + job->number);
	return whatif_guest_run(site->guest, what->command, "-");
}

int whatif_site_run(const struct whatif_site *site, const struct job *job,
		    const struct whatif_site_job *what)
{
	char *directory;
	int status;

	if (site->exact)
		return run_exactly(site, job, what);
	if (!site->slurm)
		return whatif_guest_job(site->guest, job, site->directory, what->command,
					what->write, what->arg);
	directory = slurm_batch(site->slurm, site->first_batch + job->number);
	status = native_batch_run(&site->batch, directory, what->write, what->arg,
				  job->answer);
	free(directory);
	return status;
}

int whatif_site_watch(struct whatif_site *site, unsigned int begun)
{
	return site->slurm ? slurm_watch(site->slurm, site->first_batch + begun) : 0;
}

bool whatif_site_has_begun(const struct whatif_site *site, unsigned int job)
{
	return !site->slurm || slurm_has_begun(site->slurm, site->first_batch + job);
}

char *whatif_site_node(const struct whatif_site *site, unsigned int job)
{
	return site->slurm && !site->exact ?
	       slurm_node(site->slurm, site->first_batch + job) : NULL;
}

void whatif_site_restart_jobs(struct whatif_site *site, unsigned int begun)
{
	site->first_batch += begun;
}

void whatif_site_end(struct whatif_site *site)
{
	if (site->slurm) {
		slurm_end(site->slurm);
		free(site->kernel);
	} else if (!site->exact) {
		whatif_guest_answers_end(site->directory);
	}
	fatal_signals_drop();
	sigprocmask(SIG_SETMASK, &site->mask, NULL);
}
