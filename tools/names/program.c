// SPDX-License-Identifier: GPL-2.0
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>

#include "libtense/symbols/debug-file.h"
#include "loader.h"
#include "base/paths.h"
#include "base/util.h"

#define HEAD_SIZE	256	/* the kernel reads as much of a script */

/* 0 or errno. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return S_ISREG(st.st_mode) && !access(path, X_OK) ? 0 : EACCES;
}

char *find_command(const char *name)
{
	const char *path = getenv("PATH");
	char *copy, *rest, *directory, *found = NULL;
	int err = ENOENT;

	if (strchr(name, '/') || !*name) {
		err = *name ? check_executable(name) : ENOENT;
		errno = err;
		return err ? NULL : xstrdup(name);
	}
	copy = rest = xstrdup(path ? path : _PATH_DEFPATH);
	while (!found && (directory = strsep(&rest, ":"))) {
		int result;

		found = xprintf("%s/%s", *directory ? directory : ".", name);
		result = check_executable(found);
		if (!result)
			break;
		if (result == EACCES)
			err = result;
		free(found);
		found = NULL;
	}
	free(copy);
	errno = err;
	return found;
}

int command_status(const char *name)
{
	char *path = find_command(name);

	free(path);
	if (path)
		return STATUS_FAILED;
	return errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND :
						     STATUS_NOT_EXECUTABLE;
}

/* The first bytes, as a text. */
static void read_head(const char *path, char head[HEAD_SIZE + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : pread(fd, head, HEAD_SIZE, 0);

	head[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* env(1) would run the first word that is no option or variable. */
static char *after_env(char *arguments)
{
	char *rest = arguments, *word;

	while ((word = strsep(&rest, " \t"))) {
		if (*word && *word != '-' && !strchr(word, '='))
			return word;
	}
	return NULL;
}

char *script_interpreter(const char *path, char **via, char **error)
{
	char head[HEAD_SIZE + 1], *name, *arguments, *found;

	*via = NULL;
	read_head(path, head);
	if (strncmp(head, "#!", 2) != 0)
		return NULL;
	head[strcspn(head, "\n")] = '\0';
	name = head + 2 + strspn(head + 2, " \t");
	arguments = name + strcspn(name, " \t");
	if (*arguments)
		*arguments++ = '\0';
	if (!strcmp(base_name(name), "env")) {
		*via = xstrdup(name);
		name = after_env(arguments);
		if (!name)
			name = "";
	}
	found = find_command(name);
	if (!found)
		*error = xprintf("%s: its #! line names '%s': %s", path, name,
				 strerror(errno));
	return found;
}

/* Follows the #! lines. */
static char *find_program(const char *name, char **script, char **error)
{
	char *path = find_command(name), *next, *via;

	if (!path) {
		*error = xprintf("%s: %s", name, command_error(name, errno));
		return NULL;
	}
	for (int i = 0; i < SCRIPT_DEPTH; i++) {
		next = script_interpreter(path, &via, error);
		free(via);
		if (!next && !*error)
			return path;
		if (i)
			free(path);
		else
			*script = path;
		path = next;
		if (!path)
			return NULL;
	}
	free(path);
	*error = xprintf("%s: scripts that run scripts too deeply", name);
	return NULL;
}

static void add_object(struct program *program, const char *path,
		       const char *soname, bool is_loader)
{
	char *real = realpath(path, NULL);
	struct object *object;

	if (!real)
		real = xstrdup(path);
	for (size_t i = 0; i < program->count; i++) {
		if (strcmp(program->objects[i].path, real) != 0)
			continue;
		free(real);
		return;
	}
	program->objects = xrealloc(program->objects, (program->count + 1) *
				    sizeof(*program->objects));
	object = &program->objects[program->count++];
	*object = (struct object){
		.path = real, .soname = soname ? xstrdup(soname) : NULL,
		.is_loader = is_loader,
	};
}

void program_add(struct program *program, char *path, char *soname)
{
	add_object(program, path, soname, false);
	free(path);
	free(soname);
}

/* Tense's own are in its way only. */
static bool is_ours(const char *path)
{
	return !strncmp(base_name(path), "libtense.so", 11) ||
	       !strncmp(base_name(path), "libtense-functions.so", 21);
}

static void add_missing(struct program *program, const char *name)
{
	char *old = program->missing;

	program->missing = old ? xprintf("%s, %s", old, name) : xstrdup(name);
	free(old);
}

struct listing {
	struct program *program;
	const char *loader;
};

static void add_listed(void *arg, const char *name, const char *path)
{
	const struct listing *l = arg;

	if (!path)
		add_missing(l->program, name);
	else if (!is_ours(path))
		add_object(l->program, path, base_name(name),
			   !strcmp(name, l->loader) || !strcmp(path, l->loader));
}

static void add_libraries(struct program *program, const char *loader,
			  char **error)
{
	const char *path = program->objects[0].path;
	struct listing l = { program, loader };
	char *objection = loader_objection(loader);
	int status;

	if (objection) {
		*error = xprintf("%s: its loader %s", path, objection);
		free(objection);
		return;
	}
	status = loader_list(loader, path, add_listed, &l);
	/* With libraries missing it fails, after it has said so. */
	if (status && program->count == 1 && !program->missing)
		*error = xprintf("%s: its loader %s cannot load it: run it to see why",
				 path, loader);
}

static void open_objects(struct program *program, char **error)
{
	struct object *executable = &program->objects[0];
	GElf_Ehdr header;
	char *loader;
	Elf *elf;
	int fd;

	executable->is_main = true;
	if (tense_elf_open(executable->path, &fd, &elf)) {
		*error = xprintf("%s: neither a program nor a script with a #! line",
				 executable->path);
		return;
	}
	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64) {
		*error = xprintf("%s: a program for another machine: functions of 64-bit x86 programs can be scaled",
				 executable->path);
		tense_elf_close(fd, elf);
		return;
	}
	loader = loader_of(elf);
	program->is_static = !loader;
	tense_elf_close(fd, elf);
	if (loader)
		add_libraries(program, loader, error);
	free(loader);
}

struct program *program_open(char *const *command, char **error)
{
	struct program *program = xmalloc(sizeof(*program));
	char *path;

	*error = NULL;
	path = find_program(command[0], &program->script, error);
	if (path) {
		add_object(program, path, NULL, false);
		open_objects(program, error);
		free(path);
	}
	if (!*error)
		return program;
	program_free(program);
	return NULL;
}

void program_free(struct program *program)
{
	if (!program)
		return;
	for (size_t i = 0; i < program->count; i++) {
		free(program->objects[i].path);
		free(program->objects[i].soname);
	}
	free(program->objects);
	free(program->script);
	free(program->missing);
	free(program);
}
