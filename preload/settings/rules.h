/* SPDX-License-Identifier: MIT */
/* The rules of DFTRACER_AGGREGATION_FILE: which calls are kept as aggregates alone. The constructor
 * compiles the rules (rules_text.c). Afterwards nothing changes but the table of names.
 *
 *   who           may                             with whom at the same time
 *   constructor   compile the rules               nobody
 *   any thread    ask; define a name              all
 *
 * Most calls need no evaluation: the answer that follows from the call's name and category is ready in
 * dft_rules_of_call. */
#ifndef DFT_RULES_H
#define DFT_RULES_H

#include <stddef.h>

#include "format/calls.h"
#include "os/hidden.h"

enum dft_rules_answer { DFT_RULES_EVENT = 0, DFT_RULES_AGGREGATE = 1, DFT_RULES_DEPENDS = 2 };

/* Are there rules? */
extern int dft_rules_on DFT_HIDDEN;
/* By enum dft_call_number: enum dft_rules_answer. */
extern uint8_t dft_rules_of_call[DFT_CALL_COUNT] DFT_HIDDEN;
/* The answer for all annotations together. */
extern uint8_t dft_rules_of_annotations DFT_HIDDEN;

/* What one event says. A comparison with what the event does not have is false. */
struct dft_rule_facts {
    uint64_t dur_ns;
    uint64_t size;  /* bytes requested, of reads and writes */
    int64_t result; /* of calls */
    int64_t offset; /* -1: none */
    uint64_t name;  /* annotations: id of the name, as the record's file field has it */
    uint32_t files; /* what dft_rules_file() says of the file; 0: there is none */
    int32_t fd;     /* -1: none */
    uint32_t tid;
    uint16_t call; /* as in a record */
    uint16_t err;  /* 0: no failure */
};

/* The slow part of dft_rules_aggregates_only(). Allocates nothing, takes no lock. */
int dft_rules_decide(const struct dft_rule_facts *facts);

/* The answer that the call's number alone gives: most callers need no facts. */
static inline enum dft_rules_answer dft_rules_of(uint32_t call)
{
    return (enum dft_rules_answer)(call < DFT_CALL_COUNT ? dft_rules_of_call[call] : dft_rules_of_annotations);
}

/* 1: the event is kept in aggregates alone. */
static inline int dft_rules_aggregates_only(const struct dft_rule_facts *facts)
{
    enum dft_rules_answer answer = dft_rules_of(facts->call);

    return __builtin_expect(answer == DFT_RULES_DEPENDS, 0) ? dft_rules_decide(facts) : (int)answer;
}

/* Which patterns a path fits. 0 without rules about files. */
uint32_t dft_rules_file(const char *path, size_t length);
/* A file was named: `id` stands for its path. Decided once, unless many thousand other files came
 * between. */
void dft_rules_define_file(uint64_t id, const char *path, size_t length);
/* What dft_rules_file() said of it; 0: nothing is known. */
uint32_t dft_rules_files_of(uint64_t id);

/* A name of regions or functions was defined: "category NUL name". */
void dft_rules_name(uint64_t id, const char *text, size_t length);

#endif
