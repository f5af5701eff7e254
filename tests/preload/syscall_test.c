/* SPDX-License-Identifier: MIT */
/* syscall() hands on exactly what it was given, and records the event that syscalls.def says. As
 * forwarding_test.c: the objects of libdftrace.so are linked into this program, and a mock stands
 * in for the real syscall(). */
#include "loader/resolve.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/drain.h"
#include "tables/fdtable.h"
#include "store/livefile.h"
#include "tables/maps.h"
#include "format/ops.h"
#include "probe/probe.h"
#include "ring/ring.h"

#define ARGUMENTS  6
#define PAGE_BYTES (64u << 10)
#define FIRST_FD   500 /* numbers that no descriptor has, bound as traced files */
#define OLD_ERRNO  77
#define NEW_ERRNO  78
#define NUMBERS    1024

struct row {
    const char *name, *roles; /* roles NULL: by hand */
    long number;
    enum dft_op op;
    uint16_t call;
};

static const struct row rows[] = {
#define DFT_SYSCALL_EVENT(...)
#define DFT_SYSCALL(event, op, name, ...)   {#name, #__VA_ARGS__, name, DFT_OP_##op, DFT_CALL_##event},
#define DFT_SYSCALL_CUSTOM(event, op, name) {#name, NULL, name, DFT_OP_##op, DFT_CALL_##event},
#include <dftrace/syscalls.def>
};
#define ROWS (sizeof rows / sizeof *rows)

/* Of rows by hand: which arguments are handed on (the kernel takes no more), each as i: 32 bits, l:
 * 64 bits; and which are descriptors (d, 32 bits), paths (p) or other addresses (l). */
static const struct {
    const char *name, *arguments;
} by_hand[] = {
    {"SYS_openat2", "dpllll"},
    {"SYS_close_range", "ddi"},
    {"SYS_dup2", "dd"},
    {"SYS_dup3", "ddi"},
    {"SYS_fcntl", "dil"},
    {"SYS_io_uring_setup", "llllll"},
    {"SYS_mmap", "lliidl"},
    {"SYS_munmap", "ll"},
    {"SYS_mremap", "lllil"},
    {"SYS_remap_file_pages", "llili"},
    {"SYS_msync", "lli"},
    {"SYS_madvise", "lli"},
    {"SYS_mlock", "ll"},
    {"SYS_mlock2", "lli"},
    {"SYS_munlock", "ll"},
    {"SYS_io_setup", "il"},
    {"SYS_io_destroy", "l"},
    {"SYS_io_submit", "lll"},
    {"SYS_io_cancel", "lll"},
    {"SYS_io_getevents", "lllll"},
    {"SYS_io_pgetevents", "llllll"},
    {"SYS_sendfile", "ddll"},
    {"SYS_copy_file_range", "dldlli"},
    {"SYS_splice", "dldlli"},
    {"SYS_ioctl", "dll"},
    {"SYS_chroot", "p"},
    {"SYS_recvmsg", "dlllll"},
    {"SYS_recvmmsg", "dlllll"},
    {"SYS_unshare", "i"},
    {"SYS_seccomp", "lll"},
    {"SYS_prctl", "illll"},
};

/* --- the real function's stand-in ------------------------------------------------------------- */

static struct {
    long number, arguments[ARGUMENTS], result;
    int error, calls;
} mock;

static long mock_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    const long given[ARGUMENTS] = {a, b, c, d, e, f};

    mock.calls++;
    mock.number = number;
    memcpy(mock.arguments, given, sizeof given);
    if (mock.error)
        errno = mock.error;
    return mock.result;
}

static struct dft_reals reals;

static void mock_other(void)
{
    CU_FAIL("another function was called");
}

static void install(void)
{
    void **pointers = (void **)&dft_real;

    for (size_t i = 0; i < sizeof dft_real / sizeof(void *); i++)
        pointers[i] = (void *)mock_other;
    dft_real.syscall = (long (*)(long, ...))mock_syscall;
    mock.calls = 0;
}

/* --- arguments -------------------------------------------------------------------------------- */

static char *pages;

static char *page(int i)
{
    return pages + (size_t)i * PAGE_BYTES;
}

