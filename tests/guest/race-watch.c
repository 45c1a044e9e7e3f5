// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a test on the kcsan kernel and adds one result to those that it prints:
 * the kernel has told of no data race between a function of ours, in the module
 * or in the kernel's tense.c files, and any other. Races of others are counted:
 * a kernel without the patches has some.
 *
 * Usage: race-watch PROGRAM
 */
#include "watch.h"

#include <sys/mount.h>

#define BEGIN "BUG: KCSAN: "
#define END "====="

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof(*(a)))

/*
 * Functions of the kernel's tense.c whose names do not say that they are
 * Tense's.
 */
static const char *const own[] = {
	"settle", "is_work", "place_of", "enqueue", "timer_now", "hrtimer_now",
	"is_own_wait",
};

static unsigned int others;
static bool showing, complained;

static void tell(const char *result)
{
	watch_tell(result, "the kernel tells of no data race of ours");
}

/* "data-race in A / B", or in A+OFFSET, followed by " [MODULE]" of a module. */
static bool is_own(const char *title)
{
	char text[256], *rest = text, *word;

	/* Also the module's name. */
	if (strstr(title, "tense"))
		return true;
	snprintf(text, sizeof(text), "%s", title);
	while ((word = strsep(&rest, " +")))
		for (size_t i = 0; i < ARRAY_LENGTH(own); i++)
			if (!strcmp(word, own[i]))
				return true;
	return false;
}

static void begin_report(const char *title)
{
	showing = is_own(title);
	if (!showing) {
		others++;
		printf("# elsewhere: %s\n", title);
		return;
	}
	if (!complained)
		tell("not ok");
	complained = true;
}

static void check_line(const char *text)
{
	if (!strncmp(text, BEGIN, sizeof(BEGIN) - 1))
		begin_report(text + sizeof(BEGIN) - 1);
	else if (!strncmp(text, END, sizeof(END) - 1))
		showing = false;
	if (showing)
		printf("# %s\n", text);
}

static bool check_log(int kmsg)
{
	char record[RECORD_MAX], *text;
	ssize_t n;

	while ((n = log_read(kmsg, record)) > 0) {
		text = strchr(record, ';');
		if (!text)
			continue;
		*strchrnul(++text, '\n') = '\0';
		check_line(text);
	}
	return !n;
}

/* The kernel looks for races at all. */
static bool is_watched(void)
{
	return !access("/sys/kernel/debug/kcsan", F_OK);
}

int main(int argc, char **argv)
{
	int kmsg = log_open(), status;

	if (argc < 2 || kmsg < 0 ||
	    mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL) ||
	    !is_watched()) {
		perror("Bail out! race-watch");
		return 1;
	}
	status = watch_run(argv + 1);
	if (!check_log(kmsg))
		printf("Bail out! the kernel's log has overflown\n");
	if (!complained)
		tell("ok");
	watch_end();
	printf("# %u data races elsewhere\n", others);
	return status != 0;
}
