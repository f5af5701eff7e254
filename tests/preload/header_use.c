/* SPDX-License-Identifier: MIT */
/* Each form of dftrace.h once, for compilers that are told to be strict. */
#include <dftrace/dftrace.h>
#include <dftrace/entity.h>

static struct dftrace_span span, child;

static int uses(int n)
{
    struct dftrace_arg args[2];
    DFTRACE_REGION("scope");

    args[0] = dftrace_int("i", n);
    args[1] = dftrace_string("s", "t");
    DFTRACE_BEGIN("a");
    DFTRACE_ARG_INT("i", 1);
    DFTRACE_ARG_DOUBLE("d", 1.5);
    DFTRACE_ARG_STRING("s", "t");
    DFTRACE_END("a");
    DFTRACE_BEGIN_CAT("c", "a");
    DFTRACE_END_CAT("c", "a");
    DFTRACE_BEGIN_ARGS("b", args, 2);
    DFTRACE_END_ARGS("b", args, 2);
    DFTRACE_INSTANT("i");
    DFTRACE_INSTANT_ARGS("i", args, 1);
    DFTRACE_COUNTER("c", 1);
    DFTRACE_COUNTER_DOUBLE("c", 1);
    DFTRACE_METADATA("k", "v");
    DFTRACE_METADATA_INT("k", 1);
    DFTRACE_METADATA_DOUBLE("k", 1);
    DFTRACE_JOB_METADATA("k", "v");
    DFTRACE_JOB_METADATA_INT("k", 1);
    DFTRACE_JOB_METADATA_DOUBLE("k", 1);
    DFTRACE_THREAD_NAME("x");
    DFTRACE_SPAN_BEGIN(&span, "s");
    DFTRACE_SPAN_CHILD(&child, &span, "c");
    DFTRACE_SPAN_RESUME(&child);
    DFTRACE_SPAN_SUSPEND(&child);
    DFTRACE_SPAN_END(&child);
    DFTRACE_SPAN_END_ARGS(&span, args, 2);
    DFTRACE_ASYNC_BEGIN("q", 7);
    DFTRACE_ASYNC_END("q", 7);
    DFTRACE_FLOW_START("f", dftrace_new_id());
    DFTRACE_FLOW_STEP("f", 1);
    DFTRACE_FLOW_FINISH("f", 1);
    DFTRACE_PAUSE_THREAD();
    DFTRACE_RESUME_THREAD();
    DFTRACE_PAUSE_PROCESS();
    DFTRACE_RESUME_PROCESS();
    DFTRACE_FLUSH();
    dftrace_set_role("r");
    DFTRACE_EVENT("event", dftrace_now(), 1000);
    dftrace_region_begin("c", "n");
    dftrace_region_end("c", "n");
    if (n)
        DFTRACE_BEGIN("without braces");
    else
        DFTRACE_END("without braces");
    return dftrace_enabled();
}

int main(void)
{
    return uses(1);
}
