// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/tense.h>
#include <zlib.h>

#include "commands.h"
#include "run/cpus.h"
#include "run/emulator.h"
#include "run/kernel.h"
#include "base/json-text.h"
#include "base/machine.h"
#include "base/options.h"
#include "base/paths.h"
#include "names/program.h"
#include "run/qemu-machine.h"
#include "base/util.h"

#define CHECK_JSON_VERSION	1

enum { JSON = 1 };

static const struct option_row options[] = {
	{ "json", NULL, NULL, JSON, "print JSON" },
	OPTIONS_END
};

struct item {
	const char *name;
	const char *what;
	bool good;
	char *detail;
	char *mend;		/* NULL if there is nothing to do */
};

/* 1 or 0, or -1 where the kernel's configuration cannot be read. */
static int kernel_patched(void)
{
	struct utsname name;
	char line[256], *path;
	int found = 0;
	gzFile f;

	/* Reads plain text as well. */
	f = gzopen("/proc/config.gz", "r");
	if (!f) {
		uname(&name);
		path = xprintf("/boot/config-%s", name.release);
		f = gzopen(path, "r");
		free(path);
	}
	if (!f)
		return -1;
	while (gzgets(f, line, sizeof(line)))
		if (!strcmp(line, "CONFIG_TENSE=y\n"))
			found = 1;
	gzclose(f);
	return found;
}

static void check_device(struct item *item)
{
	if (!access(TENSE_DEVICE, R_OK | W_OK)) {
		item->good = true;
		item->detail = xstrdup("here, `tense run` uses it");
	} else if (errno == EACCES) {
		item->detail = xstrdup("permission denied");
		item->mend = xstrdup("adduser \"$USER\" tense, then log in again");
	} else {
		item->detail = xstrdup(strerror(errno));
		if (kernel_patched() == 1)
			item->mend = xstrdup("make module KDIR=/lib/modules/$(uname -r)/build && insmod build/module/tense.ko");
	}
}

static void check_kernel(struct item *item)
{
	struct utsname name;
	int patched = kernel_patched();

	uname(&name);
	item->good = patched == 1;
	item->detail = xprintf("%s %s", name.release,
			       patched == 1 ? "has CONFIG_TENSE" :
			       patched == 0 ? "is without CONFIG_TENSE" :
			       "does not tell its configuration");
}

/*
 * The directory may not exist yet. Even root may be refused by a file system,
 * so try.
 */
static bool can_write_in(const char *directory)
{
	char *copy = xstrdup(directory), *path = copy, *probe;
	bool result;

	while (access(path, F_OK) && errno == ENOENT)
		path = dirname(path);
	probe = xprintf("%s/.tense-XXXXXX", path);
	result = mkdtemp(probe) && !rmdir(probe);
	free(probe);
	free(copy);
	return result;
}

static void check_cache(struct item *item)
{
	char *directory = kernel_directory("um");

	if (directory)
		*strrchr(directory, '/') = '\0';
	item->good = directory && can_write_in(directory);
	item->detail = !directory ? xstrdup("cannot tell") : item->good ?
		       xstrdup(directory) :
		       xprintf("%s: %s", directory, strerror(errno));
	if (!item->good)
		item->mend = xstrdup("TENSE_CACHE=DIRECTORY tense run true");
	free(directory);
}

static void check_built(struct item *item)
{
	char *directory = kernel_directory("um");
	char *module;

	if (!directory) {
		item->detail = xstrdup("cannot tell");
		item->mend = xstrdup("install tense again");
		return;
	}
	module = xprintf("%s/tense.ko", directory);
	item->good = !access(module, R_OK);
	item->detail = item->good ? directory : xstrdup("not built yet");
	if (!item->good) {
		item->mend = xstrdup("tense run true");
		free(directory);
	}
	free(module);
}

/* Returns one command for the packages of all lines that name some, or NULL. */
static char *install_command(const char *missing)
{
	static const char install[] = "apt-get install ";
	char *command = NULL, *longer;

	for (const char *at = missing; (at = strstr(at, install)); ) {
		at += strlen(install);
		longer = xprintf("%s%s%.*s", command ? command : install, command ? " " : "",
				 (int)strcspn(at, "\n"), at);
		free(command);
		command = longer;
	}
	return command;
}

