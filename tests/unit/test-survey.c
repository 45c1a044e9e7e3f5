// SPDX-License-Identifier: GPL-2.0
/*
 * Surveys of recordings: those that this program makes of its own stack, and
 * damaged ones.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "fake-samples.h"
#include "profile/flame.h"
#include "profile/survey.h"
#include "tap.h"
#include "base/util.h"

#define STACK_BYTES 4096

enum { LAUNCHER = 10, PROGRAM = 11, FILE_NUMBER = 1 };

static struct fake_samples recording;
static char self[4096];
static volatile int sink;
static struct tense_sample of;	/* what capture() makes: of charged time if all are 0 */

/* --- a recording of this program's stack, as the kernel makes it --- */

struct mapping {
	unsigned long start, end, offset;
	bool mine;
};

static struct mapping maps[4096];
static size_t nr_maps;

static void read_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4608], rights[8], path[4096];

	while (f && nr_maps < 4096 && fgets(line, sizeof(line), f)) {
		struct mapping *m = &maps[nr_maps];
		int n = sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &m->start,
			       &m->end, rights, &m->offset, path);

		if (n < 4 || rights[2] != 'x')
			continue;
		m->mine = n == 5 && !strcmp(path, self);
		nr_maps++;
	}
	if (f)
		fclose(f);
}

static bool name_code(unsigned long address, struct tense_word *word)
{
	for (size_t i = 0; i < nr_maps; i++) {
		if (address < maps[i].start || address >= maps[i].end)
			continue;
		word->file = maps[i].mine ? FILE_NUMBER : TENSE_FILE_NONE;
		word->offset = maps[i].mine ?
			       address - maps[i].start + maps[i].offset : 0;
		return true;
	}
	return false;
}

__attribute__((noinline, no_sanitize("address", "undefined")))
static void capture(uint64_t ns)
{
	static struct tense_word words[STACK_BYTES / 8];
	struct tense_sample sample = {
		.pid = PROGRAM, .tgid = PROGRAM, .ns = ns, .comm = "\x1b[thread",
		.stack = STACK_BYTES, .frame = TENSE_SAMPLE_NOWHERE,
		.head = of.head, .flags = of.flags, .wake = of.wake,
		.waker = of.waker, .call = of.call,
	};
	ucontext_t context;
	unsigned long sp, bp;
	uint32_t count = 0;

	getcontext(&context);
	sp = context.uc_mcontext.gregs[REG_RSP];
	bp = context.uc_mcontext.gregs[REG_RBP];
	name_code(context.uc_mcontext.gregs[REG_RIP], &sample.code);
	if (bp - sp < STACK_BYTES)
		sample.frame = bp - sp;
	for (unsigned int i = 0; i < STACK_BYTES / 8; i++) {
		unsigned long value = ((unsigned long *)sp)[i];

		words[count] = (struct tense_word){ .place = i };
		if (value - sp < STACK_BYTES) {
			words[count].file = TENSE_FILE_STACK;
			words[count++].offset = value - sp;
		} else if (name_code(value, &words[count])) {
			count++;
		}
	}
	fake_samples_add(&recording, sample, words, count);
}

__attribute__((noinline)) static void inner(int ms)
{
	capture(ms * 1000000ULL);
	sink++;
}

__attribute__((noinline)) static void middle(int ms)
{
	char room[300];

	memset(room, ms, sizeof(room));
	inner(ms);
	sink += room[ms];
}

__attribute__((noinline)) static void recursive(int depth)
{
	if (depth)
		recursive(depth - 1);
	else
		middle(5);
	sink++;
}

/* --- the functions and stacks of that recording --- */

static struct survey take(void)
{
	struct samples samples;
	struct survey survey;
	char *error = samples_read(&samples, recording.data, recording.size);

	if (error)
		printf("# %s\n", error);
	ok(!error, "the recording is read");
	survey_fill(&survey, &samples);
	samples_free(&samples);
	free(error);
	return survey;
}

static const struct survey_function *find(const struct survey *survey,
					  const char *name)
{
	static const struct survey_function none;

	for (size_t i = 0; i < survey->count; i++)
		if (!strcmp(survey->functions[i].name, name))
			return &survey->functions[i];
	return &none;
}

