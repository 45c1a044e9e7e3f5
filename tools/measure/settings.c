// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "units.h"

/* No setting is longer. */
#define MAX_SIZE	4096

char *setting_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *content;
	ssize_t size;

	if (fd < 0)
		return NULL;
	content = xmalloc(MAX_SIZE);
	size = read(fd, content, MAX_SIZE - 1);
	close(fd);
	if (size >= 0)
		return content;
	free(content);
	return NULL;
}

static size_t line_of(const char *content)
{
	return strcspn(content, "\n");
}

bool setting_is(const char *content, const char *value)
{
	size_t size = line_of(content);

	return size == line_of(value) && !memcmp(content, value, size);
}

int setting_write(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;
	size_t size = strlen(content);

	if (fd < 0)
		return -1;
	err = write_full(fd, content, size);
	/*
	 * A plain file may have been longer. A file of the kernel has no
	 * length: its error does not matter.
	 */
	if (!err && ftruncate(fd, (off_t)size))
		errno = 0;
	close(fd);
	return err;
}

static enum put_back put_back_file(const struct change *c, char **why)
{
	char *now = setting_read(c->name);
	enum put_back result = PUT_BACK;

	if (!now) {
		*why = xstrdup(strerror(errno));
		return errno == ENOENT ? PUT_BACK_GONE : PUT_BACK_FAILED;
	}
	if (!strcmp(now, c->found)) {
		result = PUT_BACK_NEEDLESS;
	} else if (!setting_is(now, c->set) && !setting_is(now, c->found)) {
		now[line_of(now)] = '\0';
		*why = now;
		return PUT_BACK_OTHER;
	} else if (setting_write(c->name, c->found)) {
		*why = xstrdup(strerror(errno));
		result = PUT_BACK_FAILED;
	}
	free(now);
	return result;
}

static enum put_back put_back_unit(const struct change *c,
				   const char *systemctl, char **why)
{
	const char *const names[] = { c->name, NULL };
	bool wanted = !strcmp(c->found, "active"), there, active;
	struct unit_states states;

	if (units_look(systemctl, names, &states, why))
		return PUT_BACK_FAILED;
	there = states.count && states.list[0].loaded;
	active = states.count && states.list[0].active;
	units_free(&states);
	if (active == wanted)
		return PUT_BACK_NEEDLESS;
	if (!there) {
		*why = xstrdup("no such unit, or it is masked");
		return PUT_BACK_GONE;
	}
	return unit_set(systemctl, c->name, wanted, why) ? PUT_BACK_FAILED :
							   PUT_BACK;
}

enum put_back setting_put_back(const struct change *change,
			       const char *systemctl, char **why)
{
	*why = NULL;
	return change->unit ? put_back_unit(change, systemctl, why) :
			      put_back_file(change, why);
}
