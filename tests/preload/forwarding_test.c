/* SPDX-License-Identifier: MIT */
/* Every wrapper hands on exactly what it was given. The objects of libdftrace.so are linked into
 * this program, so that its wrappers are the program's own functions; one mock stands in for the
 * real function behind each row of calls.def.
 *
 * Functions are called with six register arguments, whatever their prototype: what a function takes
 * of them arrives unchanged, and the rest does not matter. What an argument must point to is read
 * off the prototype's text. */
#include "loader/resolve.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tables/fdtable.h"
#include "tables/maps.h"
#include "format/ops.h"
#include "probe/probe.h"
#include "ring/ring.h"
#include "ring/bursts.h"

#define ARGUMENTS   6
#define PAGE_BYTES  (64u << 10) /* more than IOV_MAX vectors */
#define FIRST_FD    2000        /* numbers that no descriptor has, bound as traced files; ours lies below */
#define LIST_LENGTH 3           /* of arrays in the argument before */
#define OLD_ERRNO   77
#define NEW_ERRNO   78

typedef uint64_t function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

enum kind { KIND_PLAIN, KIND_MODE, KIND_FORMAT, KIND_HAND };

struct row {
    const char *name, *type, *operation, *prototype, *arguments;
    enum kind kind;
    enum dft_op op;
    size_t result_bytes;
    size_t real; /* offset in struct dft_reals */
    function *wrapper;
};

/* --- the table, once more --------------------------------------------------------------------- */

#define DFT_CALL(category, op, type, name, ...) extern function wrapper_##name __asm__(#name);
#define DFT_MODE                                DFT_CALL
#define DFT_CUSTOM                              DFT_CALL
#define DFT_ENTRY                               DFT_CALL
#define DFT_FORMAT(category, op, name, ...)     extern function wrapper_##name __asm__(#name);
#define DFT_FORMAT_ENTRY                        DFT_FORMAT
#define DFT_ALIAS(name, alias)                  extern function wrapper_##alias __asm__(#alias);
#define DFT_CUSTOM_ALIAS                        DFT_ALIAS
#define DFT_RECLASSIFIED(...)
#define DFT_GATE(type, name, ...)                    extern function wrapper_##name __asm__(#name);
#define DFT_VERSIONED(category, op, type, name, ...) extern function wrapper_##name __asm__("dft_wrap_" #name);
#define DFT_OLDER(event, op, type, name, ...)        extern function wrapper_##name __asm__("dft_wrap_" #name);
#define DFT_CUSTOM_OLDER                             DFT_OLDER
#define DFT_EVENT(...)
#include <dftrace/calls.def>

