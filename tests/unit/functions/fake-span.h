/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FAKE_SPAN_H
#define FAKE_SPAN_H

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread's. */
unsigned int fake_percent(void);
unsigned int fake_slot(void);
/* Is no change of the thread's ring unfinished? */
_Bool fake_admits(void);
/* All threads' together. */
unsigned long fake_calls(unsigned int slot);

#ifdef __cplusplus
}
#endif

#endif
