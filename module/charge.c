// SPDX-License-Identifier: GPL-2.0
/*
 * R1, R2 and R13: charges a task for the time that it ran. If the task has an area,
 * the records in its ring divide the time, and each part is charged at its percent.
 * This file also books each charge to the task's slot, and keeps refunds.
 *
 * t->lock protects the task's percent, credit, refunds, slot and position in the
 * ring. tense_charge_hook() takes it; the callers of the other functions hold it, and
 * have disabled interrupts. The task writes its ring at any time, also between two
 * reads of a word. So each read is checked by itself: a word that changes can misplace
 * only the task's own time.
 *
 * While t->plain is set, a charge goes a short way, which only adds up. Nearly all
 * charges do, because tense_task_lock() clears t->plain, and is seldom called between
 * two charges of a task.
 */
#include <linux/nospec.h>

#include "area.h"
#include "tense.h"
#include "trace.h"

/*
 * R13: a call may cost less than Tense learnt. A task that only polls the clock
 * would then never see time pass, and would stop the others. So 1 / PROGRESS_PART
 * of all run time stays charged, and a task saves up at most REFUNDABLE_MAX ns for
 * later refunds.
 */
#define PROGRESS_PART	64
#define REFUNDABLE_MAX	((u64)NSEC_PER_MSEC)

/* Real ns that draining a full ring takes at most, unless a host stands still. */
#define DRAIN_MAX	((u64)NSEC_PER_MSEC)

/*
 * R9: a charge that misses more ns shows that something stole time. Interrupts take
 * less, in User-Mode Linux some 60 us.
 */
#define STOLEN_NS	(IS_ENABLED(CONFIG_UML) ? 100000 : 20000)

/* Indices wrap at 2^32. */
static_assert((TENSE_RING_RECORDS & (TENSE_RING_RECORDS - 1)) == 0);

static void earn_refunds(struct tense_task *t, u64 ran)
{
	u64 kept = DIV_ROUND_UP_ULL(ran, PROGRESS_PART);

	t->refundable = min(t->refundable + ran - kept, REFUNDABLE_MAX);
}

/**
 * tense_book() - book what the task ran and was charged since the last call
 * @t: the task, locked
 *
 * The time counts for the current slot, and earns refunds. Callers book before the
 * slot changes, before a refund, and before they read slots. So a charge need not.
 */
void tense_book(struct tense_task *t)
{
	u64 ran = t->v.ran - t->booked_ran;
	struct tense_slot *slot;

	lockdep_assert_held(&t->lock);

	slot = tense_slot(t->exp, t->slot);
	earn_refunds(t, ran);
	slot->ran += ran;
	slot->charged += t->v.charged.ns - t->booked_charged;
	t->booked_ran = t->v.ran;
	t->booked_charged = t->v.charged.ns;
}

/**
 * tense_set_slot() - charge further time to another slot
 * @t: the task, locked
 * @slot: number of the slot
 */
