/* SPDX-License-Identifier: MIT */
/* Owns the dispositions of fatal signals. Our handler stands where the program has the default. A
 * go-between stands where the program's handler is for one signal only. The program is shown its
 * own settings instead. */
#include "life/fatal.h"

#include <errno.h>
#include <stddef.h>

#include "os/bulk.h"
#include "settings/config.h"
#include "loader/resolve.h"
#include "os/sys.h"

uint64_t dft_fatal_signals;

static const uint8_t watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM};

/* The program's own setting of a signal for which a function of ours is set. The kernel orders the
 * changes of a signal. Beside that order, a setting here can be wrong only where two threads set
 * one signal at once. Even then only its flags are wrong. */
struct given {
    void *handler; /* the program's handler, for the go-between */
    int flags;     /* the flags that the kernel would return */
};
static struct given given[65] DFT_BULK;

#define KNOWN_FLAGS                                                                                                    \
    ((int)SA_RESETHAND | SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER)
#if defined(__x86_64__)
#define RESTORER 0x04000000 /* the C library adds this flag to every action, and shows it */
#else
#define RESTORER 0
#endif

static struct given load_given(int signal)
{
    return (struct given){__atomic_load_n(&given[signal].handler, __ATOMIC_RELAXED),
                          __atomic_load_n(&given[signal].flags, __ATOMIC_RELAXED)};
}

static void go_between(int signal, siginfo_t *info, void *context);

static int is_default(const struct sigaction *action)
{
    return action->sa_handler == SIG_DFL;
}

static int is_for_one(const struct sigaction *action)
{
    return action->sa_flags & (int)SA_RESETHAND && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Returns the action to set in place of the action that the program asks for. */
static struct sigaction stand_in(int signal, const struct sigaction *action)
{
    struct sigaction ours = *action;

    if (is_default(action)) {
        ours.sa_sigaction = dft_fatal_handler;
        ours.sa_flags = (action->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
    } else if (is_for_one(action)) {
        __atomic_store_n(&given[signal].handler, (void *)action->sa_sigaction, __ATOMIC_RELAXED);
        ours.sa_sigaction = go_between;
        ours.sa_flags = action->sa_flags & ~(int)SA_RESETHAND;
    } else {
        return ours;
    }
    __atomic_store_n(&given[signal].flags, (action->sa_flags & KNOWN_FLAGS) | RESTORER, __ATOMIC_RELAXED);
    return ours;
}

/* Turns an action that is set into the action that the program set. */
static void show(struct given by_program, struct sigaction *action)
{
    if (action->sa_sigaction == dft_fatal_handler)
        action->sa_handler = SIG_DFL;
    else if (action->sa_sigaction == go_between)
        action->sa_sigaction = (void (*)(int, siginfo_t *, void *))by_program.handler;
    else
        return;
    action->sa_flags = by_program.flags;
}

void (*dft_fatal_shown(int signal, void (*handler)(int)))(int)
{
    struct sigaction action = {.sa_handler = handler};

    show(load_given(signal), &action);
    return action.sa_handler;
}

int dft_fatal_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct given given_before = load_given(signal);
    struct sigaction new, before;

    if (action)
        new = stand_in(signal, action);
    if (DFT_REAL(sigaction)(signal, action ? &new : NULL, &before))
        return -1;
    if (old) {
        show(given_before, &before);
        *old = before;
    }
    return 0;
}

/* Calls a handler that is for one signal only. From here on the default holds, which is our
 * handler. The rest is the program's business. */
static void go_between(int signal, siginfo_t *info, void *context)
{
    struct given by_program = load_given(signal);
    int error = errno;
    struct sigaction action;

    if (!DFT_REAL(sigaction)(signal, NULL, &action) && action.sa_sigaction == go_between) {
        action.sa_flags = by_program.flags;
        action.sa_handler = SIG_DFL;
        if (dft_fatal_watches(signal))
            action = stand_in(signal, &action);
        DFT_REAL(sigaction)(signal, &action, NULL);
    }
    errno = error;
    ((void (*)(int, siginfo_t *, void *))by_program.handler)(signal, info, context);
}

static void watch(int signal)
{
    struct sigaction action, ours;

    if (DFT_REAL(sigaction)(signal, NULL, &action) || !is_default(&action))
        return;
    ours = stand_in(signal, &action);
    __atomic_store_n(&given[signal].flags, action.sa_flags, __ATOMIC_RELAXED);
    DFT_REAL(sigaction)(signal, &ours, NULL);
}

/* The kernel spares the first process of a PID namespace from signals without a handler. So we do
 * not watch signals there that other processes or abort may send. */
static int is_to_be_watched(int signal)
{
    return dft_sys_getpid() != 1 || signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

void dft_fatal_regain(void)
{
    int error = errno;

    if (!dft_config.bind_signals)
        return;
    for (size_t i = 0; i < sizeof watched; i++)
        if (is_to_be_watched(watched[i])) {
            dft_fatal_signals |= UINT64_C(1) << (watched[i] - 1);
            watch(watched[i]);
        }
    errno = error;
}

void dft_fatal_give_up(void)
{
    int error = errno;

    for (size_t i = 0; i < sizeof watched; i++) {
        struct sigaction action, now;

        if (!dft_fatal_watches(watched[i]) || DFT_REAL(sigaction)(watched[i], NULL, &now))
            continue;
        action = now;
        show(load_given(watched[i]), &action);
        if (action.sa_sigaction != now.sa_sigaction)
            DFT_REAL(sigaction)(watched[i], &action, NULL);
    }
    dft_fatal_signals = 0;
    errno = error;
}
