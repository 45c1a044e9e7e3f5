// SPDX-License-Identifier: GPL-2.0
/*
 * Slot 1, 200 percent: f_*. Slot 2, 50 percent: g_*. Slot 3: odd_*. Slot 4: the
 * plugin's.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#include "common.h"

extern char **environ;

/* Values of every class come and go as they are. */

struct big {
	long a[6];
};

struct pair {
	double x, y;
};

NOINLINE struct big f_big(int a, long b, char c, short d, unsigned e, void *f,
			  long g, long h, double i, float j, struct pair k)
{
	return (struct big){ { a + b, c + d, e, (long)f, g * h,
			       i + j + k.x * k.y } };
}

NOINLINE struct pair f_pair(double x, double y)
{
	return (struct pair){ y, x };
}

NOINLINE long double f_x87(long double x)
{
	return x / 3;
}

NOINLINE __int128 f_wide(__int128 x)
{
	return x * 3;
}

typedef double vector __attribute__((vector_size(32)));

__attribute__((target("avx"))) NOINLINE vector f_vector(vector a, vector b)
{
	return a * b;
}

NOINLINE double f_variadic(int n, ...)
{
	double sum = 0;
	va_list args;

	va_start(args, n);
	while (n--)
		sum += va_arg(args, double);
	va_end(args);
	return sum;
}

__attribute__((target("avx"))) static void check_vectors(void)
{
	vector v = f_vector((vector){ 1, 2, 3, 4 }, (vector){ 2, 3, 4, 5 });

	ok(v[0] == 2 && v[1] == 6 && v[2] == 12 && v[3] == 20, "AVX vectors");
}

static void check_values(void)
{
	struct big b = f_big(1, 2, 3, 4, 5, (void *)6, 7, 8, 9.5, 10.5,
			     (struct pair){ 2, 3 });
	struct pair p = f_pair(1.25, 2.5);

	ok(b.a[0] == 3 && b.a[1] == 7 && b.a[2] == 5 && b.a[3] == 6 &&
	   b.a[4] == 56 && b.a[5] == 26, "a struct in memory");
	ok(p.x == 2.5 && p.y == 1.25, "a struct in vector registers");
	ok(f_x87(1.0L) == 1.0L / 3, "x87 values");
	ok(f_wide(((__int128)1 << 100) + 1) == ((__int128)3 << 100) + 3,
	   "128 bits");
	ok(f_variadic(3, 1.0, 2.0, 3.5) == 6.5, "variable arguments");
	if (__builtin_cpu_supports("avx"))
		check_vectors();
	ok(at(100), "and all is as before");
	forget_calls(1);
}

/* Nesting. */

NOINLINE int g_inner(int n)
{
	ok(at(100), "50 percent of 200");
	return n + 1;
}

NOINLINE int f_outer(int n)
{
	int ret;

	ok(at(200), "in the function");
	ret = g_inner(n);
	ok(at(200), "after a nested one");
	return ret + 1;
}

NOINLINE int f_recursive(int n)
{
	int ret = 0;

	if (n)
		ret = f_recursive(n - 1) + 1;
	if (!at(200))
		ret += 1000;
	return ret;
}

NOINLINE int f_other(int n)
{
	return f_recursive(n) + (at(200) ? 0 : 1000);
}

static void check_nesting(void)
{
	forget_calls(1);
	forget_calls(2);
	is_i64(f_outer(5), 7, "nested");
	ok(at(100), "back to 100");
	ok(called(1, 1) && called(2, 1), "a call of each");
	is_i64(f_recursive(10), 10, "recursion has one percent");
	ok(called(1, 11), "and counts all calls");
	is_i64(f_other(10), 10, "one slot in another function");
	ok(called(1, 12), "counts all calls");
	ok(at(100), "back to 100");
}

/* Tail calls: inclusive, as ordinary calls are. */

NOINLINE int g_tail_end(int n)
{
	return at(100) ? n + 1 : -1;
}

