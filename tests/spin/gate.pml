/* SPDX-License-Identifier: GPL-2.0 */
/*
 * R6 and R7: module/fire.c, timer.c, gate.c and waits.c, and what hooks.c does about
 * it, with a task on each CPU that runs, stops at the gate, sleeps and leaves, in
 * every order of their steps.
 *
 * Nobody runs on beyond the window, nobody passes the first deadline unseen, GVT
 * never falls, and everybody comes to the end: nobody waits for a wake-up that
 * does not come.
 *
 * Inlines have the names of the functions that they stand for. GVT is the
 * minimum at once, which gvt.pml shows to be right; steps are those between which
 * another CPU can do something, memory is in order. There are no ticks, which
 * would heal all.
 *
 * Bounds: CPUS, W (the window), LAST (where tasks end), SLEEPS (of all tasks).
 * The other macros are mistakes, for test-spin to see them found.
 */
#define NEVER	255
#define NOBODY	255

#define RUNS		0
#define GATED		1
#define SLEEPING	2

byte ran[CPUS];			/* where the task really is */
byte lvt[CPUS];			/* up to where it was charged */
bool busy[CPUS] = true;		/* vclock's active, a word of Promela's */
byte wait[CPUS];
byte deadline[CPUS] = NEVER;
byte timer[CPUS] = W + 1;
bool kicked[CPUS];
byte gvt;
byte due = NEVER;
byte release_due = NEVER;
byte slept;
byte kicking;			/* CPUs that are about to kick others */

inline advance()
{
	i = 0;
	least = NEVER;
	do
	:: i < CPUS ->
		least = (busy[i] && lvt[i] < least -> lvt[i] : least);
		i++
	:: else -> break
	od;
	assert(least >= gvt);
	gvt = (least != NEVER -> least : gvt);
	i = 0;
	least = 0
}

