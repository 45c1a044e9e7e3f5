// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that a thread shares with the kernel, its "area". It consists of the
 * page that shows the thread's clock, the ring of percent changes, and the page
 * that all threads of the experiment share. This file allocates and maps an area,
 * charges the thread by the records in its ring, and writes its clock page.
 * <uapi/linux/tense.h> specifies the layout.
 *
 * The task's lock protects t->area, the thread's position in the ring, and its
 * clock page. Functions that allocate or free an area may sleep.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/refcount.h>
#include <linux/sched/rt.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>
#include <linux/vmalloc.h>

#include "tense.h"
#include "trace.h"

#define CLOCK_PAGES	(TENSE_RING_OFFSET / PAGE_SIZE)
#define RING_PAGES	(TENSE_RING_SIZE / PAGE_SIZE)
#define SHARED_PAGES	(TENSE_SHARED_SIZE / PAGE_SIZE)
#define AREA_PAGES	(CLOCK_PAGES + RING_PAGES + SHARED_PAGES)

/*
 * R9: a thread asks the kernel instead of its page if the last charge is older than
 * STALE_NS, because something stole time. STALE_STOLEN_NS applies instead for a
 * second after a charge that missed more than STOLEN_NS. Interrupts take less than
 * STOLEN_NS.
 */
#define STALE_NS	(2 * TICK_NSEC)
#define STALE_STOLEN_NS	100000
#define STOLEN_NS	20000

/*
 * R13: a call may cost less than Tense learnt. A task that only polls the clock
 * would then never see time pass, and would stop the others. So 1 / PROGRESS_PART
 * of all run time stays charged, and a task saves up at most REFUNDABLE_MAX ns for
 * later refunds.
 */
#define PROGRESS_PART	64
#define REFUNDABLE_MAX	((u64)NSEC_PER_MSEC)

/* Attempts to read counter and clock together. One of them is likely undisturbed. */
#define COUNTER_TRIES	8

/* Counter and clock when the module was loaded: counter_rate() measures from there. */
static u64 first_counter;
static u64 first_ns;

struct tense_area {
	refcount_t refs;	/* one for the task, one per mapping */
	struct tense_user *user;	/* the area counts against its limit until freed */
	struct tense_clock *clock;	/* followed by the ring */
	u64 rate;
	u64 stale;		/* STALE_NS in ticks of the counter */
	u64 stale_stolen;	/* STALE_STOLEN_NS in ticks of the counter */
	unsigned long stolen_at;	/* jiffies: when time was last stolen */
	s64 shift[TENSE_CLOCKS];	/* offsets of the thread's time namespace */
	struct page *page[AREA_PAGES];
};

static_assert((int)TENSE_MONOTONIC == TENSE_ORIGIN_MONOTONIC);
static_assert((int)TENSE_REALTIME == TENSE_ORIGIN_REALTIME);
static_assert((int)TENSE_BOOTTIME == TENSE_ORIGIN_BOOTTIME);
static_assert((int)TENSE_TAI == TENSE_ORIGIN_TAI);
static_assert((int)TENSE_RAW == TENSE_ORIGIN_RAW);
static_assert((int)TENSE_CLOCKS == TENSE_ORIGINS);
static_assert(sizeof(struct tense_clock) <= TENSE_RING_OFFSET);
static_assert(sizeof(struct tense_ring) == TENSE_RING_SIZE);
static_assert(sizeof(struct tense_shared) <= TENSE_SHARED_SIZE);
static_assert(TENSE_SHARED_SIZE == PAGE_SIZE);
/* Indices wrap at 2^32. */
static_assert((TENSE_RING_RECORDS & (TENSE_RING_RECORDS - 1)) == 0);

