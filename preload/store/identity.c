/* SPDX-License-Identifier: MIT */
/* Owns what is known of this process before anything is written: its program and its machine. */
#include "store/identity.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "format/live_format.h"
#include "os/bulk.h"
#include "os/clock.h"
#include "os/ourfile.h"
#include "os/proc.h"
#include "os/sys.h"
#include "tables/fd_progress.h"

#define EXE_ROOM 4096u

/* The program's path, and other texts behind it: usual ones share a page. The path stays in a forked child. */
static char texts[EXE_ROOM + DFT_PROCESS_TEXTS] DFT_BULK;

/* Reads the path once, at the first event. The path does not change, and a forked child may be
 * where there is no /proc. A process's first access to /proc is the expensive one. */
const char *dft_process_exe(void)
{
    static int asked; /* one thread at a time starts the process */
    long n;

    if (!asked && (n = dft_proc_link("exe", texts, EXE_ROOM - 1)) > 0) {
        texts[n] = 0;
        asked = 1;
    }
    return texts;
}

char *dft_process_texts(void)
{
    return texts + strlen(texts) + 1;
}

size_t dft_process_read_file(long fd, char *text, size_t size)
{
    long n;

    if (fd < 0)
        return 0;
    n = dft_sys_read((int)fd, text, size);
    dft_fd_progress_close_brief(fd);
    return n < 0 ? 0 : (size_t)n;
}

/* Reads the id once: a forked child may be where there is no /proc. */
static const char *boot_id(void)
{
    static char boot[DFT_BOOT_ID_ROOM];

    if (!boot[0]) {
        dft_process_read_file(dft_fd_progress_open_brief("/proc/sys/kernel/random/boot_id", O_RDONLY), boot,
                              sizeof boot - 1);
        boot[strcspn(boot, "\n")] = 0;
    }
    return boot;
}

void dft_process_identify(struct dft_live *live, const struct dft_ourfile *file, const struct dft_ourfile *trace)
{
    struct stat pids = {0};

    /* a child may be in another namespace */
    DFT_SYS(newfstatat, AT_FDCWD, "/proc/self/ns/pid", &pids, 0, 0, 0);
    live->key = dft_key;
    live->pid = dft_pid;
    live->start_ns = dft_clock_start_ns;
    live->clock_offset = dft_clock_offset;
    memcpy(live->boot_id, boot_id(), sizeof live->boot_id);
    live->pid_namespace = pids.st_ino;
    live->device = file->device;
    live->inode = file->inode;
    live->trace_device = trace->device;
    live->trace_inode = trace->inode;
}