NOINLINE int tail_end(int n)
{
	return at(200) ? n + 2 : -1;
}

NOINLINE int f_tail(int n)
{
	return tail_end(n + 1);
}

NOINLINE int f_tail_other(int n)
{
	return g_tail_end(n + 1);
}

NOINLINE int f_tail_same(int n)
{
	return f_tail(n + 1);
}

NOINLINE int g_into(int n)
{
	return at(50) ? n + 1 : -1;
}

NOINLINE int tail_into(int n)
{
	return g_into(n + 1);
}

static void check_tail_calls(void)
{
	forget_calls(1);
	is_i64(f_tail(1), 4, "tail call out of it");
	is_i64(f_tail_other(1), 3, "tail call out of one into another");
	is_i64(f_tail_same(1), 5, "tail call in one slot");
	is_i64(tail_into(1), 3, "tail call into it");
	ok(called(1, 4), "all counted");
	ok(at(100), "back to 100");
}

/* Jumps over it. */

static jmp_buf env;
static sigjmp_buf sigenv;

static volatile int stay;

NOINLINE void f_jump(int n)
{
	if (n)
		f_jump(n - 1);
	else if (!stay)
		longjmp(env, 7);
	__asm__ volatile("");
}

NOINLINE int g_catch(int n)
{
	jmp_buf saved;
	int ret;

	memcpy(&saved, &env, sizeof(env));
	ret = setjmp(env);
	if (!ret)
		f_jump(n);
	ok(at(50), "after a jump out of an inner one");
	memcpy(&env, &saved, sizeof(env));
	return ret;
}

NOINLINE void f_builtin_jump(void **buffer)
{
	__builtin_longjmp(buffer, 1);
}

static void *buffer[5];

NOINLINE static int builtin_jump(void)
{
	if (!__builtin_setjmp(buffer)) {
		f_builtin_jump(buffer);
		return 0;
	}
	return 1;
}

static void check_jumps(void)
{
	int ret = setjmp(env);

	if (!ret)
		f_jump(5);
	is_i64(ret, 7, "longjmp over six of them");
	ok(at(100), "back to 100 at once");
	is_i64(g_catch(3), 7, "setjmp in one");
	ok(at(100), "back to 100");
	ok(builtin_jump(), "a jump without longjmp");
	is_i64(f_outer(1), 3, "back to 100 at the next call");
	ok(at(100), "and after it");
}

/* Signal handlers. */

static volatile int handled;
static int jump_out;

NOINLINE int f_handler(int n)
{
	__asm__ volatile("");
	return n + 1;
}

NOINLINE int g_handler(int n)
{
	__asm__ volatile("");
	return n + 1;
}

static void handler(int sig)
{
	unsigned int before = percent();

	handled += f_handler(1) + g_handler(sig - sig + 1);
	if (percent() != before)
		handled = -1000;
	if (jump_out)
		siglongjmp(sigenv, 1);
}

NOINLINE int f_raise(int n)
{
	raise(SIGUSR1);
	return at(200) ? n + 1 : -1;
}

static void check_handlers(const char *where)
{
	handled = 0;
	jump_out = 0;
	is_i64(f_raise(1), 2, "a handler %s", where);
	is_i64(handled, 4, "which calls it too");
	ok(at(100), "back to 100");
	jump_out = 1;
	if (!sigsetjmp(sigenv, 1))
		f_raise(1);
	ok(at(100), "siglongjmp out of a handler %s", where);
}

static void check_signals(void)
{
	struct sigaction sa = { .sa_handler = handler };
	stack_t stack = { .ss_size = 65536 };

	sigaction(SIGUSR1, &sa, NULL);
	check_handlers("on the same stack");
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &sa, NULL);
	check_handlers("on its own stack");
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}

static void *check_signals_thread(void *unused)
{
	(void)unused;
	check_signals();
	return NULL;
}

static volatile sig_atomic_t ticks;

static void tick(int sig)
{
	(void)sig;
	ticks += f_handler(0);
}

