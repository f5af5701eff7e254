/* SPDX-License-Identifier: MIT */
/* Owns the description of this process: its identity, its start and its end. */
#include "store/process.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "os/bulk.h"
#include "os/clock.h"
#include "format/encode.h"
#include "settings/config.h"
#include "store/counters.h"
#include "store/first.h"
#include "store/identity.h"
#include "store/kept.h"
#include "store/livefile.h"
#include "store/mounts.h"
#include "store/notes.h"
#include "tables/fd_progress.h"
#include "os/self.h"
#include "store/staging.h"
#include "os/sys.h"
#include "store/tracefile.h"

#ifndef DFT_VERSION
#error "DFT_VERSION comes from the build"
#endif

static struct dft_text text_of(const char *bytes, size_t length)
{
    return (struct dft_text){bytes, (uint32_t)length};
}

enum { COMMAND_ROOM = 16384, CWD_ROOM = 4096, OPTIONS_ROOM = 2048 };
_Static_assert(COMMAND_ROOM + CWD_ROOM + OPTIONS_ROOM <= DFT_PROCESS_TEXTS, "all texts have room");

/* The next image searches this block for reported settings, and has no decoder. So such a block is
 * stored uncompressed. */
static long encode_process(struct dft_encoder *encoder, const void *what, const void **block)
{
    enum dft_compression usual = dft_config.trace_compression ? DFT_DEFLATE : DFT_STORE;
    long size;

    dft_encoder_set_compression(encoder, dft_first_was_asked() ? DFT_STORE : usual);
    size = dft_encode_process(encoder, what, block);
    dft_encoder_set_compression(encoder, usual);
    return size;
}

static long encode_end(struct dft_encoder *encoder, const void *what, const void **block)
{
    return dft_encode_end(encoder, what, block);
}

/* All processes that run in this memory share their pairs of times. */
struct clock {
    uint64_t key, sample[2];
};

static long encode_clock(struct dft_encoder *encoder, const void *what, const void **block)
{
    const struct clock *clock = what;

    return dft_encode_clock(encoder, clock->key, &clock->sample, 1, block);
}

static struct clock read_clocks(uint64_t key)
{
    return (struct clock){key, {dft_clock_monotonic_ns(), dft_clock_realtime_ns()}};
}

/* The role that the program has set. */
static char role[256] DFT_BULK;
static uint32_t role_length = UINT32_MAX;
#define ROLE_UNSET UINT32_MAX

static struct dft_text role_now(void)
{
    return role_length == ROLE_UNSET ? text_of(dft_config.role, strlen(dft_config.role)) : text_of(role, role_length);
}

/* atomic: the notes that the file has; TOLD_NOTHING: the file does not even have the start */
static uint32_t reported;
#define TOLD_NOTHING UINT32_MAX

/* Atomic: how much of what has changed the file has. */
static uint32_t changes_reported;

void dft_process_untold(int is_paused)
{
    dft_process_notes_forked();
    reported = TOLD_NOTHING;
    role_length = ROLE_UNSET;
    dft_kept_forked(is_paused);
}

/* The description of the process is put together once: only the notes change. */
static struct dft_process process;

static void collect_notes(void)
{
    static char text[1024];

    process.notes = text_of(text, dft_process_notes_tell(reported, text, sizeof text));
}

static int write_process(const struct dft_staging_block *blocks, uint32_t count)
{
    uint32_t now = dft_process_notes();
    int result;

    __atomic_store_n(&reported, now, __ATOMIC_RELAXED);
    __atomic_store_n(&changes_reported, dft_process_changes(), __ATOMIC_RELAXED);
    collect_notes();
    process.role = role_now();
    process.kept = dft_kept_column();
    process.mounts = dft_mounts_now();
    result = dft_staging_write(blocks, count);
    if (result)
        __atomic_store_n(&reported, TOLD_NOTHING, __ATOMIC_RELAXED);
    else
        process.order++;
    return result;
}

