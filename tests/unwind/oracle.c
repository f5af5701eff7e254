/* SPDX-License-Identifier: MIT */
/* Steps through a program, instruction by instruction, and walks the stack at each place for the
 * first time that it is reached: with libunwind from outside, and with our own unwinder (walker.c)
 * inside. Prints where they differ.
 *
 *   oracle WALKER PLACES STEPS PROGRAM [ARGUMENT...]
 *
 * Ends after that many steps, and walks at no more than PLACES places in 64 KiB of code: so all
 * libraries have a share. The last line is "places P frames F deepest D guessed G excused E
 * different N": guessed are places whose walk ends at code without a table. The first differences
 * stand before. Exit code 1: there is one. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <elf.h>
#include <unistd.h>

#include "stacks/remote.h"
#include "walker.h"

#define SEEN_BITS    20
#define THREADS_MAX  64
#define SHOWN_MAX    20 /* differences in full */
#define PARTS        4096
#define PART_SHIFT   16
#define XSTATE_BYTES 16384

struct walk {
    uint64_t count;
    struct walker_frame frames[WALKER_FRAMES_MAX];
};

static uint64_t seen[1u << SEEN_BITS];
static unsigned long places_max, in_part[PARTS]; /* of the code */
static unsigned long places, frames, deepest, guessed, excused, different;
static uint64_t entry, area; /* in the program */
static pid_t program;
static struct dft_remote *remote;
static struct {
    pid_t tid;
    int pending; /* a signal that came while the walker ran */
} threads[THREADS_MAX];

static void fail(const char *what)
{
    fprintf(stderr, "oracle: %s: %s\n", what, strerror(errno));
    kill(program, SIGKILL);
    exit(2);
}

static void ask(long request, pid_t tid, void *address, uint64_t data)
{
    if (ptrace((enum __ptrace_request)request, tid, address, data) < 0)
        fail("ptrace");
}

static unsigned thread_of(pid_t tid)
{
    unsigned i = 0;

    while (i < THREADS_MAX && threads[i].tid && threads[i].tid != tid)
        i++;
    if (i == THREADS_MAX)
        fail("too many threads");
    threads[i].tid = tid;
    return i;
}

static int is_new(uint64_t pc)
{
    uint64_t i = pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SEEN_BITS);

    while (seen[i] && seen[i] != pc)
        i = (i + 1) % (1u << SEEN_BITS);
    if (seen[i] || in_part[(pc >> PART_SHIFT) % PARTS] == places_max)
        return 0;
    seen[i] = pc;
    in_part[(pc >> PART_SHIFT) % PARTS]++;
    return 1;
}

/* --- both walks ------------------------------------------------------------------------------- */

static void walk_outside(pid_t tid, struct walk *walk)
{
    static struct dft_remote_frame found[DFT_REMOTE_FRAMES_MAX];
    static struct dft_remote_thread thread;

    if (dft_remote_take(remote, tid, &thread))
        fail("dft_remote_take");
    walk->count = dft_remote_walk(remote, &thread, found);
    for (uint64_t i = 0; i < walk->count; i++)
        walk->frames[i] = (struct walker_frame){.pc = found[i].pc, .sp = found[i].sp};
}

static void give_context(const struct user_regs_struct *r)
{
    greg_t g[NGREG] = {
        [REG_R8] = (greg_t)r->r8,   [REG_R9] = (greg_t)r->r9,   [REG_R10] = (greg_t)r->r10, [REG_R11] = (greg_t)r->r11,
        [REG_R12] = (greg_t)r->r12, [REG_R13] = (greg_t)r->r13, [REG_R14] = (greg_t)r->r14, [REG_R15] = (greg_t)r->r15,
        [REG_RDI] = (greg_t)r->rdi, [REG_RSI] = (greg_t)r->rsi, [REG_RBP] = (greg_t)r->rbp, [REG_RBX] = (greg_t)r->rbx,
        [REG_RDX] = (greg_t)r->rdx, [REG_RAX] = (greg_t)r->rax, [REG_RCX] = (greg_t)r->rcx, [REG_RSP] = (greg_t)r->rsp,
        [REG_RIP] = (greg_t)r->rip};
    uint64_t to = area + offsetof(struct walker_area, context.uc_mcontext.gregs);
    struct iovec here = {g, sizeof g}, there = {(void *)to, sizeof g}; /* NOLINT: the program's memory */

    if (process_vm_writev(program, &here, 1, &there, 1, 0) != (ssize_t)sizeof g)
        fail("process_vm_writev");
}

/* Runs to the breakpoint behind the walk. Other signals wait. */
static void run_walker(pid_t tid)
{
    int status;

    for (;;) {
        ask(PTRACE_CONT, tid, NULL, 0);
        if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
            fail("the walker has not come back");
        if (WSTOPSIG(status) == SIGTRAP)
            return;
        if (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGBUS)
            fail("the walker has struck a fault");
        threads[thread_of(tid)].pending = WSTOPSIG(status);
    }
}

