// SPDX-License-Identifier: GPL-2.0
/* The kernels of guests, in the cache that kernel-build keeps. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "run/emulator.h"
#include "run/kernel.h"
#include "base/json-text.h"
#include "base/options.h"
#include "base/paths.h"
#include "base/remove-tree.h"
#include "run/packed/booted.h"
#include "base/util.h"

#define KERNEL_JSON_VERSION	1

enum { JSON = 1, UNUSED, ALL, VERSION };

static const struct option_row options[] = {
	OPTIONS_OPERAND("build",
			"build the kernels of these back ends, or of all, unless the cache has them"),
	OPTIONS_OPERAND("list", "list the content of the cache"),
	OPTIONS_OPERAND("remove",
			"remove entries of the cache by their names or by an option"),
	OPTIONS_HEADING("build", "build:"),
	{ "version", "VERSION", KERNEL_VERSIONS, VERSION,
	  "version of the kernels, 6.1, 7.2 or 7.3; default 7.3 or 7.2 for uml if its source can be fetched, otherwise 6.1" },
	OPTIONS_HEADING("list", "list:"),
	{ "json", NULL, NULL, JSON, "print JSON" },
	OPTIONS_HEADING("remove", "remove:"),
	{ "unused", NULL, NULL, UNUSED,
	  "remove what this version of tense does not use" },
	{ "all", NULL, NULL, ALL,
	  "remove everything, also the source and the compiler's cache" },
	OPTIONS_HEADING(NULL, "All of them:"),
	OPTIONS_END
};

static const struct {
	const char *backend;
	const char *arch;
	bool chooses_version;	/* see kernel_choose_for_uml() */
} guests[] = {
	{ "uml", "um", true },
	{ "qemu", "x86_64", false },
	/* From here on no back end's. */
	{ "tests", "debug", false },
	{ "tests", "um-debug", false },
};

#define NR_GUESTS (sizeof(guests) / sizeof(guests[0]))
/* The first ones. */
#define NR_BACKENDS 2

struct entry {
	char *name;
	const char *backend;	/* or who else; NULL: not a kernel */
	bool emulator;
	bool used;		/* by this version of tense */
	time_t last;
	unsigned long long size;
};

struct cache {
	char *path;
	struct entry *entries;
	size_t n;
};

static void __attribute__((noreturn)) misuse(const char *what, const char *arg)
{
	die(STATUS_FAILED, "kernel: %s '%s': see tense kernel --help", what,
	    arg);
}

/* A kernel's tree shares files with its source: each has its part of them. */
static unsigned long long counted;

static int count(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	(void)path;
	(void)type;
	(void)ftw;
	counted += st->st_blocks * 512ULL /
		   (S_ISDIR(st->st_mode) ? 1 : st->st_nlink);
	return 0;
}

/*
 * The part of a name before a key, as of kernel-build: ARCH-KEY[-KEY]. The longest
 * one counts: um-debug is not um.
 */
static const char *backend_of(const char *name)
{
	const char *backend = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < NR_GUESTS; i++) {
		size_t len = strlen(guests[i].arch);

		if (!strncmp(name, guests[i].arch, len) && name[len] == '-' &&
		    len > longest) {
			backend = guests[i].backend;
			longest = len;
		}
	}
	return backend;
}

static bool is_emulator(const char *name)
{
	return !strncmp(name, "qemu-", strlen("qemu-"));
}

/* The directories in which tests/run-tap and tests/lint/test-c keep passes. */
static bool is_of_tests(const char *name)
{
	return !strcmp(name, "passed") || !strcmp(name, "tidy");
}

static bool is_booted(const char *name)
{
	return !strncmp(name, BOOTED_PREFIX, strlen(BOOTED_PREFIX));
}

/* A kernel's modules, which are small, go with it, if it is still there. */
static bool is_module(const char *cache, const char *name)
{
	const char *last = strrchr(name, '-');
	bool found = false;
	char *kernel;

	if (last != strchr(name, '-')) {
		kernel = xprintf("%s/%.*s", cache, (int)(last - name), name);
		found = !access(kernel, F_OK);
		free(kernel);
	}
	return found;
}

static bool is_listed(const char *cache, const char *name)
{
	if (strstr(name, ".log") || strstr(name, ".count"))
		return false;
	if (backend_of(name))
		return !is_module(cache, name);
	return is_emulator(name) || !strncmp(name, "source-", strlen("source-")) ||
	       !strcmp(name, "ccache") || is_of_tests(name) || is_booted(name);
}

static const char *const versions[] = { KERNEL_VERSION_LIST };

#define NR_VERSIONS (sizeof(versions) / sizeof(versions[0]))

/* The paths of the kernels and the emulator that this version would use. */
struct current {
	char *kernel[NR_GUESTS * NR_VERSIONS];
	char *emulator;
};

static void find_kernels(struct current *current)
{
	for (size_t i = 0; i < NR_VERSIONS; i++) {
		kernel_choose(versions[i]);
		for (size_t j = 0; j < NR_GUESTS; j++)
			current->kernel[i * NR_GUESTS + j] =
				kernel_directory(guests[j].arch);
	}
}

