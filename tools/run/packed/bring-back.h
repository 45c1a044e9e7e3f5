/* SPDX-License-Identifier: GPL-2.0 */
/* Brings files back from a guest that does not see the host's files. */
#ifndef TOOLS_BRING_BACK_H
#define TOOLS_BRING_BACK_H

/*
 * Applies the guest's report in fd, a file of struct packed_file, to the files
 * below these directories. Does nothing unless the report is complete, and
 * never follows links out of the directories. Returns NULL, or the first
 * failure, which the caller frees.
 */
char *bring_back(int fd, char *const *directories);

#endif
