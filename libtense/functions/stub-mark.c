// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stub-mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	4096
/* Number of marks whose pages are present ahead of use. */
#define AHEAD	(16 * PAGE / sizeof(uint64_t))

static struct tense_marks *marks;

/* The first access to a page takes as long as many marks. */
static void touch(struct tense_marks *m)
{
	uint64_t at = __atomic_load_n(&m->count, __ATOMIC_RELAXED);
	uint64_t end = at + AHEAD < m->room ? at + AHEAD : m->room;

	for (; at < end; at += PAGE / sizeof(*m->mark))
		__atomic_fetch_or(&m->mark[at], 0, __ATOMIC_RELAXED);
}

static const char *map(int fd)
{
	struct tense_marks *m;
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if ((uint64_t)st.st_size < sizeof(*m))
		return "it is too small";
	m = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		return strerror(errno);
	if (m->room > (st.st_size - sizeof(*m)) / sizeof(*m->mark)) {
		munmap(m, st.st_size);
		return "it has less room than it says";
	}
	touch(m);
	marks = m;
	return NULL;
}

const char *tense_stub_mark_init(void)
{
	const char *path = secure_getenv("TENSE_FUNCTIONS_MARKS"), *reason;
	int fd;

	if (!path || !*path)
		return "TENSE_FUNCTIONS_MARKS names no file for them";
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return strerror(errno);
	reason = map(fd);
	close(fd);
	return reason;
}

void tense_stub_mark(int64_t now, unsigned int what)
{
	uint64_t at;

	if (!marks)
		return;
	at = __atomic_fetch_add(&marks->count, 1, __ATOMIC_RELAXED);
	if (at < marks->room)
		__atomic_store_n(&marks->mark[at],
				 (uint64_t)now << TENSE_MARK_SHIFT | what,
				 __ATOMIC_RELAXED);
}
