/* SPDX-License-Identifier: MIT */
/* Programs that were started and have no trace: processes whose last image ended by exec. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command_line.h"
#include "base/program.h"
#include "base/write_text.h"
#include "findings/facts_ask.h"
#include "findings/rules.h"
#include "findings/untraced.h"
#include "format/format.h"
#include "format/ops.h"
#include "mpi/comm.h"

#define SHOWN     3u
#define INSPECTED 1000u /* programs, at most */
#define NO_TRACE  " (static, without LD_PRELOAD, or without a call that is traced)"
#define COMMAND   60u /* bytes of a command */

static uint64_t start_of(const struct dft_source_process *process)
{
    uint64_t start, end;

    dft_process_lifetime(process, &start, &end);
    return start;
}

/* Marks images that ended by exec where no image with their pid began later. */
static int mark(struct dft_facts *facts, const struct dft_source_process *processes, uint32_t count)
{
    struct dft_map last = {0}; /* pid -> number of its last image, + 1 */
    uint64_t *at;
    int rc = 0;

    for (uint32_t i = 0; i < count && !rc; i++) {
        at = processes[i].process.pid ? dft_map_put(&last, processes[i].process.pid) : NULL;
        rc = processes[i].process.pid && !at ? -ENOMEM : 0;
        if (at && (!*at || start_of(&processes[i]) >= start_of(&processes[*at - 1])))
            *at = i + 1;
    }
    for (uint32_t i = 0; i < count && !rc; i++) {
        at = dft_map_find(&last, processes[i].process.pid);
        facts->untraced[i] = at && *at == i + 1 && processes[i].exit_kind == DFT_ENDING_EXEC &&
                             dft_filter_process(facts->request->filter, &processes[i]);
        facts->nuntraced += facts->untraced[i];
    }
    dft_map_fini(&last);
    return rc;
}

int dft_untraced_collect(struct dft_facts *facts)
{
    struct dft_facts_questions questions = {.count = 0};
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(facts->request->source, &count);
    int rc;

    facts->untraced = calloc(count + 1u, 1);
    rc = facts->untraced ? mark(facts, processes, count) : -ENOMEM;
    dft_comm_broadcast(&facts->nuntraced, sizeof facts->nuntraced);
    if (rc || !facts->has_file_ops || facts->lacks & DFT_LACKS_CALLS)
        return rc;
    dft_facts_put(facts, &questions, DFT_FACT_EXECS,
                  (struct dft_query){.by = {DFT_BY_PROCESS, DFT_BY_FILE, DFT_BY_OP},
                                     .nby = 3,
                                     .ops = UINT64_C(1) << DFT_OP_EXEC | UINT64_C(1) << DFT_OP_SPAWN});
    return dft_facts_ask(facts, &questions, facts->request->filter);
}

/* "what `env -i ./app` started". NULL: no memory. */
static char *name_by_command(struct dft_text command)
{
    char *words, *escaped, *text = NULL;

    command.length = command.length < COMMAND ? command.length : COMMAND;
    words = dft_command_line(command);
    escaped = words ? dft_text_escaped(words, strlen(words)) : NULL;
    free(words);
    if (escaped && dft_finding_say(&text, "what `%s` started", escaped))
        text = NULL;
    free(escaped);
    return text;
}

/* --- programs that nothing can be preloaded into ---------------------------------------------- */

enum reach { REACHED, OUT_OF_REACH, NOT_KNOWN };

/* Can a library be preloaded into the program that this group started? It is looked at as it is now and here. `why`
 * not: static. */
static enum reach reach_of(const struct dft_answer *execs, const struct dft_group *group, const char **why)
{
    struct dft_program program;
    struct dft_key_value file;
    char path[PATH_MAX];

