/* SPDX-License-Identifier: MIT */
/* Layers of events, by rules. */
#include "layers/matching.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/event.h"
#include "format/ops.h"

#define PLACES_KNOWN (UINT64_C(1) << 63)

/* An event of a layer that rules with inside= or outside= name. */
struct around {
    struct dft_layer_event event;
    struct dft_layer_set layers;
    uint64_t end_ns;
};

struct dft_layer_thread {
    struct around *list;
    uint32_t count, capacity;
};

/* Rules that a call of a class fits. */
struct dft_layer_candidates {
    uint32_t from, count;
};

void dft_layer_matching_fini(struct dft_layer_matching *matching)
{
    for (uint32_t i = 0; i < matching->nthreads; i++)
        free(matching->threads[i].list);
    free(matching->threads);
    free(matching->candidates);
    free(matching->rules);
    dft_map_fini(&matching->calls);
    dft_map_fini(&matching->paths);
    dft_map_fini(&matching->regions);
    dft_map_fini(&matching->numbers);
    *matching = (struct dft_layer_matching){0};
}

static uint64_t end_of(const struct dft_event *event)
{
    uint64_t left = UINT64_MAX - event->start_ns;

    return event->start_ns + (event->dur_ns < left ? event->dur_ns : left);
}

int dft_layer_events_compare(const struct dft_layer_event *a, const struct dft_layer_event *b)
{
    DFT_ORDER(a->event.start_ns, b->event.start_ns);
    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->tid, b->tid);
    DFT_ORDER(end_of(&b->event), end_of(&a->event));
    DFT_ORDER(a->event.depth, b->event.depth);
    DFT_ORDER(b->op == DFT_OP_REGION, a->op == DFT_OP_REGION);
    return 0;
}

/* --- what a call and a file decide ------------------------------------------------------------ */

int dft_layer_rule_fits(const struct dft_layer_rule *rule, uint8_t io, struct dft_text category, struct dft_text name)
{
    if (rule->exact && (strlen(rule->exact) != category.length ||
                        (category.length && memcmp(rule->exact, category.bytes, category.length))))
        return 0;
    return dft_selection_call_fits(&rule->selection, category, name, io, FNM_CASEFOLD);
}

static int find_candidates(struct dft_layer_matching *matching, const struct dft_layer_event *event,
                           struct dft_layer_candidates *candidates)
{
    const struct dft_preset *preset = matching->preset;
    uint64_t *position = dft_map_put(&matching->calls, dft_map_join(event->call, event->io));
    struct dft_text category, name;
    char text[18];

    if (!position)
        return -ENOMEM;
    if (*position) {
        *candidates = matching->candidates[*position - 1];
        return 0;
    }
    *candidates = (struct dft_layer_candidates){.from = matching->nrules};
    dft_names_call(matching->names, event->call, &category, &name, text);
    for (uint32_t i = 0; i < preset->nrules; i++)
        if (preset->rules[i].layer != DFT_LAYER_NONE &&
            dft_layer_rule_fits(&preset->rules[i], event->io, category, name) &&
            DFT_ARRAY_PUSH(matching->rules, matching->rules_capacity, matching->nrules, (uint16_t)i))
            return -ENOMEM;
    candidates->count = matching->nrules - candidates->from;
    if (DFT_ARRAY_PUSH(matching->candidates, matching->candidates_capacity, matching->ncandidates, *candidates))
        return -ENOMEM;
    *position = matching->ncandidates;
    return 0;
}

