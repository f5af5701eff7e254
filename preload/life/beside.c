/* SPDX-License-Identifier: MIT */
/* Owns what this library makes of others in the process that take the same calls.
 *
 * Two copies of this library would count each call twice. The constructors run one after the other, so the
 * first copy that is ready records, and the others step back. A copy of an earlier version has no way to
 * learn of this one, and would not step back. So it records. */
#include "life/beside.h"

#include <string.h>

#include "format/notes.h"
#include "os/bulk.h"
#include "settings/config.h"
#include "settings/message.h"
#include "loader/library.h"
#include "os/line.h"
#include "loader/loader.h"
#include "loader/resolve.h"
#include "os/self.h"
#include "regions/annotate.h"
#include "store/notes.h"

/* --- another copy of this library ------------------------------------------------------------- */

/* How a later copy asks this one. `path` is the other's. Returns 0: this copy does not record. */
__attribute__((visibility("default"))) int dftrace_meet_copy(const char *path);

int dftrace_meet_copy(const char *path)
{
    if (!dft_config.enable || !dft_generation)
        return 0;
    dft_process_note(DFT_NOTE_SECOND_COPY);
    dft_message(DFT_LOG_WARN, "another copy of this library is loaded, and steps back: ", path, NULL);
    return 1;
}

static const char *path_of(const struct link_map *map)
{
    return map->l_name ? map->l_name : "";
}

/* A stand-in of a program may have one of the names. */
static const struct dftrace_api *find_api(const struct dft_library *library)
{
    return dft_library_defines(library, "read", NULL) ? dft_library_find(library, "dftrace_api_v1", NULL) : NULL;
}

static int records(const struct dft_library *library, const char *own_path)
{
    int (*meet)(const char *path);

    *(void **)&meet = dft_library_find(library, "dftrace_meet_copy", NULL);
    if (meet)
        return meet(own_path);
    dft_message(DFT_LOG_WARN, "an older copy of this library is loaded; this one steps back: ", own_path, NULL);
    return 1;
}

int dft_beside_steps_back(void)
{
    const char *own_path = dft_resolve_own_path();

    /* the list is that of the program's own namespace */
    if (!own_path && dft_loader_libraries() && !dft_resolve_is_ours(dft_loader_libraries()->l_ld)) {
        dft_message(DFT_LOG_WARN, "libraries in a namespace of their own (dlmopen, LD_AUDIT) are not traced", NULL);
        return 1;
    }
    for (const struct link_map *map = dft_loader_libraries(); map; map = map->l_next) {
        const struct dftrace_api *other;
        struct dft_library library;

        if (dft_resolve_is_ours(map->l_ld))
            continue;
        dft_library_read(&library, map->l_addr, map->l_ld);
        other = find_api(&library);
        if (!other || !records(&library, own_path ? own_path : "the program"))
            continue;
        dft_annotate_hand_on(other);
        return 1;
    }
    return 0;
}

/* --- another tool ----------------------------------------------------------------------------- */

static const char *const watched[] = {"open", "openat", "read", "write", "close", "fopen", "fread", "fwrite"};

/* How a library finds the next function of a name. Its references have relocations. */
static int looks_for_next(const struct dft_library *library, const ElfW(Rela) * relocations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = library->strings + library->symbols[ELF64_R_SYM(relocations[i].r_info)].st_name;

        if (!strcmp(name, "dlsym") || !strcmp(name, "dlvsym"))
            return 1;
    }
    return 0;
}

/* Does the library take any of these calls, and find no next function? The line then says so: "... NAME (open, read)". */
static int tell_taken(struct dft_message_line *line, const struct dft_library *library, const char *path)
{
    const char *slash = strrchr(path, '/');
    int count = 0;

    line->used = 0;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
        if (!dft_library_defines(library, watched[i], NULL))
            continue;
        dft_line_text(line, count ? ", " : DFT_NOTES_TAKEN);
        dft_line_text(line, count ? "" : slash ? slash + 1 : path);
        dft_line_text(line, count++ ? "" : " (");
        dft_line_text(line, watched[i]);
    }
    dft_line_text(line, ")");
    return count && !looks_for_next(library, library->relocations, library->nrelocations) &&
           !looks_for_next(library, library->plt_relocations, library->nplt_relocations);
}

void dft_beside_note_taken(void)
{
    static struct dft_message_line line DFT_BULK;
    const struct link_map *map = dft_loader_libraries();
    int found = 0;

    /* the first one is the program */
    for (map = map ? map->l_next : NULL; map && !dft_resolve_is_ours(map->l_ld) && !found; map = map->l_next) {
        struct dft_library library;

        dft_library_read(&library, map->l_addr, map->l_ld);
        if (dft_loader_is_called(map, "/libc.so.")) { /* dlopen: the program's calls do not come to our wrappers */
            dft_process_note_text(DFT_NOTES_LATE);
            return;
        }
        found = !find_api(&library) && tell_taken(&line, &library, path_of(map));
    }
    if (!map || !found)
        return;
    line.text[line.used] = 0;
    dft_message(DFT_LOG_WARN, line.text, NULL);
    dft_process_note_text(line.text);
}
