/* SPDX-License-Identifier: MIT */
/* Owns the samples of the process's counters, from the reading to the block.
 *
 * Samples wait in the live file until they fill their room there, or the process ends. The numbers of
 * samples tell a reader which ones a block holds already. Only drains, the start and the end take
 * samples, so that a call never pays for one. A sample takes some 25 us, and 1 us a descriptor. */
#include "store/counters.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "format/encode.h"
#include "format/live_counters.h"
#include "os/bulk.h"
#include "os/clock.h"
#include "settings/config.h"
#include "os/proc.h"
#include "os/self.h"
#include "os/sys.h"
#include "store/sampler.h"
#include "store/staging.h"
#include "tables/fd_list.h"
#include "tables/fd_progress.h"
#include "tables/maps.h"

#define TICK_NS 10000000 /* /proc counts in hundredths of a second */
#define US_NS   1000
#define LISTED  1024 /* descriptors that are looked at, at most */

static struct dft_live_moment at_load;
static struct dft_spin lock;   /* guards what follows, and the samples in the live file */
static uint64_t number;        /* of the next sample */
static uint64_t encoded;       /* the samples below are in a block that was made last */
static uint64_t last_interval; /* of the last sample; atomic */
static struct dft_live_samples room DFT_BULK;
static unsigned listed; /* descriptors, by the last sample */
static char has_ring;   /* a ring was met among the descriptors; atomic */

/* --- reading ---------------------------------------------------------------------------------- */

static void set(struct dft_live_moment *moment, enum dft_counter counter, uint64_t value)
{
    moment->values[counter] = (int64_t)value;
    moment->present |= UINT64_C(1) << counter;
}

/* Reads a file of /proc, with a NUL behind it. Returns its length, or -errno. */
static long read_proc(const char *path, char *text, size_t capacity)
{
    long fd = dft_fd_progress_open_brief(path, O_RDONLY), n;

    if (fd < 0)
        return fd;
    n = dft_sys_read((int)fd, text, capacity - 1);
    dft_fd_progress_close_brief(fd);
    text[n > 0 ? n : 0] = 0;
    return n;
}

/* The next number of a text; *at goes behind it. -1: there is none. */
static int next_number(const char **at, uint64_t *value)
{
    const char *c = *at;

    while (*c && (*c < '0' || *c > '9'))
        c++;
    if (!*c)
        return -1;
    for (*value = 0; *c >= '0' && *c <= '9'; c++)
        *value = *value * 10 + (uint64_t)(*c - '0');
    *at = c;
    return 0;
}

static void read_usage(struct dft_live_moment *moment)
{
    struct rusage usage;

    if (DFT_SYS(getrusage, RUSAGE_SELF, &usage, 0, 0, 0, 0) < 0)
        return;
    set(moment, DFT_COUNTER_CPU_USER,
        (uint64_t)usage.ru_utime.tv_sec * 1000000000 + (uint64_t)usage.ru_utime.tv_usec * US_NS);
    set(moment, DFT_COUNTER_CPU_SYSTEM,
        (uint64_t)usage.ru_stime.tv_sec * 1000000000 + (uint64_t)usage.ru_stime.tv_usec * US_NS);
    set(moment, DFT_COUNTER_RSS_MAX, (uint64_t)usage.ru_maxrss << 10);
    set(moment, DFT_COUNTER_MINOR_FAULTS, (uint64_t)usage.ru_minflt);
    set(moment, DFT_COUNTER_MAJOR_FAULTS, (uint64_t)usage.ru_majflt);
    set(moment, DFT_COUNTER_VOLUNTARY, (uint64_t)usage.ru_nvcsw);
    set(moment, DFT_COUNTER_INVOLUNTARY, (uint64_t)usage.ru_nivcsw);
}

/* The kernel writes the text before it counts this read. So what tracing has read and written is
 * taken first.
 *
 * The file of the process also counts the children that it has waited for. The file of the thread does not, and has
 * everything as long as there is one thread. */
