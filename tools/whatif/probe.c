// SPDX-License-Identifier: GPL-2.0
#include "probe.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "base/util.h"

/* Enough for the kernel to learn what one costs. */
#define LEARN_CALLS	2000

static int add_probe(int device, unsigned int slot, unsigned int percent,
		     const char *path, uint64_t offset)
{
	char text[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC), len, result;

	if (fd < 0)
		return -1;
	len = snprintf(text, sizeof(text), "probe %u %u %d %llu", slot, percent,
		       fd, (unsigned long long)offset);
	result = write(device, text, len) == len ? 0 : -1;
	close(fd);
	return result;
}

__attribute__((noinline)) static void empty(void)
{
	__asm__ volatile("");
}

/* Turns *data, an address of this program, into an offset in its file. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *data)
{
	uint64_t *place = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && *place >= from &&
		    *place - from < p->p_filesz) {
			*place += p->p_offset - from;
			break;
		}
	}
	/* The first is the program itself. */
	return 1;
}

static int learn(int device)
{
	void (*volatile call)(void) = empty;
	uint64_t place = (uintptr_t)empty;

	dl_iterate_phdr(find_offset, &place);
	if (add_probe(device, 0, TENSE_PERCENT_REAL * TENSE_FINE,
		      "/proc/self/exe", place))
		return -1;
	for (int i = 0; i < LEARN_CALLS; i++)
		call();
	return 0;
}

static bool any(const struct whatif_found *found, const unsigned int *percent)
{
	for (size_t i = 0; i < found->nr_probes; i++)
		if (percent[found->probes[i].slot])
			return true;
	return false;
}

/*
 * Does an earlier probe in use have the same place? A place can have only one. All
 * probes are in use if percent is NULL.
 */
static bool is_taken(const struct whatif_found *found, const unsigned int *percent,
		     size_t index)
{
	const struct whatif_probe *p = &found->probes[index];

	for (size_t i = 0; i < index; i++)
		if ((!percent || percent[found->probes[i].slot]) &&
		    found->probes[i].offset == p->offset &&
		    !strcmp(found->probes[i].object, p->object))
			return true;
	return false;
}

int whatif_probe(const struct whatif_plan *plan,
		 const struct whatif_found *found, size_t condition,
		 const char **what)
{
	const unsigned int *percent = plan->conditions[condition].percent;
	int device, result = 0;

	if (!any(found, percent))
		return 0;
	*what = "cannot scale functions of a program that is linked statically on this kernel";
	/* Closing it changes nothing: this process is in by its parent. */
	device = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		return -1;
	result = learn(device);
	for (size_t i = 0; i < found->nr_probes && !result; i++) {
		const struct whatif_probe *p = &found->probes[i];

		if (!percent[p->slot] || is_taken(found, percent, i))
			continue;
		result = add_probe(device, p->slot, percent[p->slot],
				   p->object, p->offset);
	}
	close(device);
	return result;
}

void whatif_probe_told(const struct whatif_found *found,
		       struct whatif_samples *samples)
{
	if (!found->nr_probes || samples->nr_patches)
		return;
	samples->patches =
		xmalloc(found->nr_probes * sizeof(*samples->patches));
	for (size_t i = 0; i < found->nr_probes; i++)
		samples->patches[samples->nr_patches++] = (struct whatif_patch){
			.slot = found->probes[i].slot,
			.patched = !is_taken(found, NULL, i),
			.object = xstrdup(found->probes[i].object),
			.symbol = xstrdup(found->probes[i].symbol),
			.offset = found->probes[i].offset,
			.how = xstrdup(is_taken(found, NULL, i) ?
				       "it is in another slot already" : "uprobe"),
			.processes = 1,
		};
}

static bool is_same_place(const struct whatif_patch *a, const struct whatif_patch *b)
{
	return a->offset == b->offset && !strcmp(a->object, b->object);
}

bool whatif_probe_shares(const struct whatif_samples *samples, unsigned int progress,
			 unsigned int slot)
{
	for (size_t i = 0; i < samples->nr_patches; i++) {
		const struct whatif_patch *refused = &samples->patches[i];

		if (refused->slot != progress || refused->patched)
			continue;
		for (size_t k = 0; k < samples->nr_patches; k++) {
			const struct whatif_patch *p = &samples->patches[k];

			if (p->slot == slot && p->patched &&
			    is_same_place(p, refused))
				return true;
		}
	}
	return false;
}