static bool is_used(const struct current *current, const struct entry *e)
{
	size_t len = strlen(e->name);
	const char *place;

	if (e->emulator) {
		place = current->emulator ? strstr(current->emulator, e->name) :
					    NULL;
		return place && place[len] == '/';
	}
	for (size_t i = 0; i < NR_GUESTS * NR_VERSIONS; i++)
		if (current->kernel[i] &&
		    !strncmp(basename(current->kernel[i]), e->name, len))
			return true;
	return !e->backend;
}

static void add_entry(struct cache *c, const char *name,
		      const struct current *current)
{
	char *path = xprintf("%s/%s", c->path, name);
	struct stat st;
	struct entry *e;

	if (!lstat(path, &st) && S_ISDIR(st.st_mode)) {
		counted = 0;
		nftw(path, count, 16, FTW_PHYS);
		c->entries = xrealloc(c->entries, (c->n + 1) * sizeof(*e));
		e = &c->entries[c->n++];
		*e = (struct entry){
			.name = xstrdup(name), .backend = backend_of(name),
			.emulator = is_emulator(name),
			.last = st.st_mtime, .size = counted,
		};
		e->used = is_used(current, e);
	}
	free(path);
}

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void read_cache(struct cache *c)
{
	struct current current = { .emulator = emulator_path() };
	struct dirent *entry;
	DIR *dir;

	*c = (struct cache){ 0 };
	find_kernels(&current);
	if (!current.kernel[0])
		die(STATUS_FAILED, "cannot tell where the cache is");
	c->path = xstrdup(current.kernel[0]);
	*strrchr(c->path, '/') = '\0';
	dir = opendir(c->path);
	if (!dir && errno != ENOENT)
		die(STATUS_FAILED, "%s: %s", c->path, strerror(errno));
	while (dir && (entry = readdir(dir)))
		if (is_listed(c->path, entry->d_name))
			add_entry(c, entry->d_name, &current);
	if (dir)
		closedir(dir);
	if (c->n)
		qsort(c->entries, c->n, sizeof(*c->entries), by_name);
	for (size_t i = 0; i < NR_GUESTS * NR_VERSIONS; i++)
		free(current.kernel[i]);
	free(current.emulator);
}

static void cache_free(struct cache *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->entries[i].name);
	free(c->entries);
	free(c->path);
}

static const char *what(const struct entry *e)
{
	if (e->emulator)
		return "emulator";
	if (e->backend)
		return e->backend;
	if (!strcmp(e->name, "ccache"))
		return "compiler's cache";
	if (is_booted(e->name))
		return "saved boot";
	return is_of_tests(e->name) ? "results of tests" : "source";
}

static int list_json(const struct cache *c)
{
	json_t *list = json_array(), *root;

	for (size_t i = 0; i < c->n; i++) {
		const struct entry *e = &c->entries[i];

		json_array_append_new(list, json_pack(
			"{ss ss* sb sI sI}", "name", e->name, "backend",
			e->backend, "used", e->used, "size",
			(json_int_t)e->size, "last_use", (json_int_t)e->last));
	}
	root = json_pack("{si ss so}", "version", KERNEL_JSON_VERSION,
			 "cache", c->path, "entries", list);
	return json_print(root) ? STATUS_FAILED : 0;
}

#define MEGABYTE	1000000

static void list_sum(const struct cache *c)
{
	unsigned long long all = 0, unused = 0;

	for (size_t i = 0; i < c->n; i++) {
		all += c->entries[i].size;
		if (!c->entries[i].used)
			unused += c->entries[i].size;
	}
	printf("\n%llu MB in %s\n", all / MEGABYTE, c->path);
	if (unused >= MEGABYTE)
		printf("'tense kernel remove --unused' removes %llu MB that this version does not use\n",
		       unused / MEGABYTE);
}

static int list(const struct cache *c)
{
	char date[20];
	struct tm tm;

	if (!c->n) {
		printf("nothing in %s\n", c->path);
		return 0;
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct entry *e = &c->entries[i];

		strftime(date, sizeof(date), "%Y-%m-%d",
			 localtime_r(&e->last, &tm));
		printf("%-28s %-17s %5llu MB  %s%s\n", e->name, what(e),
		       e->size / MEGABYTE, date,
		       e->used ? "" : "  not used by this version");
	}
	list_sum(c);
	return 0;
}

/*
 * A directory that exists is complete. So it goes to where builds make theirs, and a build
 * removes what an interrupt leaves there.
 */
static int remove_told(const struct cache *c, const char *path)
{
	char *tmp = xprintf("%s/tmp", c->path), *away = xprintf("%s/%s", tmp, base_name(path));
	int status = 0;

	remove_tree(tmp);
	/* Another process may have removed it. */
	if ((mkdir(tmp, 0755) && errno != EEXIST) ||
	    (rename(path, away) && errno != ENOENT) || remove_tree(tmp)) {
		warn("%s: %s", path, strerror(errno));
		status = STATUS_FAILED;
	}
	free(away);
	free(tmp);
	return status;
}

