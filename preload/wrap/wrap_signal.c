/* SPDX-License-Identifier: MIT */
/* The wrappers of what sets handlers of signals: not traced, but with DFTRACER_BIND_SIGNALS=1 a
 * default is not what it seems (fatal.h); and that of the start of the program, before which
 * libunwind and libffi cannot be loaded. */
#include "wrap/wrapper.h"

#include "life/fatal.h"
#include "ring/stack.h"
#include "weave/weave.h"

WRAPPER(int, sigaction, (int signal, const struct sigaction *action, struct sigaction *old))
{
    if (dft_fatal_watches(signal))
        return dft_fatal_action(signal, action, old);
    return DFT_REAL(sigaction)(signal, action, old);
}
ALIAS(sigaction, __sigaction)

/* As the C library does it, but that what siginterrupt() said of the signal does not show in the
 * flags of a default. */
static sighandler_t set(int signal, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

    sigemptyset(&action.sa_mask);
    if (!(flags & SA_NODEFER))
        sigaddset(&action.sa_mask, signal);
    return dft_fatal_action(signal, &action, &old) ? SIG_ERR : old.sa_handler;
}

WRAPPER(sighandler_t, signal, (int signal, sighandler_t handler))
{
    if (!dft_fatal_watches(signal))
        return DFT_REAL(signal)(signal, handler);
    return handler == SIG_DFL ? set(signal, handler, SA_RESTART)
                              : dft_fatal_shown(signal, DFT_REAL(signal)(signal, handler));
}
ALIAS(signal, bsd_signal)
ALIAS(signal, ssignal)

WRAPPER(sighandler_t, __sysv_signal, (int signal, sighandler_t handler))
{
    if (!dft_fatal_watches(signal) || handler == SIG_ERR)
        return DFT_REAL(__sysv_signal)(signal, handler);
    return set(signal, handler, (int)SA_RESETHAND | SA_NODEFER);
}
ALIAS(__sysv_signal, sysv_signal)

WRAPPER(sighandler_t, sigset, (int signal, sighandler_t handler))
{
    sighandler_t result = DFT_REAL(sigset)(signal, handler);

    if (!dft_fatal_watches(signal))
        return result;
    result = dft_fatal_shown(signal, result);
    if (handler == SIG_DFL && result != SIG_ERR)
        dft_fatal_action(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    return result;
}

WRAPPER(int, __libc_start_main,
        (int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
         void (*loader_fini)(void), void *stack_end))
{
    dft_stack_init();
    dft_weave_init();
    return DFT_REAL(__libc_start_main)(main, argc, argv, init, fini, loader_fini, stack_end);
}
