// SPDX-License-Identifier: GPL-2.0
#include "exact-input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "pack.h"
#include "base/paths.h"
#include "base/util.h"

/*
 * The memory of a guest with several CPUs holds the archive, the unpacked files, and as much
 * again for the command. One with a single CPU refuses the same files.
 */
#define SHARES	3

/* When a user wonders why nothing happens. */
#define PATIENCE_MS	2000

uint64_t exact_input_most(unsigned long long memory_mib)
{
	return (memory_mib << 20) / SHARES;
}

/* One of tense's own, under another name. */
static void add_part(struct archive *a, const char *path, const char *file,
		     mode_t mode)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(STATUS_FAILED, "%s: %s", file, strerror(errno));
	archive_write_stream(a, path, mode, fd, UINT32_MAX);
	close(fd);
}

struct list {
	const struct pack *pack;
	char *buf;
	size_t len;
};

static void add_to_list(const struct archive_file *file, void *arg)
{
	const char *target = file->target ? file->target : "";
	struct list *l = arg;
	struct packed_file f = {
		.directory = file->directory, .mode = file->st.st_mode,
		.crc = file->target ?
		       crc32(0, (const unsigned char *)target, strlen(target)) :
		       file->crc,
		.size = S_ISREG(file->st.st_mode) ? file->st.st_size : 0,
		.mtime = file->st.st_mtime,
	};
	const char *path;

	if (file->directory < 0)
		return;
	path = file->path + strlen(l->pack->writable[file->directory]) + 1;
	f.path = strlen(path) + 1;
	l->buf = xrealloc(l->buf, l->len + sizeof(f) + f.path);
	memcpy(l->buf + l->len, &f, sizeof(f));
	memcpy(l->buf + l->len + sizeof(f), path, f.path);
	l->len += sizeof(f) + f.path;
}

/* Packs the list with which the guest compares its files at the end. */
static void write_list(struct pack *p)
{
	struct list l = { .pack = p };

	archive_walk(&p->files, add_to_list, &l);
	archive_write_data(&p->files, PACKED_LIST, S_IFREG | 0600, l.buf,
			   l.len);
	free(l.buf);
}

/* It may come from something that never ends, unnoticed by the user. */
static void wait_for_input(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	if (!poll(&input, 1, PATIENCE_MS))
		warn("waiting for the end of standard input, which has to be known before a deterministic run: give it </dev/null if the command reads nothing");
}

/* A terminal has no end that could be waited for: it is empty. */
static void write_input(struct exact_input *in, struct pack *p)
{
	struct stat st;

	in->position = -1;
	in->size = 0;
	/* nohup opens /dev/null for writing only, instead of a terminal. */
	if (isatty(0) || (fcntl(0, F_GETFL) & O_ACCMODE) == O_WRONLY) {
		archive_write_data(&p->files, PACKED_INPUT, S_IFREG | 0400,
				   NULL, 0);
		return;
	}
	if (!fstat(0, &st) && S_ISREG(st.st_mode))
		in->position = lseek(0, 0, SEEK_CUR);
	wait_for_input();
	in->size = archive_write_stream(&p->files, PACKED_INPUT,
					S_IFREG | 0400, 0, p->most);
	if (in->size > p->most)
		die(STATUS_FAILED, "standard input has more than the %llu MB that a guest with %llu MB of memory has room for: --memory gives it more",
		    (unsigned long long)p->most >> 20, p->memory_mib);
}

static void write_request(struct pack *p, struct guest *g,
			  const struct guest_kernel *kernel)
{
	struct message *m;
	size_t size;
	char *request = guest_request(g, kernel, &size);

	m = xmalloc(sizeof(*m) + size);
	*m = (struct message){ .type = MESSAGE_REQUEST, .size = size };
	memcpy(m + 1, request, size);
	archive_write_data(&p->files, PACKED_REQUEST, S_IFREG | 0600, m,
			   sizeof(*m) + size);
	free(m);
	free(request);
}

/* Packs the first process of a guest. */
static void pack_init(struct archive *a)
{
	char *init = guest_init_path();

	archive_write_data(a, PACKED_DIRECTORY, S_IFDIR | 0700, NULL, 0);
	add_part(a, PACKED_INIT, init, S_IFREG | 0500);
	free(init);
}

void exact_input_pack_init(int fd)
{
	struct archive a = { .fd = fd };

	pack_init(&a);
	archive_end(&a);
}

int exact_input_pack(struct exact_input *in, struct guest *g,
		     unsigned long long memory_mib,
		     const struct guest_kernel *kernel, int fd)
{
	struct pack p = {
		.files.fd = fd, .writable = g->run->writable,
		.omitted = g->run->omitted,
		.most = exact_input_most(memory_mib),
		.memory_mib = memory_mib,
	};
	int error;

	pack_writable(&p);
	error = pack_command(&p, g->run->argv[0]);
	if (error)
		goto out;
	for (char **file = g->run->files; *file; file++)
		pack_file(&p, *file);
	pack_rest(&p);

	pack_init(&p.files);
	add_part(&p.files, kernel->module, kernel->module_file, S_IFREG | 0400);
	archive_write(&p.files);
	write_list(&p);
	write_input(in, &p);
	write_request(&p, g, kernel);
	archive_end(&p.files);
out:
	pack_free(&p);
	return error;
}

void exact_input_end(const struct exact_input *in, uint64_t bytes)
{
	if (in->position >= 0)
		lseek(0, in->position + (bytes < in->size ? bytes : in->size),
		      SEEK_SET);
}