static void begin(void)
{
	fake_samples_free(&recording);
	fake_samples_begin(&recording, LAUNCHER, PROGRAM);
	fake_samples_header(&recording);
	fake_samples_file(&recording, FILE_NUMBER, self);
}

static char *folded(const struct survey *survey)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	survey_write_folded(f, survey);
	fclose(f);
	return text;
}

__attribute__((noinline)) static void test_callers(void)
{
	struct survey survey;
	char *text;

	begin();
	middle(3);
	recursive(4);
	survey = take();
	ok(survey.ns == 8000000 && survey.samples == 2, "two samples of 8 ms");
	ok(find(&survey, "capture")->self_ns == 8000000, "in capture()");
	ok(find(&survey, "inner")->inclusive_ns == 8000000 &&
	   !find(&survey, "inner")->self_ns, "which inner() calls");
	ok(find(&survey, "middle")->inclusive_samples == 2, "and middle() that");
	ok(find(&survey, "recursive")->inclusive_ns == 5000000,
	   "a recursive function counts once");
	ok(find(&survey, "main")->inclusive_ns == 8000000, "main() calls all");
	ok(find(&survey, "middle")->spec &&
	   strstr(find(&survey, "middle")->spec, ":=middle"), "whatif can name it");
	ok(survey.functions[0].inclusive_ns >= survey.functions[1].inclusive_ns,
	   "most time is first");
	text = folded(&survey);
	ok(strstr(text, ";main;test_callers;middle;inner;capture 3000000\n"),
	   "a folded stack");
	ok(strstr(text, ";recursive;recursive;recursive;recursive;recursive;middle;"),
	   "and a recursive one");
	free(text);
	survey_free(&survey);
}

static void test_members(void)
{
	struct tense_sample sample = {
		.pid = LAUNCHER, .tgid = LAUNCHER, .ns = 1000000, .comm = "launcher",
		.frame = TENSE_SAMPLE_NOWHERE,
	};
	struct survey survey;

	begin();
	fake_samples_add(&recording, sample, NULL, 0);
	sample.tgid = PROGRAM;
	fake_samples_add(&recording, sample, NULL, 0);
	strcpy(sample.comm, "program");
	fake_samples_add(&recording, sample, NULL, 0);
	sample.tgid = 99;
	fake_samples_add(&recording, sample, NULL, 0);
	survey = take();
	ok(survey.samples == 2, "the launcher is no part of the program");
	ok(survey.count == 1 && survey.functions[0].obstacle == SURVEY_NO_FILE &&
	   !survey.functions[0].spec, "code in no file cannot be scaled");
	ok(!survey.attributed_ns && !survey.named_ns, "and has no function");
	survey_free(&survey);
}

static void test_exec(void)
{
	struct tense_sample sample = {
		.pid = PROGRAM, .tgid = PROGRAM, .ns = 1000000, .comm = "program",
		.frame = TENSE_SAMPLE_NOWHERE, .flags = TENSE_SAMPLE_KERNEL,
		.stack = 64,
	};
	/* argc, argv[0], NULL, an environment variable. */
	struct tense_word words[] = {
		{ .place = 1, .file = TENSE_FILE_STACK, .offset = 40 },
		{ .place = 3, .file = TENSE_FILE_STACK, .offset = 48 },
	};
	struct survey survey;
	char *text;

	begin();
	fake_samples_add(&recording, sample, words, 2);
	name_code(getauxval(AT_ENTRY), &sample.code);
	fake_samples_add(&recording, sample, words, 2);
	sample.code.offset++;
	sample.ns = 3000000;
	fake_samples_add(&recording, sample, words, 2);
	sample.code = (struct tense_word) { 0 };
	sample.ns = 4000000;
	words[0].place = 0;
	fake_samples_add(&recording, sample, words, 2);
	survey = take();
	text = folded(&survey);
	ok(strstr(text, "program;[exec] 2000000\n"),
	   "the survey shows the time of execve(), of programs with a name, too");
	ok(strstr(text, ";_start 3000000\n"), "a call after the entry is no execve()");
	ok(strstr(text, "program;[unknown];[no file] 4000000\n"),
	   "nor is another call from no file");
	ok(find(&survey, "[exec]")->obstacle == SURVEY_EXEC &&
	   survey.attributed_ns == 3000000,
	   "execve() and code in no file are not attributed to a function");
	free(text);
	survey_free(&survey);
}