static struct tense_ring *ring_of(const struct tense_area *area)
{
	return (void *)area->clock + TENSE_RING_OFFSET;
}

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
	read_shift(area);
	raw_spin_lock_irq(&t->lock);
	tense_area_begin(t, tense_counter());
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
	if (!tense_has_counter())
		return -EOPNOTSUPP;
	area = area_get(t);
	if (IS_ERR(area))
		return PTR_ERR(area);
	vma->vm_flags |= VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP;
	vma->vm_flags &= ~VM_MAYEXEC;
	if (!vma->vm_pgoff)
		vma->vm_flags &= ~VM_MAYWRITE;
	err = vm_map_pages(vma, area->page, AREA_PAGES);
	if (err)
		return err;
	vma->vm_private_data = area;
	vma->vm_ops = &area_vm_ops;
	vm_open(vma);
	return 0;
}

/* Adds run time and charged time to the task's current slot. */
static void count(struct tense_task *t, u64 ran, u64 charged)
{
	struct tense_slot *slot = tense_slot(t->exp, t->slot);

	slot->ran += ran;
	slot->charged += charged;
}

/**
 * tense_jump() - R10: charge the jump that the task asked for
 * @t: runnable, locked
 *
 * Return: the charged virtual ns.
 */
u64 tense_jump(struct tense_task *t)
{
	u64 charged;

	lockdep_assert_held(&t->lock);

	charged = vclock_move(&t->exp->vc, &t->v, t->move);
	t->move = 0;
	count(t, 0, charged);
	return charged;
}

static void earn_refunds(struct tense_task *t, u64 ran)
{
	u64 kept = DIV_ROUND_UP_ULL(ran, PROGRESS_PART);

	t->refundable = min(t->refundable + ran - kept, REFUNDABLE_MAX);
}

/* If all entries are taken, the last entry also stands for the further slots. */
static struct tense_refund *refund_of_slot(struct tense_task *t)
{
	unsigned int i;

	for (i = 0; i < t->refunds; i++)
		if (t->refund[i].slot == t->slot)
			return &t->refund[i];
	if (i == TENSE_REFUNDS)
		return &t->refund[i - 1];
	t->refund[i] = (struct tense_refund) { .slot = t->slot };
	t->refunds++;
	return &t->refund[i];
}

/**
 * tense_refund() - R13: give back the cost of Tense's own work
 * @t: the task, locked
 * @real_ns: the cost, which was charged to the task or is about to be. The refund
 *	is smaller if the task has not earned so much by running.
 */
void tense_refund(struct tense_task *t, u64 real_ns)
{
	u64 ran = t->v.ran, credit = t->v.credit.ns;

	lockdep_assert_held(&t->lock);

	real_ns = min(real_ns, t->refundable);
	t->refundable -= real_ns;
	vclock_refund(&t->v, real_ns);
	t->overhead += real_ns;
	count(t, t->v.ran - ran, 0);
	refund_of_slot(t)->ns += t->v.credit.ns - credit;
}

/*
 * The task has just used up credit, which belongs to the slots that got refunds.
 * Moves the charge from those slots to the current slot.
 */
static void use_refunds(struct tense_task *t, u64 used)
{
	u64 part;

	while (used && t->refunds) {
		struct tense_refund *r = &t->refund[t->refunds - 1];

		part = min(used, r->ns);
		used -= part;
		r->ns -= part;
		tense_slot(t->exp, t->slot)->charged += part;
		tense_slot(t->exp, r->slot)->charged -= part;
		t->refunds -= !r->ns;
	}
}

/* Books a charge. @credit is the credit that the task had before it. */
static void book(struct tense_task *t, u64 ran, u64 charged, u64 credit)
{
	earn_refunds(t, ran);
	count(t, ran, charged);
	use_refunds(t, credit - t->v.credit.ns);
}

/* Charges the stretch up to counter value @until, less @own ticks of Tense's work. */
static u64 spend(struct tense_task *t, struct vclock_stretch *s, u64 until,
		 u64 own)
{
	u64 left = s->ns, ran = t->v.ran, credit = t->v.credit.ns, charged;

	charged = vclock_spend(&t->v, s, until, own);
	ran = t->v.ran - ran;
	t->overhead += left - s->ns - ran;
	book(t, ran, charged, credit);
	return charged;
}

