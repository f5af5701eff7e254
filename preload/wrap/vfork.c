/* SPDX-License-Identifier: MIT */
/* Owns what vfork.S keeps while a child runs in its parent's memory: where the parent goes on, and
 * who is who. */
#include "loader/resolve.h"

#include "life/env_propagation.h"
#include "life/lifecycle.h"
#include "probe/directories.h"
#include "probe/probe_process.h"
#include "ring/threads.h"
#include "ring/vfork_child.h"

/* A call of vfork under way. A second one is that of a signal handler that came in between. */
struct frame {
    const void *at; /* the stack pointer at its beginning */
    void *address;  /* where it returns to */
    uint64_t start; /* ticks */
    struct dft_vfork_child child;
};
static __thread struct frame frames[2] __attribute__((tls_model("initial-exec")));
static __thread uint32_t nframes __attribute__((tls_model("initial-exec")));

struct dft_vfork_plan {
    pid_t (*real)(void);
    uintptr_t kept; /* call dft_vfork_end when it returns */
};
struct dft_vfork_plan dft_vfork_begin(void *address, const void *at);
void *dft_vfork_end(pid_t pid, const void *at);

struct dft_vfork_plan dft_vfork_begin(void *address, const void *at)
{
    const struct dft_process_call what = DFT_PROCESS_CALL(.phase = DFT_PHASE_BEGIN);
    struct dft_probe probe = {.fd = -1};

    if (!dft_on)
        return (struct dft_vfork_plan){DFT_REAL(vfork), 0};
    probe.start = dft_ticks();
    if (dft_in_vfork_child() || nframes == sizeof frames / sizeof *frames) {
        if (dft_on & DFT_ON_PROCESS)
            dft_end_process(&probe, DFT_CALL_vfork, &what);
        return (struct dft_vfork_plan){DFT_REAL(vfork), 0};
    }
    dft_lifecycle_forking(DFT_CHILD_EXECS);
    frames[nframes] = (struct frame){at, address, probe.start, {0}};
    dft_thread_make_room();
    dft_vfork_child_begin(&frames[nframes++].child);
    return (struct dft_vfork_plan){DFT_REAL(vfork), 1};
}

/* Returns where to go on. The child leaves the frame to its parent. */
void *dft_vfork_end(pid_t pid, const void *at)
{
    const struct dft_call_args args = DFT_ARGS(.fd = -1);
    struct dft_probe probe = {.fd = -1};
    uint32_t i = nframes - 1;

    while (i && frames[i].at != at) /* one above was left behind by a jump */
        i--;
    if (pid == 0)
        return frames[i].address;
    dft_vfork_child_end(&frames[i].child, pid);
    nframes = i;
    dft_env_propagation_child_gone();
    dft_directory_of_work_changed(); /* the child may have looked at its own */
    probe.start = frames[i].start;
    if (dft_on & DFT_ON_PROCESS)
        dft_end_many(&probe, DFT_CALL_vfork, &args, pid, pid < 0 ? errno : 0);
    return frames[i].address;
}
