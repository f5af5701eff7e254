/* SPDX-License-Identifier: MIT */
/* What is read of a mountinfo file: whole, in pieces, where it does not fit, and where it is not
 * one. */
#include "store/mounts.h"
#include "os/sys.h"
#include "tables/fd_progress.h"

#include <CUnit/Basic.h>
#include <fcntl.h>
#include <string.h>

uint64_t dft_own_read, dft_own_written; /* of the library, which is not part of this test */

/* No thread here forbids itself system calls (sys.h asks). */
int dft_sandbox;
uint64_t dft_own_read;

int dft_is_sandboxed(void)
{
    return 0;
}

long dft_fd_progress_open_proc(const char *file, int flags)
{
    return strcmp(file, "mountinfo") ? -1 : dft_sys_openat(AT_FDCWD, "/proc/self/mountinfo", flags, 0);
}

void dft_fd_progress_close_brief(long fd)
{
    dft_sys_close((int)fd);
}

static const char text[] =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:21 / /proc rw - proc proc rw\n"
    "24 22 0:22 / /process rw - tmpfs tmpfs rw\n"
    "25 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
    "26 22 0:24 / /dev rw - devtmpfs udev rw\n"
    "27 26 0:25 / /dev/shm rw - tmpfs tmpfs rw\n"
    "28 22 0:26 /a-b /a\\040- rw,- shared:9 master:1 propagate_from:2 - fuse.x-y host:/a-b - rw\n"
    "29 22 0:27 / /scratch rw - lustre 10.0.0.1@o2ib:/fs rw,flock\n";
static const char wanted[] = "/ ext4\n/process tmpfs\n/dev/shm tmpfs\n/a\\040- fuse.x-y\n/scratch lustre\n";

static size_t read_in(size_t first, size_t capacity, char *lines)
{
    struct dft_mounts_reader reader = {0};

    dft_mounts_put(&reader, text, first, lines, capacity);
    dft_mounts_put(&reader, text + first, sizeof text - 1 - first, lines, capacity);
    return reader.used;
}

static void test_pieces(void)
{
    char lines[512];

    for (size_t first = 0; first < sizeof text; first++) {
        CU_ASSERT(read_in(first, sizeof lines, lines) == sizeof wanted - 1);
        CU_ASSERT(!memcmp(lines, wanted, sizeof wanted - 1));
    }
}

/* Whole lines, as many as fit, and not a byte behind the room. */
static void test_capacity(void)
{
    for (size_t capacity = 0; capacity < sizeof wanted; capacity++) {
        char lines[512];
        size_t used;

        memset(lines, '!', sizeof lines);
        used = read_in(0, capacity, lines);
        CU_ASSERT(used <= capacity);
        CU_ASSERT(!used || lines[used - 1] == '\n');
        CU_ASSERT(lines[capacity] == '!');
        CU_ASSERT(used < sizeof wanted - 1 || capacity == sizeof wanted - 1);
        CU_ASSERT(capacity < 7 || !memcmp(lines, wanted, 7));
    }
}

static void test_damaged(void)
{
    static const char *const bad[] = {
        "\n", " \n", "a b c d /x e\n", "a b c d /x e - \n", "- - - - - - - - -\n", "a b c d\n", "a b c d /x e - tmp"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dft_mounts_reader reader = {0};
        char lines[64];

        dft_mounts_put(&reader, bad[i], strlen(bad[i]), lines, sizeof lines);
        CU_ASSERT(reader.used <= 8);
        CU_ASSERT(!reader.used || memchr(lines, ' ', reader.used));
    }
}

static void test_here(void)
{
    static char lines[8192];
    size_t used = dft_mounts_read(lines, sizeof lines - 1);

    CU_ASSERT(used > 0 && lines[used - 1] == '\n');
    lines[used] = 0;
    CU_ASSERT(!strncmp(lines, "/ ", 2) || strstr(lines, "\n/ ") != NULL);
    CU_ASSERT(!strstr(lines, "\n/proc "));
}

int main(void)
{
    CU_pSuite suite;
    unsigned failed;

    CU_initialize_registry();
    suite = CU_add_suite("mounts", NULL, NULL);
    CU_add_test(suite, "in pieces", test_pieces);
    CU_add_test(suite, "without room", test_capacity);
    CU_add_test(suite, "damaged lines", test_damaged);
    CU_add_test(suite, "of this machine", test_here);
    CU_basic_run_tests();
    failed = CU_get_number_of_failures();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(),
           CU_get_number_of_tests_failed());
    CU_cleanup_registry();
    return failed != 0;
}
