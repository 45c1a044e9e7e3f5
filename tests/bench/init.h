/* SPDX-License-Identifier: GPL-2.0 */
#ifndef INIT_H
#define INIT_H

/*
 * For programs that `boot` starts as the first of a guest. They run as root,
 * whoever started the guest, and can load and remove the module.
 */

/* Returns argc without the words that User-Mode Linux appends. */
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
