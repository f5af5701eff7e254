/* SPDX-License-Identifier: MIT */
/* The table of mappings against a model that has one entry a page: random sequences, with cuts in
 * flight; a full table; and threads with signal handlers that take one mapping apart between
 * them. */
#include "tables/maps.h"
#include "os/sys.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define PAGE  4096u
#define BASE  UINT64_C(0x7f12345ff000) /* one page below the end of a megabyte */
#define PAGES 640u                     /* into a third megabyte */

static struct dft_range pages(unsigned first, unsigned count)
{
    return (struct dft_range){BASE + (uintptr_t)first * PAGE, BASE + (uintptr_t)(first + count) * PAGE};
}

/* No thread here forbids itself system calls (sys.h asks). */
int dft_sandbox;

int dft_is_sandboxed(void)
{
    return 0;
}

/* --- the model -------------------------------------------------------------------------------- */

struct page {
    uint64_t file; /* 0: none */
    int64_t offset;
};
struct model {
    struct page pages[PAGES];
};

static void model_set(struct model *model, unsigned first, unsigned count, uint64_t file, int64_t offset)
{
    for (unsigned i = 0; i < count; i++)
        model->pages[first + i] = (struct page){file, file ? offset + (int64_t)i * PAGE : 0};
}

/* What the table says, page by page. */
static void read_table(struct model *model, uint64_t before)
{
    struct dft_range rest = pages(0, PAGES);
    struct dft_mapped_range map;

    memset(model, 0, sizeof *model);
    while (rest.start < rest.end && dft_maps_find(rest, before, &map)) {
        if (map.start < rest.start || map.end <= map.start || map.end > rest.end) {
            CU_FAIL_FATAL("a part that does not lie in the range");
        }
        model_set(model, (unsigned)((map.start - BASE) / PAGE), (unsigned)((map.end - map.start) / PAGE), map.file,
                  map.offset);
        rest.start = map.end;
    }
}

static int is_table(const struct model *expected, uint64_t before)
{
    static struct model got;

    read_table(&got, before);
    return !memcmp(&got, expected, sizeof got);
}

/* --- random sequences ------------------------------------------------------------------------- */

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % below;
}

/* A cut that is waiting for its real call. */
struct flight {
    struct dft_cut cut;
    struct model before;
    unsigned first, count;
};

static int overlaps(const struct flight *flight, unsigned first, unsigned count)
{
    return flight->count && first < flight->first + flight->count && flight->first < first + count;
}

static void land(struct model *model, struct flight *flight)
{
    if (!flight->count)
        return;
    if (draw(2)) {
        dft_maps_settle(&flight->cut);
    } else {
        dft_maps_restore(&flight->cut);
        memcpy(&model->pages[flight->first], &flight->before.pages[flight->first], flight->count * sizeof(struct page));
    }
    flight->count = 0;
}

static void take_off(struct model *model, struct flight *flight, unsigned first, unsigned count)
{
    *flight = (struct flight){dft_maps_cut(pages(first, count)), *model, first, count};
    model_set(model, first, count, 0, 0);
}

/* What the part of the table under the cut was is asked for while others change what lies beside
 * it. */
static int remembers(const struct flight *flight)
{
    struct dft_range range = pages(flight->first, flight->count);
    struct dft_mapped_range map;

    for (unsigned i = flight->first; flight->count && i < flight->first + flight->count; i++) {
        const struct page *page = &flight->before.pages[i];
        int is = dft_maps_find(pages(i, 1), flight->cut.number, &map);

        if (is != (page->file != 0) || (is && (map.file != page->file || map.offset != page->offset)))
            return 0;
    }
    return !flight->count || range.end > range.start;
}

static int one_step(struct model *model, struct flight *flights, unsigned nflights)
{
    unsigned count = 1 + (draw(4) ? draw(20) : draw(PAGES)), first = draw(PAGES - count + 1);
    struct flight *flight = &flights[draw(nflights)];
    struct dft_range range = pages(first, count);
    struct dft_mapped_range map = {range.start, range.end, 1 + draw(5), (int64_t)draw(1000) * PAGE};

    land(model, flight);
    for (unsigned i = 0; i < nflights; i++)
        if (overlaps(&flights[i], first, count))
            return 1; /* a program that does this does not know what it gets */
    switch (draw(4)) {
    case 0:
        take_off(model, flight, first, count);
        break;
    case 1:
        dft_maps_forget(range);
        model_set(model, first, count, 0, 0);
        break;
    default:
        if (dft_maps_add(&map))
            return 0;
        model_set(model, first, count, map.file, map.offset);
    }
    return 1;
}

