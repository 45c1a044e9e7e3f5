// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates, maps and frees the area that a thread shares with the kernel: its clock
 * page, its ring, and the page that all threads of the experiment share.
 * <uapi/linux/tense.h> specifies the layout. charge.c reads the ring, and page.c
 * writes the clock page.
 *
 * t->lock protects t->area. Functions that allocate or free an area may sleep.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>
#include <linux/vmalloc.h>

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

#include "area.h"
#include "tense.h"

/*
 * R9: a thread asks the kernel instead of its page if the last charge is older than
 * STALE_NS, because something stole time. STALE_STOLEN_NS applies instead for a
 * second after a charge that missed time; see is_stolen() in charge.c.
 */
#define STALE_NS	(2 * TICK_NSEC)
#define STALE_STOLEN_NS	100000

/* Attempts to read counter and clock together. One of them is likely undisturbed. */
#define COUNTER_TRIES	8

/* Trust a counter whose quality an emulator or host hides. */
static bool tense_trust_counter;
module_param_named(trust_counter, tense_trust_counter, bool, 0444);
MODULE_PARM_DESC(trust_counter, "The time-stamp counter is the same on all CPUs and never stops, even if they do not say so");

/* Counter and clock when the module was loaded: counter_rate() measures from there. */
static u64 first_counter;
static u64 first_ns;

static_assert(sizeof(struct tense_clock) <= TENSE_RING_OFFSET);
static_assert(sizeof(struct tense_ring) == TENSE_RING_SIZE);
static_assert(sizeof(struct tense_shared) <= TENSE_SHARED_SIZE);
static_assert(TENSE_SHARED_SIZE == PAGE_SIZE);

/*
 * Reads counter and clock at the same instant. Takes the attempt that took least
 * time: interrupts and the host disturbed it least.
 */
static void read_both(u64 *counter, u64 *ns)
{
	u64 least = U64_MAX;
	int i;

	for (i = 0; i < COUNTER_TRIES; i++) {
		u64 before = tense_counter(), now = tense_real_now();
		u64 took = tense_counter() - before;

		if (took < least) {
			least = took;
			*counter = before + took / 2;
			*ns = now;
		}
	}
}

void tense_counter_init(void)
{
	read_both(&first_counter, &first_ns);
}

/* Returns ns per tick, times 2^32, measured since tense_counter_init(). */
static u64 counter_rate(void)
{
	u64 ns, ticks;

	read_both(&ticks, &ns);
	ns -= first_ns;
	ticks -= first_counter;
	/* Scale both down alike: ns << 32 must fit in 64 bits. */
	while (ns >> 31) {
		ns >>= 1;
		ticks >>= 1;
	}
	return ticks ? div64_u64(ns << 32, ticks) : 0;
}

static void area_free(struct tense_area *area)
{
	int i;

	if (area->clock)
		vunmap(area->clock);
	for (i = 0; i < AREA_PAGES && area->page[i]; i++)
		put_page(area->page[i]);
	kfree(area);
}

/**
 * tense_area_put() - drop the reference of a task or a mapping
 * @area: the area, or NULL
 *
 * May sleep.
 */
void tense_area_put(struct tense_area *area)
{
	struct tense_user *user;

	if (!area || !refcount_dec_and_test(&area->refs))
		return;
	user = area->user;
	area_free(area);
	tense_user_give(user, TENSE_USER_AREAS);
	tense_user_drop(user);
}

static void vm_open(struct vm_area_struct *vma)
{
	struct tense_area *area = vma->vm_private_data;

	refcount_inc(&area->refs);
}

static void vm_close(struct vm_area_struct *vma)
{
	tense_area_put(vma->vm_private_data);
}

/* A mapping may outlast its task's membership. The mapped file pins the module. */
static const struct vm_operations_struct area_vm_ops = {
	.open = vm_open,
	.close = vm_close,
};

static u64 ticks_of(const struct tense_area *area, u64 ns)
{
	return mul_u64_u64_div_u64(ns, BIT_ULL(32), max(area->rate, 1ULL));
}

