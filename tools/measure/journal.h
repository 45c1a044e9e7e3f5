/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A journal of the changes to a machine. Tense writes a line to disk before it
 * makes a change, so that another process can undo it, too. If a crash left
 * part of a line, the change was not made.
 */
#ifndef MEASURE_JOURNAL_H
#define MEASURE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

struct change {
	bool unit;		/* a unit of systemd; else a file */
	char *name;		/* the unit's, or the file's whole path */
	char *found;		/* a file's content to the byte */
	char *set;
};

struct changes {
	struct change *list;
	size_t count;
};

/* Takes the three texts. */
void changes_add(struct changes *changes, bool unit, char *name, char *found,
		 char *set);
void changes_free(struct changes *changes);

struct journal {
	char *directory;
	char *path;
	int lock;
	int fd;			/* -1 until it is begun */
};

/*
 * Locks the journal of a directory, which is made first if create is set. 0, or
 * -1 with errno: ENOENT if there is no such directory, EWOULDBLOCK if another
 * process has it. It is to be closed in either case.
 */
int journal_open(struct journal *j, const char *directory, bool create);
void journal_close(struct journal *j);

/*
 * Reads the changes that another process left in this boot. An older journal is
 * void, because no change outlasts a boot. *left tells whether there is a
 * journal. 0, or -1 after a message.
 */
int journal_read(const struct journal *j, const char *boot,
		 struct changes *changes, bool *left);

/* A new one. 0, or -1 with errno. */
int journal_begin(struct journal *j, const char *boot);

/* The change is on disk when this returns. 0, or -1 with errno. */
int journal_add(const struct journal *j, const struct change *change);

/* All is put back. 0, or -1 with errno. */
int journal_remove(const struct journal *j);

#endif