__attribute__((noinline)) static void waits(int ms)
{
	inner(ms);
	sink++;
}

__attribute__((noinline)) static void wakes(void)
{
	inner(0);
	sink++;
}

static bool is_in(const struct survey *survey, uint32_t index, const char *name)
{
	return index != SURVEY_NOWHERE &&
	       !strcmp(survey->functions[index].name, name);
}

__attribute__((noinline)) static void test_blocks(void)
{
	const struct survey_block *b;
	struct survey survey;

	begin();
	/* The thread that wakes may come first, or later. */
	for (int i = 1; i <= 2; i++) {
		of = (struct tense_sample){
			.head.kind = i == 1 ? TENSE_SAMPLE_WAKE : TENSE_SAMPLE_BLOCK,
			.call = SYS_futex, .wake = 7,
			.waker = i == 1 ? 0 : 99,
		};
		if (i == 1)
			wakes();
		else
			waits(3);
	}
	of.wake = 8;
	waits(4);
	of.head.kind = TENSE_SAMPLE_WAKE;
	of.waker = 0;
	wakes();
	of = (struct tense_sample){ .head.kind = TENSE_SAMPLE_BLOCK,
				    .call = SYS_nanosleep, .flags = TENSE_SAMPLE_TIMER };
	waits(2);
	of = (struct tense_sample){ .head.kind = TENSE_SAMPLE_BLOCK, .call = SYS_read };
	waits(1);
	/* As posix_spawn(3) waits for its child. */
	of = (struct tense_sample){ .head.kind = TENSE_SAMPLE_BLOCK, .call = 435 /* clone3 */ };
	waits(0);
	of = (struct tense_sample){ 0 };
	middle(5);
	survey = take();
	b = survey.blocks;
	ok(survey.ns == 5000000 && survey.samples == 1,
	   "blocks are no charged time");
	ok(survey.blocked_ns == 10000000, "but 10 ms of blocks");
	is_i64(survey.nr_blocks, 4, "in four ways");
	if (survey.nr_blocks == 4) {
		ok(b[0].ns == 7000000 && b[0].samples == 2 &&
		   b[0].reason == SURVEY_LOCK && b[0].by == SURVEY_BY_THREAD &&
		   is_in(&survey, b[0].function, "capture") &&
		   is_in(&survey, b[0].waker, "capture") &&
		   !strcmp(b[0].waker_thread, "?[thread"),
		   "a lock, with the function that waits and the one that wakes");
		ok(b[1].ns == 2000000 && b[1].reason == SURVEY_SLEEP &&
		   b[1].by == SURVEY_BY_TIMER && b[1].waker == SURVEY_NOWHERE,
		   "a sleep, which a timer ends");
		ok(b[2].ns == 1000000 && b[2].reason == SURVEY_INPUT &&
		   b[2].by == SURVEY_BY_OUTSIDE, "input from outside");
		ok(b[3].reason == SURVEY_CHILD, "a child");
	}
	ok(!find(&survey, "wakes")->inclusive_ns, "a wake-up is no time");
	survey_free(&survey);
}

static bool is_refused(const void *data, size_t size)
{
	struct samples samples;
	char *error = samples_read(&samples, data, size);
	bool refused = error;

	samples_free(&samples);
	free(error);
	return refused;
}

static void test_damaged(void)
{
	struct tense_sample sample = { .comm = "program" };
	struct tense_sample_head *head;
	struct tense_word word = { 0 };
	size_t good, refused = 0;

	ok(is_refused("", 0), "a recording without samples is refused");
	begin();
	good = recording.size;
	fake_samples_add(&recording, sample, &word, 1);
	ok(!is_refused(recording.data, recording.size), "this one is good");
	for (size_t size = good + 1; size < recording.size; size++)
		refused += is_refused(recording.data, size);
	is_i64(refused, recording.size - good - 1, "and refused where it is cut off");
	head = (void *)(recording.data + good + sizeof(struct trace_part));
	head->size += 8;
	ok(is_refused(recording.data, recording.size), "a record that is too long");
	head->size -= 16;
	ok(is_refused(recording.data, recording.size), "one that lacks a word");
	head->size = 0;
	ok(is_refused(recording.data, recording.size), "one without a size");
	begin();
	fake_samples_file(&recording, 0, self);
	ok(is_refused(recording.data, recording.size), "a file without a number");
	begin();
	fake_samples_file(&recording, TENSE_FILES_MAX + 1, self);
	ok(is_refused(recording.data, recording.size), "one with a wrong number");
}

