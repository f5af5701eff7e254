/* SPDX-License-Identifier: MIT */
/* The parts of libdftcupti.so: what NVIDIA GPUs do becomes spans of the trace.
 *
 *   who                                  may
 *   the CUDA driver, once (cuInit)       InitializeInjection (cupti_start.c)
 *   CUPTI, in any thread                 the functions of buffers (cupti_buffers.c), and all below them
 *   the end of the process               the flush (cupti_start.c)
 *
 * Nothing here takes a lock: a forked child may go on anywhere. */
#ifndef DFT_CUPTI_MODULE_H
#define DFT_CUPTI_MODULE_H

#include <cupti.h>
#include <dftrace/api.h>

/* --- cupti_library.c: libcupti is loaded while the program runs, whichever version there is ---- */

struct dft_cupti {
    __typeof__(&cuptiGetVersion) get_version;
    __typeof__(&cuptiGetResultString) get_result_string;
    __typeof__(&cuptiGetTimestamp) get_timestamp;
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiActivityRegisterCallbacks) register_callbacks;
    __typeof__(&cuptiActivityEnable) enable;
    __typeof__(&cuptiActivityGetNextRecord) get_next_record;
    __typeof__(&cuptiActivityGetNumDroppedRecords) get_dropped;
    __typeof__(&cuptiActivityFlushAll) flush_all;
    /* NULL where the version has none */
    CUptiResult (*flush_period)(uint32_t ms);
    CUptiResult (*enable_polls)(uint8_t enable);
    CUptiResult (*register_timestamp)(uint64_t (*callback)(void));
};
extern struct dft_cupti dft_cupti;

/* Returns 0, or -ENOENT: *wrong is what is missing. */
int dft_cupti_load(const char **wrong);
/* The name of an error. */
const char *dft_cupti_error(CUptiResult result);

/* --- cupti_say.c: to standard error, and as metadata into the trace ----------------------------- */

/* Texts, up to NULL. */
void dft_cupti_say(const char *text, ...) __attribute__((sentinel));
/* The same with a number in front, which becomes metadata of that name. */
void dft_cupti_say_count(const char *name, uint64_t count, const char *text);

/* --- cupti_clock.c ------------------------------------------------------------------------------ */

/* Where a time of CUPTI lies on the clock of the trace. */
struct dft_cupti_clock {
    uint64_t from, at;         /* the same moment by CUPTI and by the trace */
    uint64_t length, measures; /* of the time since then: so many ns by CUPTI are so many by the trace; 0: as many */
};

/* Before any activity is enabled. Returns 0, or -EAGAIN: nothing is traced. */
int dft_cupti_clock_start(const struct dftrace_api *api);
/* As it is now. */
struct dft_cupti_clock dft_cupti_clock_now(void);
uint64_t dft_cupti_clock_convert(const struct dft_cupti_clock *clock, uint64_t time);

/* --- cupti_records.c ---------------------------------------------------------------------------- */

/* Records what one record tells; `bytes`: how many can be read of it. */
void dft_cupti_record(const struct dftrace_api *api, const struct dft_cupti_clock *clock, const CUpti_Activity *record,
                      size_t bytes);
/* Records that had no times, or could not be read. */
uint64_t dft_cupti_unread(void);

/* --- cupti_buffers.c ---------------------------------------------------------------------------- */

void CUPTIAPI dft_cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *most);
void CUPTIAPI dft_cupti_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                         size_t valid);
/* From now on buffers are thrown away: of a forked child. */
void dft_cupti_buffers_stop(void);
/* Says what was dropped, and what did not come back. */
void dft_cupti_buffers_report(void);

#endif