inline set_first()
{
	i = 0;
	due = NEVER;
	release_due = NEVER;
	do
	:: i < CPUS ->
		if
		:: wait[i] == GATED ->
			release_due = (deadline[i] < release_due -> deadline[i] : release_due)
		:: else ->
			due = (deadline[i] < due -> deadline[i] : due)
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

inline nobody_is_active()
{
	i = 0;
	none = true;
	do
	:: i < CPUS -> none = none && !busy[i]; i++
	:: else -> break
	od;
	i = 0
}

/* The first deadline or release that GVT has reached; real time goes on for idle ones. */
inline fire_next()
{
	atomic {
		nobody_is_active();
		gvt = (none && due != NEVER && due > gvt -> due : gvt);
		none = false;
		who = NOBODY;
		next = (release_due < due -> release_due : due);
		if
		:: next <= gvt ->
			who = 0;
			do
			:: deadline[who] != next -> who++
			:: else -> break
			od;
			deadline[who] = NEVER;
			wait[who] = RUNS;
			set_first()
		:: else
		fi;
		next = 0
	}
}

inline kick_cpu(c)
{
	kicked[c] = true
}

inline tense_kick_past()
{
	n = 0;
	do
	:: atomic { n < CPUS ->
		if
		:: due != was && busy[n] && was <= lvt[n] && lvt[n] < due ->
			kick_cpu(n)
		:: else
		fi;
		n++
	}
	:: atomic { n == CPUS -> n = 0; break }
	od
}

inline fire()
{
	atomic { was = due; kicking++ };
	do
	:: true ->
		fire_next();
		if
		:: who == NOBODY -> break
		:: else
		fi
	od;
	tense_kick_past();
	atomic { kicking--; was = 0; who = 0 }
}

/* Reads, between which others may do anything. */
inline tense_rearm()
{
	d = due;
	g = gvt;
	r = release_due;
	atomic {
		at = (d <= g || r <= g -> ran[me] : (d > lvt[me] -> d : NEVER));
		at = (release_due > lvt[me] && release_due < at -> release_due : at);
#ifndef NO_END_OF_WINDOW
		at = (g + W + 1 > lvt[me] && g + W + 1 < at -> g + W + 1 : at);
#endif
		/* The task has still to stop. */
		at = (lvt[me] > gvt + W -> ran[me] : at);
		timer[me] = at;
		d = 0;
		g = 0;
		r = 0;
		at = 0
	}
}

/* Nobody runs here: what is due, or would be if real time went on. */
inline rearm_idle()
{
	atomic {
		nobody_is_active();
		timer[me] = (due <= gvt || release_due <= gvt || (none && due != NEVER) -> ran[me] : NEVER);
		none = false
	}
}

inline tense_settle()
{
	atomic {
		lvt[me] = ran[me];
		advance()
	}
}

inline look_here()
{
	tense_settle();
	fire();
	tense_rearm()
}

inline tense_kick()
{
#ifndef NO_KICK
	n = 0;
	do
	:: atomic { n < CPUS ->
		if
		:: n != me && busy[n] -> kick_cpu(n)
		:: else
		fi;
		n++
	}
	:: atomic { n == CPUS -> n = 0; break }
	od;
#endif
	atomic { kicking-- }
}

/* Interrupts come also where nobody runs. */
inline sleep_while(state)
{
	rearm_idle();
	do
	:: atomic { wait[me] != state -> break }
	:: atomic { wait[me] == state && (kicked[me] || timer[me] == ran[me]) ->
		kicked[me] = false;
		timer[me] = NEVER };
		fire();
		rearm_idle()
	od
}

inline tense_gate()
{
	atomic {
		if
		:: lvt[me] > gvt + W ->
			wait[me] = GATED;
			deadline[me] = lvt[me] - W / 2;
			set_first()
		:: else
		fi
	};
	if
	:: wait[me] == GATED ->
#ifdef LEAVES_AT_GATE
		atomic { busy[me] = false; advance() };
#endif
		sleep_while(GATED)
	:: else
	fi;
#ifdef LEAVES_AT_GATE
	atomic { busy[me] = true };
#endif
#ifndef NO_REARM_AFTER_GATE
	tense_rearm()
#endif
}

inline tense_sleep()
{
	atomic {
		slept++;
		wait[me] = SLEEPING;
		deadline[me] = lvt[me] + 2;
		set_first();
		kicking++
	};
	tense_rearm();
	tense_kick();
	/* hook_dequeue() and hook_switch() */
	atomic { busy[me] = false; advance() };
	sleep_while(SLEEPING);
	/* hook_enqueue() */
	atomic {
		busy[me] = true;
		lvt[me] = (lvt[me] < gvt -> gvt : lvt[me]);
		ran[me] = lvt[me];
		advance()
	};
	tense_rearm()
}

proctype cpu(byte me)
{
	byte i, n, d, at, least, who, was, next, g, r;
	bool none;

	do
	:: atomic { ran[me] < LAST && ran[me] < timer[me] && !kicked[me] ->
		ran[me]++;
		assert(ran[me] <= gvt + W + 1);
		assert(kicking || lvt[me] >= due || ran[me] <= due)
	}
	:: atomic { kicked[me] || ran[me] >= timer[me] ->
		kicked[me] = false;
		timer[me] = NEVER };
		look_here();
		tense_gate()
	:: atomic { ran[me] < LAST && slept < SLEEPS && !kicked[me] && ran[me] < timer[me] -> skip };
		tense_settle();
		tense_sleep()
	:: atomic { ran[me] >= LAST -> skip };
		tense_settle();
		/* tense_leave() */
		atomic { busy[me] = false; advance(); kicking++ };
		tense_kick();
		fire();
		atomic { kicked[me] = false; break }
	od;
}

init {
	byte c;

	atomic {
		do
		:: c < CPUS -> run cpu(c); c++
		:: else -> break
		od
	}
}
