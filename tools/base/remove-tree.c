// SPDX-License-Identifier: GPL-2.0
#include "remove-tree.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>

static int remove_entry(const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_D:
		/* It comes again after its entries, as FTS_DP or FTS_DNR. */
		return 0;
	case FTS_ERR:
		return entry->fts_errno;
	case FTS_DNR:
		/* It may be empty, or removed meanwhile. */
		return remove(entry->fts_accpath) ? entry->fts_errno : 0;
	default:
		return remove(entry->fts_accpath) ? errno : 0;
	}
}

int remove_tree(const char *path)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	int err = tree ? 0 : errno, next;
	FTSENT *entry;

	errno = 0;
	while (tree && (entry = fts_read(tree))) {
		/* Somebody else may remove it meanwhile. */
		next = remove_entry(entry);
		if (!err && next != ENOENT)
			err = next;
		errno = 0;
	}
	/* At its end, fts_read() leaves errno at 0. */
	if (!err)
		err = errno;
	if (tree)
		fts_close(tree);
	errno = err;
	return err ? -1 : 0;
}
