/* SPDX-License-Identifier: GPL-2.0 */
/* A QEMU that counts instructions of several CPUs; see the script qemu-fetch. */
#ifndef TOOLS_EMULATOR_H
#define TOOLS_EMULATOR_H

/* The caller frees what these return. */

/* Its path. It is fetched if it is not there; ends the program on failure. */
char *emulator_fetch(void);

/* Its path if it is there, or NULL. */
char *emulator_path(void);

/* Lists what is missing to fetch it, in lines; NULL: nothing. */
char *emulator_missing(void);

#endif
