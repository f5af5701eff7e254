/* SPDX-License-Identifier: MIT */
/* The options: every DFTRACER_* variable of config.def. config_init.h reads them once. */
#ifndef DFT_CONFIG_H
#define DFT_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "format/clock.h"

enum dft_init_mode { DFT_INIT_AUTO, DFT_INIT_PRELOAD, DFT_INIT_FUNCTION };
enum dft_aggregation { DFT_AGGREGATION_FULL, DFT_AGGREGATION_SELECTIVE };
/* When the process's counters are sampled: not at all, by the program's own calls, by a thread. */
enum dft_metrics_mode { DFT_METRICS_OFF, DFT_METRICS_CALLS, DFT_METRICS_THREAD };
enum dft_log_level { DFT_LOG_ERROR, DFT_LOG_WARN, DFT_LOG_INFO, DFT_LOG_DEBUG, DFT_LOG_OFF /* not even errors */ };

typedef int dft_option_BOOL;
typedef const char *dft_option_TEXT;
typedef uint64_t dft_option_UINT;
typedef uint32_t dft_option_MODE; /* of a file; 0: as the umask says */
typedef enum dft_time_metric dft_option_TIME_METRIC;
typedef enum dft_log_level dft_option_LOG_LEVEL;
typedef enum dft_init_mode dft_option_INIT;
typedef enum dft_aggregation dft_option_AGGREGATION;
typedef enum dft_metrics_mode dft_option_METRICS;

struct dft_config {
#define DFT_OPTION(field, name, type, initial, help) dft_option_##type field;
#include <dftrace/config.def>
#undef DFT_OPTION
};

extern struct dft_config dft_config;
extern int dft_config_preloaded; /* LD_PRELOAD names this library */
/* DFTRACER_ENABLE=value; NULL: not set. Valid until main begins */
extern const char *dft_config_enabled_by;

/* Sets one option; `name` is without DFTRACER_. Constructor only. */
enum dft_config_set { DFT_CONFIG_SET, DFT_CONFIG_UNCLEAR, DFT_CONFIG_UNKNOWN };
enum dft_config_set dft_config_set(const char *name, size_t length, const char *value);
/* A word that stands for yes or no: 1, 0, or -1 for others. */
int dft_config_is_true(const char *value);

/* The least DFTRACER_MAX_TRACE_BYTES. */
#define DFT_TRACE_BYTES_LEAST 65536u

/* Returns a copy that is never freed; "" when there is no memory. Constructor only. */
const char *dft_config_keep(const char *text);

/* Writes NAME=value lines of the options that differ from their defaults, and of settings that have
 * no effect. Returns the length, cut to `capacity`. */
size_t dft_config_describe(char *text, size_t capacity);

/* Rank, local rank (-1 unknown), world size (0 unknown) and job id ("" unknown). Our own variables
 * come first, then the launcher's. */
struct dft_config_job {
    int32_t rank, local_rank;
    uint32_t world_size;
    const char *job_id;
};
extern struct dft_config_job dft_config_job;

#endif
