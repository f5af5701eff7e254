/* SPDX-License-Identifier: MIT */
/* The doctor looks at the limits of this process, and at what encloses it. */
#include "dftrun/dftrun_doctor_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_text.h"

#define MIB                 (1ull << 20)
#define FIRST_PID_NAMESPACE 4026531836u /* the kernel's number of the first one */

static const struct limit {
    int which;
    unsigned long long least;
    const char *name, *advice;
} limits[] = {
    {RLIMIT_NOFILE, 64, "open files", "The trace takes one descriptor more in each process: ulimit -n 1024."},
    {RLIMIT_FSIZE, 64 * MIB, "file size", "Traces and live files fall under it, too: ulimit -f unlimited."},
    {RLIMIT_AS, 512 * MIB, "address space", "The library takes 4 MiB, and 36 KiB a thread: ulimit -v unlimited."},
};

static void check_limit(struct dft_checks *checks, const struct limit *limit)
{
    struct rlimit now;
    char text[DFT_TEXT_ROOM];

    if (getrlimit((__rlimit_resource_t)limit->which, &now) || now.rlim_cur >= limit->least)
        return;
    dft_checks_add(checks, DFT_CHECK_NOTE, "limits", limit->advice, "%s: %s, which is low", limit->name,
                   (limit->which == RLIMIT_NOFILE ? dft_text_count : dft_text_bytes)(text, now.rlim_cur));
}

/* Reads one line of a file. Returns whether there is one. */
static int read_line(const char *path, char *line, int capacity)
{
    FILE *file = fopen(path, "re");
    int found = file && fgets(line, capacity, file);

    if (file)
        fclose(file);
    if (found)
        line[strcspn(line, "\n")] = '\0';
    return found;
}

/* The number of a field of /proc/self/status, or 0. */
static long status_of(const char *field)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long number = 0;

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
            number = atol(line + strlen(field) + 1);
    if (file)
        fclose(file);
    return number;
}

/* The limit of the second version of cgroups; in a container it is that of the root. */
static void check_memory(struct dft_checks *checks)
{
    static const char root[] = "/sys/fs/cgroup";
    char group[512] = "", path[640], line[64], text[DFT_TEXT_ROOM];
    unsigned long long bytes;

    if (!read_line("/proc/self/cgroup", group, sizeof group) || strncmp(group, "0::", 3))
        return;
    snprintf(path, sizeof path, "%s%s/memory.max", root, group + 3);
    if (!read_line(path, line, sizeof line) || *line < '0' || *line > '9')
        return;
    bytes = strtoull(line, NULL, 10);
    if (bytes < 64 * MIB)
        dft_checks_add(checks, DFT_CHECK_NOTE, "limits",
                       "Each process takes up to 4 MiB, and 36 KiB a thread: raise it.", "memory of this cgroup: %s",
                       dft_text_bytes(text, bytes));
}

static void check_enclosure(struct dft_checks *checks)
{
    struct stat pids;
    char scope[16] = "0";

    if (!stat("/proc/self/ns/pid", &pids) && pids.st_ino != FIRST_PID_NAMESPACE)
        dft_checks_add(
            checks, DFT_CHECK_OK, "namespace", NULL,
            "pids are of a namespace of their own: other containers repeat them, and traces are told apart by keys");
    if (status_of("Seccomp") == 2)
        dft_checks_add(checks, DFT_CHECK_OK, "seccomp", NULL,
                       "a filter is on, as in a container; the library was tried under it");
    read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    if (atoi(scope) >= 2 && geteuid())
        dft_checks_add(checks, DFT_CHECK_NOTE, "ptrace", "Only root can ask for stacks: sudo dftmerge ps --stacks DIR",
                       "kernel.yama.ptrace_scope is %s", scope);
}

void dft_doctor_limits(struct dft_checks *checks)
{
    size_t before = checks->count;

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        check_limit(checks, &limits[i]);
    check_memory(checks);
    if (checks->count == before)
        dft_checks_add(checks, DFT_CHECK_OK, "limits", NULL,
                       "open files, file size, address space and memory are enough");
    check_enclosure(checks);
}