    dft_group_value(execs, group, DFT_BY_FILE, &file);
    if (!group->key.file) /* of a shell: system, popen */
        return REACHED;
    if (file.type != DFT_KEY_TEXT || !file.text.length || *file.text.bytes != '/' || file.text.length >= sizeof path ||
        memchr(file.text.bytes, 0, file.text.length))
        return NOT_KNOWN;
    memcpy(path, file.text.bytes, file.text.length);
    path[file.text.length] = 0;
    dft_program_inspect(&program, path);
    if (!*program.path || access(program.path, R_OK))
        return NOT_KNOWN;
    *why = program.untraceable;
    return *why ? OUT_OF_REACH : REACHED;
}

/* Groups that started a program; an exec that fails comes back. */
static int has_started(const struct dft_group *group)
{
    return group->metrics.count > group->metrics.errors;
}

/* Judges each program once; `reaches` by number of the group. */
static int judge_all(const struct dft_answer *execs, unsigned char *reaches, const char **whys)
{
    struct dft_map known = {0}; /* file -> number of the group that has its answer, + 1 */
    int rc = 0;

    for (uint32_t i = 0; i < execs->count && !rc; i++) {
        uint64_t *first;

        reaches[i] = REACHED;
        if (!has_started(&execs->groups[i]))
            continue;
        first = dft_map_put(&known, dft_map_join(execs->groups[i].key.file, 0));
        rc = first ? 0 : -ENOMEM;
        if (first && *first) {
            reaches[i] = reaches[*first - 1];
        } else if (first) {
            *first = i + 1;
            reaches[i] = known.count > INSPECTED ? NOT_KNOWN : reach_of(execs, &execs->groups[i], &whys[i]);
        }
    }
    dft_map_fini(&known);
    return rc;
}

/* Names each program once, with the reason. */
static int say_out_of_reach(const struct dft_facts *facts, char **text, const char *const *whys)
{
    const struct dft_answer *execs = &facts->answers[DFT_FACT_EXECS];
    unsigned said = 0;
    int rc = 0;

    for (uint32_t i = 0; i < execs->count && !rc; i++) {
        char *name;

        if (!whys[i] || said++ >= SHOWN)
            continue;
        name = dft_facts_text(execs, &execs->groups[i], DFT_BY_FILE);
        rc = name ? dft_finding_say(text, "%s%s: %s",
                                    *text ? "; " : "what programs did that no library can be preloaded into: ", name,
                                    whys[i])
                  : -ENOMEM;
        free(name);
    }
    return rc || said <= SHOWN ? rc : dft_finding_say(text, "; and %u more", said - SHOWN);
}

/* --- programs without a trace ----------------------------------------------------------------- */

/* What this image started: number of a group; UINT32_MAX: that is not known. */
static uint32_t find_exec(const struct dft_facts *facts, uint32_t number)
{
    const struct dft_answer *execs = &facts->answers[DFT_FACT_EXECS];

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_EXECS) && i < execs->count; i++) {
        const struct dft_group *group = &execs->groups[i];

        if (group->key.op == DFT_OP_EXEC && group->key.file && group->key.process_group && has_started(group) &&
            execs->process_group[group->key.process_group - 1]->number == number)
            return i;
    }
    return UINT32_MAX;
}

/* What that image started: a path, or by which command. NULL: no memory. */
static char *name_of(const struct dft_facts *facts, uint32_t number, uint32_t exec)
{
    const struct dft_answer *execs = &facts->answers[DFT_FACT_EXECS];
    uint32_t count;
    const struct dft_process *process = &dft_source_processes(facts->request->source, &count)[number].process;

    return exec != UINT32_MAX ? dft_facts_text(execs, &execs->groups[exec], DFT_BY_FILE)
                              : name_by_command(process->command.length ? process->command : process->exe);
}

/* Images whose program a library reaches, and that has no trace, made no call that is recorded. Of others, and of those
 * that ran without LD_PRELOAD, that is not known. */