/* What the i-th argument of a row is, as a letter of `by_hand`. */
static char kind_of(const struct row *row, int i)
{
    char text[32];

    for (size_t k = 0; !row->roles && k < sizeof by_hand / sizeof *by_hand; k++)
        if (!strcmp(row->name, by_hand[k].name))
            return (size_t)i < strlen(by_hand[k].arguments) ? by_hand[k].arguments[i] : 0;
    if (!row->roles)
        abort(); /* a row by hand without a line in the table above */
    snprintf(text, sizeof text, "fd = a%d", i);
    if (strstr(row->roles, text))
        return 'd';
    snprintf(text, sizeof text, "(char *)a%d", i);
    return strstr(row->roles, text) ? 'p' : 'l';
}

/* Descriptors have a high half that the kernel does not look at, and that is to arrive all the
 * same. */
static void make_arguments(const struct row *row, long arguments[ARGUMENTS], int fd)
{
    for (int i = 0; i < ARGUMENTS; i++) {
        char kind = row ? kind_of(row, i) : 'l';

        memset(page(i), 0, PAGE_BYTES);
        arguments[i] = (long)page(i);
        if (kind == 'd')
            arguments[i] = (long)(UINT64_C(0xabcd000000000000) | (uint32_t)(fd + i));
        else if (kind == 'p')
            snprintf(page(i), PAGE_BYTES, "/no/such/file.%d", i);
    }
}

/* --- one call --------------------------------------------------------------------------------- */

struct outcome {
    long result;
    int error;
    int events;
    struct dft_slot last;
};

static void complain(const char *name, const char *what, long got, long expected)
{
    char line[256];
    int n =
        snprintf(line, sizeof line, "\n  %s, tracing %d: %s: %#lx, expected %#lx", name, dft_on, what, got, expected);

    dft_sys_write(2, line, (size_t)n);
    CU_FAIL("syscall() changed something");
}

/* The events behind the sequence number `from`, names left out. */
static void take_events(struct outcome *outcome, uint64_t from)
{
    struct dft_ring *ring = dft_self ? dft_self->ring : NULL;
    uint64_t head = ring ? atomic_load(&ring->head) : 0;

    outcome->events = 0;
    for (uint64_t at = from; at < head; at++) {
        struct dft_slot *slot = dft_ring_slot(ring, at);

        if ((atomic_load(&slot->marker) & 3) != DFT_SLOT_VALID || dft_slot_number(slot->call) >= DFT_CALL_COUNT)
            continue;
        outcome->events++;
        memcpy(&outcome->last, slot, sizeof *slot);
    }
}

static struct outcome call(long number, const long a[ARGUMENTS])
{
    struct outcome outcome;
    uint64_t from;

    for (int i = 0; i <= ARGUMENTS; i++)
        dft_fd_bind(FIRST_FD + i, (struct dft_file){0x1234, DFT_IO_NONE}, 0, 0);
    dft_maps_add(&(struct dft_mapped_range){0, (uintptr_t)-4096, 0x1234, 0}); /* whatever the address is */
    if (dft_self) { /* room for all that a call appends: no drain meanwhile */
        dft_drain_own(dft_self);
        from = atomic_load(&dft_self->ring->head);
    } else {
        from = 0;
    }
    install();
    errno = OLD_ERRNO;
    outcome.result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    outcome.error = errno;
    dft_real = reals;
    take_events(&outcome, from);
    return outcome;
}

static void check_outcome(const char *name, const struct outcome *outcome, long number)
{
    int error = mock.error ? mock.error : OLD_ERRNO;

    if (mock.calls != 1)
        complain(name, "calls of the real function", mock.calls, 1);
    if (mock.number != number)
        complain(name, "number", mock.number, number);
    if (outcome->result != mock.result)
        complain(name, "result", outcome->result, mock.result);
    if (outcome->error != error)
        complain(name, "errno", outcome->error, error);
}

/* These have events for some of their operations alone. */
static int is_selective(const struct row *row)
{
    return !strcmp(row->name, "SYS_seccomp") || !strcmp(row->name, "SYS_prctl");
}

static int is_transfer(const struct row *row)
{
    return row->number == SYS_sendfile || row->number == SYS_copy_file_range || row->number == SYS_splice;
}

