/* SPDX-License-Identifier: MIT */
/* Owns the end by a fatal signal: all records go to the trace, a stack trace to descriptor 2, then
 * the same signal kills the process.
 *
 * The handler queues the signal again as it came, with its default set, and returns. The kernel
 * then delivers the signal where it struck. So a core dump has the same registers, sender and
 * address as without us. The handler's work runs on a stack of its own. The program's stack needs
 * space only for the frame that the kernel puts there. A thread that has overflown its stack,
 * without an alternate stack, dies without the handler, as ever. Its records are in the live file.
 *
 * Our own code holds locks only with all signals blocked, so the struck thread holds none. The
 * kernel does not defer a fault in such code, or in the work that is done here. Then the process
 * dies, and the live file stays. */
#include "life/fatal.h"

#include <string.h>
#include <ucontext.h>

#include "life/shutdown.h"
#include "unwind/backtrace.h"
#include "os/clock.h"
#include "settings/config.h"
#include "settings/message.h"
#include "os/onstack.h"
#include "loader/resolve.h"
#include "os/sys.h"
#include "thread/state.h"

#define STACK_BYTES (256u << 10)
#define PATIENCE_NS UINT64_C(60000000000) /* for another thread that ends the process */

struct struck {
    int signal;
    const siginfo_t *info;
    void *context;
};

static char *stack;
/* atomic: pid of the process that is ending; a forked child inherits the value */
static uint32_t ending;

void dft_fatal_init(void)
{
    if (!dft_config.bind_signals)
        return;
    stack = dft_sys_reserve(STACK_BYTES);
    if (!stack) {
        dft_message(DFT_LOG_ERROR, "no memory for DFTRACER_BIND_SIGNALS", NULL);
        return;
    }
    dft_fatal_regain();
}

static void end(void *argument)
{
    const struct struck *struck = argument;

    dft_shutdown_end(DFT_ENDING_SIGNAL, struck->signal);
    dft_backtrace(struck->signal, struck->info, struck->context);
}

/* Another thread is ending the process. If that thread makes no progress, this thread goes on
 * without it. */
static void wait_for_the_end(void)
{
    uint64_t until = dft_clock_monotonic_ns() + PATIENCE_NS;
    int64_t a_moment[2] = {0, 10000000};

    while (dft_clock_monotonic_ns() < until)
        DFT_SYS(nanosleep, a_moment, 0, 0, 0, 0, 0);
}

/* Writes the kernel's own form of an action: handler, flags, restorer, mask. */
static void set_default(int signal)
{
    uint64_t action[4] = {0};

    DFT_SYS(rt_sigaction, signal, action, 0, 8, 0, 0);
}

static void queue_again(const struct struck *struck)
{
    long pid = dft_sys_getpid(), tid = dft_sys_gettid();
    uint64_t bit = UINT64_C(1) << (struck->signal - 1), mask;
    ucontext_t *context = struck->context;

    set_default(struck->signal);
    if (DFT_SYS(rt_tgsigqueueinfo, pid, tid, struck->signal, struck->info, 0, 0) < 0)
        DFT_SYS(tgkill, pid, tid, struck->signal, 0, 0, 0);
    /* The signal may have come within sigsuspend or ppoll. After these calls the signal would be
     * blocked. */
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    mask &= ~bit;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
}

void dft_fatal_handler(int signal, siginfo_t *info, void *context)
{
    struct struck struck = {signal, info, context};
    uint64_t all = ~UINT64_C(0);
    uint32_t pid, before = 0;

    DFT_SYS(rt_sigprocmask, SIG_SETMASK, &all, 0, 8, 0, 0);
    pid = (uint32_t)dft_sys_getpid();
    if (!dft_in_vfork_child() && (!*dft_generation || pid == dft_pid)) {
        before = __atomic_exchange_n(&ending, pid, __ATOMIC_SEQ_CST);
        if (before == pid)
            wait_for_the_end();
        else
            dft_on_stack(stack + STACK_BYTES, end, &struck);
    }
    /* A vfork child that forbade itself system calls cannot reset its parent's handlers. */
    if (dft_is_sandboxed())
        DFT_REAL(_exit)(128 + signal);
    queue_again(&struck);
}