static struct tense_area *area_alloc(struct tense_experiment *exp)
{
	struct tense_area *area = kzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);
	int i;

	if (!area)
		return NULL;
	refcount_set(&area->refs, 1);
	for (i = 0; i < CLOCK_PAGES + RING_PAGES; i++) {
		area->page[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!area->page[i])
			goto err;
	}
	get_page(exp->shared);
	area->page[i] = exp->shared;
	area->clock = vmap(area->page, AREA_PAGES, VM_MAP, PAGE_KERNEL);
	if (!area->clock)
		goto err;
	area->rate = counter_rate();
	area->stale = ticks_of(area, STALE_NS);
	area->stale_stolen = ticks_of(area, STALE_STOLEN_NS);
	/* Be strict for a second, until charges show whether time is stolen. */
	area->stolen_at = jiffies;
	return area;
err:
	area_free(area);
	return NULL;
}

static void read_shift(struct tense_area *area)
{
	struct timespec64 ts = {};

	timens_add_monotonic(&ts);
	area->shift[TENSE_MONOTONIC] = timespec64_to_ns(&ts);
	area->shift[TENSE_RAW] = area->shift[TENSE_MONOTONIC];
	ts = (struct timespec64){};
	timens_add_boottime(&ts);
	area->shift[TENSE_BOOTTIME] = timespec64_to_ns(&ts);
}

/* Returns the caller's area, allocated if it has none, or an ERR_PTR(). May sleep. */
static struct tense_area *area_get(struct tense_task *t)
{
	struct tense_area *area;
	int err;

	/* Only the task itself sets it. */
	if (t->area)
		return t->area;
	err = tense_user_take(t->exp->user, TENSE_USER_AREAS);
	if (err)
		return ERR_PTR(err);
	area = area_alloc(t->exp);
	if (!area) {
		tense_user_give(t->exp->user, TENSE_USER_AREAS);
		return ERR_PTR(-ENOMEM);
	}
	area->user = t->exp->user;
	tense_user_hold(area->user);
	area->clock->version = TENSE_CLOCK_VERSION;
	area->clock->ahead = VCLOCK_AHEAD_MAX;
	area->clock->rate = area->rate;
	read_shift(area);
	tense_task_lock_irq(t);
	tense_stretch_begin(t, tense_counter());
	t->tail = 0;
	t->area = area;
	raw_spin_unlock_irq(&t->lock);
	return area;
}

static int check_vma(struct vm_area_struct *vma)
{
	unsigned long pages = vma_pages(vma);

	/* VM_SHARED is set only if the handle is open for writing. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (!vma->vm_pgoff) {
		if (pages != CLOCK_PAGES)
			return -EINVAL;
		return vma->vm_flags & VM_WRITE ? -EACCES : 0;
	}
	if (vma->vm_pgoff == CLOCK_PAGES)
		return pages <= RING_PAGES ? 0 : -EINVAL;
	return vma->vm_pgoff == CLOCK_PAGES + RING_PAGES &&
	       pages == SHARED_PAGES ? 0 : -EINVAL;
}

/* Whether the CPUs share a counter that user space can read. */
static bool has_counter(void)
{
#ifdef CONFIG_X86_64
	return tense_trust_counter ||
	       (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
		boot_cpu_has(X86_FEATURE_NONSTOP_TSC));
#else
	return false;
#endif
}

/**
 * tense_area_map() - map the calling task's area, for mmap(2)
 * @t: the calling task
 * @vma: the mapping
 *
 * Return: 0 or the errors that the interface lists.
 */
int tense_area_map(struct tense_task *t, struct vm_area_struct *vma)
{
	struct tense_area *area;
	int err = check_vma(vma);

	if (err)
		return err;
	if (!has_counter())
		return -EOPNOTSUPP;
	area = area_get(t);
	if (IS_ERR(area))
		return PTR_ERR(area);
	compat_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
			    vma->vm_pgoff ? VM_MAYEXEC : VM_MAYEXEC | VM_MAYWRITE);
	err = vm_map_pages(vma, area->page, AREA_PAGES);
	if (err)
		return err;
	vma->vm_private_data = area;
	vma->vm_ops = &area_vm_ops;
	vm_open(vma);
	return 0;
}

/**
 * tense_area_close() - detach the area from a task that leaves
 * @t: the task, locked
 *
 * Return: the area, for tense_area_put(), or NULL.
 */
struct tense_area *tense_area_close(struct tense_task *t)
{
	struct tense_area *area = t->area;

	lockdep_assert_held(&t->lock);

	if (area)
		WRITE_ONCE(area->clock->flags, 0);
	t->area = NULL;
	return area;
}
