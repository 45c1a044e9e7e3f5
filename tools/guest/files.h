/* SPDX-License-Identifier: GPL-2.0 */
/* Files that the command writes where the host does not see them. */
#ifndef TOOLS_GUEST_FILES_H
#define TOOLS_GUEST_FILES_H

/* The directories whose files were packed, before anything writes to them. */
void files_begin(char *const *writable);
/* Sends the changes to those files through this channel. */
void files_send(int channel);

#endif