static void check_build_tools(struct item *item)
{
	char *missing = kernel_missing("um");

	item->good = !missing;
	if (!missing) {
		item->detail = xstrdup("all here");
		return;
	}
	item->mend = install_command(missing);
	item->detail = missing;
	for (char *p = missing; *p; p++)
		if (*p == '\n')
			*p = ' ';
}

static void check_part(struct item *item, const char *part, int mode)
{
	char *path = find_part(part);

	item->good = !access(path, mode);
	item->detail = item->good ? path :
		       xprintf("%s: %s", path, strerror(errno));
	if (!item->good) {
		item->mend = xstrdup("make user");
		free(path);
	}
}

static void check_guest_init(struct item *item)
{
	check_part(item, PATH_GUEST_INIT, X_OK);
}

static void check_library(struct item *item)
{
	check_part(item, PATH_LIBTENSE, R_OK);
}

/* Where the host forbids filters, User-Mode Linux traces its processes. */
static void check_filters(struct item *item)
{
	int error = cpus_filters_error();

	item->good = !error;
	item->detail = xstrdup(error ? strerror(error) : "allowed");
	if (error)
		item->mend = xstrdup("start the container with --security-opt seccomp=unconfined");
}

/* As many as a guest has without --cpus if it is of uml, which `tense run` prefers. */
static void check_cpus(struct item *item)
{
	struct run run = { 0 };
	struct cpus_default d;
	char *error = cpus_environment_error();

	item->good = !error;
	if (error) {
		item->detail = error;
		item->mend = xstrdup("unset TENSE_CPUS");
		return;
	}
	d = cpus_default(&backend_uml, &run);
	if (d.limit && d.wanted)
		item->detail = xprintf("%u, not the %u of TENSE_CPUS, because %s", d.cpus,
				       d.wanted, d.limit);
	else if (d.limit)
		item->detail = xprintf("%u, because %s", d.cpus, d.limit);
	else
		item->detail = xprintf("%u, %s", d.cpus, d.wanted ? "as TENSE_CPUS says" :
				       d.cpus == machine_cpus() ? "all that tense may use" :
				       "all that its kernel can have");
}

/* Some containers forbid it. */
static void check_ptrace(struct item *item)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? errno : 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		status = errno << 8;
	item->good = WIFEXITED(status) && !WEXITSTATUS(status);
	item->detail = xstrdup(item->good ? "allowed" :
			       strerror(WEXITSTATUS(status)));
	if (!item->good)
		item->mend = xstrdup("sysctl kernel.yama.ptrace_scope=1, or start the container with --cap-add=SYS_PTRACE");
}

/*
 * QEMU runs guests with several CPUs on Linux 6.1. Without KVM it emulates them, which
 * is better than no guest.
 */
static void check_qemu(struct item *item)
{
	char *path = find_command(QEMU_PROGRAM);

	item->good = path;
	if (!path) {
		item->detail = xstrdup("not installed, which several CPUs on Linux 6.1 need");
		item->mend = xstrdup("apt-get install qemu-system-x86");
		return;
	}
	item->detail = xprintf("%s, %s", path,
			       !access("/dev/kvm", R_OK | W_OK) ?
			       "to be tried with KVM" :
			       errno == EACCES ? "no permission for /dev/kvm" :
			       "without KVM: emulates");
	free(path);
}

/* For --deterministic, which fetches it when it is used first. */
static void check_emulator(struct item *item)
{
	char *path = emulator_path(), *missing;

	item->good = path;
	item->detail = path;
	if (path)
		return;
	missing = emulator_missing();
	item->detail = missing ? missing :
		       xstrdup("not here, fetched when it is used first");
	if (!missing)
		item->mend = xstrdup("tense run --deterministic true");
	for (char *p = item->detail; *p; p++)
		if (*p == '\n')
			*p = ' ';
}

static const struct {
	const char *name;
	const char *what;
	void (*check)(struct item *item);
} checks[] = {
	{ "device", TENSE_DEVICE, check_device },
	{ "kernel", "this kernel", check_kernel },
	{ "guest_kernel", "kernel for guests", check_built },
	{ "build_tools", "tools to build it", check_build_tools },
	{ "cache", "cache to build in", check_cache },
	{ "guest_init", "guest-init", check_guest_init },
	{ "library", "libtense", check_library },
	{ "cpus", "CPUs of a guest", check_cpus },
	{ "filters", "seccomp filters", check_filters },
	{ "ptrace", "ptrace", check_ptrace },
	{ "qemu", "QEMU", check_qemu },
	{ "qemu_counting", "QEMU that counts", check_emulator },
};

