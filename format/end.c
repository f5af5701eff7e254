/* SPDX-License-Identifier: MIT */
/* Texts of how a process ended and why events were not kept. */
#include "format/end.h"

const char *dft_drop_text(enum dft_drop drop)
{
    static const char *const texts[] = {
        [DFT_DROP_RING_FULL] = "ring full",
        [DFT_DROP_WRITE_FAILED] = "write failed",
        [DFT_DROP_NO_MEMORY] = "no memory",
        [DFT_DROP_NO_FILE] = "no trace file",
        [DFT_DROP_TOO_LONG] = "record too long",
        [DFT_DROP_TORN] = "half-written at the end",
        [DFT_DROP_TOO_DEEP] = "region nested too deep",
        [DFT_DROP_SANDBOX] = "sandboxed",
        [DFT_DROP_BORROWED] = "in a child that shares memory",
        [DFT_DROP_REQUESTS] = "too many asynchronous requests",
        [DFT_DROP_NO_SPACE] = "no space for the trace",
        [DFT_DROP_NO_NUMBER] = "no descriptor for the trace",
    };
    _Static_assert(sizeof texts / sizeof *texts == DFT_DROP_LAST + 1, "one text a reason");
    unsigned i = (unsigned)drop;

    return i <= DFT_DROP_LAST && texts[i] ? texts[i] : "unknown";
}

const char *dft_ending_text(enum dft_ending ending)
{
    static const char *const texts[] = {
        [DFT_ENDING_UNKNOWN] = "unknown", [DFT_ENDING_EXIT] = "exit",     [DFT_ENDING__EXIT] = "_exit",
        [DFT_ENDING_EXEC] = "exec",       [DFT_ENDING_SIGNAL] = "signal", [DFT_ENDING_KILLED] = "killed",
        [DFT_ENDING_RUNNING] = "running",
    };
    unsigned i = (unsigned)ending;

    return i < sizeof texts / sizeof *texts ? texts[i] : "unknown";
}

const char *dft_misuse_text(enum dft_misuse misuse)
{
    static const char *const texts[] = {
        [DFT_MISUSE_END_ALONE] = "regions ended in a thread that had not begun them",
        [DFT_MISUSE_OUTER_FIRST] = "regions ended by the end of one around them",
        [DFT_MISUSE_LEFT_OPEN] = "regions never ended",
        [DFT_MISUSE_SPAN_ALONE] = "spans ended that were not begun, or twice",
        [DFT_MISUSE_SPAN_OPEN] = "spans never ended",
        [DFT_MISUSE_SPAN_MANY] = "spans by number beyond those that are followed",
        [DFT_MISUSE_NULL] = "names or texts that were NULL",
        [DFT_MISUSE_NAME_CUT] = "names too long, cut",
        [DFT_MISUSE_ARG_CUT] = "arguments cut or left out",
        [DFT_MISUSE_ARG_ALONE] = "arguments while no region was open",
        [DFT_MISUSE_RESUME_ALONE] = "resumed or suspended without its counterpart",
    };
    _Static_assert(sizeof texts / sizeof *texts == DFT_MISUSE_LAST + 1, "one text a kind");
    unsigned i = (unsigned)misuse;

    return i <= DFT_MISUSE_LAST && texts[i] ? texts[i] : "of a kind unknown here";
}