/*
 * The task is about to change its percent for a function. t->outer keeps the
 * percent from before: threads and programs that the task starts meanwhile begin
 * with it.
 */
void tense_enter_slot(struct tense_task *t, u8 slot)
{
	lockdep_assert_held(&t->lock);

	if (slot && !t->slot)
		t->outer = vclock_fine(&t->v);
	t->slot = slot;
}

/* A program or thread begins outside of all functions. */
static void leave_slot(struct tense_task *t)
{
	tense_probe_forget(t);
	if (!t->slot)
		return;
	vclock_set_fine(&t->v, t->outer);
	t->slot = 0;
}

/**
 * tense_start() - a new task runs for the first time
 * @t: the task, locked
 *
 * A child process continues in the functions of its parent, on a copy of its stack.
 * A thread has a stack of its own and starts outside of them.
 */
void tense_start(struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	if (t->mm == t->task->mm)
		leave_slot(t);
	t->mm = t->task->mm;
}

static void take_record(struct tense_task *t, const struct tense_record *r)
{
	u8 slot = READ_ONCE(r->slot), flags = READ_ONCE(r->flags);

	slot = slot < TENSE_SLOTS ? array_index_nospec(slot, TENSE_SLOTS) : 0;
	if (flags & TENSE_RECORD_CALL)
		tense_slot(t->exp, slot)->calls++;
	if (!(flags & TENSE_RECORD_STAY))
		tense_enter_slot(t, slot);
	/* An invalid percent leaves the old one. */
	vclock_set_fine(&t->v, READ_ONCE(r->percent));
}

static struct tense_record *record_of(struct tense_task *t, u32 index)
{
	return &ring_of(t->area)->record[index % TENSE_RING_RECORDS];
}

/* R1: finds where in the stretch the CPU ran something else. */
static void cut_holes(struct tense_task *t, struct vclock_stretch *s, u32 n)
{
	struct vclock_segments segments = { .at = s->from };
	u32 i;

	for (i = 0; i < n; i++)
		vclock_divide(&segments, s,
			      READ_ONCE(record_of(t, t->tail + i)->stamp));
	vclock_cut_holes(s, &segments, t->area->rate);
}

/**
 * tense_take_shown() - R9: note the latest time that a thread read from its page
 * @t: locked; it runs, or has just stopped running
 */
void tense_take_shown(struct tense_task *t)
{
	u64 shown = t->area ? READ_ONCE(ring_of(t->area)->shown) : 0;

	lockdep_assert_held(&t->lock);

	if (shown)
		vclock_take_shown(&t->exp->vc, &t->v, shown);
}

/* R2: charges up to each new record, then applies the record. */
static u64 drain(struct tense_task *t, struct vclock_stretch *s, u32 head)
{
	u32 n = min_t(u32, head - t->tail, TENSE_RING_RECORDS);
	u64 charged = 0;

	if (!n)
		return 0;
	cut_holes(t, s, n);
	while (n--) {
		struct tense_record *r = record_of(t, t->tail++);

		charged += spend(t, s, READ_ONCE(r->stamp), READ_ONCE(r->own));
		take_record(t, r);
	}
	t->tail = head;
	tense_own_drain(t, s->to, t->area->rate);
	return charged;
}

/* Charges the whole time at the current percent. */
static u64 charge_whole(struct tense_task *t, u64 real_ns)
{
	u64 credit = t->v.credit.ns, charged;

	if (!real_ns)
		return 0;
	charged = vclock_charge(&t->exp->vc, &t->v, real_ns);
	book(t, real_ns, charged, credit);
	return charged;
}

static u64 charge_parts(struct tense_task *t, u64 real_ns, u64 counter, u32 head)
{
	struct vclock_stretch s = {
		.from = t->counter, .to = counter, .ns = real_ns,
	};
	u64 charged;

	charged = spend(t, &s, s.from + t->own, t->own);
	tense_area_begin(t, s.to);
	charged += drain(t, &s, head);
	charged += spend(t, &s, s.to, 0);
	vclock_pass(&t->exp->vc, &t->v, &s);
	return charged;
}

