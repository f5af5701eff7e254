/* SPDX-License-Identifier: MIT */
/* Reads the counters of the node from /proc, /sys and NVML. What is not there is left out. */
#include "dftrun/dftrun_node_read.h"
#include "dftrun/dftrun_node_samples.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_NS 10000000 /* /proc/stat counts in hundredths of a second */
#define SECTOR  512

typedef void line_fn(struct dft_node_samples *node, const char *root, char *line);

static void each_line(struct dft_node_samples *node, const char *root, const char *path, line_fn *take)
{
    char full[PATH_MAX], *line = NULL;
    size_t capacity = 0;
    FILE *file;

    snprintf(full, sizeof full, "%s%s", root, path);
    file = fopen(full, "re");
    while (file && getline(&line, &capacity, file) > 0)
        take(node, root, line);
    free(line);
    if (file)
        fclose(file);
}

static void total(struct dft_node_samples *node, const char *category, const char *name, enum dft_unit unit,
                  unsigned long long value)
{
    dft_node_add(node, category, name, unit, DFT_COUNTER_TOTAL, (int64_t)value);
}

static void named(struct dft_node_samples *node, const char *category, const char *what, const char *name,
                  enum dft_unit unit, unsigned long long value)
{
    char text[256];

    if (snprintf(text, sizeof text, "%s %s", what, name) < (int)sizeof text)
        total(node, category, text, unit, value);
}

static void take_stat(struct dft_node_samples *node, const char *root, char *line)
{
    unsigned long long user, nice, system, idle, wait, irq, soft, value;

    (void)root;
    if (!strncmp(line, "cpu ", 4) &&
        sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait, &irq, &soft) == 7) {
        total(node, "node", "cpu_user_ns", DFT_UNIT_NS, (user + nice) * TICK_NS);
        total(node, "node", "cpu_system_ns", DFT_UNIT_NS, (system + irq + soft) * TICK_NS);
        total(node, "node", "cpu_idle_ns", DFT_UNIT_NS, idle * TICK_NS);
        total(node, "node", "cpu_iowait_ns", DFT_UNIT_NS, wait * TICK_NS);
    } else if (sscanf(line, "ctxt %llu", &value) == 1) {
        total(node, "node", "context_switches", DFT_UNIT_NUMBER, value);
    } else if (sscanf(line, "procs_running %llu", &value) == 1) {
        dft_node_add(node, "node", "processes_running", DFT_UNIT_NUMBER, DFT_COUNTER_LEVEL, (int64_t)value);
    }
}

static void take_memory(struct dft_node_samples *node, const char *root, char *line)
{
    static const char *const names[][2] = {{"MemTotal", "memory_total_bytes"},
                                           {"MemFree", "memory_free_bytes"},
                                           {"MemAvailable", "memory_available_bytes"},
                                           {"Cached", "page_cache_bytes"},
                                           {"Dirty", "dirty_bytes"},
                                           {"Writeback", "writeback_bytes"},
                                           {"SwapFree", "swap_free_bytes"}};
    unsigned long long kib;
    char name[64];

    (void)root;
    if (sscanf(line, "%63[^:]: %llu", name, &kib) != 2)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i][0]))
            dft_node_add(node, "node", names[i][1], DFT_UNIT_BYTES, DFT_COUNTER_LEVEL, (int64_t)(kib << 10));
}

/* Whole devices that were used; partitions would count twice. */
static void take_disk(struct dft_node_samples *node, const char *root, char *line)
{
    unsigned long long reads, read_sectors, writes, written_sectors, busy_ms;
    char name[64], path[PATH_MAX];

    if (sscanf(line, "%*u %*u %63s %llu %*u %llu %*u %llu %*u %llu %*u %*u %llu", name, &reads, &read_sectors, &writes,
               &written_sectors, &busy_ms) != 6 ||
        !(reads + writes))
        return;
    snprintf(path, sizeof path, "%s/sys/block/%s", root, name);
    if (access(path, F_OK))
        return;
    named(node, "disk", name, "read_bytes", DFT_UNIT_BYTES, read_sectors * SECTOR);
    named(node, "disk", name, "written_bytes", DFT_UNIT_BYTES, written_sectors * SECTOR);
    named(node, "disk", name, "reads", DFT_UNIT_NUMBER, reads);
    named(node, "disk", name, "writes", DFT_UNIT_NUMBER, writes);
    named(node, "disk", name, "busy_ns", DFT_UNIT_NS, busy_ms * 1000000);
}

static void take_network(struct dft_node_samples *node, const char *root, char *line)
{
    unsigned long long received, received_dropped, sent, sent_dropped;
    char name[64];

    (void)root;
    if (sscanf(line, " %63[^: ]: %llu %*u %*u %llu %*u %*u %*u %*u %llu %*u %*u %llu", name, &received,
               &received_dropped, &sent, &sent_dropped) != 5 ||
        !(received + sent))
        return;
    named(node, "network", name, "received_bytes", DFT_UNIT_BYTES, received);
    named(node, "network", name, "sent_bytes", DFT_UNIT_BYTES, sent);
    named(node, "network", name, "dropped", DFT_UNIT_NUMBER, received_dropped + sent_dropped);
}

