/* SPDX-License-Identifier: MIT */
/* Takes the stacks of threads that hang, as `dftmerge ps --stacks` does. */
#include "top/stuck.h"

#include <stdlib.h>

#include "stacks/ps_stacks.h"
#include "stacks/ps_stacks_show.h"

#define STACKS_MAX 5u

static void put_stack(FILE *out, const struct dft_top_watch *watch, const struct dft_top_flight *flight)
{
    char *text = dft_top_flight_text(watch, flight);

    fprintf(out, "%s\n", text ? text : "");
    free(text);
#ifdef DFT_HAVE_UNWIND
    struct dft_ps_stack stack = {.tid = flight->tid};

    dft_ps_stack_take(watch->processes[flight->process].pid, &stack);
    dft_ps_stack_print(out, &stack);
    dft_ps_stack_free(&stack);
#else
    fputs("  no stack: this dftmerge was built without libunwind. Install libunwind-dev, and rebuild it\n", out);
#endif
}

char *dft_top_stacks(const struct dft_top_watch *watch)
{
    uint32_t *order;
    size_t count, length;
    char *text = NULL;
    FILE *out;

    if (dft_top_flights(watch, 1, &order, &count))
        return NULL;
    out = open_memstream(&text, &length);
    for (size_t i = 0; out && i < count && i < STACKS_MAX; i++)
        put_stack(out, watch, &watch->flights[order[i]]);
    if (out && !count)
        fputs("no call is in flight for longer than a second\n", out);
    if (out)
        fclose(out);
    free(order);
    return text;
}
