// SPDX-License-Identifier: GPL-2.0
/* Part of guest-fuzz: tasks write good and malformed texts to the device. */
#include "fuzz.h"

#include <sys/uio.h>

#include <linux/tense-samples.h>

#define PAGE 4096
#define TEXT_MAX 256

/* As the interface says. */
#define PERCENT_TEXT 15
#define LONGEST_TEXT 63

/* A page for each slot, behind which nothing is mapped. */
static char *pages;

void texts_begin(void)
{
	pages = mmap(NULL, TASKS_MAX * 2 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < TASKS_MAX; i++)
		mprotect(pages + (2 * i + 1) * PAGE, PAGE, PROT_NONE);
}

/* --- what the interface says of a text --- */

static const char *const choices[] = {
	"clocks all", "clocks monotonic", "clocks none", "idle real",
	"idle skip",
	"clocks ordered", "clocks unordered", "own",
};

static size_t digits(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

/* Without the newline that may end it. */
static size_t without_newline(const char *text, size_t length)
{
	return length && text[length - 1] == '\n' ? length - 1 : length;
}

static bool is_percent(const char *text, size_t length)
{
	size_t n = without_newline(text, length);
	uint64_t percent = 0;

	if (!n || length > PERCENT_TEXT || digits(text, n) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		percent = percent * 10 + text[i] - '0';
	return percent >= TENSE_PERCENT_MIN && percent <= TENSE_PERCENT_MAX;
}

static bool is_choice(const char *text, size_t length)
{
	size_t n = without_newline(text, length);

	for (size_t i = 0; i < ARRAY_LENGTH(choices); i++)
		if (n == strlen(choices[i]) && !memcmp(text, choices[i], n))
			return true;
	return false;
}

static bool is_space(unsigned char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0;
}

/* The number after any blanks; false if there is none up to @most. */
static bool take_number(const char **text, const char *end, uint64_t most)
{
	unsigned __int128 number = 0;
	size_t n;

	while (*text < end && is_space(**text))
		(*text)++;
	n = digits(*text, end - *text);
	for (size_t i = 0; i < n && number <= most; i++)
		number = number * 10 + (*text)[i] - '0';
	*text += n;
	return n && number <= most;
}

/*
 * Whether that may be a probe, if its file allows: blanks that the interface
 * does not name are left to the module.
 */
static bool may_be_probe(const char *text, size_t length)
{
	const char *end = text + length, *at = text + strlen("probe");

	if (length < strlen("probe") || memcmp(text, "probe", strlen("probe")))
		return false;
	if (!take_number(&at, end, TENSE_SLOTS - 1) ||
	    !take_number(&at, end, TENSE_PERCENT_MAX * TENSE_FINE) ||
	    !take_number(&at, end, UINT32_MAX) ||
	    !take_number(&at, end, INT64_MAX))
		return false;
	while (at < end && is_space(*at))
		at++;
	return at == end;
}

/* The same of "samples PERIOD KIB STACK SEED": it may come too late. */
static bool may_be_samples(const char *text, size_t length)
{
	const char *end = text + length, *at = text + strlen("samples");

	if (length < strlen("samples") || memcmp(text, "samples", strlen("samples")))
		return false;
	if (!take_number(&at, end, TENSE_SAMPLES_PERIOD_MAX) ||
	    !take_number(&at, end, TENSE_SAMPLES_KIB_MAX) ||
	    !take_number(&at, end, TENSE_SAMPLES_STACK_MAX) ||
	    !take_number(&at, end, UINT32_MAX))
		return false;
	while (at < end && is_space(*at))
		at++;
	return at == end;
}

/* "join NAME" */
static bool is_join(const char *text, size_t length)
{
	size_t n = without_newline(text, length), at = strlen("join ");

	if (n <= at || n - at > TENSE_NAME_MAX || memcmp(text, "join ", at))
		return false;
	for (; at < n; at++) {
		unsigned char c = text[at];

		if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= 'a' && c <= 'z') && c != '.' && c != '_' && c != '-')
			return false;
	}
	return true;
}

/* JOIN: success or an error, as the task and its siblings are in experiments. */
enum verdict { GOOD, BAD_TEXT, BAD_ADDRESS, ANY, JOIN };

