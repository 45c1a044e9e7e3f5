/* SPDX-License-Identifier: GPL-2.0 */
/*
 * R5: GVT as a tree of minima, module/gvt.c, in every order in which CPUs can
 * come. GVT never falls, never passes a CPU that is active, and when all hold
 * still it is the minimum.
 *
 * Inlines have the names of the functions that they stand for. A step is one
 * access to what other CPUs have too, with what follows from it on the CPU
 * alone; what only the holder of a lock reads or writes may be one step with
 * its taking or its release. Groups are of two instead of eight, so that four
 * CPUs have a tree of two levels. A store stays in the CPU's store buffer until
 * a barrier, a lock, or any moment before that; until then only the CPU itself
 * sees it, as on x86.
 *
 * Bounds: CPUS, SPREAD (leaves from one CPU to the next), OPS (operations of
 * all together), STARTED (CPUs that are active from the beginning), LAST (no LVT is
 * more) and REALS (how often real time moves). The other macros are mistakes,
 * for test-spin to see them found.
 */
#define FAN		2
#define ROOT		1
#define LEAVES		4
#define NONE		255

#define LEAF(cpu)	(LEAVES + (cpu) * SPREAD)
#define GROUP(cpu)	(LEAF(cpu) / FAN)

#ifdef SKIP_EQUAL
#define WAS_LEAST(before, least)	(before < least)
#else
#define WAS_LEAST(before, least)	(before <= least)
#endif

/* struct gvt */
byte least[2 * LEAVES] = NONE;
bool lock[LEAVES];
byte now;
byte active_cpus;
byte idle_since;

byte real;
byte ops;
byte ended;

/* GVT never passes the LVT of a CPU between gvt_enter() and gvt_leave(). */
byte lvt[CPUS];
bool entered[CPUS];

/* --- memory as a CPU sees it --- */

inline drain()
{
	atomic {
		stored;
		least[stored] = value;
		stored = 0;
		value = 0
	}
}

/* The buffer has room for one: an older store is in memory by now. */
inline store(node, what)
{
	atomic {
		if
		:: stored -> least[stored] = value
		:: else
		fi;
		stored = node;
		value = what
	}
}

inline load(to, node)
{
	do
	:: drain()
	:: to = (stored == node -> value : least[node]) -> break
	od
}

inline full_barrier()
{
	if
	:: drain()
	:: !stored
	fi
}

/* A barrier. Nobody else writes the minimum now, so it is read at once. */
inline take(node)
{
	do
	:: drain()
	:: atomic {
		!stored && !lock[node] ->
		lock[node] = true;
		have = least[node];
		before = have;
		break
	}
	od
}

inline release(node)
{
	do
	:: drain()
	:: atomic {
		!stored ->
		lock[node] = false;
		have = 0;
		break
	}
	od
}

/* --- gvt.c --- */

/* WRITE_ONCE(g->now, ...), and what must be true of it. */
inline set_now(to)
{
	assert(to >= now);
	now = to;
	i = 0;
	do
	:: i < CPUS ->
		assert(!entered[i] || now <= lvt[i]);
		i++
	:: else -> break
	od;
	i = 0
}

inline gather(node)
{
	do
	:: true ->
		load(left, node * FAN);
		load(right, node * FAN + 1);
		atomic {
			/* From here on: which of them it is. */
			if
			:: right < left -> left = right; right = node * FAN + 1
			:: else -> right = node * FAN
			fi;
			if
			:: left == have ->
				left = 0;
				right = 0;
				break
			:: else ->
				have = left;
				left = 0;
				store(node, have)
			fi
		};
#ifndef NO_BARRIER_IN_GATHER
		full_barrier();
#endif
#ifdef NO_RECHECK
		right = 0;
		break
#else
		load(left, right);
		atomic {
			right = 0;
			if
			:: left == have -> left = 0; break
			:: else -> left = 0
			fi
		}
#endif
	od
}

inline gather_root()
{
	gather(ROOT);
	atomic {
		if
#ifdef TAKES_BACK
		:: active_cpus && have != NONE -> set_now(have)
#else
		:: active_cpus && have != NONE && have > now -> set_now(have)
#endif
		:: else
		fi
	}
}

inline climb()
{
	take(GROUP(me));
	gather(GROUP(me));
	release(GROUP(me))
}

inline rise()
{
#ifndef NO_BARRIER_IN_RISE
	full_barrier();
#endif
	load(left, GROUP(me));
	if
	:: WAS_LEAST(before, left) ->
		left = 0;
		take(GROUP(me));
		gather(GROUP(me));
		release(GROUP(me));
#ifndef NO_BARRIER_IN_RISE
		full_barrier();
#endif
		load(left, ROOT);
		if
		:: WAS_LEAST(before, left) ->
			left = 0;
			take(ROOT);
			gather_root();
			release(ROOT)
		:: else -> left = 0
		fi
	:: else -> left = 0
	fi
}

