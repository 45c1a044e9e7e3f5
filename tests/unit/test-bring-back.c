// SPDX-License-Identifier: GPL-2.0
/*
 * A guest without the host's files brings back all files or nothing, and never
 * beyond the directory, whatever the guest and links say.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/packed/bring-back.h"
#include "run/proto.h"
#include "tap.h"

static char base[] = "/tmp/tense-test-XXXXXX";
static char inside[64], outside[64];
static int fd = -1;

static void begin(void)
{
	if (fd >= 0)
		close(fd);
	fd = memfd_create("files", 0);
}

static void put(int directory, unsigned int mode, const char *path,
		const char *data, size_t size)
{
	struct packed_file f = {
		.directory = directory, .mode = mode,
		.path = strlen(path) + 1, .size = size,
	};

	if (write(fd, &f, sizeof(f)) != sizeof(f) ||
	    write(fd, path, f.path) != (ssize_t)f.path ||
	    write(fd, data, size) != (ssize_t)size)
		exit(1);
}

static void put_file(const char *path, const char *text)
{
	put(0, S_IFREG | 0640, path, text, strlen(text));
}

static void put_end(void)
{
	put(FILES_END, 0, "", "", 0);
}

static bool apply_below(char *const *directories)
{
	char *error = bring_back(fd, directories);
	bool good = !error;

	if (error)
		printf("# %s\n", error);
	free(error);
	return good;
}

/* True if it said nothing. */
static bool apply(void)
{
	char *directories[] = { inside, NULL };

	return apply_below(directories);
}

/* The contents of a file, or of none. */
static bool holds(const char *directory, const char *path, const char *text)
{
	char name[200], buf[100] = "";
	int file;

	snprintf(name, sizeof(name), "%s/%s", directory, path);
	file = open(name, O_RDONLY);
	if (file < 0)
		return !text;
	if (read(file, buf, sizeof(buf) - 1) < 0)
		buf[0] = '\0';
	close(file);
	return text && !strcmp(buf, text);
}

static mode_t mode_of(const char *path)
{
	char name[200];
	struct stat st;

	snprintf(name, sizeof(name), "%s/%s", inside, path);
	return lstat(name, &st) ? 0 : st.st_mode;
}

static void make(const char *directory, const char *path, const char *text)
{
	char name[200];
	int file;

	snprintf(name, sizeof(name), "%s/%s", directory, path);
	file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (file < 0 || write(file, text, strlen(text)) < 0)
		exit(1);
	close(file);
}

static void test_changes(void)
{
	make(inside, "changed", "a longer text than the new one");
	make(inside, "removed", "old");
	begin();
	put(0, 0, "removed", "", 0);
	put(0, 0, "never-there", "", 0);
	put_file("changed", "new");
	put(0, S_IFDIR | 0500, "dir", "", 0);
	put_file("dir/file", "deep");
	put(0, S_IFLNK | 0777, "dir/link", "file", 5);
	put(0, S_IFIFO | 0600, "fifo", "", 0);
	put_end();
	ok(apply(), "changes");
	ok(holds(inside, "changed", "new"), "a file that was there");
	ok(mode_of("changed") == (S_IFREG | 0640), "its mode");
	ok(holds(inside, "removed", NULL), "one that is gone");
	ok(holds(inside, "dir/file", "deep"), "one in a new directory");
	ok(mode_of("dir") == (S_IFDIR | 0500), "which is read-only at the end");
	ok(holds(inside, "dir/link", "deep"), "a link");
	ok(S_ISFIFO(mode_of("fifo")), "a pipe");
}

static void test_incomplete(void)
{
	off_t size;

	begin();
	ok(!apply(), "nothing at all is an error");
	put_file("half", "half");
	ok(!apply(), "so is a stream without an end");
	ok(holds(inside, "half", NULL), "of which nothing is done");
	put_end();
	size = lseek(fd, 0, SEEK_END);
	for (off_t cut = size - 1; cut > 0; cut -= 7) {
		if (ftruncate(fd, cut) || apply())
			break;
		if (cut <= 7)
			size = 0;
	}
	ok(!size, "so is one that is cut anywhere");
	begin();
	put(1, S_IFREG | 0600, "other", "x", 1);
	put_end();
	ok(!apply(), "or has a directory that there is not");
	begin();
	put(0, S_IFLNK | 0777, "bad", "x", 1);
	put_end();
	ok(!apply(), "or a link without an end");
}

