/* SPDX-License-Identifier: MIT */
/* Rules that organise events into groups. They are read from text, and decide about events. */
#ifndef DFT_GROUP_RULES_H
#define DFT_GROUP_RULES_H

#include "format/text.h"
#include "base/names.h"
#include "object/object.h"

struct dft_call;
struct dft_event;

#define DFT_RULES_MAX 63u /* maximum of lines, and so of groups without `other` */

struct dft_group_rules;

/* Reads the file `given`. When there is no such file and `given` has a colon, `given` is the text
 * itself. A ';' may end a line of that text. Returns 0, -ENOMEM, or -EINVAL after a message on
 * stderr. */
int dft_rules_read(struct dft_group_rules **rules, const char *given);
/* Prepares the paths of the rules for a source. Returns 0 or -ENOMEM. */
int dft_rules_begin(struct dft_group_rules *rules, const struct dft_source *source);
void dft_rules_destroy(struct dft_group_rules *rules);

/* Groups in order of their first line. The last group is `other`. */
uint32_t dft_rules_groups(const struct dft_group_rules *rules);
const char *dft_rules_name(const struct dft_group_rules *rules, uint32_t group);
struct dft_text dft_rules_text(const struct dft_group_rules *rules);

/* What one thread needs to apply the rules. A matcher remembers the names that it has seen. NULL: no
 * memory. */
struct dft_matcher;
struct dft_matcher *dft_matcher_create(const struct dft_group_rules *rules, const struct dft_names *names);
void dft_matcher_destroy(struct dft_matcher *matcher);

/* The group of an event. Returns its number, or -ENOMEM. */
int dft_matcher_group(struct dft_matcher *matcher, const struct dft_call *call, const struct dft_event *event);

#endif
