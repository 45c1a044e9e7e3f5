// SPDX-License-Identifier: GPL-2.0
#include "pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libtense/symbols/debug-file.h"
#include "names/loader.h"
#include "base/paths.h"
#include "names/program.h"
#include "base/util.h"

#define LINKS_MAX	40	/* the kernel follows as many */

static void add(struct pack *p, const char *path, const struct stat *st,
		int directory)
{
	archive_add(&p->files, path, st, directory);
	if (p->files.size > p->most)
		die(STATUS_FAILED, "the files for the guest take more than the %llu MB that its memory of %llu MB has room for: --memory gives it more, or run the command in a directory with less in it",
		    (unsigned long long)p->most >> 20, p->memory_mib);
}

/* On the way to a file. */
struct way {
	char real[PATH_MAX];	/* so far, without links; "" is the root */
	char rest[PATH_MAX];
	int links;
};

/* Puts the link's target before the rest of the path. */
static bool follow(struct way *w, const char *link)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	errno = ELOOP;
	if (++w->links > LINKS_MAX)
		return false;
	errno = ENAMETOOLONG;
	if (snprintf(rest, sizeof(rest), "%s%s", target, w->rest) >=
	    (int)sizeof(rest))
		return false;
	memcpy(w->rest, rest, strlen(rest) + 1);
	if (*target == '/')
		*w->real = '\0';
	return true;
}

static bool step(struct pack *p, struct way *w, const char *name)
{
	char next[PATH_MAX], *slash = strrchr(w->real, '/');
	struct stat st;

	if (!strcmp(name, "."))
		return true;
	if (!strcmp(name, "..")) {
		if (slash)
			*slash = '\0';
		return true;
	}
	errno = ENAMETOOLONG;
	if (snprintf(next, sizeof(next), "%s/%s", w->real, name) >=
	    (int)sizeof(next))
		return false;
	if (lstat(next, &st))
		return false;
	add(p, next, &st, -1);
	if (S_ISLNK(st.st_mode))
		return follow(w, next);
	memcpy(w->real, next, strlen(next) + 1);
	return true;
}

/* Where a relative path begins. */
static bool start(struct way *w, const char *path)
{
	char directory[PATH_MAX] = "";

	if (*path != '/' && !getcwd(directory, sizeof(directory)))
		return false;
	errno = ENAMETOOLONG;
	return snprintf(w->rest, sizeof(w->rest), "%s/%s", directory, path) <
	       (int)sizeof(w->rest);
}

/*
 * Packs a file, and the directories and links on its path. Returns its path
 * without links, which the caller frees, or NULL with errno.
 */
static char *add_path(struct pack *p, const char *path)
{
	struct way w = { 0 };

	if (!start(&w, path))
		return NULL;
	for (;;) {
		const char *from = w.rest + strspn(w.rest, "/");
		size_t len = strcspn(from, "/");
		char name[NAME_MAX + 1];

		if (!len)
			return xstrdup(*w.real ? w.real : "/");
		errno = ENAMETOOLONG;
		if (len > NAME_MAX)
			return NULL;
		memcpy(name, from, len);
		name[len] = '\0';
		memmove(w.rest, from + len, strlen(from + len) + 1);
		if (!step(p, &w, name))
			return NULL;
	}
}

/* The index of the writable directory that a path is in, or -1. */
static int watched(const struct pack *p, const char *path)
{
	size_t best = 0;
	int index = -1;

	for (int i = 0; p->writable[i]; i++) {
		size_t len = strlen(p->writable[i]);

		if (len > best && !strncmp(p->writable[i], path, len) &&
		    path[len] == '/') {
			best = len;
			index = i;
		}
	}
	return index;
}

static void note_object(struct pack *p, const char *path)
{
	p->objects = xrealloc(p->objects,
			      (p->nr_objects + 1) * sizeof(*p->objects));
	p->objects[p->nr_objects++] = xstrdup(path);
}

static bool is_omitted(const struct pack *p, const char *path)
{
	for (size_t i = 0; p->omitted && p->omitted[i]; i++)
		if (!strcmp(p->omitted[i], path))
			return true;
	return false;
}

static void add_tree(struct pack *p, const char *path);

static void add_found(struct pack *p, const char *path)
{
	struct stat st;

	/* Gone, or a type that means nothing in another machine. */
	if (lstat(path, &st) || S_ISSOCK(st.st_mode) || S_ISBLK(st.st_mode) ||
	    S_ISCHR(st.st_mode) || is_omitted(p, path))
		return;
	add(p, path, &st, watched(p, path));
	if (S_ISDIR(st.st_mode))
		add_tree(p, path);
	if (S_ISREG(st.st_mode) && (st.st_mode & 0111 || strstr(path, ".so")))
		note_object(p, path);
}

/* Adds the contents of a directory. Skips one that the user cannot read. */
static void add_tree(struct pack *p, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *name;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		name = xprintf("%s/%s", path, entry->d_name);
		add_found(p, name);
		free(name);
	}
	if (dir)
		closedir(dir);
}

/* Where the guest's kernel has file systems of its own. */
static void check_place(const char *path)
{
	static const char *const kernel[] = { "/dev", "/proc", "/sys" };

	for (size_t i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++) {
		size_t len = strlen(kernel[i]);

		if (!strncmp(path, kernel[i], len) &&
		    (path[len] == '/' || !path[len]))
			die(STATUS_FAILED, "%s: what is in %s cannot be packed for a guest: use another directory",
			    path, kernel[i]);
	}
}

void pack_writable(struct pack *p)
{
	for (int i = 0; p->writable[i]; i++) {
		check_place(p->writable[i]);
		free(add_path(p, p->writable[i]));
		add_tree(p, p->writable[i]);
	}
}

