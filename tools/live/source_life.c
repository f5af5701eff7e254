/* SPDX-License-Identifier: MIT */
/* Does the process of a live file still run?
 *
 * A pid and a start time tell where pids are numbered as for the process. That is so on the same
 * boot of the machine, and in the same PID namespace. Elsewhere a visible process has the live file
 * mapped, or no process has it mapped any more. A reader that can see neither does not know. */

#include "live/source_life.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/event.h"
#include "format/live_format.h"
#include "live/shared_files.h"

/* --- by pid ----------------------------------------------------------------------------------- */

/* Unix ns at which this machine was started. */
static uint64_t boot_ns(void)
{
    struct timespec now, up;

    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &up);
    return (uint64_t)(now.tv_sec - up.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec - (uint64_t)up.tv_nsec;
}

/* When a process began, in Unix ns, to 10 ms. UINT64_MAX without such a process, or for a dead
 * process that was not waited for. In a container without an init, the latter may last long. A main
 * thread that ended before others looks the same, but is not the only thread. The values are fields
 * 3, 20 and 22 of /proc/PID/stat, behind the last parenthesis of the name. The start is in clock
 * ticks since boot. */
static uint64_t start_of_pid(uint32_t pid)
{
    char path[64], line[1024], *at;
    unsigned long long start = 0;
    char state = 0;
    long threads = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    if (fgets(line, sizeof line, file) && (at = strrchr(line, ')')) && at[1] == ' ')
        sscanf(at + 2, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu", &state,
               &threads, &start);
    fclose(file);
    if (state == 'X' || (state == 'Z' && threads <= 1))
        return UINT64_MAX;
    return boot_ns() + start * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t dft_life_age_ns(void)
{
    uint64_t start_ns = start_of_pid((uint32_t)getpid());
    struct timespec now;
    uint64_t now_ns;

    clock_gettime(CLOCK_REALTIME, &now);
    now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return start_ns < now_ns ? now_ns - start_ns : 0;
}

uint64_t dft_life_now_ns(const struct dft_live *live)
{
    struct timespec now;

    clock_gettime(live->clock_offset ? CLOCK_MONOTONIC : CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + (uint64_t)live->clock_offset;
}

static int is_pid_alive(uint32_t pid, uint64_t start_ns)
{
    return pid && start_of_pid(pid) <= start_ns + 100000000u;
}

/* --- here ------------------------------------------------------------------------------------- */

static int is_this_boot(const char *boot_id, size_t length)
{
    char own[DFT_BOOT_ID_ROOM] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (file && fgets(own, sizeof own, file))
        own[strcspn(own, "\n")] = 0;
    if (file)
        fclose(file);
    return length && length == strlen(own) && !memcmp(own, boot_id, length);
}

/* Are pids of that namespace those of /proc here? A /proc of another namespace shows another pid
 * for us. */
static int is_this_namespace(uint64_t inode)
{
    char self[16] = "";
    struct stat st;

    return inode && !stat("/proc/self/ns/pid", &st) && st.st_ino == inode &&
           readlink("/proc/self", self, sizeof self - 1) > 0 && atol(self) == (long)getpid();
}

static int is_this_host(struct dft_text host)
{
    char own[256] = "";

    gethostname(own, sizeof own - 1);
    return host.length == strlen(own) && !memcmp(own, host.bytes, host.length);
}

/* Did the process run on this machine before its last start? Machines may share a name, but their
 * starts then differ. */
static int is_of_earlier_boot(const struct dft_process *process)
{
    return process->boot_id.length && !is_this_boot(process->boot_id.bytes, process->boot_id.length) &&
           is_this_host(process->host) && process->start_ns < boot_ns();
}

/* --- by mapping ------------------------------------------------------------------------------- */

/* The pid that a process sees itself. A process has a pid in each namespace from here to its own:
 * this is the last one. 0 means that the pid is not known. */
static uint32_t own_pid(uint32_t pid)
{
    char path[64], *line = NULL, *last;
    size_t capacity = 0;
    uint32_t own = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%u/status", pid);
    file = fopen(path, "re");
    while (file && getline(&line, &capacity, file) > 0)
        if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t')))
            own = (uint32_t)strtoul(last, NULL, 10);
    if (file)
        fclose(file);
    free(line);
    return own;
}

struct looking {
    struct dft_mapped *mapped;
    uint32_t pid;
};

static int add_mapping(void *context, uint64_t device, uint64_t inode, const char *path)
{
    const struct looking *looking = context;
    struct dft_mapped *mapped = looking->mapped;
    const struct dft_mapping mapping = {device, inode, own_pid(looking->pid)};
    struct dft_mapping *last = mapped->count ? &mapped->list[mapped->count - 1] : NULL, *more;

    (void)path;
    if (last && !memcmp(last, &mapping, sizeof mapping)) /* rings of one file stand together */
        return 0;
    more = reallocarray(mapped->list, mapped->count + 1, sizeof *more);
    if (!more)
        return -ENOMEM;
    mapped->list = more;
    more[mapped->count++] = mapping;
    return 0;
}

/* A process that may not be seen proves nothing. */
static void look(struct dft_mapped *mapped)
{
    DIR *dir = opendir("/proc");
    struct looking looking = {.mapped = mapped};
    struct dirent *entry;
    int rc = 0;

    mapped->looked = 1;
    while (rc != -ENOMEM && dir && (entry = readdir(dir))) {
        if (*entry->d_name < '1' || *entry->d_name > '9')
            continue;
        looking.pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        rc = dft_shared_files_visit(looking.pid, add_mapping, &looking);
    }
    if (dir)
        closedir(dir);
}

/* A forked child may have its parent's file mapped, but the child has another pid. */
static int is_mapped(struct dft_mapped *mapped, const struct dft_live *live)
{
    if (!mapped->looked)
        look(mapped);
    for (size_t i = 0; i < mapped->count; i++)
        if (mapped->list[i].device == live->device && mapped->list[i].inode == live->inode &&
            (mapped->list[i].pid == live->pid || !mapped->list[i].pid))
            return 1;
    return 0;
}

/* Has no process on this machine, visible or not, the file open for writing or mapped so? Only then
 * can the file be leased. For a copy that says nothing. */
static int is_nobodys(const struct dft_live *live, int fd)
{
    struct stat st;

    if (fstat(fd, &st) || st.st_dev != live->device || st.st_ino != live->inode || fcntl(fd, F_SETSIG, SIGURG) ||
        fcntl(fd, F_SETLEASE, F_RDLCK))
        return 0;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return 1;
}

/* --- answers ---------------------------------------------------------------------------------- */

enum dft_life dft_life_of_live(struct dft_mapped *mapped, const struct dft_live *live, int fd)
{
    int this_boot = is_this_boot(live->boot_id, strnlen(live->boot_id, sizeof live->boot_id));

    if (this_boot && is_this_namespace(live->pid_namespace)) {
        if (is_pid_alive(live->pid, live->start_ns))
            return DFT_LIFE_RUNNING;
        if (start_of_pid(live->pid) == UINT64_MAX)
            return DFT_LIFE_OVER;
        /* the clock may have been set since */
        return is_mapped(mapped, live) ? DFT_LIFE_RUNNING : DFT_LIFE_OVER;
    }
    if (is_mapped(mapped, live))
        return DFT_LIFE_RUNNING;
    return this_boot && is_nobodys(live, fd) ? DFT_LIFE_OVER : DFT_LIFE_UNKNOWN;
}

int dft_life_has_pid(const struct dft_live *live)
{
    return is_this_boot(live->boot_id, strnlen(live->boot_id, sizeof live->boot_id)) &&
           is_this_namespace(live->pid_namespace);
}

enum dft_life dft_life_known(enum dft_life life, const struct dft_process *process)
{
    return life == DFT_LIFE_UNKNOWN && is_of_earlier_boot(process) ? DFT_LIFE_OVER : life;
}

int dft_life_is_here(const struct dft_source_process *process)
{
    return is_this_boot(process->process.boot_id.bytes, process->process.boot_id.length) &&
           is_this_namespace(process->process.pid_namespace);
}

/* Judges a process without a live file. Traces of earlier versions do not say of which boot they
 * are. */
static enum dft_life life_without(const struct dft_process *process)
{
    int by_pid = process->boot_id.length ? is_this_boot(process->boot_id.bytes, process->boot_id.length) &&
                                               is_this_namespace(process->pid_namespace)
                                         : !process->host.length || is_this_host(process->host);

    if (by_pid && is_pid_alive(process->pid, process->start_ns))
        return DFT_LIFE_RUNNING;
    return by_pid || !process->boot_id.length ? DFT_LIFE_OVER : dft_life_known(DFT_LIFE_UNKNOWN, process);
}

enum dft_life dft_life_of_process(const struct dft_source_process *process)
{
    return life_without(&process->process);
}

enum dft_life dft_process_life(const struct dft_source_process *process)
{
    if (process->live_file && process->exit_kind == DFT_ENDING_RUNNING)
        return DFT_LIFE_RUNNING;
    if (process->unseen)
        return DFT_LIFE_UNKNOWN;
    return process->known && !process->ended && !process->live_file ? life_without(&process->process) : DFT_LIFE_OVER;
}
