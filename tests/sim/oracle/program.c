// SPDX-License-Identifier: GPL-2.0
/* Programs in memory and as text. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "program.h"

const struct op_form op_form[OP_KINDS] = {
	[OP_COMPUTE] = { "compute", CLASS_NONE, true, false },
	[OP_KERNEL] = { "kernel", CLASS_NONE, true, false },
	[OP_SLEEP] = { "sleep", CLASS_NONE, true, true },
	[OP_UNTIL] = { "until", CLASS_NONE, true, true },
	[OP_IO] = { "io", CLASS_NONE, true, false },
	[OP_PERCENT] = { "percent", CLASS_NONE, true, false },
	[OP_MIGRATE] = { "migrate", CLASS_CPU, false, false },
	[OP_LOCK] = { "lock", CLASS_MUTEX, false, false },
	[OP_UNLOCK] = { "unlock", CLASS_MUTEX, false, false },
	[OP_POST] = { "post", CLASS_SEMAPHORE, false, false },
	[OP_WAIT] = { "wait", CLASS_SEMAPHORE, false, false },
	[OP_TIMED] = { "timed", CLASS_SEMAPHORE, true, true },
	[OP_PUT] = { "put", CLASS_PIPE, true, false },
	[OP_GET] = { "get", CLASS_PIPE, false, false },
	[OP_SIGNAL] = { "signal", CLASS_CONDITION, false, false },
	[OP_AWAIT] = { "await", CLASS_CONDITION, true, false },
	[OP_BARRIER] = { "barrier", CLASS_BARRIER, false, false },
	[OP_FORK] = { "fork", CLASS_TASK, false, false },
	[OP_JOIN] = { "join", CLASS_TASK, false, false },
};

static void *grow(void *array, unsigned int used, unsigned int *room,
		  size_t size)
{
	if (used < *room)
		return array;
	*room = *room ? 2 * *room : 8;
	return again(array, *room, size);
}

/* Returns its number. */
unsigned int program_task(struct program *p, uint32_t cpu, uint32_t percent)
{
	p->task = grow(p->task, p->tasks, &p->room, sizeof(*p->task));
	p->task[p->tasks] = (struct script) { .cpu = cpu, .percent = percent };
	return p->tasks++;
}

/* Appends to what a task does. */
void program_op(struct program *p, unsigned int task, enum op_kind kind,
		uint32_t object, uint64_t amount)
{
	struct script *s = &p->task[task];

	s->op = grow(s->op, s->ops, &s->room, sizeof(*s->op));
	s->op[s->ops++] = (struct op) { kind, object, amount };
}

void program_free(struct program *p)
{
	for (unsigned int t = 0; t < p->tasks; t++)
		free(p->task[t].op);
	free(p->task);
	*p = (struct program) { 0 };
}

struct program program_copy(const struct program *p)
{
	struct program copy = { .setup = p->setup };

	for (unsigned int t = 0; t < p->tasks; t++) {
		const struct script *s = &p->task[t];

		program_task(&copy, s->cpu, s->percent);
		copy.task[t].forked = s->forked;
		for (unsigned int i = 0; i < s->ops; i++)
			program_op(&copy, t, s->op[i].kind, s->op[i].object,
				   s->op[i].amount);
	}
	return copy;
}

unsigned int program_objects(const struct program *p, enum class class)
{
	unsigned int objects = 0;

	for (unsigned int t = 0; t < p->tasks; t++) {
		const struct script *s = &p->task[t];

		for (unsigned int i = 0; i < s->ops; i++)
			if (op_form[s->op[i].kind].class == class &&
			    s->op[i].object >= objects)
				objects = s->op[i].object + 1;
	}
	return objects;
}

unsigned int program_ops(const struct program *p)
{
	unsigned int ops = 0;

	for (unsigned int t = 0; t < p->tasks; t++)
		ops += p->task[t].ops;
	return ops;
}

