/* SPDX-License-Identifier: MIT */
/* Rules of users for logs of their own.
 *
 * One rule a line: "TYPE KEY=VALUE...". # begins a comment outside quotes; a value with blanks stands in
 * double quotes. In TYPE and in all values but the first, \1 to \9 are what the parts of the expression
 * in parentheses fit, and \0 is all of it. Keys:
 *
 *   match=   a POSIX extended regular expression, which a line fits somewhere. The value ends at the last
 *            quote before the next key
 *   id=      of the span
 *   event=   its event; none: the line is about the span alone
 *   time=    of the event; none: the time at the beginning of the line
 *   note=    of the event
 *   in=      TYPE:ID of the span that this one is part of
 *   key=     what that one calls it; none: the id
 *   same=    TYPE:ID of another view of the span */
#ifndef DFT_SPANS_RULES_H
#define DFT_SPANS_RULES_H

#include <regex.h>
#include <stddef.h>

#define DFT_RULE_PARTS 10u

enum dft_rule_key {
    DFT_RULE_MATCH,
    DFT_RULE_ID,
    DFT_RULE_EVENT,
    DFT_RULE_TIME,
    DFT_RULE_NOTE,
    DFT_RULE_IN,
    DFT_RULE_KEY,
    DFT_RULE_SAME,
    DFT_RULE_KEYS
};

struct dft_span_rule {
    char *type;
    char *values[DFT_RULE_KEYS]; /* NULL: not specified */
    regex_t expression;
};

struct dft_span_rules {
    struct dft_span_rule *list;
    size_t count, capacity;
};

/* Returns 0 or -errno with an error that names file and line. The caller calls fini in either
 * case. */
int dft_span_rules_read(struct dft_span_rules *rules, const char *path, char *error, size_t size);
void dft_span_rules_fini(struct dft_span_rules *rules);

#endif