static void check_row(const struct row *row, long result, int error, int fd)
{
    long given[ARGUMENTS];
    struct outcome outcome;
    int expected;

    make_arguments(row, given, fd);
    mock.result = result;
    mock.error = error;
    outcome = call(row->number, given);
    check_outcome(row->name, &outcome, row->number);
    for (int i = 0; i < ARGUMENTS; i++) {
        char kind = kind_of(row, i);
        uint64_t mask = row->roles || kind == 'l' || kind == 'p' ? ~UINT64_C(0) : kind ? 0xffffffff : 0;

        if (dft_on && ((uint64_t)(mock.arguments[i] ^ given[i]) & mask))
            complain(row->name, "argument", mock.arguments[i], given[i]);
        if (!dft_on && mock.arguments[i] != given[i])
            complain(row->name, "argument, tracing off", mock.arguments[i], given[i]);
    }
    expected = dft_on && (fd == FIRST_FD || error == EBADF) && row->op != DFT_OP_FRESH && !is_selective(row);
    if (expected && !error && is_transfer(row))
        expected = 2; /* its writing half has the next number */
    if (outcome.events != expected)
        complain(row->name, "events", outcome.events, expected);
    if (!outcome.events)
        return;
    if (outcome.last.call != row->call + (expected == 2))
        complain(row->name, "event", outcome.last.call, row->call);
    if (outcome.last.err != error)
        complain(row->name, "errno of the event", outcome.last.err, error);
    if (fd != FIRST_FD && (outcome.last.file || outcome.last.fd != fd))
        complain(row->name, "descriptor of an event without a file", outcome.last.fd, fd);
    if (outcome.last.result != result && row->op != DFT_OP_OTHER && (row->op != DFT_OP_MAP || error))
        complain(row->name, "result of the event", outcome.last.result, result);
}

/* --- the tests -------------------------------------------------------------------------------- */

static int on; /* what the constructor found */

/* test_processes */
static int is_of_a_process(const struct row *row)
{
    return !strcmp(dft_call_text(&dft_call_rows[row->call]), "PROCESS");
}

static void check_all(int tracing, int fd)
{
    static const struct {
        long result;
        int error;
    } endings[] = {{FIRST_FD + ARGUMENTS, 0}, {0, 0}, {1, 0}, {-1, NEW_ERRNO}, {-1, EBADF}, {-1, EFAULT}};

    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            dft_on = tracing;
            if (!is_of_a_process(&rows[i]))
                check_row(&rows[i], endings[k].result, endings[k].error, fd);
        }
    dft_on = on;
}

static void test_table(void)
{
    CU_ASSERT(ROWS > 40);
    CU_ASSERT(on != 0);
    CU_ASSERT(dft_self != NULL);
}

static void test_off(void)
{
    check_all(0, FIRST_FD);
}

static void test_traced(void)
{
    check_all(on, FIRST_FD);
}

/* Numbers that are open nowhere: the call is made, and its event has no file. */
static void test_closed(void)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].roles && strstr(rows[i].roles, ".fd = a0"))
            check_row(&rows[i], -1, EBADF, 700);
}

static int has_row(long number)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].number == number)
            return 1;
    return 0;
}

/* All other numbers, possible or not, with 64 bits each way. */
static void test_others(void)
{
    static const long odd[] = {-1, -500, 0x40000001, INT64_MAX, INT64_MIN};
    const long given[ARGUMENTS] = {INT64_MIN, -1, INT64_MAX, 0x0123456789abcdef, 0, 0x7766554433221100};

    for (long i = 0; i < NUMBERS + (long)(sizeof odd / sizeof *odd); i++) {
        long number = i < NUMBERS ? i : odd[i - NUMBERS];
        struct outcome outcome;

        if (has_row(number))
            continue;
        mock.result = 0x0fedcba987654321;
        mock.error = i & 1 ? NEW_ERRNO : 0;
        outcome = call(number, given);
        check_outcome("a number without a row", &outcome, number);
        CU_ASSERT(!memcmp(given, mock.arguments, sizeof given));
        CU_ASSERT_EQUAL(outcome.events, 0);
    }
}

/* A caller that gives fewer arguments has something else where the last would be on the stack:
 * nobody may write there. Nor need the stack be a multiple of 16. */