static json_int_t number(const json_t *tree, size_t at, const char *key)
{
	const json_t *value = json_object_get(json_array_get(tree, at), key);

	return json_is_null(value) ? -1 : json_integer_value(value);
}

static const char *text(const json_t *tree, size_t at, const char *key)
{
	const char *value = json_string_value(json_object_get(json_array_get(tree, at), key));

	return value ? value : "";
}

static void test_flame(void)
{
	enum { MAIN, SHORT, LONG, RARE };
	struct survey_function functions[] = {
		[MAIN] = { .name = "main", .object = "/bin/x" },
		[SHORT] = { .name = "short", .object = "/bin/x" },
		[LONG] = { .name = "long", .object = "/lib/y" },
		[RARE] = { .name = "rare", .object = "/lib/y" },
	};
	uint32_t below_short[] = { SHORT, MAIN }, below_long[] = { LONG, MAIN };
	uint32_t below_rare[] = { RARE, LONG, MAIN }, deep[1000] = { 0 };
	struct survey_stack stacks[] = {
		{ .frames = below_short, .depth = 2, .thread = "b", .whole = true, .ns = 2000 },
		{ .frames = below_long, .depth = 2, .thread = "b", .whole = true, .ns = 3000 },
		{ .frames = below_rare, .depth = 3, .thread = "b", .whole = true, .ns = 5 },
		{ .frames = below_short, .depth = 1, .thread = "a", .ns = 5000 },
		{ .frames = below_long, .depth = 2, .thread = "b", .whole = true, .ns = 1000 },
	};
	size_t candidates[] = { [MAIN] = 3, [SHORT] = SIZE_MAX, [LONG] = 0, [RARE] = SIZE_MAX };
	struct survey survey = { .functions = functions, .count = 4, .stacks = stacks, .nr_stacks = 5 };
	static const struct {
		const char *name, *object;
		json_int_t parent, ns, candidate;
	} expected[] = {
		{ "b", "", -1, 6005, -1 }, { "main", "/bin/x", 0, 6005, 3 },
		{ "long", "/lib/y", 1, 4005, 0 }, { "short", "/bin/x", 1, 2000, -1 },
		{ "a", "", -1, 5000, -1 }, { "[unknown]", "", 4, 5000, -1 },
		{ "short", "/bin/x", 5, 5000, -1 },
	};
	json_t *tree = flame_tree(&survey, candidates);

	is_i64(json_array_size(tree), 7, "stacks make a tree without rare functions");
	for (size_t i = 0; i < 7; i++)
		ok(!strcmp(text(tree, i, "name"), expected[i].name) &&
		   !strcmp(text(tree, i, "object"), expected[i].object) &&
		   number(tree, i, "parent") == expected[i].parent &&
		   number(tree, i, "ns") == expected[i].ns &&
		   number(tree, i, "candidate") == expected[i].candidate,
		   "the most time first: %s %s", expected[i].name, text(tree, i, "name"));
	json_decref(tree);
	stacks[0].frames = deep;
	stacks[0].depth = 1000;
	tree = flame_tree(&survey, candidates);
	ok(json_array_size(tree) > 50 && json_array_size(tree) < 200, "a deep recursion is cut off");
	json_decref(tree);
	survey.nr_stacks = 0;
	tree = flame_tree(&survey, candidates);
	is_i64(json_array_size(tree), 0, "no stacks, no tree");
	json_decref(tree);
}

int main(void)
{
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	read_maps();
	test_callers();
	test_members();
	test_exec();
	test_blocks();
	test_damaged();
	test_flame();
	fake_samples_free(&recording);
	return done();
}
