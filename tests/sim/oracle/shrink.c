// SPDX-License-Identifier: GPL-2.0
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "shrink.h"

/* A failure by chance gets so many chances. */
#define SEEDS		4
#define CANDIDATES_MAX	4000
#define SECONDS_MAX	20	/* per candidate; then it hangs */

struct shrinker {
	struct program *p;
	struct mode mode;
	unsigned int candidates;
};

/* In a child. Returns which of the seeds fails, from 1 on, or 0. */
static int failing_seed(struct program *p, struct mode mode)
{
	struct trial t = { .mode = mode };

	for (int i = 0; i < SEEDS; i++) {
		enum verdict verdict = trial_run(&t, p);

		if (verdict == TRIAL_BAD)
			return i + 1;
		if (verdict == TRIAL_SENSELESS)
			return 0;
		p->setup.seed++;
	}
	return 0;
}

static bool fails(struct shrinker *s, struct program *p)
{
	int status, seed;
	pid_t child;

	if (program_fault(p) || s->candidates >= CANDIDATES_MAX)
		return false;
	s->candidates++;
	fflush(NULL);
	child = fork();
	if (child < 0)
		return false;
	if (!child) {
		alarm(SECONDS_MAX);
		_exit(failing_seed(p, s->mode));
	}
	if (waitpid(child, &status, 0) != child)
		return false;
	if (!WIFEXITED(status))
		return true;
	seed = WEXITSTATUS(status);
	if (seed > 0 && seed <= SEEDS)
		p->setup.seed += (uint64_t)seed - 1;
	return seed != 0;
}

/* Takes @candidate, which is no longer the caller's, if it fails as well. */
static bool try(struct shrinker *s, struct program *candidate)
{
	if (!fails(s, candidate)) {
		program_free(candidate);
		return false;
	}
	program_free(s->p);
	*s->p = *candidate;
	return true;
}

/* --- fewer operations --- */

typedef bool (*drop_fn)(const void *what, unsigned int task, unsigned int i,
			const struct op *op);

static struct program without(const struct program *p, drop_fn drop,
			      const void *what)
{
	struct program rest = { .setup = p->setup };

	for (unsigned int t = 0; t < p->tasks; t++) {
		const struct script *s = &p->task[t];

		program_task(&rest, s->cpu, s->percent);
		rest.task[t].forked = s->forked;
		for (unsigned int i = 0; i < s->ops; i++)
			if (!drop(what, t, i, &s->op[i]))
				program_op(&rest, t, s->op[i].kind,
					   s->op[i].object, s->op[i].amount);
	}
	return rest;
}

struct range {
	unsigned int task, from, to;
};

static bool in_range(const void *what, unsigned int task, unsigned int i,
		     const struct op *op)
{
	const struct range *r = what;

	(void)op;
	return task == r->task && i >= r->from && i < r->to;
}

static bool drop_operations(struct shrinker *s)
{
	bool better = false;

	for (unsigned int t = 0; t < s->p->tasks; t++) {
		unsigned int size = s->p->task[t].ops;

		for (; size; size /= 2) {
			struct range r = { t, 0, size };

			while (r.from < s->p->task[t].ops) {
				struct program c = without(s->p, in_range, &r);

				if (try(s, &c))
					better = true;
				else
					r.from += size;
				r.to = r.from + size;
			}
		}
	}
	return better;
}

struct user {
	enum class class;
	uint32_t object;
};

static bool uses(const void *what, unsigned int task, unsigned int i,
		 const struct op *op)
{
	const struct user *u = what;

	(void)task;
	(void)i;
	return op_form[op->kind].class == u->class && op->object == u->object;
}

static bool drop_objects(struct shrinker *s)
{
	bool better = false;

	for (enum class class = CLASS_MUTEX; class < CLASSES; class++) {
		unsigned int n = program_objects(s->p, class);

		while (n--) {
			struct user u = { class, n };
			struct program c = without(s->p, uses, &u);

			if (program_ops(&c) == program_ops(s->p))
				program_free(&c);
			else
				better |= try(s, &c);
		}
	}
	return better;
}

/* One operation and its counterpart: lock and unlock, post and wait ... */
struct couple {
	enum op_kind kind[2];
	uint32_t object;
	unsigned int which;
	unsigned int *seen;	/* per kind; for a barrier per task */
};

