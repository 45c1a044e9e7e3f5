/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_REMOVE_TREE_H
#define TOOLS_REMOVE_TREE_H

/*
 * Removes a file, or a directory with everything in it. Follows no symbolic link. Goes
 * on when something cannot be removed. Returns 0 if nothing is left or nothing was
 * there; else -1, with the first error in errno.
 */
int remove_tree(const char *path);

#endif
