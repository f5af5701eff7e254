/* SPDX-License-Identifier: MIT */
/* What the rules look at: answers that are asked for once, and shared by all rules. */
#ifndef DFT_FINDING_FACTS_H
#define DFT_FINDING_FACTS_H

#include "findings/findings.h"
#include "query/answer.h"
#include "query/query.h"

#define DFT_FACT_GROUPS  4096u /* of each answer, those with the most time */
#define DFT_FACT_WINDOWS 20u

/* Answers of which some may be empty: `asked` says which were asked for at all. */
enum dft_fact {
    DFT_FACT_CALLS,     /* cat, name, op, class, size, access, errno: from rows, always */
    DFT_FACT_WINDOWS_,  /* time, op, class, size, errno: twenty parts of the run; from rows */
    DFT_FACT_PROCESSES, /* process, class: from rows */
    DFT_FACT_RANKS,     /* rank, class: where there are ranks */
    DFT_FACT_REGIONS,   /* cat, name, process: of op REGION */
    DFT_FACT_FILES,     /* file, op, class, size, errno from events; file, class from rows of files */
    DFT_FACT_PATTERNS,  /* pattern, op, class; pattern, class */
    DFT_FACT_DIRS,      /* dir, op, class, errno; dir, class */
    DFT_FACT_OPENS,     /* file, process of op open and fopen: from events alone */
    DFT_FACT_LINES,     /* line, file, op: where there are stacks */
    DFT_FACTS
};

struct dft_facts {
    const struct dft_findings_request *request;
    struct dft_answer answers[DFT_FACTS];
    uint64_t asked;   /* 1 << enum dft_fact */
    int has_file_ops; /* answers by file tell operations apart (from events) */
    int has_stacks;
    uint64_t total_ns; /* wall time of all processes together; of the filter's window, if there is one */
    uint64_t wall_ns;  /* of the job, in that window */
    uint32_t processes;
};

/* Returns 0 or -ENOMEM. Collective. */
int dft_facts_collect(struct dft_facts *facts, const struct dft_findings_request *request);
void dft_facts_fini(struct dft_facts *facts);

/* The source line with the most time among calls of these operations (0: all) on a file (0: any), or
 * NULL. The text is the caller's. */
char *dft_facts_line(const struct dft_facts *facts, uint64_t file, uint64_t ops);
/* How the time of calls of these operations and size classes (masks; 0: all) lies in the run. */
enum dft_when dft_facts_when(const struct dft_facts *facts, uint64_t ops, unsigned sizes, uint64_t *from_ns,
                             uint64_t *to_ns);

/* --- rules ------------------------------------------------------------------------------------ */

struct dft_rules {
    const struct dft_facts *facts;
    const struct dft_limits *limits;
    struct dft_findings *findings;
};

/* A rule adds what it finds. Returns 0 or -ENOMEM. */
typedef int dft_rule_fn(struct dft_rules *rules);

/* A finding that costs so much time of `of_ns`; NULL with *rc 0: it is below the limits, or not wanted;
 * NULL with -ENOMEM. */
struct dft_finding *dft_rules_add(struct dft_rules *rules, enum dft_finding_code code, uint64_t cost_ns, uint64_t of_ns,
                                  int *rc);
/* Appends to a text of a finding. Returns 0 or -ENOMEM. */
int dft_finding_say(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline uint64_t dft_limit(const struct dft_rules *rules, enum dft_limit limit)
{
    return rules->limits->values[limit];
}

dft_rule_fn dft_rule_lost;

#endif