static bool in_couple(const void *what, unsigned int task, unsigned int i,
		      const struct op *op)
{
	const struct couple *c = what;

	(void)i;
	if (op->object != c->object)
		return false;
	if (op->kind == OP_BARRIER && c->kind[0] == OP_BARRIER)
		return c->seen[2 + task]++ == c->which;
	if (op->kind == c->kind[0])
		return c->seen[0]++ == c->which;
	return op->kind == c->kind[1] && c->seen[1]++ == c->which;
}

static bool drop_couple(struct shrinker *s, const enum op_kind kind[2],
			uint32_t object)
{
	unsigned int ops = program_ops(s->p);
	struct couple what = { { kind[0], kind[1] }, object, 0, NULL };
	bool better = false, found = true;

	while (found) {
		struct program c;

		what.seen = zalloc(s->p->tasks + 2, sizeof(*what.seen));
		c = without(s->p, in_couple, &what);
		free(what.seen);
		found = program_ops(&c) < ops;
		if (!found) {
			program_free(&c);
		} else if (try(s, &c)) {
			better = true;
			ops = program_ops(s->p);
		} else {
			what.which++;
		}
	}
	return better;
}

static bool drop_couples(struct shrinker *s)
{
	static const enum op_kind kinds[][2] = {
		{ OP_LOCK, OP_UNLOCK }, { OP_POST, OP_WAIT },
		{ OP_POST, OP_TIMED }, { OP_PUT, OP_GET },
		{ OP_SIGNAL, OP_AWAIT }, { OP_BARRIER, OP_BARRIER },
	};
	bool better = false;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		enum class class = op_form[kinds[k][0]].class;

		for (uint32_t n = program_objects(s->p, class); n--;)
			better |= drop_couple(s, kinds[k], n);
	}
	return better;
}

/* --- fewer tasks --- */

static bool talks_to(const struct program *p, const struct op *op,
		     unsigned int from, unsigned int to)
{
	enum class class = op_form[op->kind].class;

	if (class == CLASS_TASK)
		return op->object >= from && op->object < to;
	if (class != CLASS_SEMAPHORE && class != CLASS_PIPE &&
	    class != CLASS_CONDITION)
		return false;
	for (unsigned int t = from; t < to; t++)
		for (unsigned int i = 0; i < p->task[t].ops; i++) {
			const struct op *other = &p->task[t].op[i];

			if (op_form[other->kind].class == class &&
			    other->object == op->object)
				return true;
		}
	return false;
}

/* Nor what the others do with them. */
static struct program without_tasks(const struct program *p, unsigned int from,
				    unsigned int to)
{
	struct program rest = { .setup = p->setup };
	unsigned int left = 0;

	for (unsigned int t = 0; t < p->tasks; t++) {
		const struct script *s = &p->task[t];

		if (t >= from && t < to)
			continue;
		program_task(&rest, s->cpu, s->percent);
		rest.task[left].forked = s->forked;
		for (unsigned int i = 0; i < s->ops; i++) {
			const struct op *op = &s->op[i];
			uint32_t object = op->object;

			if (talks_to(p, op, from, to))
				continue;
			if (op_form[op->kind].class == CLASS_TASK &&
			    object >= to)
				object -= to - from;
			program_op(&rest, left, op->kind, object, op->amount);
		}
		left++;
	}
	return rest;
}

static bool drop_tasks(struct shrinker *s)
{
	bool better = false;

	for (unsigned int size = s->p->tasks / 2; size; size /= 2) {
		unsigned int from = 0;

		while (from < s->p->tasks && s->p->tasks > size) {
			unsigned int to = from + size;
			struct program c;

			if (to > s->p->tasks)
				to = s->p->tasks;
			c = without_tasks(s->p, from, to);
			if (try(s, &c))
				better = true;
			else
				from += size;
		}
	}
	return better;
}

/* --- fewer CPUs --- */

/* Everything on @from happens on @to, and the ones above move down. */
static struct program with_cpu(const struct program *p, uint32_t from,
			       uint32_t to)
{
	struct program c = program_copy(p);

	for (unsigned int t = 0; t < c.tasks; t++) {
		struct script *s = &c.task[t];

		s->cpu = s->cpu == from ? to : s->cpu - (s->cpu > from);
		for (unsigned int i = 0; i < s->ops; i++) {
			uint32_t *cpu = &s->op[i].object;

			if (s->op[i].kind == OP_MIGRATE)
				*cpu = *cpu == from ? to : *cpu - (*cpu > from);
		}
	}
	c.setup.cpus--;
	return c;
}