static void test_the_callers_stack(void)
{
#if defined(__x86_64__)
    static const long numbers[] = {SYS_read, SYS_getpid, SYS_dup2, SYS_openat2, SYS_io_uring_enter};

    for (size_t i = 0; i < 2 * sizeof numbers / sizeof *numbers; i++) {
        long result, above[2] = {0}, odd = i % 2 ? 8 : 0;

        mock.result = 0;
        mock.error = 0;
        install();
        __asm__ volatile(
            "movq %%rsp, %%rbx\n\tsubq $256, %%rsp\n\tandq $-16, %%rsp\n\tsubq %6, %%rsp\n\t"
            "movabsq $0x1122334455667788, %%rax\n\tmovq %%rax, (%%rsp)\n\tnotq %%rax\n\tmovq %%rax, 8(%%rsp)\n\t"
            "xorl %%eax, %%eax\n\tcall syscall\n\t"
            "movq (%%rsp), %%r12\n\tmovq 8(%%rsp), %%r13\n\tmovq %%rbx, %%rsp\n\tmovq %%r12, %1\n\tmovq %%r13, %2"
            : "=a"(result), "=m"(above[0]), "=m"(above[1])
            : "D"(numbers[i / 2]), "S"(0L), "d"(0L), "r"(odd)
            : "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "memory", "cc");
        dft_real = reals;
        CU_ASSERT_EQUAL(result, 0);
        CU_ASSERT_EQUAL(above[0], 0x1122334455667788);
        CU_ASSERT_EQUAL(above[1], ~0x1122334455667788);
    }
#endif
}

/* open's mode counts only with flags that ask for one; openat2's lies in memory, and may not be
 * readable. */
static void test_modes(void)
{
    struct open_how how = {.flags = O_CREAT | O_RDWR, .mode = 0640};
    long given[ARGUMENTS] = {AT_FDCWD, (long)"/no/such/file", O_RDWR | O_CREAT, 0640};
    struct outcome outcome;

    mock.result = FIRST_FD;
    mock.error = 0;
    outcome = call(SYS_openat, given);
    CU_ASSERT_EQUAL(outcome.last.offset, 0640);
    given[2] = O_RDWR;
    outcome = call(SYS_openat, given);
    CU_ASSERT_EQUAL(outcome.last.offset, 0);
    CU_ASSERT_EQUAL(outcome.last.size, O_RDWR);
    for (int k = 0; k < 2; k++) {
        mock.result = k ? -1 : FIRST_FD;
        mock.error = k ? ENOENT : 0;
        given[2] = (long)&how;
        outcome = call(SYS_openat2, given);
        CU_ASSERT_EQUAL(outcome.last.size, O_CREAT | O_RDWR);
        CU_ASSERT_EQUAL(outcome.last.offset, 0640);
    }
    given[2] = 8;
    mock.error = EFAULT;
    outcome = call(SYS_openat2, given);
    CU_ASSERT_EQUAL(outcome.events, 1);
    CU_ASSERT_EQUAL(outcome.last.size, 0);
}

/* Calls that make and replace processes, and forbid system calls; what is no such thing has no
 * event. */
static void test_processes(void)
{
    struct clone_args fork_like = {.exit_signal = SIGCHLD}, with_stack = {.exit_signal = SIGCHLD, .stack = 4096},
                      shared = {.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD};
    char *argv[] = {"program", NULL};
    const struct {
        long number, arguments[ARGUMENTS];
        int error, events;
    } calls[] = {
#ifdef SYS_fork
        {SYS_fork, {1, 2, 3, 4, 5, 6}, 0, 1},
        {SYS_fork, {1, 2, 3, 4, 5, 6}, EAGAIN, 1},
#endif
        {SYS_clone, {SIGCHLD, 0, 3, 4, 5, 6}, 0, 1},
        {SYS_clone, {SIGCHLD, 0, 3, 4, 5, 6}, EPERM, 1},
        {SYS_clone, {SIGCHLD, 4096, 3, 4, 5, 6}, 0, 0},
        {SYS_clone, {SIGCHLD | CLONE_VM, 4096, 3, 4, 5, 6}, 0, 0},
        {SYS_clone, {SIGCHLD | CLONE_VM | CLONE_VFORK, 0, 3, 4, 5, 6}, 0, 0},
        {SYS_clone3, {(long)&fork_like, sizeof fork_like, 3, 4, 5, 6}, 0, 1},
        {SYS_clone3, {(long)&with_stack, sizeof with_stack, 3, 4, 5, 6}, 0, 0},
        {SYS_clone3, {(long)&shared, sizeof shared, 3, 4, 5, 6}, 0, 0},
        {SYS_clone3, {8, 64, 3, 4, 5, 6}, EFAULT, 0},
        {SYS_execve, {(long)"/no/such/program", (long)argv, (long)environ, 4, 5, 6}, ENOENT, 1},
        {SYS_execve, {8, (long)argv, (long)environ, 4, 5, 6}, EFAULT, 1},
        {SYS_execveat, {AT_FDCWD, (long)"/etc/passwd", (long)argv, (long)environ, 0x77, 6}, EACCES, 1},
        {SYS_wait4, {77, 0, 3, 0, 5, 6}, 0, 1},
        {SYS_wait4, {77, 0, 3, 0, 5, 6}, ECHILD, 1},
        {SYS_waitid, {P_ALL, 2, 0, WEXITED, 0, 6}, ECHILD, 1},
        {SYS_prctl, {PR_SET_NAME, (long)"name", 3, 4, 5, 6}, 0, 0},
        {SYS_prctl, {PR_SET_SECCOMP, 77, 3, 4, 5, 6}, EINVAL, 1},
        {SYS_seccomp, {SECCOMP_GET_ACTION_AVAIL, 0, 3, 4, 5, 6}, EOPNOTSUPP, 0},
        {SYS_seccomp, {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, 0, 4, 5, 6}, EFAULT, 1},
#ifdef SYS_vfork
        {SYS_vfork, {1, 2, 3, 4, 5, 6}, 0, 0},
#endif
    };

    for (size_t i = 0; i < 2 * sizeof calls / sizeof *calls; i++) {
        struct outcome outcome;
        size_t k = i / 2, handed_on = (calls[k].number == SYS_prctl ? 5 : 6) * sizeof(long);

        dft_on = i % 2 ? on : 0;
        mock.result = calls[k].error ? -1 : 4321;
        mock.error = calls[k].error;
        outcome = call(calls[k].number, calls[k].arguments);
        check_outcome("a call for processes", &outcome, calls[k].number);
        CU_ASSERT(!memcmp(calls[k].arguments, mock.arguments, handed_on));
        if (outcome.events != (dft_on ? calls[k].events : 0))
            complain("a call for processes", "events", outcome.events, calls[k].number);
    }
    dft_on = on;
}

/* Last: it ends the tracing of this process. The mock comes back, as no kernel does. */
static void test_exit(void)
{
    const long given[ARGUMENTS] = {23, 2, 3, 4, 5, 6};
    struct outcome outcome;

    mock.result = 0;
    mock.error = 0;
    for (int i = 0; i < 4; i++) {
        long number = i % 2 ? SYS_exit : SYS_exit_group;

        dft_on = i / 2 ? on : 0;
        outcome = call(number, given);
        check_outcome("an end", &outcome, number);
        CU_ASSERT(!memcmp(given, mock.arguments, sizeof given));
    }
    CU_ASSERT_EQUAL(atomic_load(&dft_live->state), DFT_LIVE_CLEAN);
}

/* Addresses are flags, too: where none is O_TMPFILE, an open keeps the file that its path names. */
static char *map_pages(void)
{
    const uintptr_t bytes = 2 * 020000000; /* the flag's own bit, and as much behind it */
    char *at = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? NULL : at + (-(uintptr_t)at & (bytes - 1));
}

int main(void)
{
    unsigned failures;
    CU_pSuite suite;

    pages = map_pages();
    if (!pages || CU_initialize_registry() != CUE_SUCCESS || fsync(open("/etc/passwd", O_RDONLY)) == 1)
        return 2;
    dft_resolve();
    reals = dft_real;
    on = dft_on;
    suite = CU_add_suite("syscall", NULL, NULL);
    CU_add_test(suite, "the table, and tracing is on", test_table);
    CU_add_test(suite, "tracing off", test_off);
    CU_add_test(suite, "tracing on, traced files", test_traced);
    CU_add_test(suite, "descriptors that are not open", test_closed);
    CU_add_test(suite, "numbers without a row", test_others);
    CU_add_test(suite, "the caller's stack", test_the_callers_stack);
    CU_add_test(suite, "modes", test_modes);
    CU_add_test(suite, "processes", test_processes);
    CU_add_test(suite, "ends", test_exit);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(),
           CU_get_number_of_tests_failed());
    CU_cleanup_registry();
    return failures != 0;
}