struct listing {
	struct pack *pack;
	char *missing;
	size_t found;
};

static void add_listed(void *arg, const char *name, const char *path)
{
	struct listing *l = arg;
	char *old = l->missing;

	if (path) {
		free(add_path(l->pack, path));
		l->found++;
		return;
	}
	l->missing = old ? xprintf("%s, %s", old, name) : xstrdup(name);
	free(old);
}

/* The loader that is to be asked, or NULL if there is nothing to ask. */
static char *choose_loader(const struct pack *p, const char *path)
{
	GElf_Ehdr header;
	char *loader = NULL;
	Elf *elf;
	int fd;

	if (tense_elf_open(path, &fd, &elf))
		return NULL;
	if (gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64 &&
	    (header.e_type == ET_DYN || header.e_type == ET_EXEC)) {
		loader = loader_of(elf);
		/* A library, which something may load. */
		if (!loader && header.e_type == ET_DYN && p->loader)
			loader = xstrdup(p->loader);
	}
	tense_elf_close(fd, elf);
	return loader;
}

/*
 * Packs the libraries of a file. Returns NULL, or an error, which the caller
 * frees.
 */
static char *add_libraries(struct pack *p, const char *path)
{
	struct listing l = { .pack = p };
	char *loader = choose_loader(p, path);
	char *why = NULL, *objection;
	int status;

	if (!loader)
		return NULL;
	if (access(loader, X_OK))
		objection = xprintf("%s: %s", loader, strerror(errno));
	else
		objection = loader_objection(loader);
	if (objection) {
		why = xprintf("%s: its loader %s", path, objection);
		free(objection);
		free(loader);
		return why;
	}
	free(add_path(p, loader));
	status = loader_list(loader, path, add_listed, &l);
	if (l.missing)
		why = xprintf("%s: libraries that are not found: %s", path,
			      l.missing);
	else if (status && !l.found)
		why = xprintf("%s: its loader %s cannot load it", path, loader);
	if (!p->loader)
		p->loader = loader;
	else
		free(loader);
	free(l.missing);
	return why;
}

/* Packs the env(1) of a script, once: it may itself be a script, and name another one. */
static void add_via(struct pack *p, const char *via)
{
	char *real = realpath(via, NULL);
	bool known = !real || archive_has(&p->files, real);

	free(add_path(p, via));
	if (!known)
		note_object(p, real);
	free(real);
}

/*
 * Packs a program, or a script with its interpreters. Returns NULL, or an
 * error, which the caller frees.
 */
static char *add_program(struct pack *p, const char *name)
{
	char *path = xstrdup(name), *next, *via, *why = NULL;
	int depth = 0;

	while (depth++ < SCRIPT_DEPTH && (next = script_interpreter(path, &via, &why))) {
		free(add_path(p, path));
		if (via)
			add_via(p, via);
		free(via);
		free(path);
		path = next;
	}
	free(add_path(p, path));
	if (!why)
		why = add_libraries(p, path);
	free(path);
	return why;
}

int pack_command(struct pack *p, const char *name)
{
	char *path = find_command(name), *why;

	if (!path)
		return errno;
	why = add_program(p, path);
	if (why)
		die(STATUS_NOT_FOUND, "%s", why);
	free(path);
	return 0;
}

void pack_file(struct pack *p, const char *path)
{
	char *program = strchr(path, '/') || !access(path, F_OK) ? NULL :
			find_command(path);
	char *real = add_path(p, program ? program : path);
	struct stat st;

	free(program);
	if (!real || stat(real, &st) || access(real, R_OK))
		die(STATUS_FAILED, "--file %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		add_tree(p, real);
	else
		note_object(p, real);
	free(real);
}

static void add_if_there(struct pack *p, const char *path)
{
	if (path && *path == '/' && !access(path, F_OK))
		free(add_path(p, path));
}

/* Where a program that is to be somewhere else can find it. */
static void add_ours(struct pack *p, const char *part)
{
	char *path = find_part(part);

	if (!access(path, R_OK)) {
		free(add_path(p, path));
		note_object(p, path);
	}
	free(path);
}

static void add_locale(struct pack *p)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (!value || !*value)
			continue;
		if (strcmp(value, "C") != 0 && strcmp(value, "POSIX") != 0)
			add_if_there(p, "/usr/lib/locale/locale-archive");
		return;
	}
}

void pack_rest(struct pack *p)
{
	static const char *const files[] = {
		"/dev", "/proc", "/sys", "/tmp", "/run", "/var/tmp",
		"/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
		"/etc/hosts", "/etc/localtime", "/etc/ld.so.cache",
		"/etc/ld.so.preload",
		/* Loaded when a thread is cancelled. */
		"/lib/x86_64-linux-gnu/libgcc_s.so.1",
	};
	const struct stat console = {
		.st_mode = S_IFCHR | 0600, .st_rdev = makedev(5, 1),
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		add_if_there(p, files[i]);
	add_if_there(p, getenv("HOME"));
	add_if_there(p, getenv("TMPDIR"));
	add_locale(p);
	add_if_there(p, "/usr/lib/locale/C.utf8");
	if (!access("/usr/lib/locale/C.utf8", F_OK))
		add_tree(p, "/usr/lib/locale/C.utf8");
	add(p, "/dev/console", &console, -1);
	add_ours(p, PATH_LIBTENSE);
	add_ours(p, PATH_LIBTENSE_FUNCTIONS);
	add_ours(p, PATH_LIBTENSE_REDIRECT);
	for (size_t i = 0; i < p->nr_objects; i++)
		free(add_program(p, p->objects[i]));
}

void pack_free(struct pack *p)
{
	archive_free(&p->files);
	free(p->loader);
	for (size_t i = 0; i < p->nr_objects; i++)
		free(p->objects[i]);
	free(p->objects);
}
