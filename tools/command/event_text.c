/* SPDX-License-Identifier: MIT */
/* A text with something for every event, in one file; see event_text.h. */
#include "command/event_text.h"

#include "base/outfile.h"
#include "mpi/comm.h"
#include "intake/source_names.h"
#include "views/source_order.h"
#include "intake/source_exchange.h"
#include "views/source_unordered.h"
#include "intake/source_names.h"
#include "views/source_order.h"
#include "views/source_unordered.h"

static int write_events(const struct dft_event_text *text)
{
    struct dft_ordering *timeline;
    int rc;

    if (text->unsorted)
        return dft_source_unordered(text->source, text->filter, text->event, text->context);
    rc = dft_ordering_create(&timeline, text->source, text->filter, 0);
    if (!rc && text->outer_first)
        dft_ordering_outer_first(timeline);
    if (!rc)
        rc = dft_ordering_emit(timeline, 0, text->event, text->context);
    dft_ordering_destroy(timeline);
    return rc;
}

static int write_file(const struct dft_event_text *text, const char *path)
{
    struct dft_outfile out;
    int rc = text->is_inside ? dft_outfile_open_inside(&out, path) : dft_outfile_open(&out, path);

    if (rc)
        return rc;
    *text->out = out.stream;
    rc = text->head ? text->head(text->context) : 0;
    if (!rc)
        rc = write_events(text);
    if (!rc && text->tail)
        rc = text->tail(text->context);
    *text->out = NULL;
    return dft_outfile_close(&out, rc, 0);
}

int dft_event_text_write(const struct dft_event_text *text, const char *path)
{
    int rc = dft_source_names_locate(text->source), noted;

    if (rc)
        return rc;
    if (dft_exchange_serve(text->source, &rc)) {
        rc = write_file(text, path);
        dft_exchange_served(text->source);
    }
    rc = dft_comm_agree(rc);
    noted = dft_exchange_notes(text->source);
    return rc ? rc : noted;
}
