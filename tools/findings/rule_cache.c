/* SPDX-License-Identifier: MIT */
/* Where data that were read came from: storage, as far as the kernel tells, or the page cache. */
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/rules.h"
#include "format/hash.h"

/* The kernel counts what block devices, NFS, SMB and Ceph fetch. Others move data unseen. */
static int is_counted(struct dft_text type)
{
    static const char *const counted[] = {"nfs", "nfs4", "cifs", "smb3", "ceph"};

    if (type.length == 3 && !memcmp(type.bytes, "zfs", 3))
        return 0;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (strlen(counted[i]) == type.length && !memcmp(counted[i], type.bytes, type.length))
            return 1;
    return dft_mount_kind(type) == DFT_MOUNT_LOCAL;
}

static uint64_t bytes_read_on(const struct dft_facts *facts, struct dft_text point)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_MOUNTS];
    uint64_t mount = dft_name_id(point.bytes, point.length), bytes = 0;

    for (uint32_t i = 0; i < answer->count; i++)
        if (answer->groups[i].key.file == mount && answer->groups[i].key.class == DFT_IO_READ)
            bytes += answer->groups[i].metrics.bytes;
    return bytes;
}

/* Was anything read, or may it have been, that the kernel does not count? */
static int has_uncounted(const struct dft_facts *facts)
{
    const struct dft_mounts *mounts = &facts->mounts.mounts;
    int has = 0;

    for (size_t i = 0; !has && i < mounts->count; i++)
        has = !is_counted(mounts->list[i].type) &&
              (!dft_facts_has(facts, DFT_FACT_MOUNTS) || bytes_read_on(facts, mounts->list[i].point));
    return has;
}

/* Does reading take so much time that it matters where the data came from? */
static int is_worth_it(const struct dft_rules *rules)
{
    const struct dft_answer *calls = &rules->facts->answers[DFT_FACT_CALLS];
    uint64_t time_ns = 0;

    for (uint32_t i = 0; i < calls->count; i++)
        time_ns += calls->groups[i].key.class == DFT_IO_READ ? calls->groups[i].metrics.dur_sum : 0;
    return time_ns && dft_facts_matters(rules->facts, time_ns);
}

/* How much of each byte took which time is not known: a note, and no cost. */
int dft_rule_cache(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    uint64_t fetched = facts->io.fetched > 0 ? (uint64_t)facts->io.fetched : 0;
    uint64_t read = facts->io.fetched_of > 0 ? (uint64_t)facts->io.fetched_of : 0;
    uint64_t least = dft_limit(rules, DFT_LIMIT_CACHE_BYTES);
    double share = read ? (double)fetched / (double)read : 0;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], *note = NULL;
    int rc = 0;

    if (rules->limits->off >> DFT_FINDING_CACHE & 1 || !is_worth_it(rules) || has_uncounted(facts))
        return 0;
    if (read >= least && share * 1000 <= (double)dft_limit(rules, DFT_LIMIT_CACHE_SHARE))
        rc = dft_finding_say(&note, "of %s read, storage gave %s: memory had the rest", dft_text_bytes(a, read),
                             dft_text_bytes(b, fetched));
    else if (fetched >= least + dft_accesses_mapped(&facts->accesses) &&
             share * 1000 >= (double)dft_limit(rules, DFT_LIMIT_CACHE_FACTOR))
        rc = dft_finding_say(&note, "storage gave %s for %s read (%.1f times)", dft_text_bytes(a, fetched),
                             dft_text_bytes(b, read), share);
    if (!rc && note && facts->io.processes < facts->processes)
        rc = dft_finding_say(&note, ", in %s of %s processes", dft_text_count(a, facts->io.processes),
                             dft_text_count(b, facts->processes));
    if (!rc && note)
        rc = dft_rules_note(rules, note);
    free(note);
    return rc;
}