/* The modules first: without them nobody takes the kernel for complete. */
static int remove_entry(const struct cache *c, const struct entry *e)
{
	char *prefix = xprintf("%s-", e->name), *path;
	DIR *dir = opendir(c->path);
	struct dirent *entry;
	int status = 0;

	while (dir && e->backend && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		path = xprintf("%s/%s", c->path, entry->d_name);
		status |= remove_told(c, path);
		free(path);
	}
	if (dir)
		closedir(dir);
	path = xprintf("%s/%s", c->path, e->name);
	status |= remove_told(c, path);
	free(path);
	path = xprintf("%s/%s.log", c->path, e->name);
	unlink(path);
	free(path);
	free(prefix);
	return status;
}

/* Refuses to delete during a build, which may be about to use an entry. */
static int lock(const struct cache *c)
{
	char *path = xprintf("%s/lock", c->path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		die(STATUS_FAILED, "something is being built or fetched: try again later");
	free(path);
	return fd;
}

static struct entry *find(const struct cache *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->entries[i].name, name))
			return &c->entries[i];
	return NULL;
}

static int remove_entries(struct cache *c, int argc, char **argv, bool unused,
			  bool all)
{
	int status = 0, fd;

	for (int i = 0; i < argc; i++)
		if (!find(c, argv[i]))
			misuse("not in the cache:", argv[i]);
	if (!c->n)
		return 0;
	fd = lock(c);
	for (size_t i = 0; i < c->n; i++) {
		bool named = false;

		for (int j = 0; j < argc; j++)
			named = named || !strcmp(argv[j], c->entries[i].name);
		if (named || all || (unused && !c->entries[i].used))
			status |= remove_entry(c, &c->entries[i]);
	}
	close(fd);
	return status;
}

static int build(int argc, char **argv)
{
	bool wanted[NR_BACKENDS] = { 0 }, decided = kernel_is_decided();

	for (int i = 0; i < argc; i++) {
		size_t j;

		for (j = 0; j < NR_BACKENDS; j++)
			if (!strcmp(argv[i], guests[j].backend))
				break;
		if (j == NR_BACKENDS)
			misuse("the back ends with a kernel are uml and qemu, not", argv[i]);
		wanted[j] = true;
	}
	for (size_t i = 0; i < NR_BACKENDS; i++) {
		char *directory;

		if (argc && !wanted[i])
			continue;
		if (guests[i].chooses_version && !kernel_choose_for_uml())
			warn("the source of Linux 7.2 or 7.3 cannot be fetched: building Linux 6.1 for uml");
		directory = kernel_build(guests[i].arch);
		puts(directory);
		free(directory);
		/* The choice for uml is not that for others. */
		if (!decided)
			kernel_choose_none();
	}
	return 0;
}

struct flags {
	const char *version;
	bool json;
	bool unused;
	bool all;
};

/* The index of the first argument that is no option. */
static int parse(int argc, char **argv, struct flags *f)
{
	int c;

	while ((c = options_take(&cmd_kernel, argc, argv)) != -1) {
		if (c == VERSION)
			f->version = optarg;
		f->json = f->json || c == JSON;
		f->unused = f->unused || c == UNUSED;
		f->all = f->all || c == ALL;
	}
	return optind;
}

static int main_kernel(int argc, char **argv)
{
	struct flags f = { 0 };
	struct cache cache;
	int first = parse(argc, argv, &f), status;
	const char *action = first < argc ? argv[first++] : "";
	bool is_list = !strcmp(action, "list");

	argc -= first;
	argv += first;
	if (!strcmp(action, "build") && !f.json && !f.unused && !f.all) {
		if (f.version)
			kernel_choose(f.version);
		return build(argc, argv);
	}
	if (f.version)
		misuse("--version is not for", action);
	if (is_list && (f.unused || f.all || argc))
		misuse("list takes no", argc ? argv[0] : "--all or --unused");
	if (!is_list && strcmp(action, "remove") != 0)
		misuse("the actions are build, list and remove, not", action);
	if (!is_list && (f.json || f.unused + f.all + (argc > 0) != 1))
		misuse("names, --unused or --all have to follow", action);
	read_cache(&cache);
	if (is_list)
		status = f.json ? list_json(&cache) : list(&cache);
	else
		status = remove_entries(&cache, argc, argv, f.unused, f.all);
	cache_free(&cache);
	return status;
}

const struct subcommand cmd_kernel = {
	.name = "kernel",
	.summary = "build, list and remove the kernels of guests",
	.run = main_kernel,
	.usage =
		"Usage: tense kernel build [--version VERSION] [uml|qemu]...\n"
		"       tense kernel list [--json]\n"
		"       tense kernel remove [--unused | --all | NAME...]\n"
		"\n"
		"Manages the kernels that tense builds for its guests, and the QEMU that it\n"
		"fetches to count instructions.\n",
	.options = options,
	.actions = "build list remove",
	.operands = "uml qemu",
	.examples =
		"  tense kernel build uml\n"
		"  tense kernel list\n"
		"  tense kernel remove --unused\n",
	.notes =
		"Exit status: 0 if that was done, 125 if not.\n",
};