static void test_random(void)
{
    static struct model model;
    static struct flight flights[4];

    for (unsigned seed = 1; seed <= 60; seed++) {
        random_state = seed;
        memset(&model, 0, sizeof model);
        for (unsigned step = 0; step < 400; step++) {
            unsigned nflights = 1 + seed % 4;
            int good = one_step(&model, flights, nflights) && is_table(&model, 0);

            for (unsigned i = 0; i < nflights; i++)
                good = good && remembers(&flights[i]);
            if (!good) {
                fprintf(stderr, "seed %u, step %u\n", seed, step);
                CU_FAIL_FATAL("the table is not what the model is");
            }
        }
        for (unsigned i = 0; i < 4; i++)
            land(&model, &flights[i]);
        CU_ASSERT(is_table(&model, 0));
        dft_maps_forget(pages(0, PAGES));
        CU_ASSERT_EQUAL_FATAL(dft_maps_used, 0); /* nothing is left of it */
    }
    CU_ASSERT_EQUAL(dft_maps_take_lost(), 0);
}

/* --- by hand ---------------------------------------------------------------------------------- */

static void test_ranges(void)
{
    struct dft_range range = dft_maps_range((void *)(BASE + 5), 1);

    CU_ASSERT(range.start == BASE && range.end == BASE + PAGE);
    range = dft_maps_range((void *)BASE, 0);
    CU_ASSERT(range.start == BASE && range.end == BASE + PAGE);
    range = dft_maps_range((void *)BASE, PAGE + 1);
    CU_ASSERT(range.start == BASE && range.end == BASE + 2 * PAGE);
    range = dft_maps_range((void *)BASE, SIZE_MAX);
    CU_ASSERT(range.start == BASE && range.end == UINTPTR_MAX - PAGE + 1);
    range = dft_maps_range((void *)(UINTPTR_MAX - 3), 1);
    CU_ASSERT(range.start == range.end);
}

/* A window that moves over a mapping leaves one interval; a hole in the middle leaves two. */
static void test_pieces(void)
{
    struct dft_mapped_range map = {BASE, BASE + PAGES * PAGE, 7, 0}, found;

    CU_ASSERT_EQUAL(dft_maps_add(&map), 0);
    for (unsigned i = 0; i < 300; i++) {
        struct dft_cut cut = dft_maps_cut(pages(i, 1));

        dft_maps_settle(&cut);
        CU_ASSERT_EQUAL_FATAL(dft_maps_used, 1);
    }
    dft_maps_forget(pages(400, 10));
    CU_ASSERT_EQUAL(dft_maps_used, 2);
    CU_ASSERT(dft_maps_find(pages(0, PAGES), 0, &found));
    CU_ASSERT(found.start == BASE + 300 * PAGE && found.end == BASE + 400 * PAGE && found.offset == 300 * PAGE);
    CU_ASSERT(dft_maps_find(pages(405, 100), 0, &found));
    CU_ASSERT(found.start == BASE + 410 * PAGE && found.offset == 410 * PAGE && found.file == 7);
    dft_maps_forget(pages(0, PAGES));
    CU_ASSERT_EQUAL(dft_maps_used, 0);
}

