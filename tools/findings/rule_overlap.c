/* SPDX-License-Identifier: MIT */
/* I/O and loading of data against computing: who waits for whom. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/reported.h"
#include "findings/rules.h"
#include "job/region_kinds.h"

#define PART(all, share) ((all) / 1000 * (share)) /* of the unit of limits */

/* "rank 3", or "python 4711"; freed by the caller. NULL: no memory. */
static char *team_name(const struct dft_facts *facts, const struct dft_overlap_team *team)
{
    uint32_t count;
    const struct dft_source_process *process = &dft_source_processes(facts->request->source, &count)[team->trainer];
    char *name = NULL;
    int rc = team->rank >= 0 ? dft_finding_say(&name, "rank %lld", (long long)team->rank)
                             : dft_finding_say(&name, "process %u", process->process.pid);

    return rc ? NULL : name;
}

_Static_assert(DFT_OVERLAP_PARTS == DFT_FACT_WINDOWS, "what dft_facts_judge expects");

/* --- the trainer waits ------------------------------------------------------------------------ */

/* The team whose trainer waits longest. */
static const struct dft_overlap_team *longest_waiting(const struct dft_overlap *overlap)
{
    const struct dft_overlap_team *found = NULL;

    for (uint32_t i = 0; i < overlap->nteams; i++) {
        const struct dft_overlap_team *team = &overlap->teams[i];

        if (team->data_ns && (!found || team->data_ns > found->data_ns))
            found = team;
    }
    return found;
}

/* The region in which a trainer waits longest; freed by the caller. NULL: not known. */
static char *waiting_region(const struct dft_facts *facts, uint32_t trainer)
{
    const struct dft_answer *regions = &facts->answers[DFT_FACT_REGIONS];
    struct dft_region_kinds kinds;
    char *name = NULL;
    const struct dft_region_patterns patterns = dft_limits_patterns(facts->request->limits);
    int rc = dft_region_kinds_init(&kinds, &patterns);

    for (uint32_t i = 0; !rc && !name && i < regions->count; i++) { /* by time */
        const struct dft_group *group = &regions->groups[i];
        struct dft_key_value category, text;

        dft_group_value(regions, group, DFT_BY_CAT, &category);
        dft_group_value(regions, group, DFT_BY_NAME, &text);
        if (regions->process_group[group->key.process_group - 1]->number == trainer &&
            dft_region_kinds_of(&kinds, category.text, text.text) >> DFT_REGION_DATA & 1)
            name = dft_facts_text(regions, group, DFT_BY_NAME);
    }
    dft_region_kinds_fini(&kinds);
    return name;
}

/* The steps of a trainer, and those that are the first ones of epochs. */
struct steps {
    uint64_t count, bound; /* bound: it waits longer than it computes */
    uint64_t firsts, firsts_data_ns;
};

static struct steps steps_of(const struct dft_overlap *overlap, const struct dft_overlap_team *team)
{
    struct steps steps = {0};

    for (uint32_t i = 0; i < overlap->nscopes; i++) {
        const struct dft_overlap_scope *scope = &overlap->scopes[i];

        if (scope->kind != DFT_REGION_STEP || &overlap->teams[scope->team] != team)
            continue;
        steps.count++;
        steps.bound += scope->data_ns > scope->times.compute_ns;
        if (!scope->number) {
            steps.firsts++;
            steps.firsts_data_ns += scope->data_ns;
        }
    }
    return steps;
}

/* A loader that starts anew for each epoch lets the trainer wait for that. */
static int starts_slowly(const struct steps *steps, const struct dft_overlap_team *team)
{
    return steps->firsts > 1 && steps->firsts_data_ns * 2 > team->data_ns;
}

int dft_facts_starts_slowly(const struct dft_facts *facts, const struct dft_overlap_team *team)
{
    const struct steps steps = steps_of(&facts->overlap, team);

    return starts_slowly(&steps, team);
}

/* What the others did meanwhile: the file system's part. */
static int say_why(const struct dft_facts *facts, const struct dft_overlap_team *team, const struct steps *steps,
                   struct dft_finding *finding)
{
    uint64_t io = team->items ? team->item_io_ns : team->data_io_ns, all = team->items ? team->item_ns : team->data_ns;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int is_io = io * 2 > all, rc;

