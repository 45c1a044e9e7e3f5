// SPDX-License-Identifier: GPL-2.0
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/remove-tree.h"
#include "base/stream.h"
#include "base/util.h"
#include "run/engine/native-batch.h"
#include "run/packed/backend-exact.h"
#include "run/setup.h"

void whatif_guest_send(struct run *run, int (*write)(FILE *f, const void *arg),
		       const void *arg)
{
	int fd = memfd_create("request", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f || write(f, arg) || lseek(fd, 0, SEEK_SET) ||
	    dup2(fd, STDIN_FILENO) < 0)
		die(STATUS_FAILED, "cannot send the request to the guest: %s",
		    strerror(errno));
	fclose(f);
	run->closed[STDIN_FILENO] = false;
}

/* Returns the status of the guest's tense. *ended says whether that came to its end. */
static int run_guest(const struct whatif_guest *g, const char *command,
		     const char *answer, bool *ended)
{
	char *argv[] = { find_part("bin/tense"), (char *)command, "--inside",
			 (char *)answer, NULL };
	struct outcome out;
	void *stats;
	int status;

	g->run->argv = argv;
	g->run->real = true;
	g->run->device = true;
	g->backend->run(g->run, &out, &stats);
	free(stats);
	status = setup_status(&out, argv);
	*ended = out.kind == OUTCOME_EXITED || out.kind == OUTCOME_SIGNALED;
	free(argv[0]);
	return status;
}

int whatif_guest_run(const struct whatif_guest *g, const char *command,
		     const char *answer)
{
	bool ended;

	return run_guest(g, command, answer, &ended);
}

/* The back end lets go of standard output as the command does. */
static int run_with_output(const struct whatif_guest *g, const char *command,
			   const char *answer)
{
	int output = stream_divert(STDOUT_FILENO, 0);
	int status = whatif_guest_run(g, command, answer);

	stream_bring_back(STDOUT_FILENO, output);
	return status;
}

static char *answer_path(const char *directory, unsigned int number)
{
	return xprintf("%s/answer-%u.json", directory, number);
}

char *whatif_guest_answers(const struct whatif_guest *g)
{
	char *dir = xprintf("%s/tense-XXXXXX", find_temporary());

	if (!mkdtemp(dir))
		die(STATUS_FAILED, "%s: %s", dir, strerror(errno));
	run_options_writable(g->options, g->run, xstrdup(dir));
	run_options_end(g->options, g->run);
	return dir;
}

/* A killed job may have left a part of its answer. */
void whatif_guest_answers_end(char *directory)
{
	remove_tree(directory);
	free(directory);
}

int whatif_guest_exchange(const struct whatif_guest *g,
			  const struct whatif_exchange *exchange)
{
	char *dir = whatif_guest_answers(g), *answer = answer_path(dir, 0);
	int status;

	whatif_guest_send(g->run, exchange->write, exchange->arg);
	status = run_with_output(g, exchange->command, answer);
	if (!status)
		exchange->read(answer, exchange->arg);
	free(answer);
	whatif_guest_answers_end(dir);
	return status;
}

static void copy_answer(const char *path, int to)
{
	int from = open(path, O_RDONLY | O_CLOEXEC);
	char text[65536];
	ssize_t n = -1;

	while (from >= 0 && (n = read(from, text, sizeof(text))) > 0)
		if (write_full(to, text, n))
			break;
	if (n)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	close(from);
}

int whatif_guest_job(const struct whatif_guest *g, const struct job *job,
		     const char *directory, const char *command,
		     int (*write)(FILE *f, const void *arg), const void *arg)
{
	char *answer = answer_path(directory, job->number);
	int status;

	g->run->place = job->place + 1;
	whatif_guest_send(g->run, write, arg);
	status = run_with_output(g, command, answer);
	if (!status)
		copy_answer(answer, job->answer);
	free(answer);
	return status;
}

int whatif_guest_batch(struct whatif_guest *g)
{
	int to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), status;
	char *dir, *answer;
	bool ended;

	native_batch_begin(g->engine->batch);
	g->run->cpus = g->engine->batch_cpus;
	g->backend = backend_choose(&backend_uml, &backend_exact, g->run);
	dir = whatif_guest_answers(g);
	answer = answer_path(dir, 0);
	/* The command's output must not mix with the answer. */
	if (to < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		die(STATUS_FAILED, "cannot redirect standard output: %s",
		    strerror(errno));
	status = run_guest(g, g->argv[0], answer, &ended);
	if (ended && dprintf(to, "%d\n", status) < 0)
		die(STATUS_FAILED, "cannot write an answer: %s", strerror(errno));
	if (!status)
		copy_answer(answer, to);
	free(answer);
	whatif_guest_answers_end(dir);
	return ended ? 0 : STATUS_FAILED;
}

void whatif_guest_environment(const struct whatif_guest *g,
			      struct whatif_environment *e,
			      const struct whatif_environment *here)
{
	if (g->run->deterministic)
		whatif_environment_exact(e, here->backend);
	else if (g->engine->slurm)
		whatif_environment_elsewhere(e, here->backend);
	else
		whatif_environment_below(e, here);
}