/* Which rules with path= or region= a file or a region fits: 1 << place_bit each. Rules without the key fit any. */
static int find_places(struct dft_layer_matching *matching, enum dft_selection_key key, uint64_t id, uint64_t *fits)
{
    const struct dft_preset *preset = matching->preset;
    uint64_t *known = dft_map_put(key == DFT_SELECT_PATH ? &matching->paths : &matching->regions, dft_map_join(id, 0));
    struct dft_text category, text = {0};
    char shown[18];

    if (!known)
        return -ENOMEM;
    if (!*known) {
        *known = PLACES_KNOWN;
        if (id && key == DFT_SELECT_PATH)
            text = dft_names_show(matching->names, id, shown);
        else if (id)
            dft_names_call(matching->names, id, &category, &text, shown);
        for (uint32_t i = 0; i < preset->nrules; i++) {
            const struct dft_layer_rule *rule = &preset->rules[i];

            if (rule->place_bit >= 0 && (id ? dft_selection_text_fits(&rule->selection, key, text, 0)
                                            : !dft_selection_has(&rule->selection, key)))
                *known |= UINT64_C(1) << rule->place_bit;
        }
    }
    *fits |= *known;
    return 0;
}

/* Which rules with path= or region= an event fits. */
static int find_event_places(struct dft_layer_matching *matching, const struct dft_event *event, uint64_t *fits)
{
    uint64_t regions = 0;

    *fits = UINT64_MAX;
    if (!matching->preset->nplaces)
        return 0;
    *fits = 0;
    if (find_places(matching, DFT_SELECT_PATH, event->file, fits) ||
        (event->file2 && find_places(matching, DFT_SELECT_PATH, event->file2, fits)) ||
        find_places(matching, DFT_SELECT_REGION, event->region, &regions))
        return -ENOMEM;
    *fits &= regions;
    return 0;
}

/* --- what is around --------------------------------------------------------------------------- */

static struct dft_layer_thread *thread_of(struct dft_layer_matching *matching, const struct dft_layer_event *event)
{
    uint64_t *number = dft_map_put(&matching->numbers, dft_map_join(event->process, event->tid));

    if (!number)
        return NULL;
    if (!*number) {
        if (DFT_ARRAY_PUSH(matching->threads, matching->threads_capacity, matching->nthreads,
                           (struct dft_layer_thread){0}))
            return NULL;
        *number = matching->nthreads;
    }
    return &matching->threads[*number - 1];
}

/* Forgets what is over, and joins the layers of what is around the event. */
static void find_around(struct dft_layer_thread *thread, const struct dft_layer_event *event,
                        struct dft_layer_set *around)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < thread->count; i++) {
        const struct around *one = &thread->list[i];

        if (one->end_ns <= event->event.start_ns)
            continue;
        if (dft_layer_events_compare(&one->event, event) < 0)
            dft_layer_set_join(around, &one->layers);
        thread->list[n++] = *one;
    }
    thread->count = n;
}

int dft_layer_match(struct dft_layer_matching *matching, const struct dft_layer_event *event,
                    struct dft_layer_set *layers)
{
    const struct dft_preset *preset = matching->preset;
    struct dft_layer_thread *thread = thread_of(matching, event);
    struct dft_layer_candidates candidates;
    struct dft_layer_set around = {0};
    uint64_t fits;

    *layers = (struct dft_layer_set){0};
    if (!thread || find_candidates(matching, event, &candidates))
        return -ENOMEM;
    if (!candidates.count)
        return 0;
    if (find_event_places(matching, &event->event, &fits))
        return -ENOMEM;
    find_around(thread, event, &around);
    for (uint32_t i = 0; i < candidates.count; i++) {
        const struct dft_layer_rule *rule = &preset->rules[matching->rules[candidates.from + i]];

        if ((rule->place_bit < 0 || fits >> rule->place_bit & 1) &&
            (!rule->is_inside || dft_layer_set_meets(&rule->inside, &around)) &&
            !dft_layer_set_meets(&rule->outside, &around) && !dft_layer_set_meets(&rule->outside, layers))
            dft_layer_set_add(layers, rule->layer);
    }
    if (!event->event.dur_ns || !dft_layer_set_meets(layers, &preset->around))
        return 0;
    return DFT_ARRAY_PUSH(thread->list, thread->capacity, thread->count,
                          (struct around){*event, *layers, end_of(&event->event)});
}
