/* SPDX-License-Identifier: MIT */
/* The stand-ins for functions that older C libraries lack do what this C library's functions do. */
#include "loader/substitute.h"

#include <CUnit/Basic.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/own_calls.h"
#include "loader/resolve.h"

struct dft_reals dft_real = {.syscall = syscall};

void dft_resolve_one(size_t i)
{
    (void)i;
}

static int is_loader_there;

void *dft_own_find_loader(const char *name)
{
    return is_loader_there ? dlsym(RTLD_DEFAULT, name) : NULL;
}

/* Any function, called as the wrappers call it. */
#define SUBSTITUTE(name) ((__typeof__(dft_real.name))dft_substitute(#name))

static char path[] = "/tmp/dft-substitute-XXXXXX";
static int fd;

static void looks(void)
{
    struct stat expected, got[4];
    struct statx more;

    CU_ASSERT_EQUAL(fstat(fd, &expected), 0);
    memset(got, 0, sizeof got);
    CU_ASSERT_EQUAL(SUBSTITUTE(stat)(path, &got[0]), 0);
    CU_ASSERT_EQUAL(SUBSTITUTE(lstat)(path, &got[1]), 0);
    CU_ASSERT_EQUAL(SUBSTITUTE(fstat)(fd, &got[2]), 0);
    CU_ASSERT_EQUAL(SUBSTITUTE(fstatat)(AT_FDCWD, path, &got[3], 0), 0);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(memcmp(&got[i], &expected, sizeof expected), 0);
    CU_ASSERT_EQUAL(SUBSTITUTE(statx)(AT_FDCWD, path, 0, STATX_INO | STATX_SIZE, &more), 0);
    CU_ASSERT_EQUAL(more.stx_ino, expected.st_ino);
    CU_ASSERT_EQUAL(more.stx_size, (uint64_t)expected.st_size);
}

static void links(void)
{
    char link[64], other[64];
    struct stat found;

    snprintf(link, sizeof link, "%s-link", path);
    snprintf(other, sizeof other, "%s-other", path);
    CU_ASSERT_EQUAL(symlink("nowhere", link), 0);
    CU_ASSERT_EQUAL(SUBSTITUTE(lstat)(link, &found), 0);
    CU_ASSERT_TRUE(S_ISLNK(found.st_mode));
    errno = 0;
    CU_ASSERT_EQUAL(SUBSTITUTE(stat)(link, &found), -1);
    CU_ASSERT_EQUAL(errno, ENOENT);
    CU_ASSERT_EQUAL(SUBSTITUTE(mknod)(other, S_IFIFO | 0600, 0), 0);
    CU_ASSERT_EQUAL(SUBSTITUTE(stat)(other, &found), 0);
    CU_ASSERT_TRUE(S_ISFIFO(found.st_mode));
    CU_ASSERT_EQUAL(SUBSTITUTE(mknodat)(AT_FDCWD, other, S_IFIFO | 0600, 0), -1);
    CU_ASSERT_EQUAL(errno, EEXIST);
    CU_ASSERT_EQUAL(SUBSTITUTE(renameat2)(AT_FDCWD, other, AT_FDCWD, link, RENAME_NOREPLACE), -1);
    CU_ASSERT_EQUAL(errno, EEXIST);
    CU_ASSERT_EQUAL(SUBSTITUTE(renameat2)(AT_FDCWD, other, AT_FDCWD, link, 0), 0);
    CU_ASSERT_EQUAL(unlink(link), 0);
}

static void moves_bytes(void)
{
    char bytes[8] = "", folder[512];
    struct iovec iov = {bytes, 5};
    int memory = SUBSTITUTE(memfd_create)("dftrace", MFD_CLOEXEC), root = open("/", O_RDONLY | O_DIRECTORY);
    off_t from = 1;

    CU_ASSERT_TRUE(memory >= 0);
    CU_ASSERT_EQUAL(SUBSTITUTE(preadv2)(fd, &iov, 1, 2, 0), 4);
    CU_ASSERT_STRING_EQUAL(bytes, "cdef");
    iov.iov_len = 2;
    CU_ASSERT_EQUAL(SUBSTITUTE(pwritev2)(memory, &iov, 1, 1, 0), 2);
    CU_ASSERT_EQUAL(pread(memory, bytes, 3, 0), 3);
    CU_ASSERT_EQUAL(memcmp(bytes, "\0cd", 3), 0);
    CU_ASSERT_TRUE(SUBSTITUTE(copy_file_range)(fd, &from, fd, &(off_t){100}, 3, 0) == 3 || errno == EXDEV ||
                   errno == EOPNOTSUPP || errno == ENOSYS);
    CU_ASSERT_TRUE(SUBSTITUTE(getdents64)(root, folder, sizeof folder) > 0);
    CU_ASSERT_EQUAL(SUBSTITUTE(mlock2)(NULL, 4096, 1 << 20), -1);
    CU_ASSERT_EQUAL(errno, EINVAL);
    close(root);
    close(memory);
}

static int is_open(int number)
{
    return fcntl(number, F_GETFD) >= 0;
}

/* In a child: it loses its descriptors. */
static void closes(void)
{
    int status = -1;
    pid_t child = fork();

    if (!child) {
        dup2(fd, 70);
        dup2(fd, 71);
        dup2(fd, 200);
        if (SUBSTITUTE(close_range)(70, 70, 0) && errno != ENOSYS)
            _exit(1);
        if (!is_open(71) || !is_open(200))
            _exit(2);
        SUBSTITUTE(closefrom)(70);
        _exit(is_open(70) || is_open(71) || is_open(200) ? 3 : 0);
    }
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_TRUE(is_open(fd));
}

static void asks_the_loader(void)
{
    void *handle;

    is_loader_there = 0;
    CU_ASSERT_PTR_NULL(SUBSTITUTE(dlopen)(NULL, RTLD_NOW));
    is_loader_there = 1;
    handle = SUBSTITUTE(dlopen)(NULL, RTLD_NOW);
    CU_ASSERT_PTR_NOT_NULL(handle);
    CU_ASSERT_PTR_EQUAL(SUBSTITUTE(dlsym)(handle, "mkstemp"), dlsym(handle, "mkstemp"));
    CU_ASSERT_PTR_NULL(SUBSTITUTE(dlvsym)(handle, "mkstemp", "GLIBC_0.0"));
}

static void names(void)
{
    CU_ASSERT_PTR_NULL(dft_substitute("read"));
    CU_ASSERT_PTR_NULL(dft_substitute("fsta"));
    CU_ASSERT_PTR_NULL(dft_substitute(""));
}

int main(void)
{
    CU_pSuite suite;
    unsigned failed;

    fd = mkstemp(path);
    if (fd < 0 || write(fd, "abcdef", 6) != 6 || CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    suite = CU_add_suite("substitute", NULL, NULL);
    CU_add_test(suite, "the looks agree with fstat", looks);
    CU_add_test(suite, "links, nodes and renames", links);
    CU_add_test(suite, "bytes at offsets", moves_bytes);
    CU_add_test(suite, "ranges of descriptors are closed", closes);
    CU_add_test(suite, "a loader that came later", asks_the_loader);
    CU_add_test(suite, "other names have none", names);
    CU_basic_run_tests();
    failed = CU_get_number_of_failures() + CU_get_number_of_tests_failed();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(),
           CU_get_number_of_tests_failed());
    CU_cleanup_registry();
    unlink(path);
    return failed != 0;
}
