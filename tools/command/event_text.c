/* A text with something for every event, written by all ranks; see event_text.h. */
#include "command/event_text_inside.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "source/source_share.h"
#include "source/source_names.h"
#include "source/source_order.h"
#include "source/source_stretch.h"
#include "source/source_unordered.h"

/* --- stretches ------------------------------------------------------------------------------------------------------- */

/* Turn 0 is the head, then come the stretches, then the tail. */
static int begin(struct writing *writing, uint64_t turn)
{
    *writing->text->out = dft_relay_begin(writing->relay, turn);
    if (!*writing->text->out)
        return -EIO; /* dft_relay_end tells which it was */
    if (writing->numbers && turn && turn <= writing->count + 1)
        *writing->text->number = writing->numbers[turn - 1];
    return 0;
}

static int end_stretch(struct writing *writing, int rc)
{
    if (!rc && writing->text->pause)
        rc = writing->text->pause(writing->text->context);
    return dft_relay_end(writing->relay, rc);
}

/* Where one rank writes all, the stretches are gone through at once: then it is decoded in wider windows. */
static int give(void *context, const struct dft_event_at *at)
{
    struct writing *writing = context;
    int rc = 0;

    while (!rc && writing->ranks == 1 && !writing->text->unsorted && writing->at + 1 < writing->count &&
           writing->starts[writing->at + 1] <= at->event->start_ns) {
        rc = end_stretch(writing, 0);
        if (!rc)
            rc = begin(writing, ++writing->at + 1);
    }
    return rc ? rc : writing->text->event(writing->text->context, at);
}

static int give_stretches(struct writing *writing, size_t first, size_t last)
{
    struct dft_event_text *text = writing->text;
    uint64_t from = first ? writing->starts[first] : 0;
    uint64_t to = last + 1 < writing->count ? writing->starts[last + 1] - 1 : UINT64_MAX;
    int rc;

    writing->at = first;
    if (text->unsorted)
        return dft_source_unordered(text->source, text->filter, from, to < SIZE_MAX ? to + 1 : to, give, writing);
    rc = dft_event_text_resume(writing, from);
    return rc ? rc : dft_timeline_give(writing->timeline, 0, from, to, give, writing);
}

static int write_stretches(struct writing *writing, int rc)
{
    int at_once = writing->ranks == 1 && !writing->text->unsorted;

    for (size_t i = 0; i < writing->count; i++) {
        if (!dft_relay_is_mine(writing->relay, i + 1))
            continue;
        if (!rc)
            rc = begin(writing, i + 1);
        else
            dft_relay_begin(writing->relay, i + 1); /* the others count on it */
        if (!rc)
            rc = give_stretches(writing, i, at_once ? writing->count - 1 : i);
        if (at_once)
            i = writing->count - 1;
        rc = end_stretch(writing, rc);
    }
    return rc;
}

static int write_head(struct writing *writing)
{
    int rc;

    if (!dft_relay_is_mine(writing->relay, 0))
        return 0;
    rc = begin(writing, 0);
    if (!rc && writing->text->head)
        rc = writing->text->head(writing->text->context);
    return dft_relay_end(writing->relay, rc);
}

/* What belongs to it comes from all ranks. */
static int write_tail(struct writing *writing, int rc)
{
    struct dft_event_text *text = writing->text;
    int mine = dft_relay_is_mine(writing->relay, writing->count + 1), begun = 0;

    if (mine)
        begun = begin(writing, writing->count + 1);
    rc = dft_comm_agree(rc ? rc : begun);
    if (!rc && text->sum)
        rc = dft_comm_agree(text->sum(text->context));
    if (!rc && mine && text->tail)
        rc = text->tail(text->context);
    return mine ? dft_relay_end(writing->relay, rc) : rc;
}

/* --- the text -------------------------------------------------------------------------------------------------------- */

/* Goes through all turns, whatever goes wrong, since others wait for them. Where only rank 0 writes, the others give it the
 * blocks that they alone have. */
static int write_turns(struct writing *writing)
{
    struct dft_source *source = writing->text->source;
    int rc = 0;

    if (writing->ranks > 1 || dft_share_serve(source, &rc)) {
        rc = write_head(writing);
        rc = write_stretches(writing, rc);
        if (writing->ranks == 1)
            dft_share_served(source);
    }
    return write_tail(writing, rc);
}

static int prepare(struct writing *writing)
{
    struct dft_event_text *text = writing->text;
    int rc = dft_source_stretches(text->source, text->filter, text->unsorted, &writing->starts, &writing->count);

    if (rc || text->unsorted)
        return rc;
    rc = dft_timeline_create(&writing->timeline, text->source, text->filter, 0);
    if (!rc && text->enclosing)
        dft_timeline_outer_first(writing->timeline);
    return rc;
}

int dft_event_text_write(struct dft_event_text *text, const char *path)
{
    struct writing writing = {.text = text, .ranks = 1};
    int rc = dft_source_names_locate(text->source), common = 0, shared;

    if (!rc)
        rc = dft_comm_agree(prepare(&writing));
    if (!rc) {
        common = dft_share_common(text->source);
        rc = common < 0 ? common : 0;
    }
    writing.ranks = common > 0 ? dft_comm_size() : 1;
    if (!rc)
        rc = dft_event_text_number(&writing);
    if (!rc)
        rc = dft_relay_open(&writing.relay, path, writing.count + 2, writing.ranks);
    if (!rc)
        rc = write_turns(&writing);
    *text->out = NULL;
    if (writing.relay)
        rc = dft_relay_close(writing.relay, rc);
    dft_timeline_destroy(writing.timeline);
    free(writing.starts);
    free(writing.numbers);
    free(writing.reaching);
    shared = dft_share_notes(text->source);
    return rc ? rc : shared;
}
