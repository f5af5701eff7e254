/* SPDX-License-Identifier: MIT */
/* The wrapper of clone: what the child shares says what it is to us.
 *
 *   memory not shared                     a fork
 *   CLONE_SETTLS and CLONE_THREAD         a thread; without CLONE_FILES, one with descriptors of its own
 *   CLONE_VM | CLONE_VFORK                as vfork: the parent waits, the child appends to its rings (not when it shares the
 *                                         descriptors too: then what it does to them is true of its parent)
 *   CLONE_VM, on its parent's thread-local memory or as a process with its own
 *                                         a shared-TLS child: it runs at the same time, so it records nothing, and is counted
 *
 * The child begins in a function of ours, of which the arguments lie at the top of its stack: clone
 * itself puts its own there. */
#include "life/shutdown.h"
#include "os/own_files.h"
#include "os/shared_tls.h"
#include "wrap/wrap_special.h"
#include "wrap/wrapper.h"

#include <sched.h>

#include "life/lifecycle.h"
#include "probe/directories.h"
#include "probe/probe_process.h"
#include "store/tracefile.h"
#include "ring/threads.h"
#include "ring/vfork_child.h"

typedef int child_function(void *argument);

struct start {
    child_function *function;
    void *argument;
    long flags;
};

/* --- where children begin --------------------------------------------------------------------- */

/* When its function returns, clone ends the process by a system call of its own. */
static int begin_forked(void *at)
{
    const struct start *start = at;
    int status;

    dft_lifecycle_forked_once();
    status = start->function(start->argument);
    dft_shutdown_end(DFT_ENDING__EXIT, status);
    return status;
}

/* The mark is set by now: a signal may have come before this. */
static int begin_waited_for(void *at)
{
    const struct start *start = at;
    int status;

    status = start->function(start->argument);
    dft_vfork_child_ends(DFT_ENDING__EXIT, status);
    return status;
}

static int begin_shared_tls(void *at)
{
    const struct start *start = at;
    int status = start->function(start->argument);

    dft_shared_tls_end();
    return status;
}

/* On thread-local memory of its own. */
static int begin_stranger(void *at)
{
    const struct start *start = at;

    dft_shared_tls_disown((uint64_t)start->flags);
    return start->function(start->argument);
}

/* A thread. */
static int begin_apart(void *at)
{
    const struct start *start = at;

    dft_own_files_begin();
    return start->function(start->argument);
}

static child_function *beginning_of(int flags)
{
    if (!(flags & CLONE_VM))
        return begin_forked;
    if ((flags & CLONE_SETTLS) && (flags & CLONE_THREAD))
        return flags & CLONE_FILES ? NULL : begin_apart;
    if (flags & CLONE_SETTLS)
        return begin_stranger;
    if (flags & CLONE_VFORK)
        return flags & CLONE_FILES ? NULL : begin_waited_for;
    return begin_shared_tls;
}

/* --- clone ------------------------------------------------------------------------------------ */

/* As it was passed, all in registers but the last. */
struct rest {
    void *parent_tid, *tls, *child_tid;
};

static int make_child(child_function *begin, struct start start, void *stack, int flags, const struct rest *rest)
{
    struct start *top;

    if (!begin || !stack)
        return DFT_REAL(clone)(start.function, stack, flags, start.argument, rest->parent_tid, rest->tls,
                               rest->child_tid);
    top = (struct start *)(((uintptr_t)stack & ~(uintptr_t)15) - 2 * sizeof *top);
    *top = start;
    return DFT_REAL(clone)(begin, top, flags, top, rest->parent_tid, rest->tls, rest->child_tid);
}

static void end(struct dft_probe *probe, int flags, int pid, int err)
{
    const struct dft_process_call what = DFT_PROCESS_CALL(.result = pid, .err = err, .flags = flags);

    if (!(flags & CLONE_FS))
        dft_directory_of_work_changed(); /* the child may have looked at its own */
    if (dft_on & DFT_ON_PROCESS && !(flags & CLONE_THREAD))
        dft_end_process(probe, DFT_CALL_clone, &what);
}

static int make_traced(struct start start, void *stack, int flags, const struct rest *rest)
{
    child_function *begin = dft_in_vfork_child() ? NULL : beginning_of(flags);
    struct dft_probe probe = {.fd = -1, .start = dft_ticks()};
    struct dft_vfork_child child;
    int pid, error;

    if (!(flags & CLONE_FILES))
        dft_lifecycle_forking(begin == begin_waited_for ? DFT_CHILD_EXECS : DFT_CHILD_STAYS);
    if (begin == begin_shared_tls && stack)
        dft_shared_tls_begin((uint64_t)flags);
    if (begin == begin_waited_for) {
        dft_thread_make_room();
        dft_vfork_child_begin(&child);
    }
    dft_tracefile_shared = begin == begin_forked && flags & CLONE_FILES;
    pid = make_child(begin, start, stack, flags, rest);
    error = errno;
    dft_tracefile_shared = 0;
    if (begin == begin_waited_for)
        dft_vfork_child_end(&child, pid);
    if (begin == begin_shared_tls && stack && pid < 0)
        dft_shared_tls_end();
    end(&probe, flags, pid, pid < 0 ? error : 0);
    errno = error;
    return pid;
}

WRAPPER(int, clone, (child_function * function, void *stack, int flags, void *argument, ...))
{
    const struct start start = {function, argument, flags};
    struct rest rest;
    va_list list;

    va_start(list, argument);
    rest.parent_tid = va_arg(list, void *);
    rest.tls = va_arg(list, void *);
    rest.child_tid = va_arg(list, void *);
    va_end(list);
    if (!dft_on || !function)
        return make_child(NULL, start, stack, flags, &rest);
    return make_traced(start, stack, flags, &rest);
}
ALIAS(clone, __clone)

/* --- unshare ---------------------------------------------------------------------------------- */

int dft_files_parting(void)
{
    if (!dft_on || dft_is_single() || dft_has_other_files())
        return 0;
    dft_fdtable_forking(0); /* the thread may move the offsets of what is open now */
    return 1;
}

int dft_unshare(int flags, int (*make)(int flags))
{
    int parts = flags & CLONE_FILES && dft_files_parting(), result = make(flags);

    if (parts && !result)
        dft_own_files_begin();
    return result;
}

WRAPPER(int, unshare, (int flags))
{
    return dft_unshare(flags, DFT_REAL(unshare));
}
