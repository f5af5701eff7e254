/* Owns the stack trace: libunwind finds the frames (it alone is loaded, at the start), symbols.c their names; lines are put together on the
 * stack and written with one call each. */
#include "unwind/backtrace.h"

#include "os/config.h"
#include "os/line.h"
#include "unwind/symbols.h"
#include "os/sys.h"

static struct dft_line line; /* there is one trace in the life of a process, and stacks are small */

#ifdef DFT_HAVE_UNWIND
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <sched.h>
#include <setjmp.h>
#include <string.h>
#include <ucontext.h>

#include "os/resolve.h"

#define FRAMES_MAX   64
#define LOWEST_CODE  4096 /* below are null pointers */
#define PATIENCE_S   3    /* for the list of frames */
#define LIBRARY      "libunwind.so.8"
#define NAME_OF(x)   #x
#define SYMBOL_OF(x) NAME_OF(x)

static __typeof__(&unw_init_local2) init_local;
static __typeof__(&unw_step) step;
static __typeof__(&unw_get_reg) get_reg;

void dft_backtrace_init(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (library) {
        init_local = (__typeof__(init_local))dlsym(library, SYMBOL_OF(unw_init_local2));
        get_reg = (__typeof__(get_reg))dlsym(library, SYMBOL_OF(unw_get_reg));
        step = (__typeof__(step))dlsym(library, SYMBOL_OF(unw_step));
    }
    if (!init_local || !get_reg || !step) {
        init_local = NULL;
        dft_message(DFT_LOG_ERROR, LIBRARY " cannot be loaded: fatal signals print no stack trace", NULL);
    }
}

/* --- frames ------------------------------------------------------------------------------------------------------- */

static void print_frame(int number, uint64_t address)
{
    static struct dft_symbols symbols;
    struct dft_place place;

    /* A return address may lie behind the end of the function that calls. */
    dft_symbols_find(&symbols, address - (number > 0), &place);
    dft_line_text(&line, "#");
    dft_line_number(&line, (uint64_t)number, 10);
    dft_line_text(&line, " 0x");
    dft_line_number(&line, address, 16);
    if (place.function) {
        dft_line_text(&line, " ");
        dft_line_text(&line, place.function);
        dft_line_text(&line, "+0x");
        dft_line_number(&line, place.in_function + (number > 0), 16);
    }
    dft_line_text(&line, " (");
    dft_line_text(&line, *place.module ? place.module : "no file");
    if (!place.function && *place.module) {
        dft_line_text(&line, "+0x");
        dft_line_number(&line, place.in_module + (number > 0), 16);
    }
    dft_line_text(&line, ")");
    dft_line_write(&line);
}

/* Calls of a function at no address leave no frame to go on from: what called is where it would have returned to. */
static int go_back_from_call(unw_cursor_t *cursor, const ucontext_t *context)
{
    static ucontext_t caller;

    memcpy(&caller, context, sizeof caller);
#if defined(__x86_64__)
    memcpy(&caller.uc_mcontext.gregs[REG_RIP], (void *)caller.uc_mcontext.gregs[REG_RSP], sizeof(greg_t));
    caller.uc_mcontext.gregs[REG_RSP] += (greg_t)sizeof(greg_t);
#elif defined(__aarch64__)
    caller.uc_mcontext.pc = caller.uc_mcontext.regs[30];
#endif
    return init_local(cursor, (unw_context_t *)&caller, 0);
}

static void print_frames(void *context)
{
    static unw_cursor_t cursor;
    uint64_t last_ip = 0, last_sp = 0;
    int more = init_local(&cursor, context, UNW_INIT_SIGNAL_FRAME) >= 0;

    for (int number = 0; more && number < FRAMES_MAX; number++) {
        unw_word_t ip = 0, sp = 0;

        if (get_reg(&cursor, UNW_REG_IP, &ip) < 0 || get_reg(&cursor, UNW_REG_SP, &sp) < 0 ||
            (number && (!ip || (ip == last_ip && sp == last_sp))))
            return;
        print_frame(number, ip);
        last_ip = ip;
        last_sp = sp;
        more = ip < LOWEST_CODE ? go_back_from_call(&cursor, context) >= 0 : step(&cursor) > 0;
    }
    if (more) {
        dft_line_text(&line, "...");
        dft_line_write(&line);
    }
}

/* --- what may go wrong on the way --------------------------------------------------------------------------------- */

static sigjmp_buf leave;
static long at_work; /* the thread */

/* A fault in reading the stack. Faults of other threads have to wait for the end. */
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
    DFT_SYS(rt_sigprocmask, 1 /* SIG_UNBLOCK */, &faults, 0, 8, 0, 0);
}

/* A thread that does nothing but wait: libunwind asks the loader for its libraries, with all signals blocked, and another thread may have the
 * loader's lock for good. It shares this thread's thread-local memory, so it makes raw system calls alone. */
static int lose_patience(void *signal)
{
    int64_t patience[2] = {PATIENCE_S, 0};
    uint64_t action[4] = {0}, bit = UINT64_C(1) << (*(int *)signal - 1);

    DFT_SYS(nanosleep, patience, 0, 0, 0, 0, 0);
    DFT_SYS(rt_sigaction, *(int *)signal, action, 0, 8, 0, 0);
    DFT_SYS(rt_sigprocmask, 1 /* SIG_UNBLOCK */, &bit, 0, 8, 0, 0);
    DFT_SYS(tgkill, dft_sys_getpid(), dft_sys_gettid(), *(int *)signal, 0, 0, 0);
    return 0;
}

static void limit_time(int *signal)
{
    static _Alignas(16) char stack[8192];

    clone(lose_patience, stack + sizeof stack,
          CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, signal);
}

static void list_frames(int signal, void *context)
{
    static int number; /* for the other thread */
    uint64_t all = ~UINT64_C(0);

    if (!init_local)
        return;
    number = signal;
    if (sigsetjmp(leave, 0)) {
        line.used = 0;
        dft_line_text(&line, "(the stack cannot be followed further)");
        dft_line_write(&line);
    } else {
        limit_time(&number);
        expect_faults();
        print_frames(context);
    }
    DFT_SYS(rt_sigprocmask, 2 /* SIG_SETMASK */, &all, 0, 8, 0, 0);
}
#else
void dft_backtrace_init(void)
{
    dft_message(DFT_LOG_ERROR, "built without libunwind: fatal signals print no stack trace", NULL);
}

static void list_frames(int signal, void *context)
{
    (void)signal;
    (void)context;
}
#endif

/* --- the signal --------------------------------------------------------------------------------------------------- */

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

void dft_backtrace(int signal, const siginfo_t *info, void *context)
{
    if (!dft_messages_can_be_seen())
        return;
    print_signal(signal, info);
    list_frames(signal, context);
}