enum { DEVICE, KERNEL, GUEST_KERNEL, BUILD_TOOLS, CACHE, GUEST_INIT, LIBRARY,
       CPUS, FILTERS, PTRACE, QEMU, QEMU_COUNTING, NR_CHECKS };

_Static_assert(sizeof(checks) / sizeof(checks[0]) == NR_CHECKS, "one each");

/* Can User-Mode Linux keep its programs in hand? */
static bool can_confine(const struct item *items)
{
	return items[PTRACE].good ||
	       (items[FILTERS].good && kernel_uses_filters());
}

static bool can_run(const struct item *items)
{
	if (!items[LIBRARY].good)
		return false;
	return items[DEVICE].good ||
	       (items[GUEST_INIT].good && items[CPUS].good && can_confine(items) &&
		(items[GUEST_KERNEL].good ||
		 (items[BUILD_TOOLS].good && items[CACHE].good)));
}

/* Is an item worth mending? `tense run` may do without it. */
static bool matters(const struct item *items, int i)
{
	if (items[i].good)
		return false;
	switch (i) {
	case DEVICE:
	case KERNEL:
		return items[i].mend;
	case BUILD_TOOLS:
	case CACHE:
		return !items[DEVICE].good && !items[GUEST_KERNEL].good;
	case LIBRARY:
		return true;
	case FILTERS:
	case PTRACE:
		return !items[DEVICE].good && !can_confine(items);
	case QEMU:
	case QEMU_COUNTING:
		return false;
	default:
		return !items[DEVICE].good;
	}
}

static void print_table(const struct item *items)
{
	for (int i = 0; i < NR_CHECKS; i++) {
		printf("%-8s %-18s %s\n", items[i].good ? "ok" :
		       matters(items, i) ? "missing" : "-", items[i].what,
		       items[i].detail);
		if (matters(items, i) && items[i].mend)
			printf("%-8s %-18s   %s\n", "", "", items[i].mend);
	}
	if (items[DEVICE].good)
		puts("\n`tense run` works here: native.");
	else if (can_run(items))
		printf("\n`tense run` works here: uml%s.\n",
		       items[GUEST_KERNEL].good ? "" :
		       ", after it has built a kernel, which takes minutes");
	else
		puts("\n`tense run` does not work here yet.");
}

static int print_json(const struct item *items)
{
	json_t *list = json_object(), *root;

	for (int i = 0; i < NR_CHECKS; i++)
		json_object_set_new(list, items[i].name, json_pack(
			"{sb ss* ss*}", "ok", items[i].good,
			"detail", items[i].detail, "mend", items[i].mend));
	root = json_pack("{si sb so}", "version", CHECK_JSON_VERSION,
			 "ok", can_run(items), "items", list);
	return json_print(root);
}

static int main_check(int argc, char **argv)
{
	struct item items[NR_CHECKS] = { 0 };
	bool json = false, good;

	while (options_take(&cmd_check, argc, argv) != -1)
		json = true;
	if (options_refuse_operands(&cmd_check, argc, argv))
		return STATUS_FAILED;

	kernel_expect_for_uml();
	for (int i = 0; i < NR_CHECKS; i++) {
		items[i].name = checks[i].name;
		items[i].what = checks[i].what;
		checks[i].check(&items[i]);
	}
	if (!json)
		print_table(items);
	else if (print_json(items))
		exit(STATUS_FAILED);
	good = can_run(items);
	for (int i = 0; i < NR_CHECKS; i++) {
		free(items[i].detail);
		free(items[i].mend);
	}
	return good ? 0 : 1;
}

const struct subcommand cmd_check = {
	.name = "check",
	.summary = "check what tense needs on this machine, and how to get it",
	.run = main_check,
	.usage =
		"Usage: tense check [--json]\n"
		"\n"
		"Checks what `tense run` needs. Prints what this machine has and what it lacks,\n"
		"with the command that gets it.\n",
	.options = options,
	.examples =
		"  tense check --json | jq -r '.items[].mend // empty'\n",
	.notes =
		"Exit status: 0 if `tense run` works, 1 if not, 125 if misused.\n",
};
