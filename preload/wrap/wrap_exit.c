/* SPDX-License-Identifier: MIT */
/* Wrappers of the calls that end a process. What runs behind exit and quick_exit (the program's
 * handlers) is still recorded: the trace ends behind them (lifecycle.c). */
#include "life/at_exit.h"
#include "life/shutdown.h"
#include "wrap/wrapper.h"

#include <stdlib.h>
#include <unistd.h>

#include "probe/probe_process.h"
#include "wrap/wrap_special.h"

/* A process that has recorded nothing yet leaves nothing behind for its end alone. */
static void record_end(enum dft_call_number call, enum dft_phase phase, int result)
{
    const struct dft_process_call what = DFT_PROCESS_CALL(.result = result, .phase = phase);
    struct dft_probe probe = {.fd = -1};

    if (dft_on & DFT_ON_PROCESS && dft_self && *dft_generation) {
        probe.start = dft_ticks();
        dft_end_process(&probe, call, &what);
    }
}

WRAPPER(void, exit, (int status))
{
    if (dft_on && !dft_in_vfork_child()) {
        record_end(DFT_CALL_exit, DFT_PHASE_COMPLETE, status);
        dft_at_exit_note(status);
    }
    DFT_REAL(exit)(status);
    __builtin_unreachable();
}

static void exit_quickly(int status, void (*end)(int status))
{
    if (dft_on && !dft_in_vfork_child()) {
        record_end(DFT_CALL_quick_exit, DFT_PHASE_COMPLETE, status);
        dft_at_exit_note(status);
    }
    end(status);
    __builtin_unreachable();
}

WRAPPER(void, quick_exit, (int status))
{
    exit_quickly(status, DFT_REAL(quick_exit));
}

VERSIONED_WRAPPER(void, quick_exit_older, (int status))
{
    exit_quickly(status, DFT_REAL(quick_exit_older));
}
VERSION(dft_wrap_quick_exit_older, quick_exit, DFT_FIRST_QUICK_EXIT)

void dft_exiting(int status)
{
    record_end(DFT_CALL__exit, DFT_PHASE_COMPLETE, status);
    dft_shutdown_end(DFT_ENDING__EXIT, status);
}

WRAPPER(void, _exit, (int status))
{
    if (dft_on)
        dft_exiting(status);
    DFT_REAL(_exit)(status);
    __builtin_unreachable();
}
ALIAS(_exit, _Exit)

/* It dies by the signal (or its handler jumps out): all stays in the live file. */
WRAPPER(void, abort, (void))
{
    record_end(DFT_CALL_abort, DFT_PHASE_BEGIN, 0);
    DFT_REAL(abort)();
    __builtin_unreachable();
}
