/* SPDX-License-Identifier: MIT */
/* Programs that were started and have no trace: processes whose last image ended by exec. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "base/write_text.h"
#include "findings/facts_ask.h"
#include "findings/untraced.h"
#include "format/format.h"
#include "mpi/comm.h"

#define SHOWN   3u
#define COMMAND 60u /* bytes of a command */

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
    if (rc || !facts->nuntraced || !facts->has_file_ops || facts->lacks & DFT_LACKS_CALLS)
        return rc;
    dft_facts_put(facts, &questions, DFT_FACT_EXECS,
                  (struct dft_query){.by = {DFT_BY_PROCESS, DFT_BY_FILE}, .nby = 2, .ops = UINT64_C(1) << DFT_OP_EXEC});
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

/* What that image started: a path, or by which command. NULL: no memory. */
static char *name_of(const struct dft_facts *facts, uint32_t number)
{
    const struct dft_answer *execs = &facts->answers[DFT_FACT_EXECS];
    uint32_t count;
    const struct dft_process *process = &dft_source_processes(facts->request->source, &count)[number].process;

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_EXECS) && i < execs->count; i++) {
        const struct dft_group_key *key = &execs->groups[i].key;

        if (key->file && key->process_group && execs->process_group[key->process_group - 1]->number == number)
            return dft_facts_text(execs, &execs->groups[i], DFT_BY_FILE);
    }
    return name_by_command(process->command.length ? process->command : process->exe);
}

/* Appends a name that was not said yet. */
static int say_name(const struct dft_facts *facts, uint32_t number, char **names, unsigned *said)
{
    char *name = name_of(facts, number);
    int rc = name ? 0 : -ENOMEM;

    if (name && (!*names || !strstr(*names, name)) && (*said)++ < SHOWN)
        rc = dft_finding_say(names, "%s%s", *names ? ", " : "", name);
    free(name);
    return rc;
}

int dft_rule_untraced(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    char *names = NULL;
    unsigned said = 0;
    uint32_t count;
    int rc = 0;

    if (!facts->nuntraced)
        return 0;
    dft_source_processes(facts->request->source, &count);
    for (uint32_t i = 0; i < count && !rc; i++)
        if (facts->untraced[i])
            rc = say_name(facts, i, &names, &said);
    if (!rc && said > SHOWN)
        rc = dft_finding_say(&names, " and %u more", said - SHOWN);
    if (!rc)
        rc = dft_finding_say(&rules->findings->no_trace,
                             "%u program%s started and left no trace here: %s (static, without LD_PRELOAD, or without "
                             "a call that is traced)",
                             facts->nuntraced, facts->nuntraced == 1 ? " was" : "s were", names);
    free(names);
    return rc;
}
