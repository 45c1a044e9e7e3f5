/* SPDX-License-Identifier: GPL-2.0 */
/* Brings files back from a guest that does not see the host's files. */
#ifndef TOOLS_BRING_BACK_H
#define TOOLS_BRING_BACK_H

/*
 * Makes the files below these directories what the guest says of them in fd: a
 * file, of struct packed_file. Nothing is done unless that is complete, and
 * nothing beyond the directories, whatever links lead there. Returns NULL, or
 * what failed first, which the caller frees.
 */
char *bring_back(int fd, char *const *directories);

#endif
