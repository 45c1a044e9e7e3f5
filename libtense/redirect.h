/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtense-redirect.so: finds the functions that TENSE_FUNCTIONS names and
 * overwrites their entries. libtense-functions.so loads it, only where there is
 * something to do, and so that the program sees neither its symbols nor those
 * of the libraries that it needs.
 */
#ifndef LIBTENSE_REDIRECT_H
#define LIBTENSE_REDIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tense_stub;

/* What libtense-functions.so gives to it. */
struct redirect_host {
	void (*entry)(void);		/* tense_stub_entry() */
	void (*changed)(void);		/* libraries were opened or closed */
	const char *reason;		/* why none can be, or NULL */
	const void *const *ours;	/* addresses in Tense's libraries; NULL ends */
};

/* And what it gives back. Not to be called twice at a time. */
struct redirect {
	/* What TENSE_FUNCTIONS says. False: nothing that makes sense. */
	bool (*parse)(const char *text);
	/* Are there functions whose calls are to be marked? */
	bool (*marks)(void);
	/*
	 * Redirects what is named in objects that were not there when this was
	 * called last. relocated: their code can be run. Returns how many.
	 */
	size_t (*scan)(bool relocated);
	/*
	 * From now on calls host->changed(), before anybody can run what is new.
	 * NULL, or the reason why not.
	 */
	const char *(*watch)(void);
	/*
	 * *entry: calls a function of size bytes at address by a stub. NULL, or
	 * the reason why not.
	 */
	const char *(*probe)(uintptr_t address, size_t size,
			     const struct tense_stub *stub, uintptr_t *entry);
	void (*log_cost)(double ns, unsigned int ticks);
	void (*log_start)(uint64_t ns);
};

/* What is exported, by this name, and its type. */
#define REDIRECT_INIT "tense_redirect"
const struct redirect *tense_redirect(const struct redirect_host *host);

#endif