static void read_io(struct dft_live_moment *moment)
{
    static int had_threads;
    uint64_t own_read = __atomic_load_n(&dft_own_read, __ATOMIC_RELAXED);
    uint64_t own_written = __atomic_load_n(&dft_own_written, __ATOMIC_RELAXED), value;
    char text[256];
    const char *at = text;

    had_threads |= !dft_is_single() || dft_config.system_metrics == DFT_METRICS_THREAD;
    if ((had_threads || read_proc("/proc/thread-self/io", text, sizeof text) <= 0) &&
        read_proc("/proc/self/io", text, sizeof text) <= 0)
        return;
    for (unsigned i = DFT_COUNTER_RCHAR; i <= DFT_COUNTER_WRITE_BYTES && !next_number(&at, &value); i++)
        set(moment, (enum dft_counter)i, value);
    set(moment, DFT_COUNTER_TRACER_RCHAR, own_read);
    set(moment, DFT_COUNTER_TRACER_WCHAR, own_written);
}

/* Memory, threads, and delays of block I/O. The program's name, which may hold any byte, comes
 * before. Returns 0 where there is no memory: the first thread has ended. */
static int read_stat(struct dft_live_moment *moment, const char *path)
{
    char text[512];
    uint64_t value = 0, memory = 0;
    const char *at;
    int field = 3; /* the state, a letter */

    if (read_proc(path, text, sizeof text) <= 0 || !(at = strrchr(text, ')')))
        return 0;
    while (!next_number(&at, &value)) {
        field++;
        if (field == 20)
            set(moment, DFT_COUNTER_THREADS, value);
        else if (field == 24)
            set(moment, DFT_COUNTER_RSS, (memory = value) * dft_maps_range(NULL, 1).end);
        else if (field == 42)
            set(moment, DFT_COUNTER_BLOCK_DELAY, value * TICK_NS);
    }
    return memory != 0;
}

void dft_counters_meet(const char *link, long length)
{
    if (length == sizeof DFT_PROC_RING - 1 && !memcmp(link, DFT_PROC_RING, sizeof DFT_PROC_RING - 1))
        __atomic_store_n(&has_ring, 1, __ATOMIC_RELAXED);
}

/* The lock is held. */
static int look_at(int list, const char *name, int descriptor)
{
    char link[sizeof DFT_PROC_RING];
    long n = DFT_SYS(readlinkat, list, name, link, sizeof link, 0, 0);

    (void)descriptor;
    dft_counters_meet(link, n);
    return ++listed < LISTED;
}

/* Newer kernels tell the number of open descriptors as the size of the directory. A ring that was met before may be
 * closed by now. */
static void read_descriptors(struct dft_live_moment *moment)
{
    char list[DFT_PROC_ROOM];
    struct stat st = {0};
    long n = -ENOENT;

    for (int turn = 0; turn < DFT_PROC_TURNS && n == -ENOENT; turn++) {
        dft_proc_name(list, "fd", turn);
        n = DFT_SYS(newfstatat, AT_FDCWD, list, &st, 0, 0, 0);
    }
    if (n < 0)
        return;
    listed = 0;
    if (st.st_size < LISTED)
        dft_fd_list(look_at);
    if (st.st_size > 0)
        set(moment, DFT_COUNTER_DESCRIPTORS, (uint64_t)st.st_size);
    else if (listed && listed < LISTED)
        set(moment, DFT_COUNTER_DESCRIPTORS, listed);
    if (__atomic_load_n(&has_ring, __ATOMIC_RELAXED))
        set(moment, DFT_COUNTER_RINGS, 1);
}

static uint64_t now_ns(void)
{
    return dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset;
}

static int is_wanted(void)
{
    return dft_config.system_metrics != DFT_METRICS_OFF;
}

/* --- the start -------------------------------------------------------------------------------- */

void dft_counters_load(void)
{
    if (!is_wanted())
        return;
    at_load.time_ns = dft_clock_start_ns;
    at_load.present = 0;
    read_usage(&at_load);
    read_io(&at_load);
}

