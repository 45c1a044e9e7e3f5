// SPDX-License-Identifier: GPL-2.0
/*
 * Runs tests on the debug kernel, one after the other, and adds one result to those
 * that they print: the kernel has complained of nothing, and has lost no memory,
 * meanwhile.
 * Where the host shares a directory, with COVERAGE as its tag, the counts of the
 * lines that the module ran are there afterwards.
 *
 * Usage: debug-watch PROGRAM [ARGUMENT]... [+ PROGRAM [ARGUMENT]...]...
 */
#include "watch.h"

#include <fnmatch.h>
#include <ftw.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Memory has to be older for the kernel to take it for lost. */
#define LEAK_SECONDS	6

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof(*(a)))

/* Patterns of warnings that say nothing of what is tested here. */
static const char *const noise[] = {
	/* Any module that the kernel was not shipped with. */
	"tense: loading out-of-tree module taints kernel.",
	/* As the test of that asked for. */
	"tense: window=* is not in *",
	/* The host has stopped an emulated CPU. */
	"hrtimer: interrupt took * ns",
	"sched: DL replenish lagged too much",
	"sched: RT throttling activated",
	/* The CPU that a task was bound to went offline. */
	"process * (*) no longer affine to cpu*",
	/* Deeper than return probes nest, as the test is. */
	"prepare_uretprobe: * callbacks suppressed",
	/* Memory was refused, as the test of that asked for. */
	"kmemleak: Cannot allocate a scan area, scanning the full object",
	"uprobe: *:* failed to dup ret instances",
	"Huh VM_FAULT_OOM leaked out to the #PF handler. Retrying PF",
	"pagefault_out_of_memory: * callbacks suppressed",
};

static const char *running;
static bool complained;
/* The program that the last heading named. */
static const char *blamed;

static void tell(const char *result)
{
	watch_tell(result, "the kernel complains of nothing");
}

/* Each line of a text as a diagnostic, after the result. */
static void complain(const char *text)
{
	if (!complained)
		tell("not ok");
	complained = true;
	if (blamed != running)
		printf("# while, or since, %s ran:\n", running);
	blamed = running;
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		printf("# %.*s\n", (int)(end - text), text);
	}
}

static bool is_noise(const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(noise); i++)
		if (!fnmatch(noise[i], text, 0))
			return true;
	return false;
}

static void check_record(char *record)
{
	const char *text = log_warning(record);

	if (!text && complained)
		text = log_continued(record);
	if (text && !is_noise(text))
		complain(*text ? text : "an empty line");
}

static void check_log(int kmsg)
{
	char record[RECORD_MAX];
	ssize_t n;

	for (;;) {
		n = log_read(kmsg, record);
		if (n == -EPIPE) {
			complain("the kernel's log has overflown");
			continue;
		}
		if (n <= 0)
			break;
		check_record(record);
	}
	if (n < 0)
		complain("cannot read the kernel's log");
}

/* After its first report the kernel looks at no lock any more. */
static void check_locks(void)
{
	FILE *f = fopen("/proc/lockdep_stats", "r");
	char line[256];
	int on = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, " debug_locks: %d", &on);
	if (f)
		fclose(f);
	if (!on)
		complain("the kernel does not check its locks");
}

static void scan(FILE *leaks)
{
	if (fputs("scan", leaks) < 0 || fflush(leaks))
		complain("cannot look for lost memory");
}

/* Lost is what two scans find, unchanged. */
static void check_memory(void)
{
	FILE *leaks = fopen("/sys/kernel/debug/kmemleak", "r+");
	char line[256];

	if (!leaks) {
		complain("the kernel does not look for lost memory");
		return;
	}
	scan(leaks);
	sleep(LEAK_SECONDS);
	scan(leaks);
	rewind(leaks);
	while (fgets(line, sizeof(line), leaks))
		complain(line);
	fclose(leaks);
}

/* --- coverage --- */

#define COUNTS "/sys/kernel/debug/gcov"
#define SHARED "/tmp/coverage"

/* Files of the kernel's have no size. */
static bool copy(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char block[4096];
	size_t n;
	bool good = in && out;

	while (good && (n = fread(block, 1, sizeof(block), in)) > 0)
		good = fwrite(block, 1, n, out) == n;
	good = good && !ferror(in);
	if (in)
		fclose(in);
	if (out && fclose(out))
		good = false;
	return good;
}

static int copied;

static int copy_counts(const char *path, const struct stat *status, int type,
		       struct FTW *ftw)
{
	const char *name = path + ftw->base;
	char to[256];

	(void)status;
	if (type != FTW_F || fnmatch("*.gcda", name, 0))
		return 0;
	snprintf(to, sizeof(to), SHARED "/%s", name);
	if (!copy(path, to))
		return -1;
	copied++;
	return 0;
}

/* Symbolic links lead to the notes of the compiler, which are not here. */
static void save_counts(const char *tag)
{
	mkdir(SHARED, 0700);
	if (mount(tag, SHARED, "9p", 0, "trans=virtio,version=9p2000.L") ||
	    nftw(COUNTS, copy_counts, 16, FTW_PHYS) || !copied)
		printf("Bail out! cannot save the counts of lines: %s\n",
		       strerror(errno));
	umount(SHARED);
}

/* Cuts the arguments at the first "+", and returns the rest; NULL if there is none. */
static char **cut(char **argv)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, "+")) {
			*argv = NULL;
			return argv + 1;
		}
	return NULL;
}

/* Runs all, even if one fails. */
static bool run_all(char **argv, int kmsg)
{
	bool good = true;

	for (char **rest; argv; argv = rest) {
		rest = cut(argv);
		running = argv[0];
		if (rest || results)
			printf("# %s\n", running);
		if (watch_run(argv))
			good = false;
		check_log(kmsg);
	}
	return good;
}

int main(int argc, char **argv)
{
	const char *tag = getenv("COVERAGE");
	int kmsg = log_open();
	bool good;

	if (argc < 2 || kmsg < 0 ||
	    mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL)) {
		perror("Bail out! debug-watch");
		return 1;
	}
	good = run_all(argv + 1, kmsg);
	check_memory();
	check_locks();
	check_log(kmsg);
	if (!complained)
		tell("ok");
	watch_end();
	if (tag)
		save_counts(tag);
	return !good;
}
