/* SPDX-License-Identifier: MIT */
/* Owns libcupti: finds it, and the functions that are used. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cupti_module.h"

struct dft_cupti dft_cupti;

/* One that the program has loaded fits its CUDA best. The newest comes first otherwise. */
static const char *const names[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "libcupti.so.11.8",
    "libcupti.so.11.7",
    "libcupti.so.11.6",
    "libcupti.so.11.5",
    "libcupti.so.11.4",
    "libcupti.so.11.3",
    "libcupti.so.11.2",
    "libcupti.so.11.1",
    "libcupti.so.11.0",
    "libcupti.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
    "/usr/local/cuda/lib64/libcupti.so",
};

static void *open_library(void)
{
    const size_t count = sizeof names / sizeof *names;
    void *library = NULL;

    for (size_t i = 0; !library && i < count; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (size_t i = 0; !library && i < count; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static const struct {
    const char *name;
    size_t place; /* in struct dft_cupti */
    int optional;
} functions[] = {
    {"cuptiGetVersion", offsetof(struct dft_cupti, get_version), 0},
    {"cuptiGetResultString", offsetof(struct dft_cupti, get_result_string), 0},
    {"cuptiGetTimestamp", offsetof(struct dft_cupti, get_timestamp), 0},
    {"cuptiSubscribe", offsetof(struct dft_cupti, subscribe), 0},
    {"cuptiUnsubscribe", offsetof(struct dft_cupti, unsubscribe), 0},
    {"cuptiActivityRegisterCallbacks", offsetof(struct dft_cupti, register_callbacks), 0},
    {"cuptiActivityEnable", offsetof(struct dft_cupti, enable), 0},
    {"cuptiActivityGetNextRecord", offsetof(struct dft_cupti, get_next_record), 0},
    {"cuptiActivityGetNumDroppedRecords", offsetof(struct dft_cupti, get_dropped), 0},
    {"cuptiActivityFlushAll", offsetof(struct dft_cupti, flush_all), 0},
    {"cuptiActivityFlushPeriod", offsetof(struct dft_cupti, flush_period), 1},
    {"cuptiActivityEnableAllSyncRecords", offsetof(struct dft_cupti, enable_polls), 1},
    {"cuptiActivityRegisterTimestampCallback", offsetof(struct dft_cupti, register_timestamp), 1},
};

int dft_cupti_load(const char **wrong)
{
    void *library = open_library();

    *wrong = "libcupti.so";
    if (!library)
        return -ENOENT;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);

        *wrong = functions[i].name;
        if (!function && !functions[i].optional)
            return -ENOENT;
        memcpy((char *)&dft_cupti + functions[i].place, &function, sizeof function);
    }
    return 0;
}

const char *dft_cupti_error(CUptiResult result)
{
    const char *text = NULL;

    return dft_cupti.get_result_string(result, &text) == CUPTI_SUCCESS && text ? text : "an error without a name";
}