static sigjmp_buf tickenv;
static volatile sig_atomic_t jumping;

static void tick_jump(int sig)
{
	(void)sig;
	f_handler(0);
	if (jumping)
		siglongjmp(tickenv, 1);
}

/* At any instruction of the stubs. */
static void check_async(void)
{
	struct sigaction sa = { .sa_handler = tick };
	struct itimerval timer = { .it_interval.tv_usec = 50,
				   .it_value.tv_usec = 50 };
	struct itimerval none = { .it_value.tv_usec = 0 };
	volatile int wrong = 0, jumps = 0;
	volatile int i;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (i = 0; i < 300000; i++)
		wrong += f_handler(i) != i + 1 || g_handler(i) != i + 1;
	setitimer(ITIMER_REAL, &none, NULL);
	is_i64(wrong, 0, "300000 calls under a storm of signals");
	ok(at(100), "back to 100");
	sa.sa_handler = tick_jump;
	sigaction(SIGALRM, &sa, NULL);
	for (jumps = 0; jumps < 2000; jumps++) {
		timer.it_interval.tv_usec = 0;
		timer.it_value.tv_usec = 20 + jumps % 50;
		if (!sigsetjmp(tickenv, 1)) {
			jumping = 1;
			setitimer(ITIMER_REAL, &timer, NULL);
			for (;;)
				wrong += f_handler(1) + g_handler(1) != 4;
		}
		jumping = 0;
	}
	setitimer(ITIMER_REAL, &none, NULL);
	f_handler(0);
	is_i64(wrong, 0, "jumps out of handlers at any instruction");
	ok(admits(), "leave no change of the ring unfinished");
	ok(at(100), "back to 100");
	is_i64(f_outer(1), 3, "and the percents are as before");
}

/* A handler runs after each instruction of a call, or after each two in a row. */

static sigjmp_buf step_env;
static volatile unsigned int steps_left, handlers_left;
static volatile bool step_jump, stepped;

static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	if (--steps_left)
		return;
	stepped = true;
	if (--handlers_left)
		steps_left = 1;
	else
		uc->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	f_handler(1);
	g_handler(1);
	if (step_jump)
		siglongjmp(step_env, 1);
}

static inline __attribute__((always_inline)) void set_trap_flag(void)
{
	/* Skips what the compiler may keep below the stack pointer. */
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq;"
			 "orq $0x100, (%%rsp); popfq;"
			 "lea 128(%%rsp), %%rsp" : : : "memory", "cc");
}

static inline __attribute__((always_inline)) void clear_trap_flag(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq;"
			 "andq $~0x100, (%%rsp); popfq;"
			 "lea 128(%%rsp), %%rsp" : : : "memory", "cc");
}

/* Returns whether handlers ran, the first one after n instructions. */
static bool step_through(unsigned int n, unsigned int handlers,
			 int (*call)(int))
{
	stepped = false;
	steps_left = n;
	handlers_left = handlers;
	if (!sigsetjmp(step_env, 1)) {
		set_trap_flag();
		call(1);
		clear_trap_flag();
	}
	return stepped;
}

/* stride: instructions from one handler to the next. */
static void check_steps(int (*call)(int), unsigned int stride, const char *what)
{
	struct sigaction sa = {
		.sa_sigaction = on_step, .sa_flags = SA_SIGINFO,
	};
	/* Enough for all but the slow variants. */
	const unsigned int most = 400 * stride;
	unsigned int n, wrong = 0, unfinished = 0;

	sigaction(SIGTRAP, &sa, NULL);
	step_jump = false;
	for (n = 1; n < most && step_through(n, 1, call); n += stride)
		wrong += !at(100);
	is_i64(wrong, 0, "%s: a handler after an instruction", what);
	wrong = 0;
	for (n = 1; n < most && step_through(n, 2, call); n += stride)
		wrong += !at(100);
	is_i64(wrong, 0, "%s: a handler after each of two instructions in a row", what);
	step_jump = true;
	wrong = 0;
	for (n = 1; n < most && step_through(n, 1, call); n += stride) {
		unfinished += !admits();
		g_handler(1);
		wrong += !at(100);
	}
	is_i64(wrong, 0, "%s: jumps after an instruction", what);
	is_i64(unfinished, 0, "%s: leave no change of the ring unfinished", what);
	f_handler(1);
	ok(at(100), "%s: back to 100", what);
}

