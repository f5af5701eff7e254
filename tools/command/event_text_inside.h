/* What the parts of event_text share. */
#ifndef DFT_EVENT_TEXT_INSIDE_H
#define DFT_EVENT_TEXT_INSIDE_H

#include "command/event_text.h"
#include "mpi/relay.h"

struct writing {
    struct dft_event_text *text;
    struct dft_relay *relay;
    struct dft_timeline *timeline;
    uint64_t *starts; /* of stretches: times, or numbers of blocks */
    size_t count;
    size_t at;         /* the stretch being written */
    unsigned ranks;    /* that write */
    uint64_t *numbers; /* of the first line of each stretch; NULL: lines have none, or come one after the other */
    struct dft_enclosing_event *reaching; /* events around others that reach into a later stretch, in order */
    uint32_t nreaching;
};

/* event_text_numbers.c: numbers of lines, and `reaching`; one rank writes all where there is too
 * much of it. Collective. */
int dft_event_text_number(struct writing *writing);
/* Before a stretch that does not follow the last one: what is around its events is put. Returns 0
 * or -ENOMEM. */
int dft_event_text_resume(const struct writing *writing, uint64_t from_ns);

#endif
