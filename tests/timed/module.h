/* SPDX-License-Identifier: GPL-2.0 */
/* tense.ko, as the guest tests load and remove it. */
#ifndef TIMED_MODULE_H
#define TIMED_MODULE_H

/* 0 or a negative error number. */
int module_load(void);
int module_unload(void);
/* Returns the kernel's complaint, or NULL. */
const char *module_complaint(void);

#endif
