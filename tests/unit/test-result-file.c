// SPDX-License-Identifier: GPL-2.0
/* Result files: checked early, replaced when complete, devices written directly. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "base/options.h"
#include "base/result-file.h"
#include "base/util.h"

#define NAME	"result"
#define OLD	"the old result, which is longer\n"
#define NEW	"new\n"

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		exit(1);
}

static bool holds(const char *name, const char *expected)
{
	char text[200] = "";
	FILE *f = fopen(name, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	return f && n == strlen(expected) && !strcmp(text, expected);
}

/* Counts the files in the current directory. */
static int files(void)
{
	DIR *dir = opendir(".");
	struct dirent *e;
	int count = 0;

	while (dir && (e = readdir(dir)))
		count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (dir)
		closedir(dir);
	return count;
}

static void empty(void)
{
	DIR *dir = opendir(".");
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		unlink(e->d_name);
	if (dir)
		closedir(dir);
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	return stat(name, &st) ? 0 : st.st_mode & 07777;
}

/* Replaces a file by a text, as a writer that returns error. */
static int replace(const char *name, const char *text, int error)
{
	struct result_file r;
	int err = result_file_check(&r, name);

	if (!err) {
		FILE *f = result_file_begin(&r);

		if (f)
			fputs(text, f);
		err = f ? result_file_end(&r, error) : -1;
	}
	result_file_free(&r);
	return err;
}

static void test_replace(void)
{
	struct result_file r;

	umask(027);
	is_i64(replace(NAME, NEW, 0), 0, "a new file");
	ok(holds(NAME, NEW), "has its content");
	is_i64(mode_of(NAME), 0640, "and the permissions of a new file");

	put(NAME, OLD);
	chmod(NAME, 0604);
	is_i64(result_file_check(&r, NAME), 0, "an old file can be written");
	ok(holds(NAME, OLD), "and the check leaves it unchanged");
	is_i64(files(), 1, "with nothing beside it while a command measures");
	fputs(NEW, result_file_begin(&r));
	fflush(r.file);
	ok(holds(NAME, OLD), "the old content stays until the new is complete");
	is_i64(result_file_end(&r, 0), 0, "then it is replaced");
	ok(holds(NAME, NEW), "by the new content");
	is_i64(mode_of(NAME), 0604, "with the permissions of the old file");
	is_i64(files(), 1, "and nothing is left");
	result_file_free(&r);
}

static void test_failure(void)
{
	struct result_file r;

	put(NAME, OLD);
	is_i64(replace(NAME, NEW, -1), -1, "a writer that fails");
	ok(holds(NAME, OLD), "leaves the old file");
	is_i64(files(), 1, "alone");
	if (result_file_check(&r, NAME) || !result_file_begin(&r))
		exit(1);
	result_file_free(&r);
	ok(holds(NAME, OLD) && files() == 1, "content without an end is dropped");

	is_i64(replace("no/such", NEW, 0), -1, "a directory that is not there");
	is_i64(replace(".", NEW, 0), -1, "a directory");
	is_i64(replace("", NEW, 0), -1, "no name");
	is_i64(replace(NAME "/x", NEW, 0), -1, "a file that is no directory");
	ok(holds(NAME, OLD) && files() == 1, "none changes a file");
	unlink(NAME);
}

/* Kills a process before it writes its result, or while it does. */
static void test_killed(bool writes)
{
	int status;
	pid_t pid;

	put(NAME, OLD);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct result_file r;

		if (result_file_check(&r, NAME))
			_exit(1);
		if (writes) {
			fputs(NEW, result_file_begin(&r));
			fflush(r.file);
		}
		raise(SIGKILL);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid &&
	   WIFSIGNALED(status), "a process is killed %s",
	   writes ? "while it writes" : "before it writes");
	ok(holds(NAME, OLD), "the old file is whole");
	unlink(NAME);
}

static void test_unwritable(void)
{
	struct result_file r;
	int err;

	if (!geteuid() && setegid(65534) + seteuid(65534)) {
		skip("cannot become another user");
		return;
	}
	err = result_file_check(&r, NAME);
	result_file_free(&r);
	is_i64(err, -1, "a directory that may not be written");
	if (!getuid() && seteuid(0) + setegid(0))
		exit(1);
}