static bool halve_cpus(struct shrinker *s)
{
	uint32_t cpus = s->p->setup.cpus / 2;
	struct program c = program_copy(s->p);

	c.setup.cpus = cpus;
	for (unsigned int t = 0; cpus && t < c.tasks; t++) {
		c.task[t].cpu %= cpus;
		for (unsigned int i = 0; i < c.task[t].ops; i++)
			if (c.task[t].op[i].kind == OP_MIGRATE)
				c.task[t].op[i].object %= cpus;
	}
	return try(s, &c);
}

static bool used(const struct program *p, uint32_t cpu)
{
	for (unsigned int t = 0; t < p->tasks; t++) {
		if (p->task[t].cpu == cpu)
			return true;
		for (unsigned int i = 0; i < p->task[t].ops; i++)
			if (p->task[t].op[i].kind == OP_MIGRATE &&
			    p->task[t].op[i].object == cpu)
				return true;
	}
	return false;
}

static bool drop_cpus(struct shrinker *s)
{
	bool better = false;

	while (halve_cpus(s))
		better = true;
	for (uint32_t k = s->p->setup.cpus; k-- > 1;) {
		bool good = false;

		/* If nobody uses the CPU, any other one will do. */
		for (uint32_t to = 0; to < k && to < 4 && !good; to++) {
			struct program c = with_cpu(s->p, k, to);

			good = try(s, &c);
			if (!used(s->p, k))
				break;
		}
		better |= good;
	}
	return better;
}

/* --- rounder numbers --- */

/* Other than @n and simpler, for the @way-th way; or @n. */
static uint64_t simpler(uint64_t n, unsigned int way)
{
	uint64_t unit = 1;

	while (n / unit >= 10)
		unit *= 10;
	if (way == 0)
		return unit;
	if (way == 1)
		return n / unit * unit;
	return unit >= 10 ? n / (unit / 10) * (unit / 10) : n;
}

static bool round_one(struct shrinker *s, unsigned int task, unsigned int i,
		      uint64_t n)
{
	struct program c;

	if (n == s->p->task[task].op[i].amount)
		return false;
	c = program_copy(s->p);
	c.task[task].op[i].amount = n;
	return try(s, &c);
}

static bool round_amounts(struct shrinker *s)
{
	bool better = false;

	for (unsigned int t = 0; t < s->p->tasks; t++)
		for (unsigned int i = 0; i < s->p->task[t].ops; i++) {
			const struct op *op = &s->p->task[t].op[i];
			bool good = false;

			if (op->kind == OP_AWAIT || op->kind == OP_PUT)
				good = round_one(s, t, i, 1);
			for (unsigned int way = 0; way < 3 && !good; way++) {
				op = &s->p->task[t].op[i];
				if (op_form[op->kind].amount)
					good = round_one(s, t, i,
							 simpler(op->amount,
								 way));
			}
			better |= good;
		}
	return better;
}

static bool plain_percents(struct shrinker *s)
{
	bool better = false;

	for (unsigned int t = 0; t < s->p->tasks; t++) {
		struct program c;

		if (s->p->task[t].percent == 100)
			continue;
		c = program_copy(s->p);
		c.task[t].percent = 100;
		better |= try(s, &c);
	}
	return better;
}

static bool to_zero(uint64_t *n)
{
	bool changed = *n;

	*n = 0;
	return changed;
}

/* A machine that has less to it, in one of some ways; false if it has not. */
static bool plainer(struct setup *s, int way)
{
	bool changed;

	switch (way) {
	case 0:
		return to_zero(&s->lateness);
	case 1:
		return to_zero(&s->latency);
	case 2:
		return to_zero(&s->apart);
	case 3:
		s->noise = 0;
		return to_zero(&s->noise_ns);
	case 4:
		changed = s->slow;
		s->slow = 0;
		return changed;
	case 5:
		changed = s->skip;
		s->skip = false;
		return changed;
	default:
		changed = s->window != 100000;
		s->window = 100000;
		return changed;
	}
}

static bool plain_setup(struct shrinker *s)
{
	bool better = false;

	for (int way = 0; way < 7; way++) {
		struct program c = program_copy(s->p);

		if (plainer(&c.setup, way))
			better |= try(s, &c);
		else
			program_free(&c);
	}
	return better;
}

void shrink(struct program *p, struct mode mode)
{
	struct shrinker s = { .p = p, .mode = mode };
	bool better = true;

	s.mode.verbose = false;
	while (better && s.candidates < CANDIDATES_MAX) {
		better = drop_tasks(&s);
		better |= drop_objects(&s);
		better |= drop_couples(&s);
		better |= drop_operations(&s);
		better |= drop_cpus(&s);
		better |= plain_setup(&s);
		better |= plain_percents(&s);
		better |= round_amounts(&s);
	}
}