/* What does not fit is counted, and nothing that is in the table becomes wrong for it. */
static void test_full(void)
{
    unsigned added = 0, refused = 0, wrong = 0;
    struct dft_mapped_range found;

    for (unsigned i = 0; i < DFT_MAPS_SLOTS; i++) {
        struct dft_mapped_range map = {BASE + UINT64_C(4) * i * PAGE, BASE + (UINT64_C(4) * i + 3) * PAGE, i + 1, 0};

        *(dft_maps_add(&map) ? &refused : &added) += 1;
    }
    CU_ASSERT_EQUAL(added, DFT_MAPS_SLOTS - 4096);
    CU_ASSERT_EQUAL(dft_maps_take_lost(), refused);
    for (unsigned i = 0; i < added; i++) { /* those of which the middle goes need another slot each */
        if (i < 4000)
            dft_maps_forget(
                (struct dft_range){BASE + (UINT64_C(4) * i + 1) * PAGE, BASE + (UINT64_C(4) * i + 2) * PAGE});
        wrong += !dft_maps_find(pages(4 * i, 4), 0, &found) || found.file != i + 1 ||
                 found.end - found.start != (i < 4000 ? 1 : 3) * PAGE;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(dft_maps_take_lost(), 0);
    for (unsigned i = 4000; i < 4200; i++) /* no more room: a mapping is forgotten whole or in part, and never wrong */
        dft_maps_forget((struct dft_range){BASE + (UINT64_C(4) * i + 1) * PAGE, BASE + (UINT64_C(4) * i + 2) * PAGE});
    for (unsigned i = 4000; i < 4200; i++) {
        wrong += dft_maps_find(pages(4 * i + 1, 1), 0, &found);
        wrong += dft_maps_find(pages(4 * i, 1), 0, &found) && found.file != i + 1;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(dft_maps_take_lost() > 0);
    dft_maps_forget(pages(0, 4 * DFT_MAPS_SLOTS));
    CU_ASSERT_EQUAL(dft_maps_used, 0);
}

/* --- threads and handlers --------------------------------------------------------------------- */

/* One mapping, whose pages belong in turn to the threads and to their signal handlers; each takes
 * its own pages out and maps something of its own there. */
#define THREADS   4u
#define OWNERS    (2 * THREADS)
#define OWN_PAGES (PAGES / OWNERS)
#define ROUNDS    300u
#define WHOLE     99

static pthread_barrier_t barrier;
static _Atomic unsigned mistakes, handled;
static __thread volatile unsigned handler_page = OWN_PAGES, handler_owner;

static int shows(unsigned page, uint64_t before, uint64_t file, int64_t offset)
{
    struct dft_mapped_range found;

    if (!dft_maps_find(pages(page, 1), before, &found))
        return file == 0;
    return found.file == file && found.offset == offset;
}

/* Unmaps one page, maps it anew, unmaps that: as any owner may whatever the others do with
 * theirs. */
static void use_page(unsigned owner, unsigned i)
{
    unsigned page = i * OWNERS + owner, wrong = 0;
    struct dft_mapped_range own = {pages(page, 1).start, pages(page, 1).end, owner + 1, 5 * PAGE};
    struct dft_cut cut;

    wrong += !shows(page, 0, WHOLE, (int64_t)page * PAGE);
    for (int settles = i % 3 != 0; settles <= 1; settles++) {
        cut = dft_maps_cut(pages(page, 1));
        wrong += !shows(page, 0, 0, 0);
        wrong += !shows(page, cut.number, WHOLE, (int64_t)page * PAGE);
        if (settles) {
            dft_maps_settle(&cut);
        } else {
            dft_maps_restore(&cut);
            wrong += !shows(page, 0, WHOLE, (int64_t)page * PAGE);
        }
    }
    wrong += !shows(page, 0, 0, 0);
    wrong += dft_maps_add(&own) != 0;
    wrong += !shows(page, 0, owner + 1, 5 * PAGE);
    dft_maps_forget(pages(page, 1));
    wrong += !shows(page, 0, 0, 0);
    if (wrong)
        atomic_fetch_add(&mistakes, wrong);
}

static void on_signal(int signal)
{
    (void)signal;
    if (handler_page < OWN_PAGES) {
        use_page(handler_owner, handler_page);
        handler_page = handler_page + 1;
        atomic_fetch_add(&handled, 1);
    }
}

static void *take_apart(void *number)
{
    unsigned owner = (unsigned)(uintptr_t)number;

    handler_owner = THREADS + owner;
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (owner == 0) {
            struct dft_mapped_range whole = {BASE, BASE + PAGES * PAGE, WHOLE, 0};

            if (dft_maps_used || dft_maps_add(&whole))
                atomic_fetch_add(&mistakes, 1);
        }
        pthread_barrier_wait(&barrier);
        handler_page = 0;
        for (unsigned i = 0; i < OWN_PAGES; i++)
            use_page(owner, i);
        while (handler_page < OWN_PAGES) /* the next signals do the rest */
            raise(SIGALRM);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void test_threads(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    pthread_t threads[THREADS];

    sigaction(SIGALRM, &action, NULL);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, take_apart, (void *)(uintptr_t)i), 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    pthread_barrier_destroy(&barrier);
    CU_ASSERT_EQUAL(mistakes, 0);
    CU_ASSERT_EQUAL(handled, ROUNDS * THREADS * OWN_PAGES);
    CU_ASSERT_EQUAL(dft_maps_used, 0); /* nobody left anything behind */
    CU_ASSERT_EQUAL(dft_maps_take_lost(), 0);
}

int main(void)
{
    unsigned failures;
    CU_pSuite suite;

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    suite = CU_add_suite("maps", NULL, NULL);
    CU_add_test(suite, "ranges", test_ranges);
    CU_add_test(suite, "pieces", test_pieces);
    CU_add_test(suite, "random sequences", test_random);
    CU_add_test(suite, "full", test_full);
    CU_add_test(suite, "threads and handlers", test_threads);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(),
           CU_get_number_of_tests_failed());
    CU_cleanup_registry();
    return failures != 0;
}