void tense_set_slot(struct tense_task *t, u8 slot)
{
	if (slot == t->slot)
		return;
	tense_book(t);
	t->slot = slot;
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
	return charged;
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
	u64 credit = t->v.credit.ns;

	lockdep_assert_held(&t->lock);

	if (!real_ns)
		return;
	tense_book(t);
	real_ns = min(real_ns, t->refundable);
	t->refundable -= real_ns;
	vclock_refund(&t->v, real_ns);
	t->overhead += real_ns;
	/* The slot has run for less. The task still has earned refunds for that time. */
	tense_slot(t->exp, t->slot)->ran -= t->booked_ran - t->v.ran;
	t->booked_ran = t->v.ran;
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

/**
 * tense_return_refunds() - R13: take back unused refunds of a task that leaves
 * @t: the task, locked
 *
 * The work that they stand for was never charged.
 */
void tense_return_refunds(struct tense_task *t)
{
	u64 real, ns = 0;

	lockdep_assert_held(&t->lock);

	while (t->refunds)
		ns += t->refund[--t->refunds].ns;
	real = vclock_unrefund(&t->v, ns, t->overhead);
	t->overhead -= real;
}

/* Charges @ticks of the stretch, less @own of them, which were Tense's work. */
static u64 spend(struct tense_task *t, struct vclock_stretch *s, u64 ticks,
		 u64 own)
{
	u64 left = s->ns, ran = t->v.ran, credit = t->v.credit.ns, charged;

	charged = vclock_spend_ticks(&t->v, s, ticks, own);
	t->overhead += left - s->ns - (t->v.ran - ran);
	use_refunds(t, credit - t->v.credit.ns);
	return charged;
}

/*
 * The task goes from slot @from at @percent to slot @to. If it enters its first
 * function, t->outer keeps the percent: threads and programs that the task starts
 * meanwhile begin with it.
 */
static void keep_outer(struct tense_task *t, u8 from, u32 percent, u8 to)
{
	if (to && !from)
		t->outer = percent;
}

/* The task is about to change its percent for a function. */
void tense_enter_slot(struct tense_task *t, u8 slot)
{
	lockdep_assert_held(&t->lock);

	keep_outer(t, t->slot, vclock_fine(&t->v), slot);
	tense_set_slot(t, slot);
}

/*
 * Records divide a stretch into segments. A program calls few functions many times,
 * so that most segments have one of few percents and slots. A part is the sum of the
 * segments with one percent and slot, which are charged together.
 */
struct part {
	u64 ticks;
	u64 own;		/* ticks of these in which Tense worked */
	u32 percent;		/* in thousandths */
	u8 slot;
};

#define PARTS	4

struct parts {
	struct part part[PARTS];
	unsigned int n;		/* number of them in use */
	struct part *at;	/* the part of the current segment */
};

/* The task has left all its functions at once. */
static void forget_frames(struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	if (t->frames)
		t->frames->nr = 0;
}

/* A program or thread begins outside of all functions. */
static void leave_slot(struct tense_task *t)
{
	forget_frames(t);
	if (!t->slot)
		return;
	vclock_set_fine(&t->v, t->outer);
	tense_set_slot(t, 0);
}

/**
 * tense_start() - a new task runs for the first time
 * @t: the task, locked
 *
 * A thread shares the memory of its parent, but has a stack of its own and starts
 * outside of all functions. A child process continues in them on a copy of the stack.
 */
void tense_start(struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	/* t->mm is still the parent's. */
	if (t->mm == t->task->mm)
		leave_slot(t);
	t->mm = t->task->mm;
}

/* The task goes on at the percent and in the slot of @part. */
static void set_part(struct tense_task *t, const struct part *part)
{
	tense_set_slot(t, part->slot);
	vclock_set_fine(&t->v, part->percent);
}

static void begin_part(struct parts *p, u32 percent, u8 slot)
{
	p->at = &p->part[p->n++];
	*p->at = (struct part) { .percent = percent, .slot = slot };
}

/* Charges all parts but the current one. It charges all if p->at is behind the last. */
static u64 spend_parts(struct tense_task *t, struct vclock_stretch *s,
		       struct parts *p)
{
	const struct part *part;
	u64 charged = 0;

	for (part = p->part; part < p->part + p->n; part++) {
		if (part == p->at || !part->ticks)
			continue;
		set_part(t, part);
		charged += spend(t, s, part->ticks, part->own);
	}
	return charged;
}

/*
 * Goes on to the part of the next segment, at another percent or in another slot. If
 * there is no room for it, charges the other parts. Returns the charged virtual ns.
 */
static u64 change_part(struct tense_task *t, struct vclock_stretch *s,
		       struct parts *p, u32 percent, u8 slot)
{
	u64 charged = 0;

	keep_outer(t, p->at->slot, p->at->percent, slot);
	for (p->at = p->part; p->at < p->part + p->n; p->at++)
		if (p->at->percent == percent && p->at->slot == slot)
			return 0;
	if (p->n == PARTS) {
		charged = spend_parts(t, s, p);
		p->n = 0;
	}
	begin_part(p, percent, slot);
	return charged;
}

/* Ends the segment at a record, and applies it. Returns the charged virtual ns. */
static inline u64 take_record(struct tense_task *t, struct vclock_stretch *s,
			      struct parts *p, const struct tense_record *r)
{
	u64 ticks = vclock_pass_ticks(s, READ_ONCE(r->stamp));
	u64 own = READ_ONCE(r->own);
	u8 slot = READ_ONCE(r->slot), flags = READ_ONCE(r->flags);
	u32 percent = READ_ONCE(r->percent);

	p->at->ticks += ticks;
	p->at->own += min(own, ticks);
	slot = slot < TENSE_SLOTS ? array_index_nospec(slot, TENSE_SLOTS) : 0;
	if (flags & TENSE_RECORD_CALL)
		tense_slot(t->exp, slot)->calls++;
	if (flags & TENSE_RECORD_STAY)
		slot = p->at->slot;
	if (!vclock_is_fine(percent))
		percent = p->at->percent;
	if (percent == p->at->percent && slot == p->at->slot)
		return 0;
	return change_part(t, s, p, percent, slot);
}

static inline const struct tense_record *record_of(const struct tense_ring *ring,
						   u32 index)
{
	return &ring->record[index % TENSE_RING_RECORDS];
}

/* R1: finds where in the stretch the CPU ran something else. */
static void cut_holes(struct tense_task *t, struct vclock_stretch *s, u32 n)
{
	const struct tense_ring *ring = tense_ring_of(t->area);
	struct vclock_segments segments = { .at = s->from };
	u32 i;

	if (!vclock_missing(s, t->area->rate))
		return;
	for (i = 0; i < n; i++)
		vclock_divide(&segments, s,
			      READ_ONCE(record_of(ring, t->tail + i)->stamp));
	vclock_cut_holes(s, &segments, t->area->rate);
}

/**
 * tense_take_shown() - R9: note the latest time that a thread read from its page
 * @t: locked; it runs, or has just stopped running
 */
void tense_take_shown(struct tense_task *t)
{
	u64 shown = t->area ? READ_ONCE(tense_ring_of(t->area)->shown) : 0;

	lockdep_assert_held(&t->lock);

	if (t->area)
		t->area->taken = shown;
	if (shown)
		vclock_take_shown(&t->exp->vc, &t->v, shown);
}

/*
 * No task is charged for interrupts if the kernel accounts them apart. User-Mode Linux
 * counts them as stolen time, and soft interrupts only if they end a hard one.
 */
static bool is_uncharged(void)
{
	if (IS_ENABLED(CONFIG_UML))
		return tense_in_interrupt();
	return IS_ENABLED(CONFIG_IRQ_TIME_ACCOUNTING) &&
	       (in_hardirq() || in_serving_softirq());
}

/*
 * R13: leaves a drain of the task's ring uncharged. It began at counter value
 * @since; @rate is ns per tick of the counter, times 2^32.
 *
 * The tick drains most rings. If no task is charged for the tick, a refund would
 * return time that was never charged. The next stretch then begins after the drain
 * instead. The drain ends the task's turn sooner: a thread that fills its ring pays
 * for the drain by its turn, not in virtual time (R12).
 */
static void leave_drain_uncharged(struct tense_task *t, u64 since, u64 rate)
{
	u64 now = tense_counter();

	lockdep_assert_held(&t->lock);

	if (!is_uncharged()) {
		/* If another CPU drains the ring, the task runs on meanwhile. */
		t->work_ticks = t->task == current ? now - since : 0;
		return;
	}
	tense_stretch_begin(t, now);
	t->unpaid += min(mul_u64_u64_shr(now - since, rate, 32), DRAIN_MAX);
}

/*
 * R2: applies the new records, which divide the stretch, and charges all of it.
 * Returns the charged virtual ns.
 */
static u64 drain(struct tense_task *t, struct vclock_stretch *s, u32 head)
{
	const struct tense_ring *ring = tense_ring_of(t->area);
	u32 tail = t->tail, n = min_t(u32, head - tail, TENSE_RING_RECORDS), i;
	struct parts p = { };
	u64 charged = 0;

	begin_part(&p, vclock_fine(&t->v), t->slot);
	if (n)
		cut_holes(t, s, n);
	for (i = 0; i < n; i++)
		charged += take_record(t, s, &p, record_of(ring, tail + i));
	t->tail = head;
	charged += spend_parts(t, s, &p);
	set_part(t, p.at);
	charged += spend(t, s, VCLOCK_REST, p.at->own);
	if (n)
		leave_drain_uncharged(t, s->to, t->area->rate);
	return charged;
}

/* Charges the whole time at the current percent. */
static inline u64 charge_whole(struct tense_task *t, u64 real_ns)
{
	u64 credit = t->v.credit.ns, charged;

	if (!real_ns)
		return 0;
	charged = vclock_charge(&t->exp->vc, &t->v, real_ns);
	use_refunds(t, credit - t->v.credit.ns);
	return charged;
}

static u64 charge_parts(struct tense_task *t, u64 real_ns, u64 counter, u32 head)
{
	struct vclock_stretch s = {
		.from = t->counter, .to = counter, .ns = real_ns,
	};
	u64 charged = 0, ticks;

	if (t->work_ticks) {
		ticks = vclock_pass_ticks(&s, s.from + t->work_ticks);
		charged = spend(t, &s, ticks, ticks);
	}
	tense_stretch_begin(t, s.to);
	charged += drain(t, &s, head);
	vclock_pass(&t->exp->vc, &t->v, &s);
	return charged;
}

/* The counter passed more time than the task ran: interrupts or a host had the CPU. */
static inline bool is_stolen(const struct tense_task *t, u64 counter, u64 real_ns)
{
	return mul_u64_u64_shr(counter - t->counter, t->area->rate, 32) >
	       real_ns + STOLEN_NS;
}

/* A stretch ends later than it began, even if the counter stands still. */
static inline u64 next_counter(const struct tense_task *t)
{
	return max(tense_counter(), t->counter + 1);
}

static u64 charge_by_area(struct tense_task *t, u64 real_ns)
{
	u64 counter = next_counter(t), charged;
	struct tense_ring *ring = tense_ring_of(t->area);
	u32 head;

	/* Pairs with the release by which the thread publishes records. */
	head = smp_load_acquire(&ring->head);
	/* Nothing to charge: the next charge leaves out the work of the last drain. */
	if (!real_ns && head == t->tail) {
		tense_take_shown(t);
		return 0;
	}
	if (is_stolen(t, counter, real_ns))
		t->area->stolen_at = jiffies;
	if (head == t->tail && !t->work_ticks) {
		charged = charge_whole(t, real_ns);
		tense_stretch_begin(t, counter);
	} else {
		charged = charge_parts(t, real_ns, counter, head);
	}
	tense_take_shown(t);
	return charged;
}

/*
 * Charges @t, which is runnable, for its run time since the last charge. If @real_ns
 * is 0, it only takes new records. Returns the charged virtual ns.
 */
static inline u64 charge_ran(struct tense_task *t, u64 real_ns)
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
 * tense_take_records() - take the new records from a task's ring
 * @t: runnable, locked
 */
void tense_take_records(struct tense_task *t)
{
	charge_ran(t, 0);
}

static void trace_charge(const struct tense_task *t, u64 delta, u64 charged)
{
	const struct tense_experiment *exp = t->exp;

	trace_tense_charge(exp->id, t->task->pid, t->v.cpu, delta, charged,
			   vclock_lvt(&exp->vc, t->v.cpu),
			   vclock_reached(&exp->vc), t->v.ran);
}

/* Returns the part of a jump that counts as CPU time. @had: CPU time so far. */
static u64 cpu_time_of_jump(u64 had, u64 jump)
{
	return min(jump, TENSE_CPU_TIME_MAX - min(had, TENSE_CPU_TIME_MAX));
}

/*
 * Whether a charge only adds to the task's time and to that of its CPU. Nothing
 * changes that unless somebody locks the task, or the task writes to its ring.
 */
static bool is_plain(const struct tense_task *t)
{
	return !tense_is_at_work(t) && !t->slot && !vclock_has_credit(&t->v) &&
	       !(t->frames && t->frames->nr);
}

/* R12: how much of the task's turn is over. */
static inline u64 share_of(struct tense_task *t, bool alone, u64 delta,
			   u64 charged, u64 jump)
{
	struct tense_place place;

	if (alone && tense_ledger_is_alone(&t->entity))
		return tense_ledger_charge_alone(&t->entity,
						 t->task->se.vruntime,
						 charged + jump);
	place = tense_place_of(t->task);
	return tense_ledger_charge(&t->entity, &place, delta, charged, jump);
}

static struct tense_charge charge(struct tense_task *t, u64 delta, bool alone)
{
	u64 charged = 0, jump = 0, work = delta;
	bool jumped = t->move;
	struct tense_charge c;

	lockdep_assert_held(&t->lock);

	if (tense_is_at_work(t)) {
		tense_own_work_pass(t, delta);
		t->work_ns = 0;
		t->work_since = tense_real_now();
		tense_stretch_begin(t, tense_counter());
	} else {
		work = min(t->work_ns, delta);
		t->work_ns = 0;
		charged = charge_ran(t, delta - work);
	}
	t->overhead += work;
	if (jumped)
		jump = tense_jump(t);
	c.cpu_time = charged;
	if (jump)
		c.cpu_time += cpu_time_of_jump(t->task->se.sum_exec_runtime +
					       charged, jump);
	c.share = share_of(t, alone, delta, charged, jump + t->unpaid);
	t->unpaid = 0;
	if (vclock_ahead(&t->exp->vc, &t->v))
		tense_stop_ahead(t, jumped);
	if (t->area)
		tense_page_update(t);
	if (trace_tense_charge_enabled()) {
		/* Work has no percent: it is a charge of its own. */
		if (work && work < delta)
			trace_charge(t, work, 0);
		trace_charge(t, work < delta ? delta - work : delta,
			     charged + jump);
	}
	t->plain = is_plain(t);
	return c;
}

/*
 * Whether the task has neither written to its ring nor read a clock since the last
 * charge, no clock was set, and the counter tells how long the task ran.
 */
static inline bool is_quiet(const struct tense_task *t, u64 counter, u64 real_ns)
{
	const struct tense_area *area = t->area;
	const struct tense_ring *ring = tense_ring_of(area);

	return READ_ONCE(ring->head) == t->tail && !t->work_ticks &&
	       READ_ONCE(ring->shown) == area->taken &&
	       tense_page_shows_clocks(t) && !is_stolen(t, counter, real_ns);
}

/* The short way to the result of charge(). */
static inline struct tense_charge charge_plain(struct tense_task *t, u64 delta,
					       bool alone, u64 counter)
{
	struct vclock *vc = &t->exp->vc;
	u64 charged = vclock_charge_plain(vc, &t->v, delta);

	if (t->area) {
		tense_stretch_begin(t, counter);
		tense_page_go_on(t);
	}
	if (vc->cpus > 1 && vclock_ahead(vc, &t->v))
		tense_stop_ahead(t, false);
	if (trace_tense_charge_enabled())
		trace_charge(t, delta, charged);
	return (struct tense_charge) {
		.cpu_time = charged,
		.share = share_of(t, alone, delta, charged, 0),
	};
}

/**
 * tense_charge_hook() - the scheduler reports the run time of a task
 * @t: the task
 * @delta: its run time in ns since the last report
 * @alone: it is alone in its queue, and has the weight of nice 0
 *
 * Caller holds the run queue lock, under which a charge takes only t->lock.
 *
 * Return: what the scheduler has to account.
 */
struct tense_charge tense_charge_hook(struct tense_task *t, u64 delta, bool alone)
{
	struct tense_charge c = { .share = delta };
	u64 counter;

	raw_spin_lock(&t->lock);
	counter = t->area ? next_counter(t) : 0;
	/* A task that is leaving its CPU is no longer charged. */
	if (t->v.cpu < 0)
		goto out;
	if (t->plain && (!t->area || is_quiet(t, counter, delta)))
		c = charge_plain(t, delta, alone, counter);
	else
		c = charge(t, delta, alone);
out:
	raw_spin_unlock(&t->lock);
	return c;
}
