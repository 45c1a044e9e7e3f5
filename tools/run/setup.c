// SPDX-License-Identifier: GPL-2.0
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/tense.h>

#include "base/duration.h"
#include "base/util.h"
#include "cpus.h"
#include "kernel.h"
#include "memory.h"

static const struct backend *const backends[] = {
	&backend_native,
	&backend_uml,
	&backend_qemu,
};

#define NR_BACKENDS (sizeof(backends) / sizeof(backends[0]))

bool backend_find(const char *name, const struct backend **backend)
{
	*backend = NULL;
	if (strcmp(name, "auto") == 0)
		return true;
	for (size_t i = 0; i < NR_BACKENDS && !*backend; i++)
		if (strcmp(backends[i]->name, name) == 0)
			*backend = backends[i];
	return *backend;
}

/* Is an option only for guests? */
static bool is_for_guest(const struct run *run)
{
	return run->kernel || run->cpus || run->memory_mib;
}

static void check_machine(const struct backend *b, const struct run *run)
{
	unsigned int most = cpus_most(b);

	if (!most && is_for_guest(run))
		die(STATUS_FAILED, "--kernel, --cpus and --memory apply only to guests; the back end %s uses this machine",
		    b->name);
	/* --cpus is within what the others can have. */
	if (most && run->cpus > most)
		die(STATUS_FAILED, "--cpus %u: Linux 6.1 has one CPU in User-Mode Linux: use --kernel 7.2 or --backend qemu",
		    run->cpus);
}

/*
 * Two CPUs of a virtual machine on one of the host's would stop each other. The
 * time that a stopped one loses would look like time of its program. User-Mode
 * Linux knows that time.
 */
static void check_host(const struct run *run)
{
	unsigned int most = machine_cpus();

	if (run->cpus > most)
		die(STATUS_FAILED, "--cpus %u: tense may use %u of this machine's CPUs, and a virtual machine cannot have more: use --kernel 7.2 --backend uml, or --deterministic",
		    run->cpus, most);
}

/* Only a guest that is emulated can do that. */
static void check_exact(const struct backend *asked)
{
	if (asked && asked != &backend_qemu)
		die(STATUS_FAILED, "--deterministic: instructions are counted by the back end qemu, not by %s",
		    asked->name);
}

/* User-Mode Linux has several CPUs at native speed, but not in each version of Linux. */
static const struct backend *for_several_cpus(const struct backend *asked,
					      const struct run *run)
{
	kernel_choose_for_uml();
	if (kernel_uml_cpus() > 1)
		return &backend_uml;
	if (asked)
		return asked;
	if (!kernel_is_decided())
		warn("--cpus %u: without Linux 7.2 or 7.3, a virtual machine runs the command, which is slow without KVM",
		     run->cpus);
	return &backend_qemu;
}

static void choose_kernel_for_uml(void)
{
	if (!kernel_choose_for_uml())
		warn("the guest runs Linux 6.1, on which it has one CPU and a system call takes twice as long: set TENSE_KERNEL_VERSION=6.1 to skip the fetch and this message");
}

/* With one CPU, it traces programs where the host forbids filters. */
static void check_filters(const struct run *run)
{
	if (run->cpus > 1 && cpus_filters_error())
		die(STATUS_FAILED, "--cpus %u: several CPUs need seccomp filters, which this host forbids: use one CPU, or let the container set filters",
		    run->cpus);
}

/* Where --cpus fails, a default is what the guest can have. */
static void choose_default_cpus(const struct backend *b, struct run *run)
{
	char *error = cpus_environment_error(), *asked, *words;
	struct cpus_default d;

	if (error)
		die(STATUS_FAILED, "%s", error);
	d = cpus_default(b, run);
	run->cpus = d.cpus;
	if (!d.limit)
		return;
	words = cpus_text(d.cpus);
	asked = d.wanted ? xprintf("TENSE_CPUS is %u, but ", d.wanted) : xstrdup("");
	warn("%sthe guest has %s, because %s: --cpus and TENSE_CPUS set another number, and TENSE_CPUS=%u silences this message",
	     asked, words, d.limit, d.cpus);
	free(asked);
	free(words);
}

const struct backend *backend_choose(const struct backend *asked,
				     const struct backend *exact, struct run *run)
{
	if (run->deterministic) {
		check_exact(asked);
		if (!run->cpus)
			choose_default_cpus(exact, run);
		return exact;
	}
	if (run->cpus > 1 && (!asked || asked == &backend_uml))
		asked = for_several_cpus(asked, run);
	if (asked == &backend_qemu)
		check_host(run);
	for (size_t i = 0; i < NR_BACKENDS && !asked; i++) {
		if ((!is_for_guest(run) || backends[i]->cpus_max) && backends[i]->usable())
			asked = backends[i];
	}
	if (!asked)
		die(STATUS_FAILED, "no back end can be used: see tense check");
	if (asked == &backend_uml && run->cpus <= 1)
		choose_kernel_for_uml();
	check_machine(asked, run);
	if (asked == &backend_uml)
		check_filters(run);
	if (!run->cpus && asked->cpus_max)
		choose_default_cpus(asked, run);
	return asked;
}