NOINLINE int f_step_nested(int n)
{
	int ret = g_handler(n) + f_handler(n);

	__asm__ volatile("" : "+r"(ret));
	return ret;
}

/* Processes. */

NOINLINE int f_fork(void)
{
	int status, pid = fork();

	if (!pid) {
		if (!at(200) || f_handler(1) != 2)
			_exit(1);
		return -1;
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

NOINLINE int f_vfork(void)
{
	int status, pid = vfork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", "exit 3", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

NOINLINE void g_exec(void)
{
	execl("/bin/sh", "sh", "-c", "exit 4", NULL);
	_exit(1);
}

static int vfork_inside(void)
{
	int status, pid = vfork();

	if (!pid)
		g_exec();
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

NOINLINE int f_spawn(void)
{
	char *args[] = { "sh", "-c", "exit 5", NULL };
	int status;
	pid_t pid;

	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, args, environ))
		return -1;
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void check_processes(void)
{
	int ret;

	fflush(stdout);
	ret = f_fork();
	if (ret < 0)
		_exit(at(100) && f_handler(1) == 2 && at(100) ? 0 : 2);
	is_i64(ret, 0, "fork inside, and the child returns from it");
	is_i64(f_vfork(), 3, "vfork inside");
	ok(at(100), "back to 100");
	is_i64(vfork_inside(), 4, "a child of vfork execs inside");
	f_handler(1);
	ok(at(100), "back to 100");
	is_i64(f_spawn(), 5, "posix_spawn inside");
	is_i64(WEXITSTATUS(system("exit 6")), 6, "system");
	ok(at(100), "back to 100");
}

/* Threads. */

static void *thread_percent(void *ret)
{
	*(int *)ret = at(100) && f_handler(1) == 2 && at(100);
	return NULL;
}

static int thrd_percent(void *unused)
{
	(void)unused;
	return at(100);
}

NOINLINE int f_create(void)
{
	pthread_t thread;
	thrd_t thrd;
	int good = 0, ret = 0;

	pthread_create(&thread, NULL, thread_percent, &good);
	pthread_join(thread, NULL);
	thrd_create(&thrd, thrd_percent, NULL);
	thrd_join(thrd, &ret);
	return good && ret && at(200);
}

static int cleaned;

static void cleanup(void *arg)
{
	cleaned += *(int *)arg;
}

NOINLINE void f_exit(int how)
{
	if (how == 0)
		pthread_exit((void *)5);
	for (;;)
		pause();
}

static void *exit_thread(void *how)
{
	int one = 1;

	pthread_cleanup_push(cleanup, &one);
	if (*(int *)how == 2)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	f_exit(*(int *)how);
	pthread_cleanup_pop(0);
	return NULL;
}

static void check_exit(int how, const char *text)
{
	pthread_t thread;
	void *ret = NULL;

	cleaned = 0;
	pthread_create(&thread, NULL, exit_thread, &how);
	if (how) {
		usleep(20000);
		pthread_cancel(thread);
	}
	pthread_join(thread, &ret);
	ok(ret == (how ? PTHREAD_CANCELED : (void *)5) && cleaned == 1,
	   "%s inside it", text);
}

#define THREADS 8
#define CALLS 200000

static void *hammer(void *arg)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < CALLS; i++)
		sum += f_handler(i) + g_handler(i) + f_tail_other(i);
	*(unsigned long *)arg = sum + (at(100) ? 0 : 1);
	return NULL;
}

static void check_threads(void)
{
	unsigned long sums[THREADS], expected = 0;
	pthread_t thread[THREADS];
	int i, wrong = 0;

	ok(f_create(), "threads made inside start at 100");
	check_exit(0, "pthread_exit");
	check_exit(1, "cancellation");
	check_exit(2, "asynchronous cancellation");
	forget_calls(1);
	forget_calls(2);
	for (i = 0; i < CALLS; i++)
		expected += 2 * (i + 1) + i + 2;
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, hammer, &sums[i]);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		wrong += sums[i] != expected;
	}
	is_i64(wrong, 0, "%d threads at once", THREADS);
	ok(called(1, 2 * THREADS * CALLS) && called(2, 2 * THREADS * CALLS),
	   "every call is counted");
	pthread_create(&thread[0], NULL, check_signals_thread, NULL);
	pthread_join(thread[0], NULL);
}

