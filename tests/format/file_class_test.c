/* SPDX-License-Identifier: MIT */
/* The classes of files: every row of classes.def by itself, what looks like one and is none, and random paths against
 * the rows as they are written. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/file_class.h"
#include "sample.h"
#include "suites.h"

enum where { START, PART, END, VERSION };

static const struct row {
    enum where where;
    const char *text;
    enum dft_io class;
} rows[] = {
#define DFT_FILE_CLASS(where, text, class, reason) {where, text, DFT_IO_##class},
#include <dftrace/classes.def>
};
#define ROWS (sizeof rows / sizeof *rows)

/* The path lies at the end of its memory: a look behind it shows under a sanitizer. */
static enum dft_io class_of(const char *path)
{
    size_t length = strlen(path);
    char *copy = malloc(length ? length : 1);
    enum dft_io io;

    CU_ASSERT_FATAL(copy != NULL);
    memcpy(copy, path, length);
    io = dft_file_class(copy, length);
    free(copy);
    return io;
}

static int ends(const char *path, size_t length, const char *text)
{
    size_t n = strlen(text);

    return n <= length && !memcmp(path + length - n, text, n);
}

static size_t without_version(const char *path)
{
    size_t length = strlen(path);

    for (;;) {
        size_t n = length;

        while (n && strchr("0123456789", path[n - 1]))
            n--;
        if (n == length || !n || path[n - 1] != '.')
            return length;
        length = n - 1;
    }
}

/* Where in the path the row fits; NULL: nowhere. */
static const char *fits(const struct row *row, const char *path)
{
    size_t n = strlen(row->text);

    switch (row->where) {
    case START:
        return !strncmp(path, row->text, n) && (!path[n] || path[n] == '/' || row->text[n - 1] == ':') ? path : NULL;
    case PART:
        return strstr(path, row->text);
    case END:
        return ends(path, strlen(path), row->text) ? path : NULL;
    default:
        return ends(path, strlen(path), row->text) || ends(path, without_version(path), row->text) ? path : NULL;
    }
}

/* Kind by kind; of several rows the one that fits first. */
static enum dft_io class_by_rows(const char *path)
{
    static const enum where kinds[] = {START, PART, END, VERSION};

    for (unsigned kind = 0; kind < 4; kind++) {
        const char *first = NULL;
        enum dft_io class = DFT_IO_NONE;

        for (size_t i = 0; i < ROWS; i++) {
            const char *at = rows[i].where == kinds[kind] ? fits(&rows[i], path) : NULL;

            if (at && (!first || at < first)) {
                first = at;
                class = rows[i].class;
            }
        }
        if (first)
            return class;
    }
    return DFT_IO_NONE;
}

static void expect(const char *path, enum dft_io class)
{
    if (class_of(path) != class || class_by_rows(path) != class) {
        printf("\n    %s: %d, by the rows %d, expected %d\n", path, class_of(path), class_by_rows(path), class);
        CU_FAIL("another class");
    }
    CU_PASS("as expected");
}

static void test_rows(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const char *text = row->text;
        char path[128];

        snprintf(path, sizeof path, "%s%s", row->where == END || row->where == VERSION ? "/scratch/a/b" : "", text);
        expect(path, row->class);
        if (row->where == PART) {
            snprintf(path, sizeof path, "/data%sx/y", text);
            expect(path, row->class);
            snprintf(path, sizeof path, "/a/rather/long/path/that/goes/on%s", text);
            expect(path, row->class);
            snprintf(path, sizeof path, "/data%.*s", (int)strlen(text) - 1, text);
            expect(path, DFT_IO_NONE);
        } else if (row->where == START && text[strlen(text) - 1] != ':') {
            snprintf(path, sizeof path, "%s/x", text);
            expect(path, row->class);
            snprintf(path, sizeof path, "%s_of_mine", text);
            expect(path, DFT_IO_NONE);
            snprintf(path, sizeof path, "/data%s", text);
            expect(path, DFT_IO_NONE);
        } else if (row->where == VERSION) {
            snprintf(path, sizeof path, "/a%s.1.12.333", text);
            expect(path, row->class);
        } else if (row->where == END) {
            snprintf(path, sizeof path, "/a%s.1", text);
            expect(path, DFT_IO_NONE);
        }
    }
}

