/* SPDX-License-Identifier: MIT */
/* Calls that have not returned: which of them hang, and how they are reported. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/write_text.h"
#include "format/io.h"
#include "top/frame.h"

uint64_t dft_top_age_ns(const struct dft_top_watch *watch, const struct dft_top_flight *flight)
{
    return watch->now_ns > flight->start_ns ? watch->now_ns - flight->start_ns : 0;
}

static int is_io(const struct dft_top_flight *flight)
{
    return dft_is_io(dft_op_io(flight->op));
}

int dft_top_is_stuck(const struct dft_top_watch *watch, const struct dft_top_flight *flight)
{
    return is_io(flight) && dft_top_age_ns(watch, flight) >= DFT_TOP_STUCK_NS;
}

struct place {
    int is_other;
    uint64_t start_ns;
    uint32_t at;
};

static int compare(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    DFT_ORDER(a->is_other, b->is_other);
    DFT_ORDER(a->start_ns, b->start_ns);
    DFT_ORDER(a->at, b->at);
    return 0;
}

int dft_top_flights(const struct dft_top_watch *watch, int stuck, uint32_t **order, size_t *count)
{
    struct place *places = malloc((watch->nflights + 1) * sizeof *places);
    size_t n = 0;

    *order = malloc((watch->nflights + 1) * sizeof **order);
    if (!places || !*order) {
        free(places);
        free(*order);
        *order = NULL;
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < watch->nflights; i++) {
        const struct dft_top_flight *flight = &watch->flights[i];
        int is_long = dft_top_age_ns(watch, flight) >= DFT_TOP_STUCK_NS && flight->op != DFT_OP_REGION;

        if (watch->processes[flight->process].shown && (!stuck || is_long))
            places[n++] = (struct place){!is_io(flight), flight->start_ns, i};
    }
    qsort(places, n, sizeof *places, compare);
    for (size_t i = 0; i < n; i++)
        (*order)[i] = places[i].at;
    *count = n;
    free(places);
    return 0;
}

char *dft_top_flight_text(const struct dft_top_watch *watch, const struct dft_top_flight *flight)
{
    const struct dft_top_process *process = &watch->processes[flight->process];
    struct dft_text category, name, file;
    char buffer[18], room[DFT_TEXT_ROOM], *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    fprintf(out, "process %u", process->pid);
    if (process->rank >= 0)
        fprintf(out, " (rank %d)", process->rank);
    if (flight->tid != process->pid)
        fprintf(out, ", thread %u", flight->tid);
    fprintf(out, ": %s in ", dft_text_ns(room, dft_top_age_ns(watch, flight)));
    dft_names_call(watch->names, flight->call, &category, &name, buffer);
    dft_text_escape(out, name.bytes, name.length);
    if (flight->file) {
        file = dft_names_show(watch->names, flight->file, buffer);
        fputs(" of ", out);
        dft_text_escape(out, file.bytes, file.length);
    }
    fclose(out);
    return text;
}