/* Several stacks in a thread. */

static ucontext_t main_context, context[2];
static int turns;

NOINLINE void f_yield(int me)
{
	swapcontext(&context[me], &main_context);
}

NOINLINE void g_yield(int me)
{
	swapcontext(&context[me], &main_context);
}

static void coroutine(int me)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (me)
			g_yield(me);
		else
			f_yield(me);
		turns++;
	}
}

static void check_coroutines(void)
{
	char *stacks = malloc(2 * 65536);
	int i, me;

	for (me = 0; me < 2; me++) {
		getcontext(&context[me]);
		context[me].uc_stack.ss_sp = stacks + 65536 * me;
		context[me].uc_stack.ss_size = 65536;
		context[me].uc_link = &main_context;
		makecontext(&context[me], (void (*)(void))coroutine, 1, me);
	}
	for (i = 0; i < 8; i++)
		swapcontext(&main_context, &context[i & 1]);
	is_i64(turns, 6, "coroutines that switch inside");
	ok(at(100), "back to 100");
	is_i64(f_outer(1), 3, "and the percents are as before");
	ok(at(100), "back to 100");
	free(stacks);
}

/* These functions look at the stack. */

static int frames;
static void *own_frames[32];

NOINLINE void take_frames(void)
{
	frames = backtrace(own_frames, 32);
}

NOINLINE void f_backtrace(int n)
{
	if (n)
		f_backtrace(n - 1);
	else
		take_frames();
	__asm__ volatile("");
}

NOINLINE static int count_frames(void)
{
	f_backtrace(3);
	return frames;
}

static void check_backtrace(void)
{
	Dl_info info;
	int i, found = 0, gates = 0;

	count_frames();
	for (i = 0; i < frames; i++) {
		if (!dladdr(own_frames[i], &info))
			continue;
		if (strstr(info.dli_fname, "libtense-functions"))
			gates++;
		else if (info.dli_sname && !strcmp(info.dli_sname, "main"))
			found++;
	}
	is_i64(found, 1, "a backtrace reaches main()");
	is_i64(gates, fake_percent_p != NULL, "through one gate");
}

/* Prologues. */

#define ODD \
	X(odd_rip, 7) X(odd_rip_immediate, 8) X(odd_rip_vector, 13) \
	X(odd_short_branch, 3) X(odd_jump, 4) X(odd_near_jump, 9) \
	X(odd_indirect_jump, 9) X(odd_call, 10) X(odd_call_second, 10) \
	X(odd_call_memory, 10) X(odd_call_register, 10) X(odd_endbr, 11) \
	X(odd_endbr_push, 12) X(odd_short, 0) X(odd_packed, 0) \
	X(odd_behind_packed, 1) X(odd_cramped, 0) X(odd_jumped_into, 4) \
	X(odd_all_jumped_into, 4) X(odd_loop_head, 4) X(odd_jrcxz, 5) \
	X(odd_long, 6) X(odd_tail, 26) X(odd_call_flags, 10)

#define X(name, n) int name(int);
ODD
#undef X

void odd_tiny(void);