int dft_process_write_start(void)
{
    static struct utsname names;
    struct clock clock = read_clocks(dft_key);
    char *at;
    long n;

    process = (struct dft_process){.key = dft_key,
                                   .parent_key = dft_parent_key,
                                   .pid = dft_pid,
                                   .ppid = (uint32_t)DFT_SYS(getppid, 0, 0, 0, 0, 0, 0),
                                   .rank = dft_config_job.rank,
                                   .local_rank = dft_config_job.local_rank,
                                   .world_size = dft_config_job.world_size,
                                   .start_ns = dft_clock_start_ns,
                                   .clock_offset = dft_clock_offset,
                                   .version = text_of(DFT_VERSION, strlen(DFT_VERSION))};

    process.exe = text_of(dft_process_exe(), strlen(dft_process_exe()));
    at = dft_process_texts();
    process.command =
        dft_config.private_texts
            ? text_of("", 0)
            : text_of(at, dft_process_read_file(dft_fd_progress_open_proc("cmdline", O_RDONLY), at, COMMAND_ROOM));
    at += process.command.length;
    n = DFT_SYS(getcwd, at, CWD_ROOM, 0, 0, 0, 0);
    process.cwd = text_of(at, n > 1 ? (size_t)n - 1 : 0);
    at += process.cwd.length;
    if (DFT_SYS(uname, &names, 0, 0, 0, 0, 0) == 0)
        process.host = text_of(names.nodename, strlen(names.nodename));
    process.job_id = text_of(dft_config_job.job_id, strlen(dft_config_job.job_id));
    process.run_id = text_of(dft_config.run_id, strlen(dft_config.run_id));
    process.options = text_of(at, dft_config_describe(at, OPTIONS_ROOM));
    process.live_path = text_of(dft_livefile_path, strlen(dft_livefile_path));
    if (dft_config_job.local_rank <= 0)
        dft_mounts_begin();
    process.boot_id = text_of(dft_live->boot_id, strlen(dft_live->boot_id));
    process.pid_namespace = dft_live->pid_namespace;
    return write_process((const struct dft_staging_block[]){{encode_process, &process}, {encode_clock, &clock}}, 2);
}

int dft_process_write_child(const struct dft_process_child *child)
{
    struct clock clock = read_clocks(child->key);
    struct dft_end end = {.key = child->key,
                          .events = child->events,
                          .time_ns = child->end_ns,
                          .status = child->status,
                          .exit_kind = (uint8_t)child->exit_kind};
    uint8_t kept[DFT_KEPT_PAIR_MAX];
    struct dft_process own;
    int result;

    dft_spin_lock(&dft_process_lock);
    own = process;
    own.key = child->key;
    own.parent_key = dft_key;
    own.pid = child->pid;
    own.ppid = dft_pid;
    own.start_ns = child->start_ns;
    own.live_path = own.notes = text_of("", 0);
    own.kept = dft_kept_of_child(kept);
    own.role = text_of(dft_config.role, strlen(dft_config.role));
    own.order = 1; /* takes precedence over dftmerge's findings in a ring */
    result = dft_staging_write(
        (const struct dft_staging_block[]){{encode_process, &own}, {encode_clock, &clock}, {encode_end, &end}}, 3);
    dft_spin_unlock(&dft_process_lock);
    return result;
}

void dft_process_set_role(const char *name)
{
    dft_spin_lock(&dft_process_lock);
    role_length = (uint32_t)strnlen(name, sizeof role - 1);
    memcpy(role, name, role_length);
    dft_process_changed();
    dft_spin_unlock(&dft_process_lock);
}

static int is_described(void)
{
    return __atomic_load_n(&reported, __ATOMIC_RELAXED) == dft_process_notes() &&
           __atomic_load_n(&changes_reported, __ATOMIC_RELAXED) == dft_process_changes();
}

void dft_process_describe(void)
{
    if (is_described() || dft_tracefile_fails())
        return;
    dft_spin_lock(&dft_process_lock);
    if (!is_described())
        write_process(&(const struct dft_staging_block){encode_process, &process}, 1);
    dft_spin_unlock(&dft_process_lock);
}

int dft_process_write_end(struct dft_end *end)
{
    struct clock clock;
    int result;

    end->key = dft_key;
    end->events = atomic_load(&dft_live->events);
    end->overhead_ns = atomic_load(&dft_live->overhead_ns);
    end->time_ns = dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset;
    dft_kept_tell();
    dft_process_describe();
    for (int reason = 1; reason <= DFT_DROP_LAST; reason++)
        end->dropped[reason] += atomic_load(&dft_live->dropped[reason]);
    clock = read_clocks(dft_key);
    result = dft_staging_write(
        (const struct dft_staging_block[]){{dft_counters_encode, NULL}, {encode_clock, &clock}, {encode_end, end}}, 3);
    if (!result)
        dft_counters_written();
    return result;
}
