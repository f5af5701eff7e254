/* SPDX-License-Identifier: MIT */
/* The wrapper of prctl: for what a program takes from itself, and so from us. */
#include "wrap/wrap_prctl.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "life/sandbox.h"
#include "os/clock.h"
#include "wrap/wrapper.h"

/* Before the call all goes out for which system calls are needed. One that fails (a program that
 * asks whether there is seccomp) costs no more than that. */
void dft_forbid_begin(struct dft_probe *probe, enum dft_sandbox_kind kind)
{
    *probe = (struct dft_probe){.fd = -1, .start = dft_ticks()};
    dft_sandbox_enter(kind);
}

void dft_forbid_end(struct dft_probe *probe, enum dft_call_number call, enum dft_sandbox_kind kind, int flags,
                    int64_t result, int failed)
{
    const struct dft_call_args args = DFT_ARGS(.fd = -1, .flags = flags);
    int error = errno;

    if (failed)
        dft_sandbox_enter_failed(kind);
    if (dft_on & DFT_ON_PROCESS)
        dft_end_many(probe, call, &args, result, result < 0 ? error : 0);
    errno = error;
}

static int forbid(const unsigned long a[4], int (*make)(int option, const unsigned long a[4]))
{
    enum dft_sandbox_kind kind = a[0] == SECCOMP_MODE_STRICT ? DFT_SANDBOX_STRICT : DFT_SANDBOX_FILTER;
    struct dft_probe probe;
    int result;

    dft_forbid_begin(&probe, kind);
    result = make(PR_SET_SECCOMP, a);
    dft_forbid_end(&probe, DFT_CALL_prctl, kind, PR_SET_SECCOMP, result, result < 0);
    return result;
}

/* The processor's clock: it is left alone from before it is forbidden until after it is allowed
 * again. */
static int forbid_clock(const unsigned long a[4], int (*make)(int option, const unsigned long a[4]))
{
    struct dft_thread *self = dft_in_vfork_child() ? NULL : dft_thread_get();
    int result;

    if (self && a[0] == PR_TSC_SIGSEGV)
        dft_clock_disable_counter(&self->task);
    result = make(PR_SET_TSC, a);
    if (self && (a[0] == PR_TSC_SIGSEGV) == (result < 0))
        dft_clock_enable_counter(&self->task);
    return result;
}

int dft_prctl(int option, const unsigned long a[4], int (*make)(int option, const unsigned long a[4]))
{
    if (dft_on && option == PR_SET_SECCOMP)
        return forbid(a, make);
    if (dft_on && option == PR_SET_TSC)
        return forbid_clock(a, make);
    return make(option, a);
}

static int make_prctl(int option, const unsigned long a[4])
{
    return DFT_REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

WRAPPER(int, prctl, (int option, ...))
{
    unsigned long a[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    return dft_prctl(option, a, make_prctl);
}
