/* SPDX-License-Identifier: MIT */
/* Calls on a network or FUSE file system that take longer than on a local one, as far as no other
 * finding accounts for them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/facet_words.h"
#include "base/write_text.h"
#include "findings/mount_parts.h"
#include "findings/rules.h"

/* The same calls on a local file system. */
struct yardstick {
    const struct dft_mount_part *top; /* on the one that has most of them; NULL: there are too few */
    uint64_t calls, time_ns;
};

struct slow_mount {
    uint64_t mount, calls, bytes, time_ns, lost_ns;
    uint64_t compared_ns;             /* the part of lost_ns that is by a yardstick */
    const struct dft_mount_part *top; /* that loses most */
    uint64_t top_ns;
    struct yardstick yardstick; /* of it */
};

static struct yardstick find_yardstick(const struct dft_rules *rules, const struct dft_mount_parts *parts,
                                       const struct dft_mount_part *part)
{
    struct yardstick yardstick = {0};

    for (size_t i = 0; i < parts->count; i++) {
        const struct dft_mount_part *other = &parts->list[i];

        if (other->kind != DFT_MOUNT_LOCAL || !other->type.length || other->op != part->op ||
            other->class != part->class || other->size != part->size || other->err != part->err)
            continue;
        yardstick.calls += other->all_calls;
        yardstick.time_ns += other->all_ns;
        if (!yardstick.top || other->all_calls > yardstick.top->all_calls)
            yardstick.top = other;
    }
    if (yardstick.calls < dft_limit(rules, DFT_LIMIT_MOUNT_LOCAL))
        yardstick.top = NULL;
    return yardstick;
}

/* What these calls take longer than a local file system needs. */
static uint64_t find_lost(const struct dft_rules *rules, const struct dft_mount_part *part,
                          const struct yardstick *yardstick)
{
    double calls = (double)part->calls, time_ns = (double)part->time_ns;
    double moved = (double)part->bytes / (double)dft_limit(rules, DFT_LIMIT_MOUNT_RATE) * 1e9;
    double local = calls * (double)dft_limit(rules, DFT_LIMIT_MOUNT_LATENCY);

    if (yardstick->top)
        local = calls * (double)yardstick->time_ns / (double)yardstick->calls;
    if (yardstick->top && time_ns * 1000 < local * (double)dft_limit(rules, DFT_LIMIT_MOUNT_FACTOR))
        return 0;
    local = local > moved ? local : moved;
    return time_ns > local ? (uint64_t)(time_ns - local) : 0;
}

static int measure(const struct dft_rules *rules, const struct dft_mount_parts *parts, struct slow_mount *slow)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct dft_mount_part *part = &parts->list[i];
        struct yardstick yardstick;
        uint64_t lost_ns;

        if (part->mount != slow->mount || !part->calls)
            continue;
        yardstick = find_yardstick(rules, parts, part);
        lost_ns = find_lost(rules, part, &yardstick);
        slow->calls += part->calls;
        slow->bytes += part->bytes;
        slow->time_ns += part->time_ns;
        slow->lost_ns += lost_ns;
        slow->compared_ns += yardstick.top ? lost_ns : 0;
        if (lost_ns <= slow->top_ns)
            continue;
        slow->top = part;
        slow->top_ns = lost_ns;
        slow->yardstick = yardstick;
    }
    return slow->top && slow->calls >= dft_limit(rules, DFT_LIMIT_MOUNT_CALLS);
}

/* --- what is said ----------------------------------------------------------------------------- */

/* "pread", or, of aggregates, "read". */
static void name_calls(const struct dft_facts *facts, const struct dft_mount_part *part, char *name, size_t size)
{
    const char *word = facts->has_file_ops ? dft_op_word(part->op) : dft_io_word(part->class);
    size_t n = 0;

    for (; word[n] && n + 1 < size; n++)
        name[n] = (char)tolower((unsigned char)word[n]);
    name[n] = 0;
}

/* "/scratch (lustre)". NULL: no memory. */
static char *name_mount(const struct dft_facts *facts, const struct dft_mount_part *part)
{
    char *point = dft_facts_text(&facts->answers[DFT_FACT_MOUNTS], part->group, DFT_BY_MOUNT), *name = NULL;
    char *type = dft_text_escaped(part->type.bytes, part->type.length);

    if (point && type && dft_finding_say(&name, "%s (%s)", point, type))
        name = NULL;
    free(point);
    free(type);
    return name;
}

