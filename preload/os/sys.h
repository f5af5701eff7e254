/* SPDX-License-Identifier: MIT */
/* Raw system calls, for everything that the library does on its own account in a stranger's
 * process. They never touch errno, and are no cancellation points. They bypass every function that
 * somebody may have replaced. Results are the kernel's: a negative result is -errno. */
#ifndef DFT_SYS_H
#define DFT_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "os/self.h"

/* Answers -EPERM where the caller may make no system calls (self.h). */
static inline long dft_sys6(long number, long a, long b, long c, long d, long e, long f)
{
    if (__builtin_expect(dft_sandbox, 0) && dft_is_sandboxed())
        return -EPERM;
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "raw system calls are not written for this processor: add them here"
#endif
}

#define DFT_SYS(name, a, b, c, d, e, f)                                                                                \
    dft_sys6(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline long dft_sys_openat(int dirfd, const char *path, int flags, int mode)
{
    return DFT_SYS(openat, dirfd, path, flags, mode, 0, 0);
}

static inline long dft_sys_close(int fd)
{
    return DFT_SYS(close, fd, 0, 0, 0, 0, 0);
}

/* atomic: bytes that we have read and written by system calls, which the kernel counts as the
 * program's */
extern uint64_t dft_own_read DFT_HIDDEN, dft_own_written DFT_HIDDEN;

static inline long dft_sys_has_read(long n)
{
    if (n > 0)
        __atomic_fetch_add(&dft_own_read, (uint64_t)n, __ATOMIC_RELAXED);
    return n;
}

static inline long dft_sys_read(int fd, void *buffer, size_t size)
{
    return dft_sys_has_read(DFT_SYS(read, fd, buffer, size, 0, 0, 0));
}

static inline long dft_sys_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
    return dft_sys_has_read(DFT_SYS(pread64, fd, buffer, size, offset, 0, 0));
}

/* atomic: how often the kernel found a file of ours too large. Each time it sends a SIGXFSZ. */
extern uint32_t dft_too_large;

/* For calls that make a file longer. Returns their result: the bytes that they have written, or 0. */
static inline long dft_sys_lengthened(long result)
{
    if (__builtin_expect(result == -EFBIG, 0))
        __atomic_add_fetch(&dft_too_large, 1, __ATOMIC_RELAXED);
    else if (result > 0)
        __atomic_fetch_add(&dft_own_written, (uint64_t)result, __ATOMIC_RELAXED);
    return result;
}

static inline long dft_sys_write(int fd, const void *buffer, size_t size)
{
    return dft_sys_lengthened(DFT_SYS(write, fd, buffer, size, 0, 0, 0));
}

static inline long dft_sys_pwrite(int fd, const void *buffer, size_t size, uint64_t offset)
{
    return dft_sys_lengthened(DFT_SYS(pwrite64, fd, buffer, size, offset, 0, 0));
}

static inline long dft_sys_lseek(int fd, long offset, int whence)
{
    return DFT_SYS(lseek, fd, offset, whence, 0, 0, 0);
}

static inline long dft_sys_readlink(const char *path, char *buffer, size_t size)
{
    return DFT_SYS(readlinkat, AT_FDCWD, path, buffer, size, 0, 0);
}

static inline long dft_sys_getpid(void)
{
    return DFT_SYS(getpid, 0, 0, 0, 0, 0, 0);
}

static inline long dft_sys_gettid(void)
{
    return DFT_SYS(gettid, 0, 0, 0, 0, 0, 0);
}

/* Maps anonymous private zero pages, as memory.h says. NULL when there are none. */
void *dft_sys_map(size_t bytes);
/* The same for memory that mostly stays untouched. This memory counts for no limit on memory. */
void *dft_sys_reserve(size_t bytes);

/* Are these 8 bytes of the program's memory readable? Tests this by an impossible change of the
 * signal mask. Answers no where system calls are forbidden. */
static inline int dft_sys_can_read(const void *at)
{
    return !dft_is_sandboxed() && DFT_SYS(rt_sigprocmask, -1, at, 0, 8, 0, 0) != -EFAULT;
}

