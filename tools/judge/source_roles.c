/* SPDX-License-Identifier: MIT */
/* Finds roles of Python's processes in their command lines, where no launcher has set them.
 *
 * A command line is that of the last exec. A forked child has that of its parent, and another role:
 * only the children of the fork server are known, because it forks nothing else. */
#include "judge/source_roles.h"

#include <string.h>

#include "object/source_inside.h"
#include "object/source_number.h"

#define FORK_SERVER "forkserver"

/* The code of `python -c` begins so. */
static const struct code {
    const char *begins, *role;
} codes[] = {
    {"from multiprocessing.spawn import spawn_main", "SpawnProcess"},
    {"from multiprocessing.forkserver import main", FORK_SERVER},
    {"from multiprocessing.resource_tracker import main", "resource_tracker"},
    {"from joblib.externals.loky.backend.resource_tracker import main", "resource_tracker"},
    {"from loky.backend.resource_tracker import main", "resource_tracker"},
    {"import sys;exec(eval(sys.stdin.readline()))", "execnet worker"}, /* pytest-xdist's, as a rule */
};

static int begins(struct dft_text text, const char *with)
{
    size_t length = strlen(with);

    return text.length >= length && !memcmp(text.bytes, with, length);
}

static int ends(struct dft_text text, const char *with)
{
    size_t length = strlen(with);

    return text.length >= length && !memcmp(text.bytes + text.length - length, with, length);
}

/* Takes the first argument off a command line, where each one ends in a NUL. */
static struct dft_text take_argument(struct dft_text *line)
{
    const char *stop = line->length ? memchr(line->bytes, 0, line->length) : NULL;
    struct dft_text argument = {line->bytes, stop ? (uint32_t)(stop - line->bytes) : line->length};
    uint32_t taken = argument.length + (stop != NULL);

    line->bytes += line->length ? taken : 0;
    line->length -= taken;
    return argument;
}

/* The argument behind `option`, or an empty text. */
static struct dft_text value_of(struct dft_text line, const char *option)
{
    take_argument(&line);
    while (line.length)
        if (dft_text_is(take_argument(&line), option))
            return take_argument(&line);
    return (struct dft_text){"", 0};
}

/* An option behind the code or the module is the program's own: Python takes none from there. */
static struct dft_text find_role(struct dft_text line)
{
    struct dft_text code = value_of(line, "-c"), module = value_of(line, "-m");

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (begins(code, codes[i].begins))
            return dft_text_from(codes[i].role);
    if (ends(module, "loky.backend.popen_loky_posix"))
        return value_of(line, "--process-name");
    take_argument(&line);
    return dft_text_from(dft_text_is(take_argument(&line), "--multiprocessing-fork") ? "SpawnProcess" : "");
}

/* The process that has started this one, or NULL. */
static const struct dft_process *parent_of(const struct dft_source *source, const struct dft_process *process)
{
    const struct dft_source_process *found = process->parent_key ? dft_process_find(source, process->parent_key) : NULL;

    return found ? &found->process : NULL;
}

static int is_forked(const struct dft_process *process, const struct dft_process *parent)
{
    return parent && parent->pid != process->pid && dft_text_same(parent->command, process->command);
}

void dft_source_find_roles(struct dft_source *source)
{
    for (uint32_t i = 0; i < source->nprocesses; i++) {
        struct dft_process *process = &source->processes[i].process;
        const struct dft_process *parent = parent_of(source, process);
        const struct dft_text none = {"", 0};

        if (process->role.length || !process->command.length)
            continue;
        process->role = find_role(process->command);
        if (is_forked(process, parent)) {
            int by_server = dft_text_is(process->role, FORK_SERVER) && !is_forked(parent, parent_of(source, parent));

            process->role = by_server ? dft_text_from("ForkServerProcess") : none;
        }
    }
}
