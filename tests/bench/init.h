/* SPDX-License-Identifier: GPL-2.0 */
#ifndef INIT_H
#define INIT_H

/*
 * For programs that are the first of a guest, started by `boot`. That is root,
 * whoever started the guest, so it can load the module and remove it.
 */

/* argc without what User-Mode Linux adds to the command line. */
int init_argc(int argc, char **argv);
/* Powers off. */
void init_end(void) __attribute__((noreturn));
/* Powers off with a message if something was not done. */
void init_must(int done, const char *what);
/* Mounts /proc, /dev, an empty /dev/shm and debugfs. */
void init_mount(void);
/*
 * How long this machine has run, in ns: real time without what the host gave
 * to others, and so what to compare kernels by.
 */
double init_machine_ns(void);
void init_load(const char *module, const char *options);
void init_unload(void);

#endif