static const char *setup_fault(const struct setup *s)
{
	if (s->cpus < 1 || s->cpus > CPUS_MAX)
		return "cpus has to be 1 to 4096";
	if (s->window < 20000 || s->window > 100000000)
		return "window has to be 20000 to 100000000";
	if (s->tick < 1000)
		return "tick has to be at least 1000";
	if (s->noise > 90 || (s->noise && !s->noise_ns))
		return "noise has to be at most 90 percent, for some ns";
	if (s->slow > 900)
		return "slow has to be at most 900";
	if (s->tick > AMOUNT_MAX || s->lateness > AMOUNT_MAX || s->latency > AMOUNT_MAX ||
	    s->apart > AMOUNT_MAX || s->noise_ns > AMOUNT_MAX)
		return "a time is too long";
	return NULL;
}

static const char *op_fault(const struct program *p, const struct op *op)
{
	switch (op_form[op->kind].class) {
	case CLASS_NONE:
		break;
	case CLASS_CPU:
		if (op->object >= p->setup.cpus)
			return "there is no such CPU to migrate to";
		break;
	case CLASS_TASK:
		if (op->object >= p->tasks)
			return "there is no such task";
		if (op->kind == OP_FORK && !p->task[op->object].forked)
			return "a task is forked that begins by itself";
		break;
	default:
		if (op->object >= OBJECTS_MAX)
			return "the number of an object is too high";
	}
	if (op_form[op->kind].amount && (!op->amount || op->amount > AMOUNT_MAX))
		return "a number is 0 or too large";
	if (op->kind == OP_PERCENT && op->amount > 100000)
		return "percent has to be 1 to 100000";
	return NULL;
}

static const char *forks_fault(const struct program *p)
{
	unsigned char *forks = zalloc(p->tasks + 1, 1);
	const char *fault = NULL;

	for (unsigned int t = 0; t < p->tasks; t++)
		for (unsigned int i = 0; i < p->task[t].ops; i++)
			if (p->task[t].op[i].kind == OP_FORK &&
			    forks[p->task[t].op[i].object]++)
				fault = "a task is forked twice";
	for (unsigned int t = 0; t < p->tasks; t++)
		if (p->task[t].forked && !forks[t])
			fault = "a task waits to be forked, and nobody does";
	free(forks);
	return fault;
}

const char *program_fault(const struct program *p)
{
	const char *fault = setup_fault(&p->setup);

	if (!fault && (!p->tasks || p->tasks > TASKS_MAX))
		fault = "there have to be 1 to 16384 tasks";
	for (unsigned int t = 0; !fault && t < p->tasks; t++) {
		const struct script *s = &p->task[t];

		if (s->cpu >= p->setup.cpus)
			fault = "there is no such CPU to begin on";
		else if (s->percent < 1 || s->percent > 100000)
			fault = "percent has to be 1 to 100000";
		for (unsigned int i = 0; !fault && i < s->ops; i++)
			fault = op_fault(p, &s->op[i]);
	}
	return fault ? fault : forks_fault(p);
}

static void print_op(const struct op *op, FILE *to)
{
	const struct op_form *form = &op_form[op->kind];

	fprintf(to, "  %s", form->name);
	if (form->class != CLASS_NONE)
		fprintf(to, " %" PRIu32, op->object);
	if (form->amount)
		fprintf(to, " %" PRIu64, op->amount);
	fputc('\n', to);
}

static void print_setup(const struct setup *s, FILE *to)
{
	fprintf(to, "cpus %" PRIu32 "\nwindow %" PRIu64 "\ntick %" PRIu64
		"\nseed %" PRIu64 "\n", s->cpus, s->window, s->tick, s->seed);
	if (s->lateness)
		fprintf(to, "lateness %" PRIu64 "\n", s->lateness);
	if (s->latency)
		fprintf(to, "latency %" PRIu64 "\n", s->latency);
	if (s->apart)
		fprintf(to, "apart %" PRIu64 "\n", s->apart);
	if (s->noise)
		fprintf(to, "noise %" PRIu32 " %" PRIu64 "\n", s->noise,
			s->noise_ns);
	if (s->slow)
		fprintf(to, "slow %" PRIu32 "\n", s->slow);
	if (s->skip)
		fputs("skip\n", to);
}

void program_print(const struct program *p, FILE *to)
{
	print_setup(&p->setup, to);
	for (unsigned int t = 0; t < p->tasks; t++) {
		const struct script *s = &p->task[t];

		fprintf(to, "task cpu %" PRIu32, s->cpu);
		if (s->forked)
			fputs(" forked", to);
		else
			fprintf(to, " percent %" PRIu32, s->percent);
		fprintf(to, "\t# %u\n", t);
		for (unsigned int i = 0; i < s->ops; i++)
			print_op(&s->op[i], to);
	}
}

