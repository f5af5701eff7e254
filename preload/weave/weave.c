/* SPDX-License-Identifier: MIT */
/* Owns the start of weaving, and what is said of functions that no library has. */
#include "weave/weave.h"

#include <link.h>
#include <string.h>

#include "settings/config.h"
#include "settings/message.h"
#include "loader/resolve.h"
#include "weave/weave_closure.h"
#include "weave/weave_loaded.h"

static int meet_mpi(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    return *(int *)found = !strncmp(dft_weave_file_name(info->dlpi_name), "libmpi", 6);
}

/* The program is linked to MPI. What its ranks do by MPI-IO is worth knowing by default: nothing else
 * shows whether they move data together, or each for itself. */
static int has_mpi(void)
{
    __typeof__(&dl_iterate_phdr) iterate = (__typeof__(iterate))dft_resolve_symbol("dl_iterate_phdr");
    int found = 0;

    if (iterate)
        iterate(meet_mpi, &found);
    return found;
}

void dft_weave_init(void)
{
    const char *list = dft_config.weave;

    if (!dft_on || !strcmp(list, "none") || (!*list && !has_mpi()))
        return;
    if (dft_weave_load_ffi()) {
        if (*list && dft_weave_tells())
            dft_message(DFT_LOG_ERROR,
                        "DFTRACER_WEAVE: libffi.so.8 cannot be loaded; no function is woven (install libffi8)", NULL);
        return;
    }
    dft_weave_read_rules(*list ? list : "mpiio");
    for (struct dft_weave_rule *rule = dft_weave_rules; rule; rule = rule->next)
        dft_weave_prepare(rule);
    if (!dft_weave_rules)
        return;
    dft_weave_begin_calls();
    dft_weave_begin_loader();
    dft_weave_scan(NULL);
}

/* Does the program use the library of this rule? */
static int is_library_met(const struct dft_weave_rule *of)
{
    for (const struct dft_weave_rule *rule = dft_weave_rules; rule; rule = rule->next)
        if (rule->met > 0 && !strcmp(rule->library, of->library))
            return 1;
    return 0;
}

size_t dft_weave_unmet(char *text, size_t capacity)
{
    size_t used = 0;

    for (const struct dft_weave_rule *rule = dft_weave_rules; rule; rule = rule->next) {
        size_t length = strlen(rule->function.name);

        if (rule->met || used + length + 1 > capacity || (rule->installed && is_library_met(rule)))
            continue;
        memcpy(text + used, rule->function.name, length);
        used += length;
        text[used++] = '\n';
    }
    return used;
}
