// SPDX-License-Identifier: LGPL-2.1-or-later
/* The objects of the process: the first ones, and those that it loads later. */
#include "internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "object.h"
#include "code.h"
#include "stub.h"

struct known {
	uintptr_t bias;
	const void *dynamic;
	char *name;
	struct redirect_arena arena;
	bool seen;
};

static struct known *known;
static size_t known_count, known_room;

static const char *get_soname(const struct link_map *map)
{
	const ElfW(Dyn) *d = map->l_ld;
	uintptr_t strings = 0, name = 0;

	if (!d)
		return NULL;
	for (; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			strings = d->d_un.d_ptr;
		else if (d->d_tag == DT_SONAME)
			name = d->d_un.d_val;
	}
	if (!strings || !name)
		return NULL;
	/* The dynamic linker has made it an address, if it could. */
	if (strings < map->l_addr)
		strings += map->l_addr;
	return (const char *)(strings + name);
}

static char *get_path(const struct link_map *map, bool main)
{
	char path[PATH_MAX];
	ssize_t size;
	char *real;

	if (!main) {
		real = realpath(map->l_name, NULL);
		return real ? real : strdup(map->l_name);
	}
	size = readlink("/proc/thread-self/exe", path, sizeof(path) - 1);
	if (size < 0)
		return NULL;
	path[size] = 0;
	return strdup(path);
}

/* Tense's own libraries. */
static bool is_ours(const struct link_map *map)
{
	const void *const *address;
	Dl_info info;
	void *extra;

	if (map->l_ld == _DYNAMIC)
		return true;
	for (address = redirect_host->ours; *address; address++)
		if (dladdr1(*address, &info, &extra, RTLD_DL_LINKMAP) &&
		    extra == map)
			return true;
	return false;
}

/* The vDSO has no file. */
static void refuse_kernel(const struct link_map *map)
{
	size_t i;

	for (i = 0; i < redirect_specs.count; i++) {
		const struct tense_spec *spec = &redirect_specs.spec[i];
		struct redirect_name name = {
			.spec = spec,
			.object = map->l_name,
			.symbol = spec->pattern,
		};

		if (spec->object &&
		    tense_spec_object(spec, map->l_name, NULL, false))
			redirect_log(&name, "it is the kernel's (vDSO)");
	}
}

static size_t add(const struct link_map *map, bool main, bool relocated)
{
	struct redirect_object object = {
		.bias = map->l_addr,
		.main = main,
		.relocated = relocated,
	};
	struct known *k;
	size_t redirected;
	char *path;

	if (known_count == known_room) {
		size_t room = known_room ? 2 * known_room : 64;

		k = realloc(known, room * sizeof(*k));
		if (!k)
			return 0;
		known = k;
		known_room = room;
	}
	k = &known[known_count];
	*k = (struct known){
		.bias = map->l_addr,
		.dynamic = map->l_ld,
		.name = strdup(map->l_name),
		.seen = true,
	};
	if (!k->name)
		return 0;
	known_count++;
	if (is_ours(map))
		return 0;
	if (!main && !strchr(map->l_name, '/')) {
		refuse_kernel(map);
		return 0;
	}
	path = get_path(map, main);
	if (!path)
		return 0;
	object.path = path;
	object.soname = get_soname(map);
	if (map->l_addr == _r_debug.r_ldbase)
		object.reason = "it is the dynamic linker's";
	else if (redirect_host->reason)
		object.reason = redirect_host->reason;
	redirected = redirect_object(&object, &k->arena);
	free(path);
	return redirected;
}

static struct known *find(const struct link_map *map)
{
	struct known *k;

	for (k = known; k < known + known_count; k++)
		if (k->bias == map->l_addr && k->dynamic == map->l_ld &&
		    !strcmp(k->name, map->l_name))
			return k;
	return NULL;
}

/* The object's code is gone, so no thread runs the thunks that went with it. */
static void forget_unseen(void)
{
	size_t i, kept = 0;

	for (i = 0; i < known_count; i++) {
		struct known *k = &known[i];

		if (k->seen) {
			known[kept++] = *k;
			continue;
		}
		if (k->arena.at)
			munmap(k->arena.at, k->arena.size);
		free(k->name);
	}
	known_count = kept;
}

/* Returns the list of the next namespace of dlmopen(). */
static const struct r_debug *next_namespace(const struct r_debug *r)
{
	if (r->r_version < 2)
		return NULL;
	r = &((const struct r_debug_extended *)r)->r_next->base;
	return r;
}

size_t redirect_scan(bool relocated)
{
	const struct r_debug *r;
	const struct link_map *map;
	size_t redirected = 0, i;

	for (r = &_r_debug; r; r = next_namespace(r))
		if (r->r_state != RT_CONSISTENT)
			return 0;
	for (i = 0; i < known_count; i++)
		known[i].seen = false;
	for (r = &_r_debug; r; r = next_namespace(r))
		for (map = r->r_map; map; map = map->l_next) {
			struct known *k = find(map);

			if (k)
				k->seen = true;
			else
				redirected += add(map, r == &_r_debug &&
						  map == r->r_map, relocated);
		}
	forget_unseen();
	return redirected;
}

/*
 * After the dynamic linker has mapped libraries that the program opens, it calls
 * an empty function for debuggers. It does so however the program opens them, and
 * before any thread can run their code. Replacing dlopen() instead would make it
 * look for libraries on our behalf and not on its caller's. It would also miss
 * libc's own calls.
 */
const char *redirect_watch(void)
{
	const struct tense_stub stub = {
		.special = STUB_PROBE, .probe = redirect_host->changed,
	};
	uintptr_t thunk;

	if (!_r_debug.r_brk)
		return "it is not known";
	return redirect_probe(_r_debug.r_brk,
				      redirect_code_until_return(_r_debug.r_brk, 16),
				      &stub, true, &thunk);
}
