/* SPDX-License-Identifier: MIT */
/* Owns the life of the module: the CUDA driver calls InitializeInjection when the program starts to use CUDA. Whatever
 * fails here is said, and the program goes on. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cupti_module.h"

#define VERSION_MIN     10u   /* CUDA 9.0: records as cupti_records.c reads them */
#define FLUSH_PERIOD_MS 1000u /* what a killed program loses at most */
#define FLUSH_FORCED    1u

static pid_t started_in;

/* What to do about an error, where that is known. */
static const char *remedy(CUptiResult result)
{
    switch ((int)result) {
    case 35: /* insufficient privileges */
    case 40: /* the same of a virtual GPU */
        return ": the driver lets administrators alone profile; load nvidia with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_NOT_COMPATIBLE:
        return ": libcupti does not fit the driver; put one of the driver's CUDA version into LD_LIBRARY_PATH";
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
    case 39: /* multiple subscribers */
        return ": another profiler has CUPTI; run the program without it";
    default:
        return "";
    }
}

static void say_failed(const char *what, CUptiResult result)
{
    dft_cupti_say(what, ": ", dft_cupti_error(result), remedy(result), NULL);
}

static void CUPTIAPI ignore(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info)
{
    (void)data, (void)domain, (void)id, (void)info;
}

/* CUPTI has one subscriber at a time: this only checks whether there is one. A profiler of the program that comes
 * later finds the place free. */
static int is_free(void)
{
    CUpti_SubscriberHandle subscriber;
    CUptiResult result = dft_cupti.subscribe(&subscriber, (CUpti_CallbackFunc)ignore, NULL);

    if (result == CUPTI_SUCCESS)
        dft_cupti.unsubscribe(subscriber);
    else
        say_failed("nothing is recorded", result);
    return result == CUPTI_SUCCESS;
}

/* Returns how many kinds are recorded. */
static int enable_kinds(void)
{
    static const struct {
        CUpti_ActivityKind kind;
        const char *what;
    } kinds[] = {{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels are not recorded"},
                 {CUPTI_ACTIVITY_KIND_MEMCPY, "copies are not recorded"},
                 {CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices are not recorded"},
                 {CUPTI_ACTIVITY_KIND_MEMSET, "fills of memory are not recorded"},
                 {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronisation is not recorded"}};
    int enabled = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        CUptiResult result = dft_cupti.enable(kinds[i].kind);

        enabled += result == CUPTI_SUCCESS;
        if (result != CUPTI_SUCCESS)
            say_failed(kinds[i].what, result);
    }
    return enabled;
}

/* The driver's state is the parent's, and CUDA does not work here. */
static void in_child(void)
{
    dft_cupti_buffers_stop();
}

/* Before the end of the trace: the library that writes it was loaded first, and ends last. */
static void at_exit(void)
{
    CUptiResult result;

    if (getpid() != started_in)
        return;
    result = dft_cupti.flush_all(FLUSH_FORCED);
    if (result != CUPTI_SUCCESS)
        say_failed("the last activities could not be fetched", result);
    dft_cupti_buffers_report();
}

/* What the loader reads is not the program's I/O. */
static int load(const struct dftrace_api *api, const char **wrong)
{
    int rc;

    api->pause(0);
    rc = dft_cupti_load(wrong);
    api->resume(0);
    return rc;
}

static void start(const struct dftrace_api *api)
{
    const char *wrong;
    uint32_t version = 0;
    CUptiResult result;

    if (load(api, &wrong)) {
        dft_cupti_say("nothing is recorded: ", wrong,
                      " was not found; put the folder of libcupti.so, which is part of ",
                      "the CUDA Toolkit, into LD_LIBRARY_PATH", NULL);
        return;
    }
    if (dft_cupti.get_version(&version) != CUPTI_SUCCESS || version < VERSION_MIN) {
        dft_cupti_say("nothing is recorded: libcupti is older than that of CUDA 9.0", NULL);
        return;
    }
    if (!is_free())
        return;
    if (dft_cupti_clock_start(api)) {
        dft_cupti_say("nothing is recorded: CUPTI, or the trace, gives no time", NULL);
        return;
    }
    result = dft_cupti.register_callbacks(dft_cupti_buffer_requested, dft_cupti_buffer_completed);
    if (result != CUPTI_SUCCESS) {
        say_failed("nothing is recorded", result);
        return;
    }
    if (!enable_kinds())
        return;
    if (dft_cupti.enable_polls) /* a loop of queries would be a record each */
        dft_cupti.enable_polls(0);
    if (dft_cupti.flush_period)
        dft_cupti.flush_period(FLUSH_PERIOD_MS);
    started_in = getpid();
    pthread_atfork(NULL, NULL, in_child);
    atexit(at_exit);
}

/* What the CUDA driver looks for in the library that CUDA_INJECTION64_PATH names. Nonzero: all is well. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
    static int called;
    DFTRACE_API_;

    if (!dftrace_api_ || __atomic_exchange_n(&called, 1, __ATOMIC_RELAXED))
        return 1;
    if (DFTRACE_HAS_(span_event))
        start(dftrace_api_);
    else
        dft_cupti_say("nothing is recorded: libdftrace.so is older than libdftcupti.so", NULL);
    return 1;
}
