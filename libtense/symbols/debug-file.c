// SPDX-License-Identifier: LGPL-2.1-or-later
#include "debug-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>
#include <zlib.h>

#define BUILD_ID_MAX	64

struct build_id {
	unsigned char bytes[BUILD_ID_MAX];
	size_t len;
};

static int open_regular(const char *path)
{
	struct stat st;
	/* A fifo must not block this process. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENOEXEC;
	}
	return fd;
}

void tense_elf_close(int fd, Elf *elf)
{
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

int tense_elf_open(const char *path, int *fd, Elf **elf)
{
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	*elf = NULL;
	*fd = open_regular(path);
	if (*fd < 0)
		return *fd;
	/* Not mapped: the file may shrink while it is read. */
	*elf = elf_begin(*fd, ELF_C_READ, NULL);
	if (*elf && elf_kind(*elf) == ELF_K_ELF &&
	    gelf_getehdr(*elf, &header) &&
	    (header.e_type == ET_EXEC || header.e_type == ET_DYN))
		return 0;
	tense_elf_close(*fd, *elf);
	*fd = -1;
	*elf = NULL;
	return -ENOEXEC;
}

static bool note_build_id(Elf_Data *data, struct build_id *id)
{
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while ((at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name, "GNU", 4) != 0 ||
		    !note.n_descsz || note.n_descsz > BUILD_ID_MAX)
			continue;
		id->len = note.n_descsz;
		memcpy(id->bytes, (char *)data->d_buf + desc, id->len);
		return true;
	}
	return false;
}

static bool get_build_id(Elf *elf, struct build_id *id)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	id->len = 0;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf && note_build_id(data, id))
			return true;
	}
	return false;
}

/* The file's name, and the checksum of the whole file. */
static char *get_debug_link(Elf *elf, uint32_t *crc)
{
	size_t names, len, at;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	Elf_Data *data;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, ".gnu_debuglink") != 0 ||
		    header.sh_type != SHT_PROGBITS)
			continue;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf)
			return NULL;
		name = data->d_buf;
		len = strnlen(name, data->d_size);
		at = (len + 4) & ~(size_t)3;
		if (!len || at + sizeof(*crc) > data->d_size ||
		    memchr(name, '/', len))
			return NULL;
		memcpy(crc, name + at, sizeof(*crc));
		return strndup(name, len);
	}
	return NULL;
}

static bool crc_is(int fd, uint32_t wanted)
{
	unsigned char buf[16384];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, buf, n);
		at += n;
	}
	return n == 0 && crc == wanted;
}

/* A file of an older build would put names at wrong places. */
static bool belongs(const char *path, const struct build_id *id, uint32_t *crc)
{
	struct build_id other;
	bool good = false;
	Elf *elf;
	int fd;

	if (tense_elf_open(path, &fd, &elf))
		return false;
	if (id->len && get_build_id(elf, &other))
		good = id->len == other.len &&
		       !memcmp(id->bytes, other.bytes, id->len);
	else if (crc)
		good = crc_is(fd, *crc);
	tense_elf_close(fd, elf);
	return good;
}

/* Frees path and returns NULL if the file is not the debug file. */
static char *try_file(char *path, const struct build_id *id, uint32_t *crc)
{
	if (path && belongs(path, id, crc))
		return path;
	free(path);
	return NULL;
}

__attribute__((format(printf, 1, 2)))
static char *text(const char *format, ...)
{
	va_list args;
	char *result;

	va_start(args, format);
	if (vasprintf(&result, format, args) < 0)
		result = NULL;
	va_end(args);
	return result;
}

static char *by_build_id(const char *directory, const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1];

	if (id->len < 2)
		return NULL;
	for (size_t i = 0; i < id->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	return try_file(text("%s/.build-id/%.2s/%s.debug", directory, hex,
			     hex + 2), id, NULL);
}

/* Looks in the debug directories. */
static char *in_directories(const struct build_id *id, const char *home,
			    const char *link, uint32_t *crc)
{
	const char *path = getenv(TENSE_DEBUG_PATH);
	char *directories, *rest = NULL, *found = NULL;

	directories = strdup(path ? path : "/usr/lib/debug");
	if (!directories)
		return NULL;
	for (char *directory = strtok_r(directories, ":", &rest);
	     directory && !found; directory = strtok_r(NULL, ":", &rest)) {
		found = by_build_id(directory, id);
		if (!found && link)
			found = try_file(text("%s%s/%s", directory, home,
					      link), id, crc);
	}
	free(directories);
	return found;
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* Looks beside the file. */
static char *by_link(const char *path, const struct build_id *id,
		     const char *home, const char *link, uint32_t *crc)
{
	char *found;

	found = try_file(text("%s/.debug/%s", home, link), id, crc);
	if (found)
		return found;
	found = text("%s/%s", home, link);
	if (found && same_file(found, path)) {
		free(found);
		return NULL;
	}
	return try_file(found, id, crc);
}

char *tense_debug_file(Elf *elf, const char *path)
{
	char *home, *link, *slash, *found = NULL;
	struct build_id id;
	uint32_t crc = 0;

	home = realpath(path, NULL);
	if (!home)
		return NULL;
	slash = strrchr(home, '/');
	*slash = '\0';
	get_build_id(elf, &id);
	link = get_debug_link(elf, &crc);
	if (link)
		found = by_link(path, &id, home, link, &crc);
	if (!found)
		found = in_directories(&id, home, link, &crc);
	free(link);
	free(home);
	return found;
}