static void test_beyond(void)
{
	static const char *const paths[] = {
		"../outside/victim", "/victim", "dir/../../outside/victim",
		"..", ".", "", "out/victim", "./out/victim", "out",
	};
	char link[100], absolute[100];

	make(outside, "victim", "safe");
	snprintf(link, sizeof(link), "%s/out", inside);
	if (symlink(outside, link))
		exit(1);
	snprintf(absolute, sizeof(absolute), "%s/victim", outside);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		begin();
		put_file(i == 1 ? absolute : paths[i], "written");
		put_end();
		apply();
		ok(holds(outside, "victim", "safe"), "not written: '%s'",
		   paths[i]);
		begin();
		put(0, 0, i == 1 ? absolute : paths[i], "", 0);
		put_end();
		apply();
		ok(holds(outside, "victim", "safe"), "nor removed: '%s'",
		   paths[i]);
	}
	/* The last ones were the link's own name. */
	ok(!mode_of("out"), "a link itself can be replaced and removed");
	snprintf(link, sizeof(link), "%s/to-file", inside);
	if (symlink(absolute, link))
		exit(1);
	begin();
	put_file("to-file", "written");
	put_end();
	ok(apply() && holds(inside, "to-file", "written"),
	   "a file in the place of a link");
	ok(holds(outside, "victim", "safe"), "which led elsewhere");
}

/* One of the directories is in another, and root in the guest replaces it. */
static void test_nested(void)
{
	char nested[100];
	char *directories[] = { inside, nested, NULL };

	snprintf(nested, sizeof(nested), "%s/nested", inside);
	if (mkdir(nested, 0755))
		exit(1);
	begin();
	put(0, 0, "nested", "", 0);
	put(0, S_IFLNK | 0777, "nested", outside, strlen(outside) + 1);
	put(1, S_IFREG | 0600, "victim", "written", 7);
	put_end();
	ok(!apply_below(directories), "a directory that became a link is gone");
	ok(S_ISLNK(mode_of("nested")), "the link is there");
	ok(holds(outside, "victim", "safe"), "and leads to nothing that is written");
}

/* As nobody, because root may write everywhere. */
static bool apply_as_owner(const char *directory)
{
	int status = -1;
	bool good;
	pid_t pid;

	if (chmod(base, 0755) || (!geteuid() && chown(directory, 65534, 65534)))
		return false;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(1);
		good = apply();
		fflush(stdout);
		_exit(!good);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

static void test_closed(void)
{
	char closed[100];

	snprintf(closed, sizeof(closed), "%s/closed", inside);
	if (mkdir(closed, 0755))
		exit(1);
	make(inside, "closed/removed", "old");
	if (chmod(closed, 0555))
		exit(1);
	begin();
	put(0, 0, "closed/removed", "", 0);
	put_file("closed/new", "new");
	put(0, S_IFDIR | 0600, "closed/dir", "", 0);
	put(0, S_IFDIR | 0500, "closed/dir/deep", "", 0);
	put_end();
	ok(apply_as_owner(closed), "changes where its owner may change nothing");
	ok(holds(inside, "closed/removed", NULL), "a file that is gone");
	ok(holds(inside, "closed/new", "new"), "a new one");
	ok(mode_of("closed") == (S_IFDIR | 0555), "and the directory's mode stays");
	ok(mode_of("closed/dir") == (S_IFDIR | 0600) &&
	   mode_of("closed/dir/deep") == (S_IFDIR | 0500),
	   "a directory gets its mode after those in it");
}

static void test_what_fails(void)
{
	make(inside, "in-the-way", "old");
	begin();
	put_file("in-the-way/file", "x");
	put_file("later", "done");
	put_end();
	ok(!apply(), "what cannot be done is told");
	ok(holds(inside, "later", "done"), "and the rest is done");
}

int main(void)
{
	char command[200];

	if (!mkdtemp(base))
		return 1;
	snprintf(inside, sizeof(inside), "%s/inside", base);
	snprintf(outside, sizeof(outside), "%s/outside", base);
	if (mkdir(inside, 0755) || mkdir(outside, 0755))
		return 1;
	test_changes();
	test_incomplete();
	test_beyond();
	test_nested();
	test_closed();
	test_what_fails();
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", base,
		 base);
	if (system(command))
		return 1;
	return done();
}