static int say_local(const struct dft_facts *facts, struct dft_finding *finding, const struct yardstick *yardstick)
{
    char a[DFT_TEXT_ROOM], *local;
    int rc;

    if (!yardstick->top)
        return 0;
    local = name_mount(facts, yardstick->top);
    rc = local ? dft_finding_say(&finding->evidence, ", on %s %s", local,
                                 dft_text_ns(a, yardstick->time_ns / yardstick->calls))
               : -ENOMEM;
    free(local);
    return rc;
}

static int say_evidence(const struct dft_facts *facts, struct dft_finding *finding, const struct slow_mount *slow)
{
    const struct dft_mount_part *top = slow->top;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], word[32], *name = name_mount(facts, top);
    int rc = name ? dft_finding_say(&finding->evidence, "%s: %s calls that no other finding has", name,
                                    dft_text_count(a, slow->calls))
                  : -ENOMEM;

    free(name);
    if (!rc && slow->bytes)
        rc = dft_finding_say(&finding->evidence, ", %s", dft_text_bytes(a, slow->bytes));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ", %s, %s each", dft_text_ns(a, slow->time_ns),
                             dft_text_ns(b, slow->time_ns / slow->calls));
    name_calls(facts, top, word, sizeof word);
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "; most costly %s: %s calls", word, dft_text_count(a, top->calls));
    if (!rc && top->bytes)
        rc = dft_finding_say(&finding->evidence, " of %s", dft_text_bytes(b, top->bytes / top->calls));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ", %s each", dft_text_ns(c, top->time_ns / top->calls));
    return rc ? rc : say_local(facts, finding, &slow->yardstick);
}

static int say_sure(const struct dft_rules *rules, struct dft_finding *finding, const struct slow_mount *slow)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    if (slow->compared_ns * 2 > slow->lost_ns) {
        finding->sure = DFT_SURE_HIGH;
        return dft_finding_say(&finding->why_sure, "the same calls on a local file system were faster by so much");
    }
    return dft_finding_say(&finding->why_sure,
                           "nothing alike was called on a local file system: %s a call and %s/s are taken for one",
                           dft_text_ns(a, dft_limit(rules, DFT_LIMIT_MOUNT_LATENCY)),
                           dft_text_bytes(b, dft_limit(rules, DFT_LIMIT_MOUNT_RATE)));
}

static int add(struct dft_rules *rules, const struct slow_mount *slow)
{
    const struct dft_facts *facts = rules->facts;
    struct dft_finding *finding;
    int rc = dft_rules_add(rules, DFT_FINDING_MOUNT, slow->lost_ns, facts->total_ns, &finding);

    if (rc <= 0)
        return rc;
    finding->calls = slow->calls;
    finding->bytes = slow->bytes;
    finding->where = dft_facts_text(&facts->answers[DFT_FACT_MOUNTS], slow->top->group, DFT_BY_MOUNT);
    rc = finding->where ? dft_finding_say(&finding->title, "calls on a %s file system",
                                          slow->top->kind == DFT_MOUNT_FUSE ? "FUSE" : "network")
                        : -ENOMEM;
    if (!rc)
        rc = say_evidence(facts, finding, slow);
    if (!rc)
        rc = say_sure(rules, finding, slow);
    return rc ? rc : dft_finding_say_gain(finding);
}

/* Was this mount met before? */
static int is_repeated(const struct dft_mount_parts *parts, size_t at)
{
    size_t i = 0;

    while (parts->list[i].mount != parts->list[at].mount)
        i++;
    return i < at;
}

int dft_rule_mount(struct dft_rules *rules)
{
    struct dft_mount_parts parts;
    int rc = rules->facts->has_remote ? dft_rules_need(rules, DFT_FACT_MOUNTS, UINT64_C(1) << DFT_FINDING_MOUNT) : 0;

    if (rc <= 0)
        return rc;
    rc = dft_mount_parts_collect(rules, &parts);
    for (size_t i = 0; !rc && i < parts.count; i++) {
        struct slow_mount slow = {.mount = parts.list[i].mount};

        if (parts.list[i].kind == DFT_MOUNT_LOCAL || is_repeated(&parts, i))
            continue;
        rc = dft_mount_parts_reduce(rules, &parts, slow.mount);
        if (!rc && measure(rules, &parts, &slow))
            rc = add(rules, &slow);
    }
    dft_mount_parts_fini(&parts);
    return rc;
}