/* Blocks all signals of this thread, and restores them. This includes 32 and 33, glibc's own, which
 * sigprocmask leaves out. Everything that writes files or takes a lock on our account happens in
 * between. A SIGXFSZ that arises meanwhile is ours and is taken back. One that was pending before
 * is the program's. */
struct dft_signals {
    uint64_t mask;
    uint32_t too_large; /* dft_too_large before */
    int had_xfsz;
};

#define DFT_SIGXFSZ_BIT (UINT64_C(1) << (SIGXFSZ - 1))

static inline int dft_xfsz_pending(void)
{
    uint64_t pending = 0;

    DFT_SYS(rt_sigpending, &pending, 8, 0, 0, 0, 0);
    return (pending & DFT_SIGXFSZ_BIT) != 0;
}

static inline struct dft_signals dft_signals_block(void)
{
    uint64_t all = ~UINT64_C(0);
    struct dft_signals before = {.too_large = __atomic_load_n(&dft_too_large, __ATOMIC_RELAXED)};

    DFT_SYS(rt_sigprocmask, SIG_SETMASK, &all, &before.mask, 8, 0, 0);
    before.had_xfsz = before.mask & DFT_SIGXFSZ_BIT && dft_xfsz_pending(); /* else it would have come */
    return before;
}

static inline void dft_signals_restore(struct dft_signals before)
{
    uint64_t xfsz = DFT_SIGXFSZ_BIT;
    int64_t no_time[2] = {0, 0};

    if (__atomic_load_n(&dft_too_large, __ATOMIC_RELAXED) != before.too_large && !before.had_xfsz && dft_xfsz_pending())
        DFT_SYS(rt_sigtimedwait, &xfsz, 0, no_time, 8, 0, 0);
    DFT_SYS(rt_sigprocmask, SIG_SETMASK, &before.mask, 0, 8, 0, 0);
}

/* --- waiting for other threads ---------------------------------------------------------------- */

/* Waits for an event that no thread announces. Each wait is longer than the one before, up to 5
 * ms. */
static inline void dft_sys_wait(uint32_t times)
{
    const int64_t moment[2] = {0, INT64_C(20000) << (times < 8 ? times : 8)};

    DFT_SYS(nanosleep, moment, 0, 0, 0, 0, 0);
}

#define DFT_LOST_WAKE_S 5

/* Sleeps while the word has this value, until a wake or a timeout. A thread that forbids itself
 * system calls (sandbox.c) can wake no other thread. So a sleeper wakes on its own now and then. The
 * caller tests the word again in any case. */
static inline void dft_futex_wait(const uint32_t *word, uint32_t value)
{
    const int64_t most[2] = {DFT_LOST_WAKE_S, 0};

    DFT_SYS(futex, word, FUTEX_WAIT_PRIVATE, value, most, 0, 0);
}

static inline void dft_futex_wake(const uint32_t *word, uint32_t threads)
{
    DFT_SYS(futex, word, FUTEX_WAKE_PRIVATE, threads, 0, 0, 0);
}

/* A lock, held only with signals blocked. A forked child resets it. A thread that must wait sleeps,
 * and an unlock wakes one sleeper. With thousands of threads, spinning threads would leave no time
 * to the holder.
 *
 *   held   means                            who changes it
 *   0      free                             taker: to 1; taker that has slept: to 2,
 *                                           because others may still wait
 *   1      held, nobody waits               waiter: to 2; unlock: to 0
 *   2      held, and somebody may wait      unlock: to 0, and wakes one */
struct dft_spin {
    uint32_t held;
};

static inline int dft_spin_try(struct dft_spin *spin)
{
    uint32_t nobody = 0;

    return __atomic_compare_exchange_n(&spin->held, &nobody, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void dft_spin_lock(struct dft_spin *spin)
{
    if (__builtin_expect(dft_spin_try(spin), 1))
        return;
    while (__atomic_exchange_n(&spin->held, 2, __ATOMIC_ACQUIRE))
        dft_futex_wait(&spin->held, 2);
}

static inline void dft_spin_unlock(struct dft_spin *spin)
{
    if (__builtin_expect(__atomic_exchange_n(&spin->held, 0, __ATOMIC_RELEASE) == 2, 0))
        dft_futex_wake(&spin->held, 1);
}

#endif
