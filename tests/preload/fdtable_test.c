/* SPDX-License-Identifier: MIT */
/* The table of descriptors: descriptions that are closed while calls on them still run. */
#include "tables/fdtable.h"

#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "os/sys.h"

#define FIRST  100
#define COUNT  50
#define ROUNDS 20000

/* No thread here forbids itself system calls (sys.h asks). */
int dft_sandbox;

int dft_is_sandboxed(void)
{
    return 0;
}

static void bind_all(int from)
{
    for (int fd = from; fd < from + COUNT; fd++)
        dft_fd_bind(fd, (struct dft_file){(uint64_t)fd, DFT_IO_NONE}, 0, 0);
}

static void close_all(int from)
{
    for (int fd = from; fd < from + COUNT; fd++)
        dft_fd_drop(dft_fd_unbind(fd));
}

/* All that a call changes when it has ended. */
static void end_call(struct dft_open *open)
{
    atomic_store(&open->offset, 1);
    atomic_store(&open->last_end, 2);
    atomic_fetch_add(&open->started, 1);
    atomic_fetch_add(&open->finished, 1);
    atomic_fetch_or(&open->flags, DFT_OPEN_LOST);
    atomic_exchange(&open->way, DFT_WAY_WRITES);
    atomic_store(&open->last_start, 3);
    atomic_store(&open->start_before, 4);
}

/* Whoever has a description knows its file, and nobody else has it. */
static int wrong_ones(int from)
{
    int wrong = 0;

    for (int fd = from; fd < from + COUNT; fd++) {
        wrong += dft_fd_open(dft_fd_word(fd))->file != (uint64_t)fd;
        for (int other = from; other < fd; other++)
            wrong += dft_fd_index(dft_fd_word(other)) == dft_fd_index(dft_fd_word(fd));
    }
    return wrong;
}

static void test_late_call(void)
{
    uint64_t words[COUNT];

    bind_all(FIRST);
    for (int i = 0; i < COUNT; i++)
        words[i] = dft_fd_word(FIRST + i);
    close_all(FIRST);
    for (int i = 0; i < COUNT; i++)
        end_call(dft_fd_open(words[i]));
    bind_all(FIRST);
    CU_ASSERT_EQUAL(wrong_ones(FIRST), 0);
    close_all(FIRST);
}

/* A description that lies in the free list is no live one's: its number tells. */
static void test_serial(void)
{
    uint64_t word;
    uint32_t serial;

    bind_all(FIRST);
    word = dft_fd_word(FIRST);
    serial = dft_fd_open(word)->serial;
    CU_ASSERT_NOT_EQUAL(serial, 0);
    CU_ASSERT_EQUAL(serial & DFT_OPEN_FREE, 0);
    close_all(FIRST);
    CU_ASSERT_EQUAL(dft_fd_open(word)->serial & DFT_OPEN_FREE, DFT_OPEN_FREE);
    bind_all(FIRST);
    for (int fd = FIRST; fd < FIRST + COUNT; fd++)
        CU_ASSERT_NOT_EQUAL(dft_fd_open(dft_fd_word(fd))->serial, serial);
    close_all(FIRST);
}

static _Atomic int stop;

static void *call_until_stopped(void *unused)
{
    while (!atomic_load(&stop))
        for (int fd = FIRST; fd < FIRST + 2 * COUNT; fd++) {
            uint64_t word = dft_fd_word(fd);

            if (word & DFT_FD_TRACED && dft_fd_word(fd) == word)
                end_call(dft_fd_open(word));
        }
    return unused;
}

static void *open_and_close(void *from)
{
    static _Atomic int wrong;

    for (int i = 0; i < ROUNDS; i++) {
        bind_all(*(int *)from);
        atomic_fetch_add(&wrong, wrong_ones(*(int *)from));
        close_all(*(int *)from);
    }
    return &wrong;
}

static void test_calls_of_other_threads(void)
{
    int from[2] = {FIRST, FIRST + COUNT};
    pthread_t callers[2], openers[2];
    void *wrong = NULL;

    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&callers[i], NULL, call_until_stopped, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&openers[i], NULL, open_and_close, &from[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(openers[i], &wrong);
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(callers[i], NULL);
    CU_ASSERT_EQUAL(atomic_load((_Atomic int *)wrong), 0);
}

int main(void)
{
    CU_pSuite suite;
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    suite = CU_add_suite("descriptors", NULL, NULL);
    CU_add_test(suite, "calls that end after the close", test_late_call);
    CU_add_test(suite, "numbers of descriptions", test_serial);
    CU_add_test(suite, "calls of other threads", test_calls_of_other_threads);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(),
           CU_get_number_of_tests_failed());
    CU_cleanup_registry();
    return failures != 0;
}