static enum verdict judge_text(const char *text, size_t length)
{
	if (text[0] == 'p')
		return may_be_probe(text, length) ? ANY : BAD_TEXT;
	if (text[0] == 's')
		return may_be_samples(text, length) ? ANY : BAD_TEXT;
	if (text[0] == 'c' || text[0] == 'i' || text[0] == 'o')
		return is_choice(text, length) ? GOOD : BAD_TEXT;
	if (text[0] == 'j')
		return is_join(text, length) ? JOIN : BAD_TEXT;
	return is_percent(text, length) ? GOOD : BAD_TEXT;
}

/*
 * Predicts the verdict of write(2) if the kernel can read only @readable bytes.
 */
static enum verdict judge(const char *text, size_t length, size_t readable)
{
	/* No address range is that long. */
	if (length >> 47)
		return BAD_ADDRESS;
	if (!length || length > LONGEST_TEXT)
		return BAD_TEXT;
	return length > readable ? BAD_ADDRESS : judge_text(text, length);
}

/* --- texts --- */

static const char *const odd_texts[] = {
	"clocks", "idle ", "clocks  all", "idle skipped", "probe", "probe 1",
	"+125", "-1", "0x7d", " 125", "125 ", "12 5", "125\n\n", "\n", "0", "00",
	"100001", "4294967396", "18446744073709551716", "99999999999999",
	"000000000000125", "00000000000000125", "100000\n", "1\n",
	"probe 1 100000 3 -1", "probe 16 100000 3 0", "probe 1 0 3 0",
	"probe 4294967297 100000 3 64", "probe 1 4295067296 3 64",
	"probe 1 100000 4294967299 64", "probe 1 100000 3 18446744073709551680",
	"probe 1 100000 3 64 5", "probe 1 100000 3 64\n", "p", "c", "i", "j",
	"join", "join ", "join \n", "joinx", "join  x", "join x y", "join a/b",
	"samples", "samples 1 2", "samples 1000000 64 8192 1",
	"samples 99999 64 8192 1", "samples 1000000 63 8192 1", "s",
	"samples 1000000 64 16385 1", "samples 1000000 64 8192 4294967296",
	"join x\n\n", "join \xe9", "join 12345678901234567890123456789012",
	"join 123456789012345678901234567890123", "join x\n", "own\n", "owned", "o",
};

static int64_t any_field(struct task *t)
{
	static const int64_t edges[] = {
		-1, 0, 1, 15, 16, 255, 256, 999, 1000, 100000000, 100000001,
		INT32_MAX, INT64_MAX, UINT32_MAX, UINT32_MAX + 1LL,
	};

	return one_in(t, 2) ? any(t, edges) : any_bits(t, 63);
}

/*
 * Never returns an offset in the program's code. A breakpoint within an
 * instruction would turn it into another one, and the program could then do
 * anything.
 */
static int64_t any_offset(struct task *t)
{
	int64_t offset = any_field(t);

	return offset >= PAGE && offset < 1 << 24 ? offset + (1LL << 32) : offset;
}

static int any_probe(struct task *t, char *text)
{
	return snprintf(text, TEXT_MAX, "probe %ld %ld %d %lu",
			one_in(t, 2) ? (long)below(t, TENSE_SLOTS) : any_field(t),
			one_in(t, 2) ? (long)any_bits(t, 26) : any_field(t),
			FIRST_FD + below(t, LAST_FD - FIRST_FD),
			(unsigned long)any_offset(t));
}

/* Little memory: there are many experiments. */
static int any_samples(struct task *t, char *text)
{
	return snprintf(text, TEXT_MAX, "samples %ld %d %d %lu",
			one_in(t, 4) ? (long)any_field(t) :
				       TENSE_SAMPLES_PERIOD_MIN,
			(int)(TENSE_SAMPLES_KIB_MIN + below(t, 64)),
			(int)below(t, TENSE_SAMPLES_STACK_MAX + 2),
			(unsigned long)any_bits(t, 32));
}

/* Few names, so that tasks meet. */
static size_t any_name(struct task *t, char *text)
{
	return sprintf(text, "join %c", "xyz"[below(t, 3)]);
}

static size_t any_base(struct task *t, char *text)
{
	switch (below(t, 7)) {
	case 0:
		return snprintf(text, TEXT_MAX, "%ld", any_field(t));
	case 1:
		return stpcpy(text, any(t, choices)) - text;
	case 2:
		return stpcpy(text, any(t, odd_texts)) - text;
	case 3:
		return any_probe(t, text);
	case 4:
		return any_name(t, text);
	case 5:
		return any_samples(t, text);
	default:
		return snprintf(text, TEXT_MAX, "%0*u", (int)below(t, 18),
				(unsigned int)any_bits(t, 17));
	}
}

