/* SPDX-License-Identifier: MIT */
/* Owns the sampler, a thread that the C library does not know.
 *
 * A raw clone makes it, so that the program still counts as single-threaded, and no function of the
 * program can meet it. It has all signals blocked, a stack and thread-local memory of its own, and makes raw system
 * calls alone. What of the program could notice it: /proc/self/task, setns and unshare of a user
 * namespace, and a last thread that ends by the raw system call. */
#include "store/sampler.h"

#include <linux/futex.h>
#include <sched.h>

#include "os/clock.h"
#include "settings/config.h"
#include "os/self.h"
#include "os/sys.h"
#include "store/counters.h"

#define STACK_BYTES (32u << 10)
#define TLS_SLACK   4096 /* our thread-local variables lie within that of dft_self */
#define WAIT_NS     5000000000u

static char *memory;   /* stack, then thread-local memory; kept for the next thread */
static uint32_t alive; /* atomic; the kernel clears it and wakes us when the thread is gone */
static uint32_t stop;  /* atomic */

static char *thread_pointer(void)
{
    char *pointer;

#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
#else
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
    return pointer;
}

/* Sleeps until the next interval begins, or the thread is to end. */
static void sleep_an_interval(void)
{
    uint64_t width_ns = dft_config.trace_interval_ms * 1000000u;
    uint64_t left_ns = width_ns - (dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset) % width_ns;
    const int64_t most[2] = {(int64_t)(left_ns / 1000000000), (int64_t)(left_ns % 1000000000)};

    DFT_SYS(futex, &stop, FUTEX_WAIT_PRIVATE, 0, most, 0, 0);
}

/* Where system calls are forbidden, the thread ends: the sleep would return at once. */
static void work(void)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE) && !dft_late && !dft_sandbox) {
        sleep_an_interval();
        if (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
            dft_counters_drained();
    }
}

/* Returns in the caller alone. The new thread has the same registers, but for its stack. */
static long make_thread(char *stack, char *tls)
{
    const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                       CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
#if defined(__x86_64__)
    long result;
    register void (*function)(void) __asm__("r12") = work;
    register uint32_t *cleared __asm__("r10") = &alive;
    register char *own __asm__("r8") = tls;

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call *%%r12\n\t"
                     "mov %[exit], %%eax\n\t"
                     "xor %%edi, %%edi\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "a"(SYS_clone), "D"(flags), "S"(stack), "d"(&alive), "r"(cleared), "r"(own),
                       "r"(function), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = flags;
    register char *x1 __asm__("x1") = stack;
    register uint32_t *x2 __asm__("x2") = &alive;
    register char *x3 __asm__("x3") = tls;
    register uint32_t *x4 __asm__("x4") = &alive;
    register void (*function)(void) __asm__("x19") = work;

    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "blr x19\n\t"
                     "mov x0, xzr\n\t"
                     "mov x8, %[exit]\n\t"
                     "svc 0\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(function), [exit] "i"(SYS_exit)
                     : "memory");
    return x0;
#endif
}

void dft_sampler_start(void)
{
    long distance = (char *)&dft_self - thread_pointer(), span = (distance < 0 ? -distance : distance) + TLS_SLACK;
    size_t half = ((size_t)span + 4095) & ~(size_t)4095;
    char *tls;

    if (dft_config.system_metrics != DFT_METRICS_THREAD || __atomic_load_n(&alive, __ATOMIC_ACQUIRE))
        return;
    if (!memory)
        memory = dft_sys_map(STACK_BYTES + 2 * half);
    if (!memory)
        return;
    tls = memory + STACK_BYTES + half;
    *(char **)(void *)tls = tls; /* what the thread pointer points to is itself, on x86 */
    __atomic_store_n(&stop, 0, __ATOMIC_RELEASE);
    make_thread(memory + STACK_BYTES, tls);
}

void dft_sampler_stop(void)
{
    const int64_t most[2] = {0, 100000000};
    uint64_t until_ns;
    uint32_t tid;

    if (!__atomic_load_n(&alive, __ATOMIC_ACQUIRE) || dft_in_vfork_child())
        return;
    until_ns = dft_clock_monotonic_ns() + WAIT_NS;
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    dft_futex_wake(&stop, 1);
    while ((tid = __atomic_load_n(&alive, __ATOMIC_ACQUIRE)) && dft_clock_monotonic_ns() < until_ns)
        DFT_SYS(futex, &alive, FUTEX_WAIT, tid, most, 0, 0);
}

void dft_sampler_forked(void)
{
    __atomic_store_n(&alive, 0, __ATOMIC_RELEASE);
}
