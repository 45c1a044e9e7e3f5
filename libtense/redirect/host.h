/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtense-redirect.so finds the functions that TENSE_FUNCTIONS names and
 * overwrites their entries. libtense-functions.so loads it only if there is
 * something to do. It loads it so that the program sees neither its symbols nor
 * those of the libraries that it needs.
 */
#ifndef LIBTENSE_REDIRECT_H
#define LIBTENSE_REDIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tense_stub;

/* Passed by libtense-functions.so. */
struct redirect_host {
	void (*entry)(void);		/* tense_stub_entry() */
	void (*changed)(void);		/* libraries were opened or closed */
	const char *reason;		/* why no function can be redirected, or NULL */
	const void *const *ours;	/* addresses in Tense's libraries; NULL ends */
};

/* Returned to libtense-functions.so. One call at a time. */
struct redirect {
	/* Parses the text of TENSE_FUNCTIONS. Returns false if it names nothing. */
	bool (*parse)(const char *text);
	/* Returns whether the calls of some functions are to be marked. */
	bool (*marks)(void);
	/*
	 * Redirects functions in the objects that were loaded since the last
	 * call. relocated: their code can run. Returns how many.
	 */
	size_t (*scan)(bool relocated);
	/*
	 * From now on calls host->changed() before a thread can run a new object.
	 * Returns NULL, or the reason why not.
	 */
	const char *(*watch)(void);
	/*
	 * Sets *entry to call a function of size bytes at address through a stub.
	 * Returns NULL, or the reason why not.
	 */
	const char *(*probe)(uintptr_t address, size_t size,
			     const struct tense_stub *stub, uintptr_t *entry);
	void (*log_cost)(double ns, unsigned int ticks);
	void (*log_start)(uint64_t ns);
};

/* The name under which the function is exported, and its type. */
#define REDIRECT_INIT "tense_redirect"
const struct redirect *tense_redirect(const struct redirect_host *host);

#endif
