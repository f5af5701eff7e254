/* SPDX-License-Identifier: MIT */
/* Which layers an event belongs to. What a call or a file decides is remembered. What is around an
 * event is known from the events of its thread, which come in order. One thread at a time. */
#ifndef DFT_LAYERS_MATCHING_H
#define DFT_LAYERS_MATCHING_H

#include "base/map.h"
#include "base/names.h"
#include "format/event.h"
#include "layers/preset.h"

/* An event with what decides its layers. */
struct dft_layer_event {
    struct dft_event event;
    uint64_t call;         /* name id */
    uint32_t process, tid; /* process: position among those of the overlap */
    uint8_t op, io;
};

struct dft_layer_thread;
struct dft_layer_candidates;
struct dft_layer_matching {
    const struct dft_preset *preset;
    const struct dft_names *names;
    struct dft_map calls; /* call and class -> position + 1 */
    struct dft_layer_candidates *candidates;
    uint16_t *rules;        /* numbers of rules, of all candidates */
    struct dft_map paths;   /* file -> which rules with a place_bit it fits, and KNOWN */
    struct dft_map regions; /* region -> the same */
    struct dft_map numbers; /* process and thread -> position + 1 */
    struct dft_layer_thread *threads;
    uint32_t ncandidates, candidates_capacity, nrules, rules_capacity, nthreads, threads_capacity;
};

/* Does a call of a class fit a rule, but for what needs the event? */
int dft_layer_rule_fits(const struct dft_layer_rule *rule, uint8_t io, struct dft_text category, struct dft_text name);
void dft_layer_matching_fini(struct dft_layer_matching *matching);

/* The order in which dft_layer_match takes events: by start; of a thread's events that start
 * together the enclosing one first. That is the one with the later end, else with the lower depth,
 * else the region. 0: neither encloses the other. */
int dft_layer_events_compare(const struct dft_layer_event *a, const struct dft_layer_event *b);
/* Finds the layers of an event. Events come in order. An event is around another one of its thread
 * if the other one starts in it. Returns 0 or -ENOMEM. */
int dft_layer_match(struct dft_layer_matching *matching, const struct dft_layer_event *event,
                    struct dft_layer_set *layers);

#endif