void dft_counters_forked(void)
{
    const enum dft_counter first = DFT_COUNTER_CPU_USER;

    dft_sampler_forked();
    lock.held = 0;
    number = encoded = 0;
    has_ring = 0;
    __atomic_store_n(&dft_own_read, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&dft_own_written, 0, __ATOMIC_RELAXED);
    at_load = (struct dft_live_moment){.time_ns = dft_clock_start_ns};
    for (unsigned i = first; i <= DFT_COUNTER_TRACER_WCHAR; i++)
        if (i != DFT_COUNTER_RSS && i != DFT_COUNTER_RSS_MAX)
            set(&at_load, (enum dft_counter)i, 0);
}

static void keep(const struct dft_live_moment *moment)
{
    struct dft_live_counters *live = dft_live_counters(dft_live);
    uint32_t n = atomic_load_explicit(&live->nmoments, memory_order_relaxed);

    if (!n) {
        live->id = dft_live_counters_id();
        live->first = number;
    }
    if (n == DFT_LIVE_MOMENTS) { /* they could not be written: the last one makes room */
        n--;
        number -= (uint32_t)__builtin_popcountll(live->moments[n].present);
    }
    live->moments[n] = *moment;
    atomic_store_explicit(&live->nmoments, n + 1, memory_order_release);
    number += (uint32_t)__builtin_popcountll(moment->present);
    __atomic_store_n(&last_interval, moment->time_ns / (dft_config.trace_interval_ms * 1000000u), __ATOMIC_RELAXED);
}

void dft_counters_start(void)
{
    if (!is_wanted() || !at_load.present)
        return;
    dft_spin_lock(&lock);
    if (!number)
        keep(&at_load);
    dft_spin_unlock(&lock);
    dft_sampler_start();
}

/* --- later ------------------------------------------------------------------------------------ */

static void take(void)
{
    struct dft_live_moment moment = {.time_ns = now_ns()};

    read_usage(&moment);
    read_io(&moment);
    if (!read_stat(&moment, "/proc/self/stat"))
        read_stat(&moment, "/proc/thread-self/stat");
    read_descriptors(&moment);
    if (moment.present)
        keep(&moment);
}

static long encode(struct dft_encoder *encoder, const void **block)
{
    struct dft_counters counters = dft_live_counters_get(dft_live_counters(dft_live), &room);

    counters.key = dft_key;
    counters.tid = dft_pid;
    encoded = number;
    return counters.count ? dft_encode_counters(encoder, &counters, block) : 0;
}

static long encode_waiting(struct dft_encoder *encoder, const void *what, const void **block)
{
    (void)what;
    return encode(encoder, block);
}

/* The lock is held. */
static void forget_written(void)
{
    if (encoded == number) /* else another thread has added one; the reader drops what it sees twice */
        atomic_store_explicit(&dft_live_counters(dft_live)->nmoments, 0, memory_order_release);
}

void dft_counters_sample(void)
{
    struct dft_live_counters *live = dft_live_counters(dft_live);

    if (!dft_spin_try(&lock)) /* somebody else takes it */
        return;
    take();
    if (atomic_load_explicit(&live->nmoments, memory_order_relaxed) == DFT_LIVE_MOMENTS &&
        !dft_staging_write(&(const struct dft_staging_block){encode_waiting, NULL}, 1))
        forget_written();
    dft_spin_unlock(&lock);
}

void dft_counters_drained(void)
{
    if (!is_wanted() || dft_late || dft_is_sandboxed() || !dft_live ||
        now_ns() / (dft_config.trace_interval_ms * 1000000u) == __atomic_load_n(&last_interval, __ATOMIC_RELAXED))
        return;
    dft_counters_sample();
}

long dft_counters_encode(struct dft_encoder *encoder, const void *what, const void **block)
{
    long length;

    (void)what;
    if (!is_wanted() || !dft_live)
        return 0;
    dft_spin_lock(&lock);
    take();
    length = encode(encoder, block);
    dft_spin_unlock(&lock);
    return length;
}

void dft_counters_written(void)
{
    if (!is_wanted() || !dft_live)
        return;
    dft_spin_lock(&lock);
    forget_written();
    dft_spin_unlock(&lock);
}