static int say_untraced(const struct dft_facts *facts, char **text, const unsigned char *reaches)
{
    uint32_t count, untraced = 0;
    const struct dft_source_process *processes = dft_source_processes(facts->request->source, &count);
    char *names = NULL;
    unsigned said = 0;
    int rc = 0;

    for (uint32_t i = 0; i < count && !rc; i++) {
        uint32_t exec = facts->untraced[i] ? find_exec(facts, i) : UINT32_MAX;
        char *name;

        if (!facts->untraced[i] || (!processes[i].end.status && exec != UINT32_MAX && reaches[exec] != NOT_KNOWN))
            continue;
        untraced++;
        name = name_of(facts, i, exec);
        rc = name ? 0 : -ENOMEM;
        if (name && (!names || !strstr(names, name)) && said++ < SHOWN)
            rc = dft_finding_say(&names, "%s%s", names ? ", " : "", name);
        free(name);
    }
    if (!rc && said > SHOWN)
        rc = dft_finding_say(&names, " and %u more", said - SHOWN);
    if (!rc && untraced)
        rc = dft_finding_say(text, "%s%u program%s started and left no trace here: %s" NO_TRACE, *text ? "; " : "",
                             untraced, untraced == 1 ? " was" : "s were", names);
    free(names);
    return rc;
}

/* Programs that began without a fork that was seen: first images whose parent has a trace, too. */
static int count_spawned(const struct dft_facts *facts, uint64_t *found)
{
    struct dft_map pids = {0};
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(facts->request->source, &count);
    int rc = 0;

    for (uint32_t i = 0; i < count && !rc; i++)
        rc = processes[i].process.pid && !dft_map_put(&pids, processes[i].process.pid) ? -ENOMEM : 0;
    for (uint32_t i = 0; i < count && !rc; i++) {
        const struct dft_process *process = &processes[i].process;
        uint64_t *seen = process->pid ? dft_map_find(&pids, process->pid) : NULL;

        *found += seen && !*seen && !process->parent_key && process->ppid && dft_map_find(&pids, process->ppid);
        if (seen)
            *seen = 1;
    }
    dft_map_fini(&pids);
    return rc;
}

/* posix_spawn, system and popen start a program each. An image that exec has begun is no child of theirs, but counts
 * as one where its first image has no trace: then fewer are reported. */
static int say_spawned(const struct dft_facts *facts, char **text, const unsigned char *reaches)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS], *execs = &facts->answers[DFT_FACT_EXECS];
    int is_known = dft_facts_has(facts, DFT_FACT_EXECS), rc = 0;
    uint64_t started = 0, found = 0;

    for (uint32_t i = 0; is_known && i < execs->count; i++)
        is_known &= execs->groups[i].key.op != DFT_OP_SPAWN || reaches[i] != NOT_KNOWN;
    for (uint32_t i = 0; !is_known && i < calls->count; i++)
        if (calls->groups[i].key.op == DFT_OP_SPAWN)
            started += calls->groups[i].metrics.count - calls->groups[i].metrics.errors;
    if (started)
        rc = count_spawned(facts, &found);
    if (rc || started <= found)
        return rc;
    return dft_finding_say(
        text, "%s%llu of %llu programs that posix_spawn, system or popen started left no trace here%s",
        *text ? "; " : "", (unsigned long long)(started - found), (unsigned long long)started, *text ? "" : NO_TRACE);
}

int dft_rule_untraced(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_answer *execs = &facts->answers[DFT_FACT_EXECS];
    char **text = &rules->findings->no_trace;
    uint32_t count = dft_facts_has(facts, DFT_FACT_EXECS) ? execs->count : 0;
    unsigned char *reaches = calloc(count + 1u, 1);
    const char **whys = calloc(count + 1u, sizeof *whys);
    int rc = reaches && whys ? 0 : -ENOMEM;

    if (!rc && count)
        rc = judge_all(execs, reaches, whys);
    if (!rc && count)
        rc = say_out_of_reach(facts, text, whys);
    if (!rc && facts->nuntraced)
        rc = say_untraced(facts, text, reaches);
    if (!rc)
        rc = say_spawned(facts, text, reaches);
    free(whys);
    free(reaches);
    return rc;
}
