/* Slices of a thread that begin at the same time must come outermost first: events of one start are held back, and sorted,
 * until the next start. */
#ifndef DFT_EXPORT_HELD_H
#define DFT_EXPORT_HELD_H

#include "source/source_object.h"

struct dft_held_event {
    struct dft_event_at at;
    struct dft_event event;
    size_t args; /* position in the list of arguments */
};

struct dft_held {
    void (*give)(void *context, const struct dft_event_at *at);
    void *context;
    struct dft_held_event *events;
    struct dft_arg *args;
    char *texts; /* of string arguments; positions stand in their bytes until they are given */
    size_t count, room, nargs, args_room, ntexts, texts_room;
};

/* Events come in order of start. Returns 0 or -ENOMEM. */
int dft_held_add(struct dft_held *held, const struct dft_event_at *at);
/* Gives what is held: at the end, and before texts of names are forgotten. `held` is a struct dft_held. */
void dft_held_flush(void *held);
void dft_held_fini(struct dft_held *held);

#endif
