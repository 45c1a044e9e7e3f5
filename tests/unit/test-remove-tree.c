// SPDX-License-Identifier: GPL-2.0
/* Directories are removed with everything in them, and nothing else is. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "base/remove-tree.h"
#include "base/util.h"

static char top[] = "/tmp/remove-tree-XXXXXX";

static char *below(const char *name)
{
	return xprintf("%s/%s", top, name);
}

static void make_directory(const char *name)
{
	char *path = below(name);

	if (mkdir(path, 0700))
		die(1, "%s: %s", path, strerror(errno));
	free(path);
}

static void make_file(const char *name)
{
	char *path = below(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		die(1, "%s: %s", path, strerror(errno));
	close(fd);
	free(path);
}

static bool is_there(const char *name)
{
	char *path = below(name);
	struct stat st;
	bool there = !lstat(path, &st);

	free(path);
	return there;
}

static int remove_below(const char *name)
{
	char *path = below(name);
	int err = remove_tree(path) ? errno : 0;

	free(path);
	return err;
}

static void test_whole_tree(void)
{
	char *path = below("tree/one/link");

	make_directory("kept");
	make_file("kept/file");
	make_directory("tree");
	make_directory("tree/one");
	make_directory("tree/one/empty");
	make_file("tree/one/file");
	make_file("tree/.hidden");
	if (symlink("../../kept", path))
		die(1, "%s: %s", path, strerror(errno));
	free(path);
	ok(!remove_below("tree") && !is_there("tree"), "a tree is removed");
	ok(is_there("kept/file"), "the target of a link in it stays");
}

static void test_one_entry(void)
{
	char *path = below("link");

	make_file("file");
	ok(!remove_below("file") && !is_there("file"), "a file is removed");
	ok(!remove_below("file"), "it is no error if nothing is there");
	if (symlink("kept", path))
		die(1, "%s: %s", path, strerror(errno));
	free(path);
	ok(!remove_below("link") && !is_there("link") && is_there("kept/file"),
	   "a link is removed, its target stays");
	ok(remove_below("kept/file/more") == ENOTDIR, "another error is told");
}

/* Even root cannot remove what something is mounted on. Nobody else sees the mount. */
static void test_goes_on(void)
{
	char *path = below("tree/b-busy");

	make_directory("tree");
	make_file("tree/a");
	make_directory("tree/b-busy");
	make_file("tree/c");
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", 0, NULL)) {
		skip("cannot mount: %s", strerror(errno));
	} else {
		ok(remove_below("tree") == EBUSY && is_there("tree/b-busy"),
		   "what is busy stays, and the error is told");
		ok(!is_there("tree/a") && !is_there("tree/c"),
		   "everything else is removed");
		umount(path);
	}
	free(path);
	ok(!remove_below("tree"), "the rest goes when it is not busy");
}

int main(void)
{
	if (!mkdtemp(top))
		die(1, "%s: %s", top, strerror(errno));
	test_whole_tree();
	test_one_entry();
	test_goes_on();
	ok(!remove_tree(top), "nothing is left");
	return done();
}
