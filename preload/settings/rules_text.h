/* SPDX-License-Identifier: MIT */
/* Compiles the text of rules. Constructor only. */
#ifndef DFT_RULES_TEXT_H
#define DFT_RULES_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* What is wrong with a rule. Texts are static, or lie in the rule. */
struct dft_rules_fault {
    size_t at; /* bytes of the rule before the mistake */
    const char *reason;
    const char *word; /* follows the reason in quotes; NULL: nothing does */
    size_t length;
    const char *nearest; /* NULL: nothing is near */
};

/* Adds the steps of one expression. unit_ns: what a duration without a unit counts in. Returns 0, or
 * -1 with `fault`. */
int dft_rules_compile(const char *text, uint64_t unit_ns, struct dft_rules_fault *fault);

#endif