inline gvt_raise()
{
	before = least[LEAF(me)];
	if
	:: before != here ->
		store(LEAF(me), here);
		rise()
	:: else
	fi
}

/* Real time as the caller has read it, some time ago. */
inline read_real()
{
#if REALS
	atomic {
		if
		:: real < REALS -> real++
		:: true
		fi;
		when = real
	}
#else
	skip
#endif
}

inline gvt_at()
{
	if
	:: active_cpus -> seen = now
	:: else ->
		take(ROOT);
		seen = now + (!active_cpus && when > idle_since ->
			      when - idle_since : 0);
		release(ROOT)
	fi
}

inline follow()
{
	if
	:: when > idle_since ->
		set_now(now + when - idle_since);
		idle_since = when
	:: else
	fi
}

inline count_active()
{
	atomic {
		if
		:: !active_cpus -> follow()
		:: else
		fi;
		active_cpus++
	}
}

inline gvt_enter()
{
	read_real();
	gvt_at();
	here = (seen > here -> seen : here);
#ifndef LEAF_LAST
	store(LEAF(me), here);
	climb();
#endif
	take(ROOT);
	count_active();
	gather_root();
	seen = now;
	release(ROOT);
#ifdef LEAF_LAST
	here = (seen > here -> seen : here);
	store(LEAF(me), here);
	climb();
	take(ROOT);
	gather_root();
	release(ROOT);
#endif
	if
#ifndef NO_CATCHING_UP
	:: seen > here ->
		here = seen;
		gvt_raise()
#endif
	:: else
	fi
}

inline gvt_leave()
{
	read_real();
	store(LEAF(me), NONE);
#ifndef LEAVE_FORGETS
	climb();
#endif
	take(ROOT);
	atomic {
		active_cpus--;
		idle_since = when
	};
	gather_root();
	release(ROOT)
}

/* With idle time to skip one step from now, or none. */
inline gvt_pass_idle()
{
	read_real();
	if
	:: active_cpus
	:: else ->
		take(ROOT);
		atomic {
			if
			:: !active_cpus ->
				follow();
				if
				:: now < LAST -> set_now(now + 1)
				:: true
				fi
			:: else
			fi
		};
		release(ROOT)
	fi
}

/* --- CPUs, each called by one at a time --- */

inline enter()
{
	if
	:: here < LAST -> here++
	:: true
	fi;
	gvt_enter();
	atomic {
		assert(now <= here);
		lvt[me] = here;
		entered[me] = true
	}
}

inline raise()
{
	atomic {
		if
		:: here++
		:: here + 1 < LAST -> here = here + 2
		fi;
		lvt[me] = here
	};
	gvt_raise()
}

inline leave()
{
	entered[me] = false;
	gvt_leave()
}

proctype cpu(byte me)
{
	byte stored, value;		/* the store buffer */
	byte before, have, left, right, seen, when, i;
	byte here = 0;

	do
	:: atomic { ops < OPS -> ops++ };
		if
		:: !entered[me] -> enter()
		:: entered[me] && here < LAST -> raise()
		:: entered[me] -> leave()
#if REALS
		:: !entered[me] -> gvt_pass_idle()
#endif
		fi;
		atomic {
			before = 0;
			seen = 0;
			when = 0
		}
	:: drain()
	:: atomic { ops == OPS && !stored -> ended++; break }
	od
}

/* All hold still. */
inline check()
{
	atomic {
		do
		:: n < CPUS ->
			if
			:: entered[n] ->
				count++;
				assert(least[LEAF(n)] == lvt[n]);
				minimum = (lvt[n] < minimum -> lvt[n] : minimum)
			:: else -> assert(least[LEAF(n)] == NONE)
			fi;
			n++
		:: else -> break
		od;
		assert(active_cpus == count);
		assert(least[ROOT] == minimum);
		assert(!count || now == minimum)
	}
}

init {
	byte n, count, minimum = NONE;

	atomic {
		do
		:: n < CPUS ->
			if
			:: n < STARTED ->
				entered[n] = true;
				active_cpus++;
				least[LEAF(n)] = 0;
				least[GROUP(n)] = 0;
				least[ROOT] = 0
			:: else
			fi;
			run cpu(n);
			n++
		:: else -> break
		od;
		n = 0
	}
	ended == CPUS;
	check()
}
