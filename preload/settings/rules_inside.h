/* SPDX-License-Identifier: MIT */
/* What the compiler of rules (rules_text.c) hands to their evaluation (rules.c): a program for a
 * machine with a stack of truth values. */
#ifndef DFT_RULES_INSIDE_H
#define DFT_RULES_INSIDE_H

#include <stddef.h>

#include "settings/rules.h"

#define DFT_RULES_STEPS 1024u
#define DFT_RULES_DEPTH 60u /* of the stack */
#define DFT_RULES_NAMES 63u /* different tests of names and categories */
#define DFT_RULES_FILES 31u /* of paths */
#define DFT_RULES_TEXT  16384u

enum dft_rule_do { DFT_RULE_NUMBER, DFT_RULE_NAME, DFT_RULE_FILE, DFT_RULE_AND, DFT_RULE_OR, DFT_RULE_NOT };

enum dft_rule_field {
    DFT_RULE_CAT,
    DFT_RULE_CALL,
    DFT_RULE_PATH,
    DFT_RULE_DUR,
    DFT_RULE_SIZE,
    DFT_RULE_RET,
    DFT_RULE_OFFSET,
    DFT_RULE_ERRNO,
    DFT_RULE_FD,
    DFT_RULE_PID,
    DFT_RULE_TID,
};

enum dft_rule_compare {
    DFT_RULE_EQ,
    DFT_RULE_NEQ,
    DFT_RULE_GT,
    DFT_RULE_GTE,
    DFT_RULE_LT,
    DFT_RULE_LTE,
    DFT_RULE_IN,
    DFT_RULE_LIKE
};

/* Steps of the program. Each test puts a value on the stack. */
struct dft_rule_step {
    uint8_t what;    /* enum dft_rule_do */
    uint8_t field;   /* of a number */
    uint8_t compare; /* of a number */
    uint8_t bit;     /* of a name or a file: which test */
    int64_t value;   /* of a number; a file or name: 1: fits, 0: is there and does not fit */
};

/* These return 0, or -1: the bounds above do not allow more. */
int dft_rules_put(const struct dft_rule_step *step);
/* The test of a text, made once however often it is used: *bit. `field`: CAT, CALL or PATH. */
int dft_rules_put_test(enum dft_rule_field field, int like, const char *text, size_t length, uint8_t *bit);

/* Drops what was put. */
void dft_rules_clear(void);
/* All was put: works out the answers by call. */
void dft_rules_ready(void);

#endif