    finding->sure = facts->overlap.is_exact && facts->overlap.has_data && team->items ? DFT_SURE_HIGH : DFT_SURE_MEDIUM;
    rc = dft_finding_say(&finding->evidence, is_io ? ". The file system: " : ". Not the file system: ");
    if (!rc && team->items)
        rc = dft_finding_say(&finding->evidence, "workers were in I/O %s of %s of loading items (%s)",
                             dft_text_ns(a, io), dft_text_ns(b, all), dft_text_share(c, io, all));
    else if (!rc)
        rc = dft_finding_say(&finding->evidence, "meanwhile its processes were in I/O %s (%s)", dft_text_ns(a, io),
                             dft_text_share(b, io, all));
    if (!rc)
        rc = dft_finding_say(&finding->why_sure, "regions of the program say what %scomputes%s%s",
                             facts->overlap.has_data ? "waits and what " : "",
                             facts->overlap.has_data ? "" : ", none what waits",
                             team->items ? "" : ", none what workers load");
    free(finding->advice);
    finding->advice = NULL;
    if (!rc && starts_slowly(steps, team))
        rc = dft_finding_say(&finding->advice,
                             "Keep the workers from epoch to epoch (PyTorch: persistent_workers=True), or start them "
                             "faster; at most %s to gain.",
                             dft_text_ns(a, steps->firsts_data_ns));
    else if (!rc && is_io)
        rc = dft_finding_say(&finding->advice,
                             "Read ahead, in fewer and larger pieces, or from a faster place; at most %s to gain.",
                             dft_text_ns(a, team->data_ns));
    else if (!rc)
        rc = dft_finding_say(&finding->advice, "%s; at most %s to gain.",
                             team->processes > 1 ? "Use more loader workers, or do less work for an item"
                                                 : "Load in other processes (PyTorch: DataLoader(num_workers=...)), "
                                                   "or fetch ahead",
                             dft_text_ns(a, team->data_ns));
    return rc;
}

/* In how many steps the trainer waits longer than it computes, and which ones make most of it. */
static int say_steps(const struct steps *steps, const struct dft_overlap_team *team, struct dft_finding *finding)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int rc = 0;

    if (steps->count)
        rc = dft_finding_say(&finding->evidence, ", and %s of %s steps wait longer than they compute",
                             dft_text_count(a, steps->bound), dft_text_count(b, steps->count));
    if (!rc && starts_slowly(steps, team))
        rc = dft_finding_say(&finding->evidence, "; %s of the waiting is in the first steps of %s epochs",
                             dft_text_ns(a, steps->firsts_data_ns), dft_text_count(b, steps->firsts));
    return rc;
}

static int say_hidden(struct dft_finding *finding, const struct dft_overlap_times *times)
{
    char a[DFT_TEXT_ROOM];

    return times->io_ns ? dft_finding_say(&finding->evidence, "; %s of the I/O is hidden behind compute",
                                          dft_text_share(a, times->hidden_ns, times->io_ns))
                        : 0;
}