#define ROW(kind, op, type, bytes, name, real_name, prototype, arguments)                                              \
    {                                                                                                                  \
        #name,         #type,      #op,                                                                                \
        #prototype,    #arguments, kind,                                                                               \
        DFT_OP_##op,   bytes,      offsetof(struct dft_reals, real_name),                                              \
        wrapper_##name},
#define DFT_CALL(category, op, type, name, prototype, arguments, ...)                                                  \
    ROW(KIND_PLAIN, op, type, sizeof(type), name, name, prototype, arguments)
#define DFT_ENTRY DFT_CALL
#define DFT_MODE(category, op, type, name, prototype, arguments, ...)                                                  \
    ROW(KIND_MODE, op, type, sizeof(type), name, name, prototype, arguments)
#define DFT_FORMAT(category, op, name, prototype, last, vname, arguments, ...)                                         \
    ROW(KIND_FORMAT, op, int, sizeof(int), name, vname, prototype, arguments)
#define DFT_FORMAT_ENTRY DFT_FORMAT
#define DFT_CUSTOM(category, op, type, name, prototype, arguments)                                                     \
    ROW(KIND_HAND, op, type,                                                                                           \
        !strcmp(#type, "void")                            ? 0                                                          \
        : strchr(#type, '*') || !strcmp(#type, "ssize_t") ? 8                                                          \
                                                          : 4,                                                         \
        name, name, prototype, arguments)
#define DFT_VERSIONED(category, op, type, name, version, prototype, arguments)                                         \
    DFT_CUSTOM(category, op, type, name, prototype, arguments)
#define DFT_OLDER(event, op, type, name, version, newer, prototype, arguments, ...)                                    \
    DFT_CALL(event, op, type, name, prototype, arguments)
#define DFT_CUSTOM_OLDER(event, op, type, name, version, newer, prototype, arguments)                                  \
    DFT_CUSTOM(event, op, type, name, prototype, arguments)
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_RECLASSIFIED(...)
#define DFT_GATE(...)
#define DFT_EVENT(...)

static struct row *rows_get(size_t *count)
{
    static struct row rows[1024];
    static size_t n;
    const struct row all[] = {
#include <dftrace/calls.def>
    };

    n = sizeof all / sizeof *all;
    memcpy(rows, all, sizeof all);
    *count = n;
    return rows;
}

/* Those whose real function is not the one of their name, which do not return, or which have more
 * to them. */
static int is_special(const struct row *row)
{
    static const char *const names[] = {"execl",       "execlp",         "execle",          "vfork", "clone",
                                        "exit",        "quick_exit",     "_exit",           "abort", "daemon",
                                        "fopencookie", "__recvfrom_chk", "quick_exit_older"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(row->name, names[i]))
            return 1;
    return 0;
}

/* --- the real functions' stand-ins ------------------------------------------------------------ */

static struct {
    uint64_t arguments[ARGUMENTS];
    uint64_t list[ARGUMENTS]; /* what the va_list yields */
    int list_at;              /* this argument is a va_list; -1: none is */
    uint64_t result;
    int error; /* errno is set to it, when it is not 0 */
    int calls, others;
} mock;

static uint64_t mock_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
    const uint64_t given[ARGUMENTS] = {a, b, c, d, e, f};

    mock.calls++;
    memcpy(mock.arguments, given, sizeof given);
    if (mock.list_at >= 0) {
        va_list list;

        memcpy(&list, (void *)(uintptr_t)given[mock.list_at], sizeof list);
        for (int i = mock.list_at; i < ARGUMENTS; i++)
            mock.list[i] = va_arg(list, uint64_t);
    }
    if (mock.error)
        errno = mock.error;
    return mock.result;
}

/* Behind all other rows: only fseek asks another function (where the stream is now). */
static uint64_t mock_other(void)
{
    mock.others++;
    return 0;
}

static struct dft_reals reals;

static void install(const struct row *row)
{
    void **pointers = (void **)&dft_real;

    for (size_t i = 0; i < sizeof dft_real / sizeof(void *); i++)
        pointers[i] = (void *)mock_other;
    pointers[row->real / sizeof(void *)] = (void *)mock_call;
    mock.calls = mock.others = 0;
}

/* --- arguments -------------------------------------------------------------------------------- */

static char *pages; /* ARGUMENTS + 1 of them, below 2 GiB; the last is what a function returns */

static char *page(int i)
{
    return pages + (size_t)i * PAGE_BYTES;
}

/* The i-th parameter's text, without what lies around it. Returns 0 when there is none. */
static int parameter(const char *prototype, int number, char *text, size_t room)
{
    const char *at = prototype + 1, *end;
    int depth = 0;

    for (;; at = end + 1) {
        for (end = at; *end && (depth || (*end != ',' && *end != ')')); end++)
            depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
        if (!number-- || !*end || *end == ')')
            break;
    }
    while (*at == ' ')
        at++;
    if (number >= 0 || end == at || !strncmp(at, "void)", 5) || !strncmp(at, "...", 3))
        return 0;
    snprintf(text, room, "%.*s", (int)(end - at), at);
    return 1;
}

/* A list that is a structure is copied for each call: what arrives is the address of the copy. */
static int is_copied(const char *text)
{
#if defined(__x86_64__)
    (void)text;
    return 0;
#else
    return strstr(text, "va_list") != NULL;
#endif
}

enum mode { MODE_PLAIN, MODE_TRACED, MODE_NEGATIVE, MODE_NULL_PATH };

static int is_descriptor(const char *text)
{
    return !strchr(text, '*') && (strstr(text, "fd") || strstr(text, "first"));
}

static int is_narrow(const char *text)
{
    return !strchr(text, '*') && !strchr(text, '[') && !strstr(text, "size_t") && !strstr(text, "off_t") &&
           !strstr(text, "long") && !strstr(text, "va_list");
}

/* Fills in what the parameter points to, and returns the argument. */
static uint64_t make_argument(const char *text, int i, enum mode mode)
{
    uint64_t value = (uint64_t)(uintptr_t)page(i);
    int fd = mode == MODE_TRACED ? FIRST_FD + i : (int)value;

    memset(page(i), 0, PAGE_BYTES);
    if (strstr(text, "FILE"))
        ((FILE *)(void *)page(i))->_fileno = fd;
    else if (strstr(text, "DIR"))
        *(int *)(void *)page(i) = fd;
    else if (strstr(text, "char *const *paths")) /* one */
        *(char **)(void *)page(i) = strcpy(page(i) + 64, "/no/such/file");
    else if (strstr(text, "char *") && strstr(text, "mode"))
        strcpy(page(i), "r");
    else if (strstr(text, "char *") && !strstr(text, "buffer"))
        snprintf(page(i), PAGE_BYTES, "/no/such/file.%d", i);
    if (mode == MODE_NULL_PATH && strstr(text, "char *") && (strstr(text, "path") || strstr(text, "file")))
        return 0;
    if (is_descriptor(text))
        value = (uint64_t)(uint32_t)fd;
    else if (!is_narrow(text) && !strchr(text, '*') && !strchr(text, '[') && !is_copied(text))
        value |= UINT64_C(0x0123456700000000);
    if (mode == MODE_NEGATIVE && is_narrow(text))
        value = (uint32_t) - (5 + i);
    else if (strstr(text, " count"))
        value = LIST_LENGTH;
    return value;
}

static int count_arguments(const char *arguments)
{
    int n = strcmp(arguments, "()") != 0;

    for (const char *c = arguments; *c; c++)
        n += *c == ',';
    return n;
}

static void make_arguments(const struct row *row, enum mode mode, uint64_t arguments[ARGUMENTS])
{
    char text[128];

    for (int i = 0; i < ARGUMENTS; i++)
        arguments[i] =
            make_argument(parameter(row->prototype, i, text, sizeof text) ? text : "unsigned long rest", i, mode);
}

/* --- one call --------------------------------------------------------------------------------- */

struct outcome {
    uint64_t result;
    int error;
    uint64_t appended; /* records of this thread */
};

/* Records of this thread: open runs become some first. */
static uint64_t head(void)
{
    if (dft_self)
        dft_bursts_end(dft_self);
    return dft_self ? atomic_load(&dft_self->ring->head) : 0;
}

/* Tells on standard error, since printf is one of the functions under test and its wrapper works on
 * this program too. */
static void complain(const struct row *row, enum mode mode, const char *what, uint64_t got, uint64_t expected)
{
    char line[256];
    int n = snprintf(line, sizeof line, "\n  %s, mode %d, tracing %d: %s: %#llx, expected %#llx", row->name, mode,
                     dft_on, what, (unsigned long long)got, (unsigned long long)expected);

    if (write(2, line, (size_t)n) < 0)
        abort();
    CU_FAIL("a wrapper changed something");
}

static struct outcome call(const struct row *row, const uint64_t a[ARGUMENTS], int bind)
{
    struct outcome outcome;
    uint64_t before;

    for (int i = 0; bind && i <= ARGUMENTS; i++)
        dft_fd_bind(FIRST_FD + i, (struct dft_file){0x1234, DFT_IO_NONE}, 0, 0);
    for (int fd = 0; bind && fd <= 1; fd++) /* what getchar and printf work on */
        dft_fd_bind(fd, (struct dft_file){0x1234, DFT_IO_NONE}, 0, 0);
    if (bind) /* what munmap and the like work on */
        dft_maps_add(&(struct dft_mapped_range){(uintptr_t)page(0), (uintptr_t)page(1), 0x1234, 0});
    install(row);
    before = head();
    errno = OLD_ERRNO;
    outcome.result = row->wrapper(a[0], a[1], a[2], a[3], a[4], a[5]);
    outcome.error = errno;
    outcome.appended = head() - before;
    dft_real = reals;
    dft_fd_bind_untraced(0);
    dft_fd_bind_untraced(1);
    return outcome;
}

static uint64_t cut(uint64_t value, size_t bytes)
{
    return bytes == 8 ? value : bytes == 4 ? (uint32_t)value : 0;
}

static void check_arguments(const struct row *row, enum mode mode, const uint64_t given[ARGUMENTS])
{
    int count = count_arguments(row->arguments);
    char text[128];

    if (mock.calls != 1)
        complain(row, mode, "calls of the real function", (uint64_t)mock.calls, 1);
    if (mock.others && row->op != DFT_OP_FSEEK)
        complain(row, mode, "calls of other functions", (uint64_t)mock.others, 0);
    for (int i = 0; i < count; i++) {
        int fixed = parameter(row->prototype, i, text, sizeof text);
        uint64_t got = mock.arguments[i];

        if (i == mock.list_at)
            break;
        got = cut(got, fixed && is_narrow(text) ? 4 : 8);
        if (row->kind == KIND_MODE && !fixed)
            break; /* test_open_modes */
        if (fixed && is_copied(text))
            continue;
        if (got != cut(given[i], fixed && is_narrow(text) ? 4 : 8))
            complain(row, mode, "argument", got, given[i]);
    }
    for (int i = mock.list_at; i >= 0 && i < ARGUMENTS; i++)
        if (mock.list[i] != given[i])
            complain(row, mode, "variable argument", mock.list[i], given[i]);
}

static int starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* Not in a forked child, nor when the call makes a descriptor that is not followed; an asynchronous
 * request that is accepted has its event when its end is seen; prctl only for some of its options;
 * what only the kernel knows the name of, is none here. */
static int makes_events(const struct row *row, uint64_t result)
{
    if (!strcmp(row->name, "tmpfile") || !strcmp(row->name, "open_by_handle_at"))
        return 0;
    if (starts_with(row->name, "aio_") && row->op != DFT_OP_REQUEST && result != (uint64_t)-1)
        return 0;
    if (!strcmp(row->name, "aio_error") || !strcmp(row->name, "aio_return")) /* the block names descriptor 0 */
        return 0;
    return strcmp(row->name, "prctl") && strcmp(row->operation, "FRESH") && !(row->op == DFT_OP_FORK && !result);
}

static void check_row(const struct row *row, enum mode mode, uint64_t result, int error)
{
    uint64_t given[ARGUMENTS];
    struct outcome outcome;

    make_arguments(row, mode, given);
    mock.list_at = row->kind == KIND_FORMAT ? count_arguments(row->arguments) - 1 : -1;
    mock.result = result;
    mock.error = error;
    outcome = call(row, given, mode == MODE_TRACED);
    check_arguments(row, mode, given);
    if (cut(outcome.result, row->result_bytes) != cut(result, row->result_bytes))
        complain(row, mode, "result", outcome.result, result);
    if (outcome.error != (error ? error : OLD_ERRNO))
        complain(row, mode, "errno", (uint64_t)outcome.error, (uint64_t)(error ? error : OLD_ERRNO));
    if (!dft_on && outcome.appended)
        complain(row, mode, "events, tracing off", outcome.appended, 0);
    if (dft_on && mode == MODE_TRACED && !outcome.appended && error != EFAULT && makes_events(row, result))
        complain(row, mode, "events, tracing on", 0, 1);
}

/* --- the tests -------------------------------------------------------------------------------- */

static int on; /* what the constructor found */

static uint64_t marker(void)
{
    return (uint64_t)(uintptr_t)page(ARGUMENTS);
}

enum ending { ENDING_MARKER, ENDING_ZERO, ENDING_ONE, ENDING_FAILURE };

/* Pointers that are returned are NULL for failures, else the marker's page. */
static uint64_t result_of(const struct row *row, enum ending ending)
{
    if (strchr(row->type, '*'))
        return ending == ENDING_FAILURE || ending == ENDING_ZERO ? 0 : marker();
    if (strstr(row->prototype, "io_event *events") && ending == ENDING_MARKER)
        return LIST_LENGTH; /* that many are there */
    return ending == ENDING_MARKER ? marker() : ending == ENDING_FAILURE ? (uint64_t)-1 : ending == ENDING_ONE;
}

/* A stream is none without a file; closefrom of a negative number steps around our own descriptor,
 * in two calls. */
static int makes_sense(const struct row *row, enum mode mode)
{
    return !(mode == MODE_NULL_PATH && strstr(row->prototype, "FILE")) &&
           !(mode == MODE_NEGATIVE && !strcmp(row->name, "closefrom"));
}

static void check_all(enum mode mode, int tracing, enum ending ending, int error)
{
    size_t count;
    const struct row *rows = rows_get(&count);

    for (size_t i = 0; i < count; i++) {
        dft_on = tracing;
        if (!is_special(&rows[i]) && makes_sense(&rows[i], mode))
            check_row(&rows[i], mode, result_of(&rows[i], ending), error);
    }
    dft_on = on;
}

static void test_table(void)
{
    size_t count;

    rows_get(&count);
    CU_ASSERT(count > 100);
    CU_ASSERT(on != 0);
}

static void test_off(void)
{
    check_all(MODE_PLAIN, 0, ENDING_MARKER, 0);
    check_all(MODE_PLAIN, 0, ENDING_MARKER, NEW_ERRNO);
    check_all(MODE_PLAIN, 0, ENDING_FAILURE, NEW_ERRNO);
    check_all(MODE_PLAIN, 0, ENDING_ZERO, 0);
    check_all(MODE_NEGATIVE, 0, ENDING_FAILURE, NEW_ERRNO);
}

static void test_untraced(void)
{
    check_all(MODE_PLAIN, on, ENDING_MARKER, 0);
    check_all(MODE_PLAIN, on, ENDING_ZERO, 0);
    check_all(MODE_NEGATIVE, on, ENDING_FAILURE, NEW_ERRNO);
}

static void test_traced(void)
{
    check_all(MODE_TRACED, on, ENDING_MARKER, 0);
    check_all(MODE_TRACED, on, ENDING_ZERO, 0);
    check_all(MODE_TRACED, on, ENDING_ONE, 0);
    check_all(MODE_TRACED, on, ENDING_FAILURE, NEW_ERRNO);
    check_all(MODE_TRACED, on, ENDING_FAILURE, EBADF);
    check_all(MODE_TRACED, on, ENDING_FAILURE, EFAULT);
}

static void test_null_paths(void)
{
    check_all(MODE_NULL_PATH, on, ENDING_FAILURE, EFAULT);
}

static const struct row *find(const char *name)
{
    size_t count;
    const struct row *rows = rows_get(&count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    abort();
}

/* open passes its mode on when the flags ask for one, else 0. */
static void test_open_modes(void)
{
    static const int flags[] = {O_RDONLY, O_RDWR | O_CREAT, O_WRONLY | O_TMPFILE, O_DIRECTORY, O_EXCL | O_TRUNC};

    for (unsigned i = 0; i < 2 * sizeof flags / sizeof *flags; i++) {
        int flag = flags[i / 2], at = i & 1, wants = flag & O_CREAT || (flag & O_TMPFILE) == O_TMPFILE;
        const struct row *row = find(at ? "openat" : "open");
        uint64_t given[ARGUMENTS];

        make_arguments(row, MODE_TRACED, given);
        given[1 + at] = (uint64_t)flag;
        given[2 + at] = 0640;
        mock.list_at = -1;
        mock.result = FIRST_FD + ARGUMENTS;
        mock.error = 0;
        call(row, given, 1);
        if ((uint32_t)mock.arguments[2 + at] != (wants ? 0640u : 0))
            complain(row, MODE_TRACED, "mode", mock.arguments[2 + at], wants ? 0640 : 0);
        CU_ASSERT_EQUAL((int)mock.arguments[1 + at], flag);
    }
}

/* The list forms of exec become the array forms. */
static void check_list(const char *name, const char *real, int with_environment)
{
    struct row row = *find(name);
    char *arguments[] = {"one", "two", "three"}, *environment[] = {"A=b", NULL};
    const uint64_t given[ARGUMENTS] = {(uint64_t)(uintptr_t) "/no/such/program",
                                       (uint64_t)(uintptr_t)arguments[0],
                                       (uint64_t)(uintptr_t)arguments[1],
                                       (uint64_t)(uintptr_t)arguments[2],
                                       0,
                                       (uint64_t)(uintptr_t)environment};
    struct outcome outcome;

    row.real = find(real)->real;
    mock.list_at = -1;
    mock.result = (uint64_t)-1;
    mock.error = ENOEXEC;
    outcome = call(&row, given, 0);
    CU_ASSERT_EQUAL(mock.calls, 1);
    CU_ASSERT_EQUAL(mock.arguments[0], given[0]);
    /* The array lay on the wrapper's stack; with an environment behind it the test of its content
     * is guest's, by a real exec. */
    if (with_environment)
        CU_ASSERT_EQUAL(mock.arguments[2], given[5]);
    CU_ASSERT_EQUAL((int)outcome.result, -1);
    CU_ASSERT_EQUAL(outcome.error, ENOEXEC);
}

static void test_exec_lists(void)
{
    for (dft_on = on;; dft_on = 0) {
        check_list("execl", "execv", 0);
        check_list("execlp", "execvp", 0);
        check_list("execle", "execve", 1);
        if (!dft_on)
            break;
    }
    dft_on = on;
}

static void test_vfork(void)
{
    const struct row *row = find("vfork");
    const uint64_t given[ARGUMENTS] = {0};
    struct outcome outcome;

    mock.list_at = -1;
    mock.result = 4321;
    mock.error = 0;
    outcome = call(row, given, 0);
    CU_ASSERT_EQUAL(mock.calls, 1);
    CU_ASSERT_EQUAL((int)outcome.result, 4321);
    CU_ASSERT_EQUAL(outcome.error, OLD_ERRNO);
}

/* Through memory: compilers take two names for two functions. */
static int is_same(function *volatile one, function *volatile other)
{
    return one == other;
}

static void test_aliases(void)
{
    char line[128];

#define DFT_CALL(...)
#define DFT_ENTRY(...)
#define DFT_MODE(...)
#define DFT_FORMAT(...)
#define DFT_FORMAT_ENTRY(...)
#define DFT_CUSTOM(...)
#define DFT_VERSIONED(...)
#define DFT_ALIAS(name, alias)                                                                                         \
    snprintf(line, sizeof line, "%s is not %s", #alias, #name);                                                        \
    CU_assertImplementation(is_same(wrapper_##name, wrapper_##alias), __LINE__, line, __FILE__, "", CU_FALSE);
#define DFT_RECLASSIFIED(...)
#define DFT_GATE(...)
#define DFT_EVENT(...)
#define DFT_CUSTOM_ALIAS DFT_ALIAS
#include <dftrace/calls.def>
}

/* Last: it ends the tracing of this process. The mock jumps out, since nobody returns from
 * _exit. */
static jmp_buf out;
static uint64_t exit_status;

static void mock_exit(int status)
{
    exit_status = (uint64_t)status;
    longjmp(out, 1);
}

static void test_exit(void)
{
    for (dft_on = 0;; dft_on = on) {
        exit_status = 0;
        dft_real._exit = mock_exit;
        if (!setjmp(out))
            wrapper__exit(23, 0, 0, 0, 0, 0);
        dft_real = reals;
        CU_ASSERT_EQUAL(exit_status, 23);
        if (dft_on)
            break;
    }
}

int main(void)
{
    unsigned failures;
    CU_pSuite suite;

    pages = mmap((void *)0x40000000, (ARGUMENTS + 1) * PAGE_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (pages == MAP_FAILED || CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    ((FILE *)(void *)page(ARGUMENTS))->_fileno = FIRST_FD + ARGUMENTS;
    *(int *)(void *)page(ARGUMENTS) = FIRST_FD + ARGUMENTS;
    dft_resolve();
    reals = dft_real;
    on = dft_on;
    suite = CU_add_suite("forwarding", NULL, NULL);
    CU_add_test(suite, "the table, and tracing is on", test_table);
    CU_add_test(suite, "tracing off", test_off);
    CU_add_test(suite, "tracing on, descriptors unknown", test_untraced);
    CU_add_test(suite, "tracing on, traced files", test_traced);
    CU_add_test(suite, "null paths", test_null_paths);
    CU_add_test(suite, "modes of open", test_open_modes);
    CU_add_test(suite, "lists of exec", test_exec_lists);
    CU_add_test(suite, "vfork", test_vfork);
    CU_add_test(suite, "aliases", test_aliases);
    CU_add_test(suite, "_exit", test_exit);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(),
           CU_get_number_of_tests_failed());
    CU_cleanup_registry();
    return failures != 0;
}
