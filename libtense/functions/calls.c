// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions of libc that leave other functions without a return. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>

#include "functions.h"
#include "redirect/stub.h"

#define EXPORT __attribute__((visibility("default")))

/* Index of the stack pointer, mangled, in glibc's jmp_buf. */
#define JMPBUF_SP 6

typedef void jump_fn(struct __jmp_buf_tag env[1], int val);

static jump_fn *next_longjmp, *next__longjmp, *next_siglongjmp,
	*next_longjmp_chk;
static void (*next_pthread_exit)(void *ret);
static bool jmpbuf_known;

static uintptr_t get_sp(const struct __jmp_buf_tag *env)
{
	uintptr_t sp = env->__jmpbuf[JMPBUF_SP], guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return (sp >> 17 | sp << 47) ^ guard;
}

/* Whether a jmp_buf has the expected layout. */
static bool look_at_jmpbuf(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), sp;
	jmp_buf env;

	if (setjmp(env))
		return false;
	sp = get_sp(env);
	return sp <= here && here - sp < 4096;
}

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void functions_calls_init(void)
{
	/* This is how POSIX converts a void pointer to a function. */
	*(void **)&next_longjmp = find("longjmp");
	*(void **)&next__longjmp = find("_longjmp");
	*(void **)&next_siglongjmp = find("siglongjmp");
	*(void **)&next_longjmp_chk = find("__longjmp_chk");
	*(void **)&next_pthread_exit = find("pthread_exit");
	jmpbuf_known = look_at_jmpbuf();
}

static _Noreturn void jump(jump_fn *next, struct __jmp_buf_tag *env, int val)
{
	if (jmpbuf_known)
		tense_stub_settle(get_sp(env));
	next(env, val);
	__builtin_unreachable();
}

#define JUMP(name, next)						\
	EXPORT _Noreturn void name(struct __jmp_buf_tag env[1], int val); \
	EXPORT _Noreturn void name(struct __jmp_buf_tag env[1], int val) \
	{								\
		if (!(next))						\
			functions_calls_init();				\
		jump(next, env, val);					\
	}

JUMP(longjmp, next_longjmp)
JUMP(_longjmp, next__longjmp)
JUMP(siglongjmp, next_siglongjmp)
JUMP(__longjmp_chk, next_longjmp_chk)

EXPORT void pthread_exit(void *ret)
{
	if (!next_pthread_exit)
		functions_calls_init();
	tense_stub_settle(UINTPTR_MAX);
	next_pthread_exit(ret);
	__builtin_unreachable();
}