static int trainer_waits(struct dft_rules *rules, uint64_t *reported_ns)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_overlap *overlap = &facts->overlap;
    const struct dft_overlap_team *team = longest_waiting(overlap);
    const char *about = overlap->is_exact ? "" : "about ";
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM], *region, *name = NULL;
    struct dft_finding *finding;
    struct steps steps;
    int rc;

    if (!team || team->data_ns < PART(team->times.wall_ns, dft_limit(rules, DFT_LIMIT_TRAINER_WAITS_SHARE)))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_TRAINER_WAITS, team->data_ns, facts->wall_ns, &finding);
    if (rc <= 0)
        return rc;
    *reported_ns = team->data_ns;
    finding->rank = team->rank;
    finding->when = dft_facts_judge(team->data_parts);
    steps = steps_of(overlap, team);
    region = waiting_region(facts, team->trainer);
    rc = dft_finding_say(&finding->title, "the trainer waits");
    if (!rc && overlap->nteams > 1) {
        name = team_name(facts, team);
        rc = name ? dft_finding_say(&finding->evidence, "%s: ", name) : -ENOMEM;
    }
    if (!rc)
        rc =
            dft_finding_say(&finding->evidence, "%s%s of %s (%s) ", about, dft_text_ns(a, team->data_ns),
                            dft_text_ns(b, team->times.wall_ns), dft_text_share(c, team->data_ns, team->times.wall_ns));
    if (!rc && region)
        rc = dft_finding_say(&finding->evidence, "in \"%s\"", region);
    else if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s",
                             overlap->has_data ? "in regions that wait for data"
                                               : "it neither computes nor is in I/O while workers load items");
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "; compute %s",
                             dft_text_share(d, team->times.compute_ns, team->times.wall_ns));
    if (!rc)
        rc = say_steps(&steps, team, finding);
    if (!rc)
        rc = say_hidden(finding, &team->times);
    if (!rc)
        rc = say_why(facts, team, &steps, finding);
    free(region);
    free(name);
    return rc;
}

/* --- I/O in the way of compute ---------------------------------------------------------------- */

/* What is exposed while no trainer waits for data: that is reported already. */
static uint64_t in_the_way(const struct dft_overlap_team *team, int waits_are_reported)
{
    uint64_t reported = waits_are_reported ? team->data_io_ns : 0;

    return team->times.exposed_ns > reported ? team->times.exposed_ns - reported : 0;
}

/* Where other findings have most of this I/O, they name the cause. */
static int exposed(struct dft_rules *rules, int waits_are_reported, int *is_good)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_overlap *overlap = &facts->overlap;
    const struct dft_overlap_team *team = NULL;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], *name = NULL;
    struct dft_finding *finding;
    uint64_t cost;
    int rc;

    for (uint32_t i = 0; i < overlap->nteams; i++)
        if (overlap->teams[i].times.compute_ns &&
            (!team || in_the_way(&overlap->teams[i], waits_are_reported) > in_the_way(team, waits_are_reported)))
            team = &overlap->teams[i];
    cost = team ? in_the_way(team, waits_are_reported) : 0;
    if (!cost || cost < PART(team->times.wall_ns, dft_limit(rules, DFT_LIMIT_EXPOSED_IO_SHARE)))
        return 0;
    *is_good = 0;
    if (dft_rules_left_ns(rules, DFT_FINDING_EXPOSED_IO) * 2 < cost) {
        finding = dft_rules_costliest(rules, DFT_CLASSES_IO);
        return finding ? say_hidden(finding, &team->times) : 0;
    }
    rc = dft_rules_add(rules, DFT_FINDING_EXPOSED_IO, cost, facts->wall_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->rank = team->rank;
    finding->when = dft_facts_judge(team->exposed_parts);
    finding->sure = overlap->is_exact ? DFT_SURE_HIGH : DFT_SURE_MEDIUM;
    name = team_name(facts, team);
    rc = name ? dft_finding_say(&finding->title, "I/O in the way of compute") : -ENOMEM;
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s: %s%s in I/O while nothing of it computes", name,
                             overlap->is_exact ? "" : "about ", dft_text_ns(a, team->times.exposed_ns));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ", of %s in I/O and %s that it computes",
                             dft_text_ns(b, team->times.io_ns), dft_text_ns(c, team->times.compute_ns));
    if (!rc)
        rc = say_hidden(finding, &team->times);
    if (!rc)
        rc = dft_finding_say(&finding->why_sure, "regions of the program say what computes");
    free(name);
    return rc;
}

int dft_rule_overlap(struct dft_rules *rules)
{
    const struct dft_overlap *overlap = &rules->facts->overlap;
    uint64_t reported_ns = 0;
    int is_good, rc;

    if (!rules->facts->has_overlap)
        return 0;
    rc = trainer_waits(rules, &reported_ns);
    is_good = overlap->has_compute && !reported_ns;
    if (!rc && overlap->has_compute)
        rc = exposed(rules, reported_ns != 0, &is_good);
    if (!rc && is_good)
        rc = dft_rules_good(rules, "I/O does not hold up compute");
    return rc;
}