/* Somewhere in the text, or right behind it. */
static size_t change(struct task *t, char *text, size_t length)
{
	static const char bytes[] = "\0\n 019-+._pxcijso\xa0\xff";
	size_t at = below(t, length + 1), more;
	char c = one_in(t, 2) ? bytes[below(t, sizeof(bytes))] : (char)next(t);

	switch (below(t, 6)) {
	case 0:
		return at;
	case 1:
		more = below(t, one_in(t, 2) ? 4 : TEXT_MAX - length);
		memset(text + length, c, more);
		return length + more;
	case 2:
		memmove(text + at + 1, text + at, length - at);
		text[at] = c;
		return length + 1;
	case 3:
		text[length] = '\n';
		return length + 1;
	default:
		text[at] = c;
		return at == length ? length + 1 : length;
	}
}

static size_t any_text(struct task *t, char *text)
{
	size_t length = any_base(t, text);

	for (int n = one_in(t, 2) ? 0 : below(t, 4); n > 0; n--)
		if (length < TEXT_MAX - 8)
			length = change(t, text, length);
	return length;
}

/* --- write(2) --- */

static void check(struct task *t, const char *text, enum verdict verdict,
		  long result, size_t length)
{
	static const long error[] = { [BAD_TEXT] = -EINVAL, [BAD_ADDRESS] = -EFAULT };
	char what[96];

	if (result == -ESRCH)
		return;
	/* User-Mode Linux has no breakpoints. */
	if (result == -EOPNOTSUPP && verdict != BAD_ADDRESS && text[0] == 'p')
		return;
	if (verdict == JOIN) {
		/* It may have been in no experiment, and now be in another one. */
		forget_seen(t);
		if (result < 0)
			EXPECT_ERROR(t, "join", result, EBUSY, EPERM, ENODEV,
				     EMFILE, EDQUOT, ENOMEM);
		else if (result != (long)length)
			fail(t, "join", result, length);
		return;
	}
	if (verdict == GOOD ? result == (long)length :
	    verdict == ANY ? true : result == error[verdict])
		return;
	snprintf(what, sizeof(what), "write of %zu: \"%.*s\"", length,
		 length < 64 ? (int)length : 64, verdict == BAD_ADDRESS ? "" : text);
	fail(t, what, result, verdict);
}

static char *end_of_page(const struct task *t)
{
	return pages + (2 * t->slot + 1) * PAGE;
}

/* At the end of what can be read, or some of it beyond. */
static char *place(struct task *t, const char *text, size_t length,
		   size_t *readable)
{
	char *end = end_of_page(t), *at;

	*readable = length;
	if (one_in(t, 6))
		*readable = below(t, length + 1);
	else if (one_in(t, 2))
		end -= below(t, PAGE - length);
	at = end - *readable;
	memcpy(at, text, *readable);
	return at;
}

static long write_somehow(struct task *t, int fd, char *at, size_t length)
{
	struct iovec part = { at, length };

	/* The kernel skips a part of no length. */
	if (length && one_in(t, 4))
		return call(SYS_writev, fd, &part, 1);
	if (one_in(t, 4))
		return call(SYS_pwrite64, fd, at, length, any_bits(t, 62));
	return call(SYS_write, fd, at, length);
}

static long call_write(struct task *t)
{
	char text[TEXT_MAX + 8];
	size_t length = any_text(t, text), readable;
	char *at = place(t, text, length, &readable);
	long result;

	if (t->own < 0 || one_in(t, 20))
		return call(SYS_write, any_fd(t), at, length);
	result = write_somehow(t, t->own, at, length);
	check(t, text, judge(text, length, readable), result, length);
	return result;
}

/* More than there is, up to all there can be. */
static long call_write_huge(struct task *t)
{
	char text[TEXT_MAX + 8];
	size_t length = any_text(t, text), readable;
	char *at = place(t, text, length, &readable);
	long result;

	if (t->own < 0)
		return -ENOENT;
	length += 1 + PAGE + any_bits(t, 62);
	readable = end_of_page(t) - at;
	result = call(SYS_write, t->own, at, length);
	/* An address range that the kernel checks first. */
	if (result != -EFAULT)
		check(t, text, judge(at, length, readable), result, length);
	return result;
}

