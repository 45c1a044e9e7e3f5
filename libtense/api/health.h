/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTENSE_HEALTH_H
#define LIBTENSE_HEALTH_H

/*
 * Whether the calling thread could join an experiment and use page and ring. It
 * does not join one. 0, or a negative errno. Not for signal handlers.
 */
int tense_health_outside(void);

#endif