/* A rename may not replace another user's file in a directory such as /tmp. */
static void test_sticky(void)
{
	struct stat st;

	mkdir("sticky", 0777);
	chmod("sticky", 01777);
	put("sticky/" NAME, OLD);
	chmod("sticky/" NAME, 0666);
	if (!geteuid() && setegid(65534) + seteuid(65534)) {
		skip("cannot become another user");
		return;
	}
	is_i64(replace("sticky/" NAME, NEW, 0), 0,
	       "another user's file in a sticky directory");
	if (!getuid() && seteuid(0) + setegid(0))
		exit(1);
	ok(holds("sticky/" NAME, NEW), "has the new content");
	ok(!stat("sticky/" NAME, &st) && st.st_uid == getuid() &&
	   (st.st_mode & 07777) == 0666, "and owner and permissions as before");
	unlink("sticky/" NAME);
	is_i64(rmdir("sticky"), 0, "nothing is beside it");
}

static void test_links(void)
{
	char target[200];

	mkdir("other", 0777);
	put("other/target", OLD);
	if (symlink("other/target", "link"))
		exit(1);
	is_i64(replace("link", NEW, 0), 0, "a link to a file");
	ok(readlink("link", target, sizeof(target)) > 0, "stays a link");
	ok(holds("other/target", NEW), "and the file that it names is replaced");
	unlink("other/target");
	is_i64(replace("link", NEW, 0), 0, "a link to a file that is not there");
	ok(holds("other/target", NEW), "makes it");
	unlink("other/target");
	unlink("link");
	rmdir("other");
}

static void test_direct(void)
{
	char text[sizeof(NEW)] = "", path[40];
	struct stat st;
	int fd;

	is_i64(replace("/dev/full", NEW, 0), -1, "a full device is an error");
	ok(!stat("/dev/full", &st) && S_ISCHR(st.st_mode), "and a device still");
	is_i64(replace("/dev/null", NEW, 0), 0, "a device is written");
	ok(!stat("/dev/null", &st) && S_ISCHR(st.st_mode), "and a device still");

	if (mkfifo("fifo", 0600))
		exit(1);
	fd = open("fifo", O_RDWR | O_NONBLOCK);
	is_i64(replace("fifo", NEW, 0), 0, "a FIFO is written");
	ok(read(fd, text, sizeof(text)) == sizeof(NEW) - 1 &&
	   !strcmp(text, NEW), "and its reader gets the content");
	close(fd);
	ok(!stat("fifo", &st) && S_ISFIFO(st.st_mode), "it is a FIFO still");
	unlink("fifo");

	/* No other file may replace the one behind a descriptor. */
	fd = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	is_i64(replace(path, NEW, 0), 0, "a descriptor is written");
	memset(text, 0, sizeof(text));
	ok(pread(fd, text, sizeof(text) - 1, 0) == sizeof(NEW) - 1 &&
	   !strcmp(text, NEW), "and the file behind it is the same one");
	close(fd);
	unlink(NAME);
}

static void test_stdout(void)
{
	const char *const names[] = { "-", NULL, "/dev/stdout", "-x" };
	struct result_file r;

	ok(!result_file_check(&r, "/dev/stdout") &&
	   result_file_begin(&r) == stdout && !result_file_end(&r, 0) &&
	   result_file_begin(&r) == stdout, "standard output stays open");
	result_file_free(&r);
	is_i64((int64_t)options_on_stdout(names, 4), 2,
	       "two of these are standard output");
}

int main(void)
{
	char directory[] = "/tmp/tense-test-XXXXXX";

	if (!mkdtemp(directory) || chdir(directory) || chmod(".", 0755))
		return 1;
	test_replace();
	unlink(NAME);
	test_failure();
	test_killed(false);
	test_unwritable();
	test_sticky();
	test_links();
	test_direct();
	test_stdout();
	is_i64(files(), 0, "nothing is left");
	test_killed(true);
	empty();
	if (chdir("/") || rmdir(directory))
		return 1;
	return done();
}
