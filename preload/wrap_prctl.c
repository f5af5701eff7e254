/* The wrapper of prctl: for what a program takes from itself, and so from us. */
#include "resolve.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "convert.h"
#include "lifecycle.h"
#include "probe.h"

#pragma GCC diagnostic ignored "-Woverride-init"
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

__attribute__((visibility("default"))) int dft_wrap_prctl(int option, ...) __asm__("prctl");

/* System calls: before the call all goes out for which they are needed. A call that fails (a program that asks whether there is
 * seccomp) costs no more than that. */
static int forbid(const unsigned long a[4])
{
    enum dft_sandbox_kind kind = a[0] == SECCOMP_MODE_STRICT ? DFT_SANDBOX_STRICT : DFT_SANDBOX_FILTER;
    const struct dft_call_args args = DFT_ARGS(.fd = -1, .flags = PR_SET_SECCOMP);
    struct dft_probe probe = {.fd = -1, .start = dft_ticks()};
    int result, error;

    dft_process_sandboxed(kind);
    result = DFT_REAL(prctl)(PR_SET_SECCOMP, a[0], a[1], a[2], a[3]);
    error = errno;
    if (result < 0)
        dft_process_sandbox_failed(kind);
    if (dft_on & DFT_ON_PROCESS)
        dft_end_many(&probe, DFT_CALL_prctl, &args, result, result < 0 ? error : 0);
    errno = error;
    return result;
}

/* The processor's clock: it is left alone from before it is forbidden until after it is allowed again. */
static int forbid_clock(const unsigned long a[4])
{
    struct dft_thread *self = dft_in_vfork_child() ? NULL : dft_thread_get();
    int result;

    if (self && a[0] == PR_TSC_SIGSEGV)
        dft_clock_forgo(self);
    result = DFT_REAL(prctl)(PR_SET_TSC, a[0], a[1], a[2], a[3]);
    if (self && (a[0] == PR_TSC_SIGSEGV) == (result < 0))
        dft_clock_regain(self);
    return result;
}

int dft_wrap_prctl(int option, ...)
{
    unsigned long a[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    if (dft_on && option == PR_SET_SECCOMP)
        return forbid(a);
    if (dft_on && option == PR_SET_TSC)
        return forbid_clock(a);
    return DFT_REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}