static const char *pressure; /* the resource whose file is read */

static void take_pressure(struct dft_node_samples *node, const char *root, char *line)
{
    unsigned long long us;
    char kind[8], name[32];

    (void)root;
    if (sscanf(line, "%7s %*s %*s %*s total=%llu", kind, &us) != 2)
        return;
    snprintf(name, sizeof name, "%s_ns", kind);
    named(node, "pressure", pressure, name, DFT_UNIT_NS, us * 1000);
}

/* "device SERVER mounted on PATH with fstype nfs4", then of that mount "bytes: ..." */
static void take_mount(struct dft_node_samples *node, const char *root, char *line)
{
    static char mount[192];
    unsigned long long read, written;
    char path[192], type[32];

    (void)root;
    if (sscanf(line, "device %*s mounted on %191s with fstype %31s", path, type) == 2)
        snprintf(mount, sizeof mount, "%s", strncmp(type, "nfs", 3) ? "" : path);
    else if (*mount && sscanf(line, " bytes: %*u %*u %*u %*u %llu %llu", &read, &written) == 2) {
        named(node, "nfs", mount, "read_bytes", DFT_UNIT_BYTES, read);
        named(node, "nfs", mount, "written_bytes", DFT_UNIT_BYTES, written);
    }
}

static const char *lustre; /* the file system whose statistics are read */

static void take_lustre(struct dft_node_samples *node, const char *root, char *line)
{
    unsigned long long count, sum;
    char name[32];

    (void)root;
    if (sscanf(line, "%31s %llu samples [bytes] %*u %*u %llu", name, &count, &sum) == 3)
        named(node, "lustre", lustre, name, DFT_UNIT_BYTES, sum);
    else if (sscanf(line, "%31s %llu samples", name, &count) == 2)
        named(node, "lustre", lustre, name, DFT_UNIT_NUMBER, count);
}

static void read_lustre(struct dft_node_samples *node, const char *root, const char *folder)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *dir;

    snprintf(path, sizeof path, "%s%s", root, folder);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        if (*entry->d_name == '.' || snprintf(path, sizeof path, "%s/%s/stats", folder, entry->d_name) >= PATH_MAX)
            continue;
        lustre = entry->d_name;
        each_line(node, root, path, take_lustre);
    }
    if (dir)
        closedir(dir);
}

void dft_node_read(struct dft_node_samples *node, const char *root)
{
    static const char *const resources[] = {"cpu", "io", "memory"};

    each_line(node, root, "/proc/stat", take_stat);
    each_line(node, root, "/proc/meminfo", take_memory);
    each_line(node, root, "/proc/diskstats", take_disk);
    each_line(node, root, "/proc/net/dev", take_network);
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        char path[64];

        pressure = resources[i];
        snprintf(path, sizeof path, "/proc/pressure/%s", pressure);
        each_line(node, root, path, take_pressure);
    }
    each_line(node, root, "/proc/self/mountstats", take_mount);
    read_lustre(node, root, "/proc/fs/lustre/llite");
    read_lustre(node, root, "/sys/kernel/debug/lustre/llite");
}

/* --- GPUs --------------------------------------------------------------------------------------- */

/* What is used of NVML, as its manual has it. Results: 0 is good. */
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_use {
    unsigned gpu, memory;
};
struct nvml {
    int (*init)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, void **device);
    int (*memory)(void *device, struct nvml_memory *memory);
    int (*use)(void *device, struct nvml_use *use);
};

static int open_nvml(struct nvml *nvml)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        if (access("/dev/nvidiactl", F_OK) == 0)
            fprintf(stderr, "dftrun: GPUs are not sampled, NVML cannot be loaded: %s\n", dlerror());
        return 0;
    }
    *(void **)&nvml->init = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml->count = dlsym(library, "nvmlDeviceGetCount_v2");
    *(void **)&nvml->handle = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&nvml->memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
    *(void **)&nvml->use = dlsym(library, "nvmlDeviceGetUtilizationRates");
    return nvml->init && nvml->count && nvml->handle && nvml->memory && nvml->use && !nvml->init();
}

void dft_node_read_gpus(struct dft_node_samples *node)
{
    static struct nvml nvml;
    static int state; /* 0: not tried, 1: there, -1: not there */
    unsigned count = 0;

    if (!state)
        state = open_nvml(&nvml) ? 1 : -1;
    if (state < 0 || nvml.count(&count))
        return;
    for (unsigned i = 0; i < count; i++) {
        struct nvml_memory memory;
        struct nvml_use use;
        char name[48];
        void *device;

        if (nvml.handle(i, &device))
            continue;
        snprintf(name, sizeof name, "%u memory_used_bytes", i);
        if (!nvml.memory(device, &memory))
            dft_node_add(node, "gpu", name, DFT_UNIT_BYTES, DFT_COUNTER_LEVEL, (int64_t)memory.used);
        snprintf(name, sizeof name, "%u use_percent", i);
        if (!nvml.use(device, &use))
            dft_node_add(node, "gpu", name, DFT_UNIT_PERCENT, DFT_COUNTER_LEVEL, use.gpu);
    }
}
