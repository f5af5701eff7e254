/* SPDX-License-Identifier: MIT */
/* The doctor looks at the directory of the traces: can it be written, what is free, on which file
 * system does it lie, and where do live files go. */
#include "dftrun/dftrun_doctor_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/write_text.h"
#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_launch.h"
#include "format/live_format.h"

static const char topic[] = "directory";

enum kind { LOCAL, MEMORY, NETWORK, LAYER };

/* The numbers are those of statfs(2). */
static const struct system {
    unsigned long magic;
    const char *name;
    enum kind kind;
} systems[] = {
    {0xef53, "ext2, 3 or 4", LOCAL}, {0x58465342, "xfs", LOCAL},        {0x01021994, "tmpfs", MEMORY},
    {0x858458f6, "ramfs", MEMORY},   {0x9123683e, "btrfs", LOCAL},      {0x2fc12fc1, "zfs", LOCAL},
    {0x794c7630, "overlay", LAYER},  {0x6969, "NFS", NETWORK},          {0x0bd00bd0, "Lustre", NETWORK},
    {0x47504653, "GPFS", NETWORK},   {0xff534d42, "CIFS", NETWORK},     {0xfe534d42, "SMB", NETWORK},
    {0x00c36400, "Ceph", NETWORK},   {0x19830326, "BeeGFS", NETWORK},   {0x5346414f, "AFS", NETWORK},
    {0xaad7aaea, "PanFS", NETWORK},  {0x20030528, "OrangeFS", NETWORK}, {0x01021997, "9p", NETWORK},
    {0x65735546, "FUSE", NETWORK},
};

static const struct system *system_of(unsigned long magic)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (systems[i].magic == magic)
            return &systems[i];
    return NULL;
}

/* The nearest directory above that is there. */
static void find_existing(char *path)
{
    struct stat st;
    char *slash;

    while (*path && stat(path, &st) && (slash = strrchr(path, '/')))
        *slash = '\0';
    if (!*path)
        strcpy(path, "/");
}

static const char *advice_for(int error)
{
    switch (-error) {
    case ENOSPC:
        return "Free space or inodes, or name another directory with -o.";
    case EDQUOT:
        return "Your quota is used up: remove files, or name another directory with -o.";
    case EROFS:
        return "It is mounted read-only: name another directory with -o.";
    case EACCES:
    case EPERM:
        return "You may not write there: name a directory of yours with -o.";
    case ENOTDIR:
        return "A part of the path is a file: name another directory with -o.";
    case EFBIG:
        return "A limit on the size of files forbids it: ulimit -f unlimited.";
    default:
        return "Name another directory with -o.";
    }
}

static void check_space(struct dft_checks *checks, const char *path)
{
    struct statvfs fs;
    char text[DFT_TEXT_ROOM];
    uint64_t bytes;

    if (statvfs(path, &fs))
        return;
    bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (bytes >> 20 < 64)
        dft_checks_add(checks, DFT_CHECK_NOTE, topic,
                       "An event takes 1 to 5 bytes, a process 4 MiB while it runs: free some space.", "%s are free",
                       dft_text_bytes(text, bytes));
    if (fs.f_files && fs.f_favail < 1000)
        dft_checks_add(checks, DFT_CHECK_NOTE, topic,
                       "A process takes two files while it runs, and one later: remove some files.",
                       "%llu more files fit", (unsigned long long)fs.f_favail);
}

static void check_system(struct dft_checks *checks, const struct system *system)
{
    if (!system)
        return;
    if (system->kind == NETWORK)
        dft_checks_add(
            checks, DFT_CHECK_NOTE, topic,
            "Where creating files is slow, set DFTRACER_STAGE_DIR to a disk of the node: traces are moved at the end.",
            "it lies on %s, a network or parallel file system", system->name);
    else if (system->kind == MEMORY)
        dft_checks_add(checks, DFT_CHECK_NOTE, topic,
                       "Traces take memory there, and go with the next start: copy what you want to keep.",
                       "it lies in memory (%s)", system->name);
    else if (system->kind == LAYER)
        dft_checks_add(checks, DFT_CHECK_NOTE, topic,
                       "In a container it goes with the container: mount a directory of the host, and name it with -o.",
                       "it lies on %s, the layer of a container or of a live system", system->name);
}

/* Where the file system does not serve, live files go to /dev/shm, and else to plain memory. */
static void check_live(struct dft_checks *checks, const struct system *system)
{
    struct statvfs fs;
    char text[DFT_TEXT_ROOM];
    int error = 0;

    if ((system && dft_live_fits(system->magic)) || dft_run_variable("DFTRACER_LIVE_DIR"))
        return;
    error = dft_folder_try("/dev/shm/dftrun");
    if (error)
        dft_checks_add(
            checks, DFT_CHECK_NOTE, "live files",
            "Set DFTRACER_LIVE_DIR to a folder on ext4, xfs or tmpfs. Else a killed process loses its last events.",
            "neither DIR nor /dev/shm serves for them: /dev/shm: %s", strerror(-error));
    else if (!statvfs("/dev/shm", &fs))
        dft_checks_add(checks, DFT_CHECK_OK, "live files", NULL, "in /dev/shm, where %s are free",
                       dft_text_bytes(text, (uint64_t)fs.f_bavail * fs.f_frsize));
}

void dft_doctor_folder(struct dft_checks *checks, const struct dft_run *run)
{
    const struct system *system = NULL;
    int error = dft_folder_try(run->prefix);
    char path[PATH_MAX];
    struct statfs fs;

    snprintf(path, sizeof path, "%s", run->place);
    find_existing(path);
    if (!statfs(path, &fs))
        system = system_of((unsigned long)fs.f_type & 0xffffffffu);
    if (error) {
        dft_checks_add(checks, DFT_CHECK_WRONG, topic, advice_for(error), "no trace can be written to '%s': %s",
                       run->directory, strerror(-error));
        dft_checks_judge(checks, "No trace can be written to '%s': %s", run->directory, strerror(-error));
    } else {
        dft_checks_add(checks, DFT_CHECK_OK, topic, NULL, "%s can be written%s%s", run->place, system ? ", on " : "",
                       system ? system->name : "");
        check_space(checks, path);
    }
    check_system(checks, system);
    check_live(checks, system);
}
