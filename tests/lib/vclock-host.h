/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaces what module/vclock.c and module/gvt.c take from the kernel, for
 * programs on the host. The locks are real ones: several threads may call.
 */
#ifndef TENSE_VCLOCK_HOST_H
#define TENSE_VCLOCK_HOST_H

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define noinline
#define BIT_ULL(n) (1ULL << (n))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define max3(a, b, c) max(max(a, b), c)

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = (u32)(dividend % divisor);
	return dividend / divisor;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)((unsigned __int128)a * b >> shift);
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	return (u64)((unsigned __int128)a * b / c);
}

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define lockdep_assert_held(lock) ((void)(lock))

typedef struct {
	bool taken;
} raw_spinlock_t;

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	lock->taken = false;
}

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	while (__atomic_test_and_set(&lock->taken, __ATOMIC_ACQUIRE))
		sched_yield();
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	__atomic_clear(&lock->taken, __ATOMIC_RELEASE);
}

#endif
