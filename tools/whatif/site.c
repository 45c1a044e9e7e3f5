// SPDX-License-Identifier: GPL-2.0
#include "site.h"

#include <stdlib.h>

#include "base/fatal-signals.h"
#include "base/paths.h"
#include "base/util.h"
#include "run/kernel.h"

static void begin_slurm(struct whatif_site *site)
{
	const struct engine *engine = site->guest->engine;
	unsigned int cpus = site->guest->run->cpus;
	char *kernel = kernel_build("um");
	char *cache = xprintf("%.*s", (int)(base_name(kernel) - kernel - 1), kernel);
	const struct slurm_ask ask = {
		.shared = engine->directory ? engine->directory : cache,
		.options = engine->options, .cpus = cpus ? cpus : 1,
		.needs = "this tense, the command and its files",
	};
	sigset_t signals;

	/* A signal must leave no job in the queue: jobs_wait() takes it. */
	launch_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &site->mask);
	site->slurm = slurm_begin(&ask);
	/* The cache has the kernel already. */
	site->kernel = engine->directory ?
		       native_batch_share(kernel, slurm_private(site->slurm)) :
		       xstrdup(kernel);
	site->batch = (struct native_batch){
		.argv = site->guest->argv, .kernel = site->kernel, .cpus = cpus,
	};
	free(cache);
	free(kernel);
}

void whatif_site_begin(struct whatif_site *site, const struct whatif_guest *guest)
{
	*site = (struct whatif_site){ .guest = guest };
	if (guest->engine->slurm)
		begin_slurm(site);
	else
		site->directory = whatif_guest_answers(guest);
}

int whatif_site_run(const struct whatif_site *site, const struct job *job,
		    const char *command,
		    int (*write)(FILE *f, const void *arg), const void *arg)
{
	char *directory;
	int status;

	if (!site->slurm)
		return whatif_guest_job(site->guest, job, site->directory, command,
					write, arg);
	directory = slurm_batch(site->slurm, site->first_batch + job->number);
	status = native_batch_run(&site->batch, directory, write, arg, job->answer);
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
	return site->slurm ? slurm_node(site->slurm, site->first_batch + job) : NULL;
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
		fatal_signals_drop();
		sigprocmask(SIG_SETMASK, &site->mask, NULL);
	} else {
		whatif_guest_answers_end(site->directory);
	}
}