struct machine setup_machine(const struct run *run, const struct backend *backend)
{
	struct machine m = { .cpus = backend->cpus_max ? run->cpus : machine_cpus() };
	struct utsname here;

	uname(&here);
	snprintf(m.release, sizeof(m.release), "%s",
		 backend->cpus_max ? kernel_version() : here.release);
	return m;
}

bool setup_is_cpus_list(const char *text)
{
	return strchr(text, ',') || strstr(text, "..");
}

void setup_cpus(struct run *run, const char *text)
{
	if (setup_is_cpus_list(text))
		die(STATUS_FAILED, "--cpus %s: --cpus takes one number here; a list is for tense whatif",
		    text);
	run->cpus = cpus_parse(text);
	if (!run->cpus)
		die(STATUS_FAILED, "--cpus %s: should be a number from 1 to %u", text,
		    backend_qemu.cpus_max);
}

void setup_window(struct run *run, const char *text)
{
	double seconds, ns = 0;

	if (!parse_duration(text, &seconds))
		ns = round(seconds * 1e9);
	if (ns < TENSE_WINDOW_MIN_NS || ns > TENSE_WINDOW_MAX_NS)
		die(STATUS_FAILED, "--window %s: should be a time from %dus to %dms, such as 500us",
		    text, TENSE_WINDOW_MIN_NS / 1000,
		    TENSE_WINDOW_MAX_NS / 1000000);
	run->window_ns = (uint64_t)ns;
}

char *setup_directory(const char *text)
{
	char *path = realpath(text, NULL);
	struct stat st;

	if (!path || stat(path, &st))
		die(STATUS_FAILED, "--rw %s: %s", text, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		die(STATUS_FAILED, "--rw %s: not a directory", text);
	return path;
}

static int shorter(const void *a, const void *b)
{
	size_t la = strlen(*(char *const *)a), lb = strlen(*(char *const *)b);

	return (la > lb) - (la < lb);
}

/*
 * The current directory is writable, too, unless it is the root: that would
 * be everything. A directory comes before those in it, which it would hide.
 */
void setup_writable(struct run *run, char **dirs, size_t n)
{
	size_t kept = 0;

	if (strcmp(run->directory, "/") != 0)
		dirs[n++] = xstrdup(run->directory);
	qsort(dirs, n, sizeof(*dirs), shorter);
	for (size_t i = 0; i < n; i++) {
		size_t j;

		for (j = 0; j < kept && strcmp(dirs[j], dirs[i]) != 0; j++)
			;
		if (j == kept)
			dirs[kept++] = dirs[i];
		else
			free(dirs[i]);
	}
	dirs[kept] = NULL;
	run->writable = dirs;
}

void setup_caller(struct run *run)
{
	for (int i = 0; i < 3; i++) {
		run->closed[i] = fcntl(i, F_GETFD) < 0;
		/* Keeps other files from taking its place. */
		if (run->closed[i] && open("/dev/null", O_RDWR) != i)
			die(STATUS_FAILED, "/dev/null: %s", strerror(errno));
	}
	for (int sig = 1; sig < SIGRTMIN; sig++) {
		struct sigaction action;

		if (!sigaction(sig, NULL, &action) &&
		    action.sa_handler == SIG_IGN)
			run->ignored |= 1ULL << (sig - 1);
	}
	sigprocmask(SIG_SETMASK, NULL, &run->mask);
	/*
	 * Otherwise the kernel reaps the children of tense, and nobody can wait for them. The
	 * command gets SIGCHLD as it was.
	 */
	signal(SIGCHLD, SIG_DFL);
}

/* Guests that count instructions need no CPU of their own, but all of their memory. */
static unsigned int exact_guests(const struct run *run)
{
	unsigned long long guests = memory_machine_mib() / 2 /
				    memory_choose_mib(run, EXACT_MEMORY_MIB);

	return guests < machine_cpus() ? guests : machine_cpus();
}

unsigned int setup_guests(const struct run *run)
{
	unsigned int guests = run->deterministic ? exact_guests(run) :
			      machine_cpus() / run->cpus;

	return guests ? guests : 1;
}

int setup_status(const struct outcome *out, char **argv)
{
	switch (out->kind) {
	case OUTCOME_EXITED:
		return out->value;
	case OUTCOME_SIGNALED:
		return STATUS_SIGNAL + out->value;
	case OUTCOME_NOT_RUN:
		warn("%s: %s", argv[0], command_error(argv[0], out->value));
		return out->value == ENOENT ? STATUS_NOT_FOUND :
					      STATUS_NOT_EXECUTABLE;
	case OUTCOME_UNPREPARED:
		warn("%s", out->text);
		return 1;
	default:
		warn("%s", out->text);
		return STATUS_FAILED;
	}
}
