/* SPDX-License-Identifier: MIT */
/* Work in phases, between which the test breaks and mends things: "phase N" on standard output,
 * then one byte of standard input is awaited.
 *
 *   phases DIRECTORY CALLS PHASES [what ...]
 *
 * Every phase writes CALLS times to one file that stays open, and once to a file of its own. What
 * may be done before a phase:
 *
 *   deny:PHASE:NUMBER:ERRNO   the system call with this number fails with ERRNO from this phase on; past the library's eyes
 *   numbers:PHASE:LIMIT       RLIMIT_NOFILE is set, and all numbers but the last five are taken until the phase is over
 *   size:PHASE:BYTES          RLIMIT_FSIZE is set; SIGXFSZ is counted
 *   add:PHASE:SYMBOL:NUMBER   the word at this place of libdftrace.so becomes NUMBER
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t xfsz;
static int taken[4096], ntaken;

static void need(int is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(99);
}

/* Not a call that anybody can see. */
static long raw(long number, long a, long b, long c, long d, long e)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

static void deny(long number, long error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    need(raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    need(raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0, 0) == 0, "seccomp");
}

static void take_numbers(long limit)
{
    const struct rlimit numbers = {(rlim_t)limit, (rlim_t)limit};
    long fd;

    need(setrlimit(RLIMIT_NOFILE, &numbers) == 0, "setrlimit");
    while ((fd = raw(SYS_fcntl, 0, F_DUPFD, 3, 0, 0)) >= 0 && ntaken < 4096)
        taken[ntaken++] = (int)fd;
    for (int i = 0; i < 5 && ntaken; i++)
        raw(SYS_close, taken[--ntaken], 0, 0, 0, 0);
}

static void give_numbers_back(void)
{
    while (ntaken)
        raw(SYS_close, taken[--ntaken], 0, 0, 0, 0);
}

static void on_xfsz(int number)
{
    (void)number;
    xfsz++;
}

static void limit_size(long bytes)
{
    const struct rlimit size = {(rlim_t)bytes, (rlim_t)bytes};

    signal(SIGXFSZ, on_xfsz);
    need(setrlimit(RLIMIT_FSIZE, &size) == 0, "setrlimit");
}

struct place {
    size_t offset;
    uint64_t *at;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct place *place = argument;

    (void)size;
    if (strstr(info->dlpi_name, "libdftrace.so"))
        place->at = (uint64_t *)(info->dlpi_addr + place->offset);
    return 0;
}

static void set_word(size_t offset, uint64_t number)
{
    struct place place = {offset, NULL};

    dl_iterate_phdr(find_library, &place);
    if (place.at) /* not in a plain run */
        *place.at = number;
}

static void prepare(const char *what, int phase)
{
    char kind[16];
    int when;
    long a, b = 0;

    need(sscanf(what, "%15[a-z]:%d:%ld:%ld", kind, &when, &a, &b) >= 3, what);
    if (when != phase)
        return;
    if (!strcmp(kind, "deny"))
        deny(a, b);
    else if (!strcmp(kind, "numbers"))
        take_numbers(a);
    else if (!strcmp(kind, "size"))
        limit_size(a);
    else if (!strcmp(kind, "add"))
        set_word((size_t)a, (uint64_t)b);
    else
        need(0, what);
}

static void work(int fd, int calls, int phase, const char *directory)
{
    char path[PATH_MAX], byte = (char)('a' + phase);
    int own;

    for (int i = 0; i < calls; i++)
        need(write(fd, &byte, 1) == 1, "write");
    snprintf(path, sizeof path, "%s/phase%d", directory, phase);
    own = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    need(own >= 0, path);
    need(write(own, &byte, 1) == 1, path);
    need(close(own) == 0, path);
}

int main(int argc, char **argv)
{
    int calls, phases, fd = -1;
    char path[PATH_MAX], link[PATH_MAX + 8], byte;

    need(argc >= 4, "arguments");
    calls = atoi(argv[2]);
    phases = atoi(argv[3]);
    snprintf(path, sizeof path, "%s/all", argv[1]);
    snprintf(link, sizeof link, "%s/link", argv[1]);
    for (int phase = 0; phase < phases; phase++) {
        for (int i = 4; i < argc; i++)
            prepare(argv[i], phase);
        if (!phase) { /* by another name than the kernel would tell */
            raw(SYS_symlinkat, (long)"all", AT_FDCWD, (long)link, 0, 0);
            fd = open(link, O_WRONLY | O_CREAT | O_TRUNC, 0644);
            need(fd >= 0, link);
        }
        work(fd, calls, phase, argv[1]);
        give_numbers_back();
        dprintf(1, "phase %d\n", phase);
        need(raw(SYS_read, 0, (long)&byte, 1, 0, 0) >= 0, "standard input");
    }
    need(close(fd) == 0, "close");
    dprintf(1, "signals %d\n", xfsz);
    return 0;
}
