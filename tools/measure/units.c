// SPDX-License-Identifier: GPL-2.0
#include "units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

extern char **environ;

/* The terminal's keys are not for it, nor are signals that we have blocked. */
static int start(char *const *argv, int output, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int err;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
					      POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	err = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return err;
}

static char *read_all(int fd)
{
	char *text = NULL, buffer[4096];
	size_t size;
	ssize_t got;
	FILE *f = open_memstream(&text, &size);

	while (f && (got = read(fd, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)got, f);
	if (f)
		fclose(f);
	return text ? text : xstrdup("");
}

/* *text holds the output in any case. */
static int ask(char *const *argv, char **text)
{
	int output[2], status, err;
	pid_t pid;

	if (pipe2(output, O_CLOEXEC)) {
		*text = xstrdup(strerror(errno));
		return -1;
	}
	err = start(argv, output[1], &pid);
	close(output[1]);
	*text = err ? xprintf("%s: %s", argv[0], strerror(err)) :
		      read_all(output[0]);
	close(output[0]);
	if (err)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status ? -1 : 0;
}

/* Extracts the reason from an error output. Takes text. */
static char *reason(char *text)
{
	char *why;

	text[strcspn(text, "\n")] = '\0';
	why = *text ? xstrdup(text) : xstrdup("systemctl failed");
	free(text);
	return why;
}

static const char *value_of(const char *line, const char *key)
{
	size_t size = strlen(key);

	return !strncmp(line, key, size) && line[size] == '=' ?
	       line + size + 1 : NULL;
}

static void parse_line(const char *line, struct unit_state *unit)
{
	const char *value = value_of(line, "Id");

	if (value) {
		free(unit->name);
		unit->name = xstrdup(value);
	}
	value = value_of(line, "LoadState");
	if (value)
		unit->loaded = !strcmp(value, "loaded");
	value = value_of(line, "ActiveState");
	if (value)
		unit->active = !strcmp(value, "active");
}

static void add_state(struct unit_states *states, struct unit_state *unit)
{
	if (unit->name) {
		states->list = xrealloc(states->list, (states->count + 1) *
						      sizeof(*states->list));
		states->list[states->count++] = *unit;
	}
	*unit = (struct unit_state){ 0 };
}

/* Between the lines of two units one is empty. */
static void parse(char *text, struct unit_states *states)
{
	struct unit_state unit = { 0 };
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (*line)
			parse_line(line, &unit);
		else
			add_state(states, &unit);
	}
	add_state(states, &unit);
}

int units_look(const char *systemctl, const char *const *names,
	       struct unit_states *states, char **why)
{
	static const char *const options[] = {
		"show", "--property=Id", "--property=LoadState",
		"--property=ActiveState", "--"
	};
	const size_t nr_options = sizeof(options) / sizeof(options[0]);
	size_t count = 0, n = 0;
	char **argv, *text;
	int err;

	*states = (struct unit_states){ 0 };
	while (names[count])
		count++;
	argv = xmalloc((1 + nr_options + count + 1) * sizeof(*argv));
	argv[n++] = (char *)systemctl;
	for (size_t i = 0; i < nr_options; i++)
		argv[n++] = (char *)options[i];
	for (size_t i = 0; i < count; i++)
		argv[n++] = (char *)names[i];
	err = ask(argv, &text);
	free(argv);
	if (err) {
		*why = reason(text);
		return -1;
	}
	parse(text, states);
	free(text);
	return 0;
}

void units_free(struct unit_states *states)
{
	for (size_t i = 0; i < states->count; i++)
		free(states->list[i].name);
	free(states->list);
	*states = (struct unit_states){ 0 };
}

int unit_set(const char *systemctl, const char *name, bool active, char **why)
{
	char *argv[] = { (char *)systemctl, "--no-ask-password",
			 active ? "start" : "stop", "--", (char *)name, NULL };
	char *text;

	if (ask(argv, &text)) {
		*why = reason(text);
		return -1;
	}
	free(text);
	return 0;
}