/* The counter passed more time than the task ran: interrupts or a host had the CPU. */
static void note_stolen(struct tense_task *t, u64 counter, u64 real_ns)
{
	u64 passed = mul_u64_u64_shr(counter - t->counter, t->area->rate, 32);

	if (passed > real_ns + STOLEN_NS)
		t->area->stolen_at = jiffies;
}

static u64 charge_by_area(struct tense_task *t, u64 real_ns)
{
	u64 counter = max(tense_counter(), t->counter + 1), charged;
	struct tense_ring *ring = ring_of(t->area);
	u32 head;

	/* Pairs with the release by which the thread publishes records. */
	head = smp_load_acquire(&ring->head);
	t->v.lowest = min_t(u32, READ_ONCE(ring->lowest),
			    TENSE_PERCENT_MAX * TENSE_FINE);
	note_stolen(t, counter, real_ns);
	if (head == t->tail && !t->own) {
		charged = charge_whole(t, real_ns);
		tense_area_begin(t, counter);
	} else {
		charged = charge_parts(t, real_ns, counter, head);
	}
	tense_take_shown(t);
	return charged;
}

/**
 * tense_area_charge() - charge a task for its run time since the last charge
 * @t: runnable, locked
 * @real_ns: the run time; 0 only takes new records
 *
 * Return: the charged virtual ns.
 */
u64 tense_area_charge(struct tense_task *t, u64 real_ns)
{
	u64 charged;

	lockdep_assert_held(&t->lock);

	charged = t->area ? charge_by_area(t, real_ns) :
			    charge_whole(t, real_ns);
	if (t->mm != t->task->mm) {
		/*
		 * It executed a program: all records in the ring are the old
		 * program's.
		 */
		leave_slot(t);
		t->mm = t->task->mm;
	}
	return charged;
}

/**
 * tense_area_tell() - update the running task's clock page
 * @t: runs on this CPU and was charged just now, locked
 */
void tense_area_tell(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	struct tense_area *area = t->area;
	struct tense_clock *c;
	u32 flags = TENSE_CLOCK_MEMBER;
	u64 now;
	int i;

	lockdep_assert_held(&t->lock);

	if (!area)
		return;
	c = area->clock;
	now = t->v.cpu < 0 ? t->v.seen : vclock_lvt(&exp->vc, t->v.cpu);
	/* Only the fair class charges tasks: in another class the time stands still. */
	if (t->v.cpu >= 0 && !t->move && !rt_task(t->task))
		flags |= TENSE_CLOCK_VALID;
	WRITE_ONCE(c->seq, c->seq + 1);
	smp_wmb();	/* make seq odd before changing the rest */
	WRITE_ONCE(c->flags, flags);
	WRITE_ONCE(c->counter, t->counter);
	WRITE_ONCE(c->ns, now);
	WRITE_ONCE(c->floor, vclock_floor(&exp->vc, &t->v));
	WRITE_ONCE(c->ahead, VCLOCK_AHEAD_MAX);
	/* GVT only grows: the kernel accepts every reading that the page allows. */
	WRITE_ONCE(c->limit, vclock_limit(&exp->vc));
	WRITE_ONCE(c->credit, t->v.credit.ns);
	WRITE_ONCE(c->rate, area->rate);
	WRITE_ONCE(c->stale, time_before(jiffies, area->stolen_at + HZ) ?
			     area->stale_stolen : area->stale);
	WRITE_ONCE(c->percent, vclock_fine(&t->v));
	WRITE_ONCE(c->tail, t->tail);
	WRITE_ONCE(c->clocks, exp->virtual_clocks);
	for (i = 0; i < TENSE_CLOCKS; i++)
		WRITE_ONCE(c->origin[i],
			   tense_clock_of(exp, i, 0) + area->shift[i]);
	smp_wmb();	/* change the rest before making seq even */
	WRITE_ONCE(c->seq, c->seq + 1);
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