/* The next word of a line, or NULL. */
static char *word(char **line)
{
	char *begin = *line + strspn(*line, " \t\r\n");
	size_t length = strcspn(begin, " \t\r\n#");

	if (!length)
		return NULL;
	*line = begin + length;
	if (**line && **line != '#')
		*(*line)++ = '\0';
	else if (**line)
		**line = '\0';
	return begin;
}

static bool number(char **line, uint64_t most, uint64_t *n)
{
	char *text = word(line), *end;
	unsigned long long value;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	value = strtoull(text, &end, 10);
	*n = value;
	return !*end && value <= most;
}

static bool number32(char **line, uint32_t *n)
{
	uint64_t value = 0;
	bool good = number(line, UINT32_MAX, &value);

	*n = (uint32_t)value;
	return good;
}

static bool read_task(struct program *p, char **line)
{
	uint32_t cpu, task, percent = 100;
	bool forked = false;
	const char *key = word(line);

	if (!key || strcmp(key, "cpu") || !number32(line, &cpu))
		return false;
	key = word(line);
	if (key && !strcmp(key, "forked"))
		forked = true;
	else if (key && (strcmp(key, "percent") || !number32(line, &percent)))
		return false;
	/* It may move the array. */
	task = program_task(p, cpu, percent);
	p->task[task].forked = forked;
	return true;
}

static bool read_op(struct program *p, const char *name, char **line)
{
	uint64_t amount = 0;
	uint32_t object = 0;
	int kind = 0;

	while (kind < OP_KINDS && strcmp(op_form[kind].name, name))
		kind++;
	if (kind == OP_KINDS || !p->tasks)
		return false;
	if (op_form[kind].class != CLASS_NONE && !number32(line, &object))
		return false;
	if (op_form[kind].amount && !number(line, UINT64_MAX, &amount))
		return false;
	program_op(p, p->tasks - 1, kind, object, amount);
	return true;
}

static bool read_setup(struct setup *s, const char *name, char **line)
{
	if (!strcmp(name, "cpus"))
		return number32(line, &s->cpus);
	if (!strcmp(name, "window"))
		return number(line, UINT64_MAX, &s->window);
	if (!strcmp(name, "seed"))
		return number(line, UINT64_MAX, &s->seed);
	if (!strcmp(name, "tick"))
		return number(line, UINT64_MAX, &s->tick);
	if (!strcmp(name, "lateness"))
		return number(line, UINT64_MAX, &s->lateness);
	if (!strcmp(name, "latency"))
		return number(line, UINT64_MAX, &s->latency);
	if (!strcmp(name, "apart"))
		return number(line, UINT64_MAX, &s->apart);
	if (!strcmp(name, "noise"))
		return number32(line, &s->noise) &&
		       number(line, UINT64_MAX, &s->noise_ns);
	if (!strcmp(name, "slow"))
		return number32(line, &s->slow);
	s->skip = !strcmp(name, "skip");
	return s->skip;
}

static bool read_line(struct program *p, char *line)
{
	const char *name = word(&line);

	if (!name)
		return true;
	if (!strcmp(name, "task")) {
		if (!read_task(p, &line))
			return false;
	} else if (!read_setup(&p->setup, name, &line) &&
		   !read_op(p, name, &line)) {
		return false;
	}
	return !word(&line);
}

bool program_read(struct program *p, FILE *from, const char *name)
{
	char line[256], copy[256];
	const char *fault;

	*p = (struct program) { .setup = {
		.cpus = 1, .window = 500000, .tick = 1000000,
	} };
	for (unsigned int n = 1; fgets(line, sizeof(line), from); n++) {
		memcpy(copy, line, sizeof(copy));
		if (read_line(p, line))
			continue;
		copy[strcspn(copy, "\n")] = '\0';
		fprintf(stderr, "oracle: %s:%u: cannot read '%s'\n", name, n,
			copy);
		return false;
	}
	fault = program_fault(p);
	if (fault)
		fprintf(stderr, "oracle: %s: %s\n", name, fault);
	return !fault;
}