static void walk_inside(pid_t tid, const struct user_regs_struct *registers, struct walk *walk)
{
    static char vectors[XSTATE_BYTES];
    struct iovec state = {vectors, sizeof vectors}, here = {walk, sizeof *walk};
    struct iovec there = {(void *)(area + offsetof(struct walker_area, count)), sizeof *walk}; /* NOLINT */
    struct user_regs_struct changed = *registers;

    give_context(registers);
    ask(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, (uint64_t)&state);
    changed.rip = entry;
    changed.rsp = area + offsetof(struct walker_area, stack) + WALKER_STACK - 64;
    changed.orig_rax = UINT64_MAX; /* no system call is to be started again */
    changed.eflags &= ~UINT64_C(0x500);
    ask(PTRACE_SETREGS, tid, NULL, (uint64_t)&changed);
    run_walker(tid);
    ask(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, (uint64_t)&state);
    ask(PTRACE_SETREGS, tid, NULL, (uint64_t)registers);
    if (process_vm_readv(program, &here, 1, &there, 1, 0) != (ssize_t)sizeof *walk)
        fail("process_vm_readv");
}

/* --- comparison ------------------------------------------------------------------------------- */

static void print_place(FILE *out, uint64_t pc)
{
    char path[64], line[4096], file[4096];
    unsigned long from, to, offset;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)program);
    maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps)) {
        file[0] = 0;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095s", &from, &to, &offset, file) >= 3 && pc >= from && pc < to) {
            fprintf(out, "%s+0x%lx", file, pc - from + offset);
            break;
        }
    }
    if (maps)
        fclose(maps);
}

static void print_difference(const struct walk *inside, const struct walk *outside, uint64_t at)
{
    printf("different at frame %llu:\n", (unsigned long long)at);
    for (uint64_t i = 0; i <= at + 1; i++) {
        const struct walk *both[] = {inside, outside};

        for (int k = 0; k < 2; k++) {
            printf("  #%llu %s ", (unsigned long long)i, k ? "libunwind" : "ours     ");
            if (i < both[k]->count) {
                printf("pc %llx sp %llx ", (unsigned long long)both[k]->frames[i].pc,
                       (unsigned long long)both[k]->frames[i].sp);
                print_place(stdout, both[k]->frames[i].pc);
            } else {
                printf("ends");
            }
            putchar('\n');
        }
    }
}

/* libunwind takes the frame's address for the caller's stack pointer, whatever the table says of
 * that: in longjmp and setcontext, where the table says what they are about to load. The caller is
 * the same, those behind it need not be. */
static int is_excused(const struct walk *inside, const struct walk *outside, uint64_t i)
{
    return i && inside->frames[i - 1].sets_sp && inside->frames[i].pc == outside->frames[i].pc;
}

static void compare(const struct walk *inside, const struct walk *outside)
{
    uint64_t i = 0;

    places++;
    while (i < inside->count && i < outside->count && inside->frames[i].pc == outside->frames[i].pc &&
           inside->frames[i].sp == outside->frames[i].sp) {
        frames++;
        if (i > deepest)
            deepest = i;
        if (!inside->frames[i++].has_table) {
            guessed++;
            return;
        }
    }
    if (i == inside->count && i == outside->count)
        return;
    if (i < inside->count && i < outside->count && is_excused(inside, outside, i))
        excused++;
    else if (different++ < SHOWN_MAX)
        print_difference(inside, outside, i);
}

static void visit(pid_t tid)
{
    struct user_regs_struct registers;
    static struct walk inside, outside;

    ask(PTRACE_GETREGS, tid, NULL, (uint64_t)&registers);
    if (!is_new(registers.rip))
        return;
    walk_outside(tid, &outside);
    walk_inside(tid, &registers, &inside);
    compare(&inside, &outside);
}

/* --- the program ------------------------------------------------------------------------------ */

static void start(char **argv)
{
    int status;
    struct user_regs_struct registers;

    program = fork();
    if (!program) {
        setenv("LD_PRELOAD", argv[1], 1);
        setenv("WALKER_TRACED", "1", 1);
        personality(ADDR_NO_RANDOMIZE);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status))
        fail("the program cannot be run");
    ask(PTRACE_SETOPTIONS, program, NULL,
        PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC);
    ask(PTRACE_CONT, program, NULL, 0);
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
        fail("the walker is not in the program");
    ask(PTRACE_GETREGS, program, NULL, (uint64_t)&registers);
    entry = registers.rax;
    area = registers.rbx;
}

/* Goes on from a stop of one thread. */
static void go_on(pid_t tid, int status)
{
    unsigned thread = thread_of(tid);
    int signal = WSTOPSIG(status), event = status >> 16;

    if (event == PTRACE_EVENT_EXEC) { /* a child of vfork that is another program now */
        ask(PTRACE_DETACH, tid, NULL, 0);
        return;
    }
    if (signal == SIGTRAP || signal == SIGSTOP)
        signal = 0;
    if (!event)
        visit(tid);
    if (threads[thread].pending) {
        signal = threads[thread].pending;
        threads[thread].pending = 0;
    }
    ask(PTRACE_SINGLESTEP, tid, NULL, (uint64_t)signal);
}

int main(int argc, char **argv)
{
    unsigned long steps;
    int status;
    pid_t tid;

    if (argc < 5) {
        fprintf(stderr, "usage: %s WALKER PLACES STEPS PROGRAM [ARGUMENT...]\n", argv[0]);
        return 2;
    }
    places_max = strtoul(argv[2], NULL, 10);
    steps = strtoul(argv[3], NULL, 10);
    start(argv);
    if (dft_remote_create(&remote, program))
        fail("dft_remote_create");
    ask(PTRACE_SINGLESTEP, program, NULL, 0);
    while (steps-- && (tid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status))
            go_on(tid, status);
        else if (tid == program)
            break;
    }
    kill(program, SIGKILL);
    printf("places %lu frames %lu deepest %lu guessed %lu excused %lu different %lu\n", places, frames, deepest,
           guessed, excused, different);
    return different != 0;
}
