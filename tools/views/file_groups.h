/* SPDX-License-Identifier: MIT */
/* Ways to put files together: by directory, pattern, extension or mount point. */
#ifndef DFT_FILE_GROUPS_H
#define DFT_FILE_GROUPS_H

#include "base/map.h"
#include "format/text.h"

struct dft_source;

enum dft_file_facts_by { DFT_FILES_ALONE, DFT_FILES_DIR, DFT_FILES_PATTERN, DFT_FILES_EXT, DFT_FILES_MOUNT };

#define DFT_FILES_NONE    "(none)"    /* the group of names without an extension */
#define DFT_FILES_UNKNOWN "(unknown)" /* the group of files of which the trace does not tell it */

/* A file system at the mount point `point`. `type` is empty where processes do not agree. A directory that leads
 * to a mount by a link is listed, too: `leads_to` is the mount point then, and empty otherwise. */
struct dft_mount {
    struct dft_text point, type, leads_to;
    char *owned; /* memory of both points, or NULL: the source's */
};
/* All mounts that the processes of a source saw, by the id of the mount point. */
struct dft_mounts {
    struct dft_map numbers; /* number in `list`, + 1 */
    struct dft_mount *list;
    size_t count, capacity;
};

struct dft_file_grouping {
    enum dft_file_facts_by by;
    unsigned depth; /* of directories: at most so many components; 0: all */
    struct dft_mounts mounts;
};

/* Collects the mounts if the grouping is by mount. Returns 0 or -ENOMEM. */
int dft_file_grouping_init(struct dft_file_grouping *grouping, enum dft_file_facts_by by, unsigned depth,
                           const struct dft_source *source);
void dft_file_grouping_fini(struct dft_file_grouping *grouping);
/* Calls `use` with the text of the group that a file belongs to. Returns its result, or -ENOMEM.
 * The text is valid during the call. */
int dft_file_grouping_text(const struct dft_file_grouping *grouping, struct dft_text file,
                           int (*use)(void *context, struct dft_text group), void *context);
/* The type of the file system at a mount point, empty: not known. */
struct dft_text dft_mount_type(const struct dft_mounts *mounts, struct dft_text point);

/* Does a path stand for all files below it that were not distinguished? The recorder ends such paths
 * with a slash, and no others. */
static inline int dft_file_is_folded(struct dft_text file)
{
    return file.length > 1 && file.bytes[file.length - 1] == '/';
}

#endif
