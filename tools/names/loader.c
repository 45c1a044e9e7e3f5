// SPDX-License-Identifier: GPL-2.0
#include "loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/util.h"

char *loader_of(Elf *elf)
{
	GElf_Phdr header;
	Elf_Data *data;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &header) ||
		    header.p_type != PT_INTERP)
			continue;
		data = elf_getdata_rawchunk(elf, header.p_offset,
					    header.p_filesz, ELF_T_BYTE);
		if (!data || !data->d_buf || !data->d_size ||
		    ((char *)data->d_buf)[data->d_size - 1])
			return NULL;
		return xstrdup(data->d_buf);
	}
	return NULL;
}

/* Below these, only the administrator or a package manager puts files. */
static const char *const places[] = {
	"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/", "/nix/store/",
	"/gnu/store/",
};

/* The loader of musl is often a link to its libc.so. */
static bool is_musl(const char *file)
{
	return !strncmp(base_name(file), "ld-musl", 7) || !strcmp(base_name(file), "libc.so");
}

/* The loader's path without links if it is a loader in one of these places, else NULL. */
static char *trusted_path(const char *loader)
{
	char *real = *loader == '/' ? realpath(loader, NULL) : NULL;

	for (size_t i = 0; real && i < sizeof(places) / sizeof(places[0]); i++)
		if (!strncmp(real, places[i], strlen(places[i])) &&
		    (!strncmp(base_name(real), "ld-", 3) || is_musl(real)))
			return real;
	free(real);
	return NULL;
}

char *loader_objection(const char *loader)
{
	char *path = trusted_path(loader);

	free(path);
	return path ? NULL : xprintf("%s is not trusted, and tense would have to run it to find the libraries: build the program for a loader ld-* below /lib or /usr/lib",
				     loader);
}

/*
 * Asks the loader of glibc as ldd(1) does: with --list it gives up where one
 * library is missing. A loader of musl would run the program. Executes the path that was
 * checked, because a link may lead elsewhere by now.
 */
static void exec_loader(const char *loader, const char *path)
{
	const char *file = trusted_path(loader);

	if (file && is_musl(file)) {
		execl(file, loader, "--list", path, NULL);
	} else if (file) {
		setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
		execl(file, loader, path, NULL);
	}
	_exit(STATUS_NOT_FOUND);
}

/*
 * Only the loader itself knows all of its rules. It maps the objects, and
 * runs nothing of them.
 */
static FILE *start(const char *loader, const char *path, pid_t *pid)
{
	int fds[2], null;
	FILE *f;

	if (pipe2(fds, O_CLOEXEC))
		die(STATUS_FAILED, "pipe: %s", strerror(errno));
	*pid = fork();
	if (*pid < 0)
		die(STATUS_FAILED, "fork: %s", strerror(errno));
	if (*pid == 0) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, STDIN_FILENO);
		dup2(fds[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		exec_loader(loader, path);
	}
	close(fds[1]);
	f = fdopen(fds[0], "r");
	if (!f)
		die(STATUS_FAILED, "fdopen: %s", strerror(errno));
	return f;
}

/* "	SONAME => PATH (0xADDRESS)" or "	PATH (0xADDRESS)" */
static void parse_line(char *line,
		       void (*tell)(void *arg, const char *name,
				    const char *path), void *arg)
{
	char *name = line + strspn(line, " \t"), *path, *end;

	name[strcspn(name, "\n")] = '\0';
	path = strstr(name, " => ");
	if (path) {
		*path = '\0';
		path += 4;
	} else {
		path = name;
	}
	end = strstr(path, " (0x");
	if (end)
		*end = '\0';
	if (!strcmp(path, "not found"))
		tell(arg, name, NULL);
	else if (*path == '/' && end)
		tell(arg, name, path);
}

int loader_list(const char *loader, const char *path,
		void (*tell)(void *arg, const char *name, const char *path),
		void *arg)
{
	char *line = NULL;
	size_t size = 0;
	int status = 0;
	pid_t pid;
	FILE *f = start(loader, path, &pid);

	while (getline(&line, &size, f) > 0)
		parse_line(line, tell, arg);
	free(line);
	fclose(f);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
