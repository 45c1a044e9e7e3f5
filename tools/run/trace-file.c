// SPDX-License-Identifier: GPL-2.0
#include "trace-file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

void trace_file_open(struct trace_file *f, uint64_t buffer_kib)
{
	f->buffer_kib = buffer_kib;
	f->error = 0;
	f->fd = memfd_create("trace", MFD_CLOEXEC);
	if (f->fd < 0)
		die(STATUS_FAILED, "memfd_create: %s", strerror(errno));
}

void trace_file_add(struct trace_file *f, const void *data, size_t size)
{
	if (!f->error && write_full(f->fd, data, size))
		f->error = errno;
}

const void *trace_file_map(const struct trace_file *f, size_t *size)
{
	off_t end = lseek(f->fd, 0, SEEK_END);
	void *data;

	if (end <= 0) {
		errno = ENODATA;
		return NULL;
	}
	data = mmap(NULL, end, PROT_READ, MAP_PRIVATE, f->fd, 0);
	if (data == MAP_FAILED)
		return NULL;
	*size = end;
	return data;
}

void trace_file_close(struct trace_file *f)
{
	/* The mapping goes with the process. */
	close(f->fd);
}
