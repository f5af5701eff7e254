/* SPDX-License-Identifier: MIT */
/* Owns the stack trace. unwind.c finds the frames, and symbols.c finds their names. Each line is
 * composed in memory and written with one call. */
#include "unwind/backtrace.h"

#include <setjmp.h>

#include "os/bulk.h"
#include "settings/message.h"
#include "os/line.h"
#include "loader/resolve.h"
#include "os/sys.h"
#include "unwind/symbols.h"
#include "unwind/unwind.h"

#define FRAMES_MAX 64

/* static: there is one trace in the life of a process, and stacks are small */
static struct dft_message_line line DFT_BULK;

/* --- frames ----------------------------------------------------------------------------------- */

static void print_frame(int number, const struct dft_unwind_walk *walk)
{
    static struct dft_symbols symbols;
    struct dft_symbol_place place;
    uint64_t before = !walk->is_exact; /* a return address may lie behind the end of its function */

    dft_symbols_find(&symbols, walk->pc - before, &place);
    dft_line_text(&line, "#");
    dft_line_number(&line, (uint64_t)number, 10);
    dft_line_text(&line, " 0x");
    dft_line_number(&line, walk->pc, 16);
    if (place.function) {
        dft_line_text(&line, " ");
        dft_line_text(&line, place.function);
        dft_line_text(&line, "+0x");
        dft_line_number(&line, place.in_function + before, 16);
    }
    dft_line_text(&line, " (");
    dft_line_text(&line, *place.module ? place.module : "no file");
    if (!place.function && *place.module) {
        dft_line_text(&line, "+0x");
        dft_line_number(&line, place.in_module + before, 16);
    }
    dft_line_text(&line, ")");
    dft_line_write(&line);
}

static void print_frames(const void *context)
{
    static struct dft_unwind_walk walk;
    int number = 0;

    dft_unwind_begin(&walk, context);
    do {
        if (number == FRAMES_MAX) {
            dft_line_text(&line, "...");
            dft_line_write(&line);
            return;
        }
        print_frame(number++, &walk);
    } while (!dft_unwind_step(&walk) && walk.pc);
}

/* --- faults on the way ------------------------------------------------------------------------ */

static sigjmp_buf leave;
static long at_work; /* tid of the thread that prints the trace */

/* Handles a fault of ours: a table or a file of symbols is damaged, or the file has become shorter.
 * Other threads that fault wait for the end. */
static void interrupted(int signal, siginfo_t *info, void *context)
{
    int64_t long_time[2] = {3600, 0};

    (void)signal;
    (void)info;
    (void)context;
    if (dft_sys_gettid() == at_work)
        siglongjmp(leave, 1);
    for (;;)
        DFT_SYS(nanosleep, long_time, 0, 0, 0, 0, 0);
}

static void expect_faults(void)
{
    struct sigaction action = {.sa_sigaction = interrupted, .sa_flags = SA_SIGINFO};
    uint64_t faults = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1);

    at_work = dft_sys_gettid();
    sigfillset(&action.sa_mask);
    DFT_REAL(sigaction)(SIGSEGV, &action, NULL);
    DFT_REAL(sigaction)(SIGBUS, &action, NULL);
    DFT_SYS(rt_sigprocmask, SIG_UNBLOCK, &faults, 0, 8, 0, 0);
}

static void list_frames(const void *context)
{
    uint64_t all = ~UINT64_C(0);

    if (sigsetjmp(leave, 0)) {
        line.used = 0;
        dft_line_text(&line, "(the stack cannot be followed further)");
        dft_line_write(&line);
    } else {
        expect_faults();
        print_frames(context);
    }
    DFT_SYS(rt_sigprocmask, SIG_SETMASK, &all, 0, 8, 0, 0);
}

/* --- the signal ------------------------------------------------------------------------------- */

static const char *name_of(int signal)
{
    switch (signal) {
    case SIGHUP:
        return "SIGHUP";
    case SIGINT:
        return "SIGINT";
    case SIGQUIT:
        return "SIGQUIT";
    case SIGILL:
        return "SIGILL";
    case SIGABRT:
        return "SIGABRT";
    case SIGBUS:
        return "SIGBUS";
    case SIGFPE:
        return "SIGFPE";
    case SIGSEGV:
        return "SIGSEGV";
    default:
        return "SIGTERM";
    }
}

static void print_signal(int signal, const siginfo_t *info)
{
    dft_line_text(&line, "dftrace: process ");
    dft_line_number(&line, (uint64_t)dft_sys_getpid(), 10);
    dft_line_text(&line, ", thread ");
    dft_line_number(&line, (uint64_t)dft_sys_gettid(), 10);
    dft_line_text(&line, ": ");
    dft_line_text(&line, name_of(signal));
    if (info->si_code > 0 && info->si_code != SI_KERNEL && signal != SIGABRT) {
        dft_line_text(&line, " at address 0x");
        dft_line_number(&line, (uint64_t)(uintptr_t)info->si_addr, 16);
    } else if (info->si_code <= 0 && info->si_pid && info->si_pid != dft_sys_getpid()) {
        dft_line_text(&line, " from process ");
        dft_line_number(&line, (uint64_t)info->si_pid, 10);
    }
    dft_line_write(&line);
}

void dft_backtrace(int signal, const siginfo_t *info, const void *context)
{
    if (!dft_messages_can_be_seen())
        return;
    print_signal(signal, info);
    list_frames(context);
}