/* Parts are texts each: what was written before a bad one counts. */
static long call_write_parts(struct task *t)
{
	char text[2][TEXT_MAX + 8];
	struct iovec parts[2];
	char *page = pages + 2 * t->slot * PAGE;
	enum verdict first;
	long result;

	if (t->own < 0)
		return -ENOENT;
	for (int i = 0; i < 2; i++) {
		size_t length = any_text(t, text[i]);

		parts[i] = (struct iovec) { page + i * PAGE / 2, length };
		memcpy(parts[i].iov_base, text[i], length);
	}
	result = call(SYS_writev, t->own, parts, 2);
	if (text[0][0] == 'j' || text[1][0] == 'j')
		forget_seen(t);
	first = judge(text[0], parts[0].iov_len, parts[0].iov_len);
	/* The kernel skips a part of no length. */
	if (parts[0].iov_len && first == BAD_TEXT)
		check(t, text[0], first, result, parts[0].iov_len);
	else if (first == GOOD && result >= 0 &&
		 result != (long)parts[0].iov_len &&
		 result != (long)(parts[0].iov_len + parts[1].iov_len))
		fail(t, "writev", result, parts[0].iov_len);
	return result;
}

/* From where nothing, or something else than memory is. */
static long call_write_odd(struct task *t)
{
	size_t size = one_in(t, 2) ? below(t, 80) : (size_t)any_bits(t, 40);
	long result;

	if (t->own < 0)
		return call(SYS_write, any_fd(t), any_address(t), size);
	result = call(SYS_write, t->own, any_address(t), size);
	EXPECT_ERROR(t, "write", result, EINVAL, EFAULT, EBADF);
	return result;
}

/* Leaves what it is in, if it can, and joins an experiment by its name. */
static long call_join(struct task *t)
{
	char text[16];
	size_t length = any_name(t, text);
	long fd, result;

	if (t->own >= 0 && one_in(t, 2))
		close_own(t);
	fd = call(SYS_openat, AT_FDCWD, TENSE_DEVICE,
		  O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fd;
	forget_seen(t);
	result = call(SYS_write, fd, text, length);
	if (result >= 0 && one_in(t, 2))
		call(SYS_lseek, fd, any_bits(t, 40), SEEK_CUR);
	if (result < 0 || one_in(t, 3) || fd >= LAST_FD)
		close_fd(t, fd);
	else
		t->fd = fd;
	return result;
}

/* Programs use this call most. */
static long call_percent(struct task *t)
{
	char text[24];
	size_t length = snprintf(text, sizeof(text), "%u%s", below(t, 400) + 1,
				 one_in(t, 2) ? "\n" : "");
	long result;

	if (t->own < 0)
		return call(SYS_write, any_fd(t), text, length);
	result = call(SYS_write, t->own, text, length);
	check(t, text, GOOD, result, length);
	return result;
}

/* --- probes --- */

static long call_probe(struct task *t)
{
	char text[96];
	long fd = call(SYS_openat, AT_FDCWD, "/proc/self/exe",
		       one_in(t, 10) ? O_PATH : O_RDONLY);
	size_t length;
	long result;

	if (fd < 0)
		return fd;
	length = snprintf(text, sizeof(text), "probe %u %u %ld %lu",
			  below(t, TENSE_SLOTS),
			  1000 + (unsigned int)any_bits(t, 26), fd,
			  one_in(t, 4) ? (unsigned long)any_offset(t) :
			  offset_of_probed());
	result = call(SYS_write, t->own >= 0 ? t->own : any_fd(t), text, length);
	if (t->own >= 0)
		EXPECT_ERROR(t, text, result, EINVAL, ENOSPC, EIO, ENOMEM, EBADF,
			     EOPNOTSUPP,
			     EINTR);
	close_fd(t, fd);
	probed(below(t, 4));
	return result;
}

static long call_probed(struct task *t)
{
	probed(one_in(t, 50) ? 100 : below(t, 3));
	return 0;
}

const struct operation text_operations[] = {
	{ "write", call_write, 900, 0 },
	{ "huge write", call_write_huge, 80, ODD },
	{ "write in parts", call_write_parts, 150, 0 },
	{ "odd write", call_write_odd, 80, ODD },
	{ "percent", call_percent, 250, 0 },
	{ "join", call_join, 60, 0 },
	{ "probe", call_probe, 2, 0 },
	{ "probed function", call_probed, 8, 0 },
};
const size_t text_operations_length = ARRAY_LENGTH(text_operations);