static void check_odd(void)
{
	static const struct {
		const char *name;
		int (*call)(int);
		int add;
	} list[] = {
#define X(name, n) { #name, name, n },
		ODD
#undef X
	};
	size_t i;
	int n;

	for (i = 0; i < sizeof(list) / sizeof(*list); i++) {
		int wrong = 0;

		for (n = 0; n < 400; n += 4)
			wrong += list[i].call(n) != n + list[i].add;
		is_i64(wrong, 0, "%s", list[i].name);
	}
	odd_tiny();
	ok(at(100), "back to 100");
}

static int (*resolve_chosen(void))(int);
int f_chosen(int n) __attribute__((ifunc("resolve_chosen")));

static int chosen_a(int n)
{
	return at(200) ? n + 1 : -1;
}

__attribute__((used)) static int (*resolve_chosen(void))(int)
{
	return chosen_a;
}

/* Libraries that come later. */

static void check_plugin(const char *path)
{
	int (*twice)(int), (*started)(void);
	unsigned long before = fake_calls_p ? fake_calls_p(4) : 0, calls;
	void *plugin;
	int i, sum = 0;

	for (i = 0; i < 20; i++) {
		plugin = dlopen(path, RTLD_NOW);
		if (!plugin) {
			ok(false, "%s", dlerror());
			return;
		}
		*(void **)&twice = dlsym(plugin, "plugin_twice");
		*(void **)&started = dlsym(plugin, "plugin_started");
		sum += twice(i) + started();
		dlclose(plugin);
	}
	is_i64(sum, 380 + 20 * 42, "a library, opened again and again");
	calls = fake_calls_p ? fake_calls_p(4) - before : 40;
	is_i64(calls, 40, "its calls, and those of its constructor");
	ok(at(100), "back to 100");
}

static void *opened;

/* By a thread that was there before. */
static void *sleeper(void *path)
{
	check_plugin(path);
	return NULL;
}

/* A pending cancellation does not end a thread while it holds the loader's lock. */
static void *open_cancelled(void *path)
{
	void *plugin;

	pthread_cancel(pthread_self());
	plugin = dlopen(path, RTLD_NOW);
	__atomic_store_n(&opened, plugin, __ATOMIC_RELAXED);
	pthread_testcancel();
	return NULL;
}

static void check_cancelled(char *path)
{
	pthread_t thread;

	pthread_create(&thread, NULL, open_cancelled, path);
	pthread_join(thread, NULL);
	ok(opened, "a library, opened by a thread that is cancelled");
	if (opened)
		dlclose(opened);
}

/* The first thread has ended, and stays as a zombie. */
static void *survivor(void *path)
{
	char stat[64], text[256] = "", *state = text;
	int i, fd;

	snprintf(stat, sizeof(stat), "/proc/self/task/%d/stat", getpid());
	for (i = 0; i < 60000 && strncmp(state, ") Z", 3); i++) {
		usleep(1000);
		fd = open(stat, O_RDONLY);
		if (read(fd, text, sizeof(text) - 1) <= 0)
			break;
		close(fd);
		state = strchr(text, ')');
	}
	ok(!strncmp(state, ") Z", 3), "the first thread has ended");
	check_plugin(path);
	exit(done());
}

int main(int argc, char **argv)
{
	pthread_t thread;

	find_fake();
	check_values();
	check_nesting();
	check_tail_calls();
	check_jumps();
	check_signals();
	check_processes();
	check_threads();
	check_coroutines();
	check_backtrace();
	check_odd();
	is_i64(f_chosen(1), 2, "one that is chosen when it is bound");
	if (argc > 1) {
		check_plugin(argv[1]);
		pthread_create(&thread, NULL, sleeper, argv[1]);
		pthread_join(thread, NULL);
		check_cancelled(argv[1]);
	}
	check_steps(f_handler, 1, "a call");
	check_steps(f_step_nested, 17, "nested calls");
	check_async();
	if (argc > 1) {
		pthread_create(&thread, NULL, survivor, argv[1]);
		pthread_exit(NULL);
	}
	return done();
}