static void test_lookalikes(void)
{
    static const char *const none[] = {"",
                                       "/",
                                       "/a",
                                       "/.so",
                                       "/data/run.h5",
                                       "/data/notes.so.txt",
                                       "/data/lib.so6",
                                       "/data/lib.so.",
                                       "/data/lib.so..6",
                                       "/data/lib.so.6a",
                                       "/data/1.2.3.4.5.6.7",
                                       "/devel/shm",
                                       "/dev/shmx",
                                       "/home/dev/shm/x",
                                       "/home/u/model.pth",
                                       "/home/u/train.py",
                                       "/home/u/ompi/run.c",
                                       "/home/u/pmi",
                                       "/usr/lib/pythonic/x",
                                       "/usr/share/localedata",
                                       "/etc/passwd-"};

    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        expect(none[i], !strcmp(none[i], "/.so") ? DFT_IO_STARTUP : DFT_IO_NONE);
    expect("/lib/x86_64-linux-gnu/libc.so.6", DFT_IO_STARTUP);
    expect("/usr/lib/python3/dist-packages/numpy/core/_x.cpython-311-x86_64-linux-gnu.so", DFT_IO_STARTUP);
    expect("/tmp/ompi.node17.1000/pid.99/1/lib.so", DFT_IO_WAIT); /* PART comes before END */
    expect("/dev/shm/lib.so", DFT_IO_STARTUP);
    expect("/dev/shm/data", DFT_IO_NONE);
    CU_ASSERT(dft_file_is_library("/a/libc.so.6", 12));
    CU_ASSERT(!dft_file_is_library("/usr/share/perl/5.36/a.pm", 25));
}

static void test_random_paths(void)
{
    static const char *const pieces[] = {"/",     "a", "li",   ".so",   ".",    "6",       "12",    "/ompi",
                                         "/pmix", "-", "_",    "dstor", "lib",  "python3", "site-", "packages",
                                         ".py",   "c", "/dev", "/shm",  "/etc", "group"};
    char path[160];

    for (int i = 0; i < 200000; i++) {
        size_t used = (size_t)snprintf(path, sizeof path, "/");

        for (uint64_t n = 1 + sample_below(9); n > 0; n--) {
            const char *piece =
                sample_below(4) ? pieces[sample_below(sizeof pieces / sizeof *pieces)] : rows[sample_below(ROWS)].text;

            if (used + strlen(piece) < sizeof path)
                used += (size_t)snprintf(path + used, sizeof path - used, "%s", piece);
        }
        path[used] = 0;
        if (class_of(path) != class_by_rows(path)) {
            expect(path, class_by_rows(path));
            return;
        }
    }
    CU_PASS("alike");
}

static void test_calls(void)
{
    CU_ASSERT(dft_io_on(DFT_OP_READ, DFT_IO_NONE) == DFT_IO_READ &&
              dft_io_on(DFT_OP_READ, DFT_IO_STARTUP) == DFT_IO_STARTUP);
    CU_ASSERT(dft_io_on(DFT_OP_STAT, DFT_IO_STARTUP) == DFT_IO_STARTUP &&
              dft_io_on(DFT_OP_MAP, DFT_IO_WAIT) == DFT_IO_WAIT);
    CU_ASSERT(dft_io_on(DFT_OP_WRITE, DFT_IO_STARTUP) == DFT_IO_WRITE &&
              dft_io_on(DFT_OP_WRITE, DFT_IO_WAIT) == DFT_IO_WAIT);
    CU_ASSERT(dft_io_on(DFT_OP_UNLINK, DFT_IO_STARTUP) == DFT_IO_META &&
              dft_io_on(DFT_OP_SYNC, DFT_IO_NONE) == DFT_IO_SYNC);
    CU_ASSERT(dft_io_on(DFT_OP_EXEC, DFT_IO_STARTUP) == DFT_IO_NONE && dft_io_on(200, DFT_IO_NONE) == DFT_IO_META);
}

int suite_file_class(void)
{
    CU_TestInfo tests[] = {{"rows of classes.def", test_rows},
                           {"what looks like one", test_lookalikes},
                           {"random paths", test_random_paths},
                           {"classes of calls", test_calls},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"file classes", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites) != CUE_SUCCESS;
}
