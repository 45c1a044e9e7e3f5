// SPDX-License-Identifier: GPL-2.0
/* Messages of taskstats, as a kernel sent them, and damaged ones. */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdlib.h>
#include <string.h>

#include "measure/taskstats.h"
#include "tap.h"

#define STATS_AT	(NLMSG_HDRLEN + GENL_HDRLEN + 3 * NLA_HDRLEN + 4)

struct message {
	/* in their own block, so that ASan sees one more */
	unsigned char *bytes;
	size_t size;
};

static struct message load(const char *name)
{
	struct message m = { .bytes = malloc(4096) };
	char path[500];
	unsigned int byte;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/taskstats-%s.hex", SOURCE,
		 name);
	f = fopen(path, "r");
	while (f && fscanf(f, "%2x", &byte) == 1)
		m.bytes[m.size++] = (unsigned char)byte;
	if (f)
		fclose(f);
	m.bytes = realloc(m.bytes, m.size ? m.size : 1);
	return m;
}

/* The first so many bytes, with a header that fits them. */
static struct message cut(const struct message *m, size_t size)
{
	struct message copy = { malloc(size), size };

	memcpy(copy.bytes, m->bytes, size);
	((struct nlmsghdr *)copy.bytes)->nlmsg_len = (uint32_t)size; /* NOLINT: size > 0 */
	return copy;
}

static int parse(const struct message *m, struct task_time *t)
{
	memset(t, 0, sizeof(*t));
	return taskstats_parse((struct nlmsghdr *)m->bytes, t);
}

static void test_recorded(void)
{
	struct message live = load("live"), thread = load("thread");
	struct message process = load("process");
	struct task_time t, of_thread;

	ok(!parse(&live, &t), "a live thread");
	is_i64(t.tid, 2, "its number");
	is_i64(t.process, 2, "its process");
	is_i64(t.parent, 0, "its parent");
	ok(!strcmp(t.name, "kthreadd"), "its name");
	ok(t.ns > 0, "it has run %" PRIu64 " ns", t.ns);

	ok(!parse(&thread, &of_thread), "a thread that exits");
	ok(!strcmp(of_thread.name, "worker"), "its name");
	ok(of_thread.tid != of_thread.process, "it is not the first one");
	ok(of_thread.ns > 1000000, "it ran some ms");
	ok(!parse(&process, &t), "a process that exits");
	ok(!strcmp(t.name, "several"), "its name");
	is_i64(t.tid, t.process, "its first thread");
	ok(t.ns < of_thread.ns,
	   "what its thread ran is not told again: %" PRIu64 " ns", t.ns);
	free(live.bytes);
	free(thread.bytes);
	free(process.bytes);
}

/* Kernels before 5.18 do not tell the process. */
static void test_old(void)
{
	struct message m = load("thread");
	struct taskstats stats;
	struct task_time t;

	parse(&m, &t);
	ok(t.process != t.tid, "this kernel tells the process of a thread");
	memcpy(&stats, m.bytes + STATS_AT, sizeof(stats));
	stats.version = 8;
	memcpy(m.bytes + STATS_AT, &stats, sizeof(stats));
	ok(!parse(&m, &t), "an old version");
	is_i64(t.process, t.tid, "has each thread for itself");
	stats.cpu_run_virtual_total = 0;
	stats.ac_utime = 3000;
	stats.ac_stime = 1001;
	memset(stats.ac_comm, 'x', sizeof(stats.ac_comm));
	memcpy(m.bytes + STATS_AT, &stats, sizeof(stats));
	ok(!parse(&m, &t), "without delay accounting");
	is_i64(t.ns, 4001000, "it is the time in ticks");
	is_i64(strlen(t.name), 16, "a name that is not closed is kept short");
	free(m.bytes);
}

/* Under a sanitizer: no byte beyond the message is read. */
static void test_damaged(void)
{
	struct message m = load("process");
	size_t refused = 0;
	struct task_time t;

	for (size_t size = NLMSG_HDRLEN; size < m.size; size++) {
		struct message part = cut(&m, size);

		refused += parse(&part, &t) != 0;
		free(part.bytes);
	}
	ok(refused > STATS_AT, "%zu messages cut short are refused", refused);
	((struct nlattr *)(m.bytes + STATS_AT - NLA_HDRLEN))->nla_len = 100;
	ok(parse(&m, &t), "and one whose figures are");
	free(m.bytes);
	m = load("process");
	for (size_t i = sizeof(struct nlmsghdr); i < STATS_AT; i++) {
		struct message part = cut(&m, m.size);

		for (int bit = 0; bit < 8; bit++) {
			part.bytes[i] ^= 1 << bit;
			parse(&part, &t);
			part.bytes[i] ^= 1 << bit;
		}
		free(part.bytes);
	}
	ok(true, "headers with any bit wrong are survived");
	free(m.bytes);
}

int main(void)
{
	test_recorded();
	test_old();
	test_damaged();
	return done();
}
