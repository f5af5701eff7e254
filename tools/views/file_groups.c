/* SPDX-License-Identifier: MIT */
/* The group of a file from its path: directory, pattern, extension, mount point. */
#include "views/file_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pattern.h"
#include "format/hash.h"
#include "object/object.h"

#define EXTENSION_MAX 16u /* with the dot: longer ones are no extension */

#define TEXT(s) ((struct dft_text){s, sizeof(s) - 1})

/* --- directories ------------------------------------------------------------------------------ */

/* All before the last '/', "/" for what lies at the top; of a text without '/' "." */
static struct dft_text directory_of(struct dft_text text)
{
    while (text.length && text.bytes[text.length - 1] != '/')
        text.length--;
    if (!text.length)
        return (struct dft_text){".", 1};
    text.length -= text.length > 1;
    return text;
}

/* The first `depth` components of a directory. */
static struct dft_text cut_directory(struct dft_text text, unsigned depth)
{
    uint32_t from = text.length && text.bytes[0] == '/';

    for (uint32_t i = from; depth && i < text.length; i++)
        if (text.bytes[i] == '/' && !--depth)
            text.length = i;
    return text;
}

/* --- extensions ------------------------------------------------------------------------------- */

static int is_number(const char *from, const char *to)
{
    while (from < to && *from >= '0' && *from <= '9')
        from++;
    return from == to;
}

/* The last part of the name that begins with a dot and is no number: ".so" of libc.so.6. ".#" where
 * all such parts are numbers. */
static struct dft_text extension_of(struct dft_text text)
{
    const char *end = text.bytes + text.length, *name = end, *part = end;
    int numbers = 0;

    if (dft_file_is_folded(text))
        return TEXT(DFT_FILES_UNKNOWN);
    while (name > text.bytes && name[-1] != '/')
        name--;
    while (name < end && *name == '.') /* a leading dot hides the file */
        name++;
    while (part > name) {
        const char *dot = memrchr(name, '.', (size_t)(part - name));

        if (!dot)
            break;
        if (!is_number(dot + 1, part))
            return part - dot <= EXTENSION_MAX ? (struct dft_text){dot, (uint32_t)(part - dot)} : TEXT(DFT_FILES_NONE);
        numbers |= dot + 1 < part;
        part = dot;
    }
    return numbers ? TEXT(".#") : TEXT(DFT_FILES_NONE);
}

/* --- mount points ----------------------------------------------------------------------------- */

static int is_octal(const char *at)
{
    return at[0] >= '0' && at[0] <= '3' && at[1] >= '0' && at[1] <= '7' && at[2] >= '0' && at[2] <= '7';
}

/* Undoes the kernel's escapes (\040). Returns the length. */
static uint32_t unescape(struct dft_text from, char *to)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < from.length; i++) {
        const char *at = from.bytes + i;

        if (*at == '\\' && i + 3 < from.length && is_octal(at + 1)) {
            to[n++] = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            i += 3;
        } else {
            to[n++] = *at;
        }
    }
    return n;
}

/* Adds a mount, or finds the one at the same point. Takes the memory that the mount owns. */
static struct dft_mount *put_mount(struct dft_mounts *mounts, struct dft_mount mount)
{
    uint64_t *number = dft_map_put(&mounts->numbers, dft_name_id(mount.point.bytes, mount.point.length));

    if (number && *number) {
        struct dft_mount *there = &mounts->list[*number - 1];

        free(there->owned);
        mount.type = there->type;
        *there = mount;
        return there;
    }
    if (!number || DFT_ARRAY_PUSH(mounts->list, mounts->capacity, mounts->count, mount)) {
        free(mount.owned);
        return NULL;
    }
    *number = mounts->count;
    return &mounts->list[mounts->count - 1];
}

static void fini_mounts(struct dft_mounts *mounts)
{
    dft_map_fini(&mounts->numbers);
    for (size_t i = 0; i < mounts->count; i++)
        free(mounts->list[i].owned);
    free(mounts->list);
}

/* The mount that a line tells: "point, space, type", or with the directory that leads there before it. Returns 0:
 * none, 1, or -ENOMEM. */
static int read_line(struct dft_text line, struct dft_mount *mount)
{
    const char *space = line.length ? memrchr(line.bytes, ' ', line.length) : NULL, *middle;
    uint32_t length = space ? (uint32_t)(space - line.bytes) : 0;

    if (!length)
        return 0;
    *mount = (struct dft_mount){{line.bytes, length}, {space + 1, line.length - length - 1}, {"", 0}, NULL};
    middle = memchr(line.bytes, ' ', length);
    if (middle) {
        mount->point.length = (uint32_t)(middle - line.bytes);
        mount->leads_to = (struct dft_text){middle + 1, length - mount->point.length - 1};
    }
    if (!memchr(line.bytes, '\\', length))
        return 1;
    mount->owned = malloc(length);
    if (!mount->owned)
        return -ENOMEM;
    mount->point = (struct dft_text){mount->owned, unescape(mount->point, mount->owned)};
    mount->leads_to = (struct dft_text){mount->owned + mount->point.length,
                                        unescape(mount->leads_to, mount->owned + mount->point.length)};
    return 1;
}

/* The mounts of one process. The last one of several at one point hides the others. */
static int read_lines(struct dft_mounts *mounts, struct dft_text lines)
{
    const char *at = lines.bytes, *end = at + lines.length;
    int rc = 0;

    while (rc >= 0 && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct dft_mount mount, *put;

        stop = stop ? stop : end;
        rc = read_line((struct dft_text){at, (uint32_t)(stop - at)}, &mount);
        if (rc > 0) {
            put = put_mount(mounts, mount);
            rc = put ? 0 : -ENOMEM;
            if (put)
                put->type = mount.type;
        }
        at = stop + 1;
    }
    return rc;
}

/* Adds the mounts of one process to those of all. */
static int add_lines(struct dft_mounts *mounts, struct dft_text lines)
{
    struct dft_mounts own = {0};
    int rc = read_lines(&own, lines);

    for (size_t i = 0; !rc && i < own.count; i++) {
        struct dft_mount *put = put_mount(mounts, own.list[i]);

        rc = put ? 0 : -ENOMEM;
        if (put && (put->type.length != own.list[i].type.length ||
                    memcmp(put->type.bytes, own.list[i].type.bytes, put->type.length) != 0))
            put->type.length = 0;
        own.list[i].owned = NULL;
    }
    fini_mounts(&own);
    return rc;
}

/* Most processes of a host have the same lines: each text is read once. */
static int collect_mounts(struct dft_mounts *mounts, const struct dft_source *source)
{
    const struct dft_source_process *processes;
    struct dft_map seen = {0};
    uint32_t count;
    int rc = 0;

    processes = dft_source_processes(source, &count);
    for (uint32_t i = 0; !rc && i < count; i++) {
        struct dft_text lines = processes[i].process.mounts;
        uint64_t *known = lines.length ? dft_map_put(&seen, dft_name_id(lines.bytes, lines.length)) : NULL;

        if (!lines.length)
            continue;
        rc = !known ? -ENOMEM : *known ? 0 : add_lines(mounts, lines);
        if (known)
            *known = 1;
    }
    dft_map_fini(&seen);
    return rc;
}

static struct dft_text mount_of(const struct dft_mounts *mounts, struct dft_text text)
{
    struct dft_text prefix = text;
    const uint64_t *number;

    while (prefix.length && mounts->count) {
        number = dft_map_find(&mounts->numbers, dft_name_id(prefix.bytes, prefix.length));
        if (number)
            return mounts->list[*number - 1].leads_to.length ? mounts->list[*number - 1].leads_to : prefix;
        if (prefix.length == 1)
            break;
        do
            prefix.length--;
        while (prefix.length && prefix.bytes[prefix.length] != '/');
        if (!prefix.length && text.bytes[0] == '/')
            prefix.length = 1; /* the root */
    }
    return TEXT(DFT_FILES_UNKNOWN);
}

struct dft_text dft_mount_type(const struct dft_mounts *mounts, struct dft_text point)
{
    const uint64_t *number = dft_map_find(&mounts->numbers, dft_name_id(point.bytes, point.length));

    return number ? mounts->list[*number - 1].type : TEXT("");
}

/* --- all ways --------------------------------------------------------------------------------- */

int dft_file_grouping_init(struct dft_file_grouping *grouping, enum dft_file_facts_by by, unsigned depth,
                           const struct dft_source *source)
{
    *grouping = (struct dft_file_grouping){.by = by, .depth = depth};
    return by == DFT_FILES_MOUNT ? collect_mounts(&grouping->mounts, source) : 0;
}

void dft_file_grouping_fini(struct dft_file_grouping *grouping)
{
    fini_mounts(&grouping->mounts);
}

static int use_pattern(struct dft_text file, int (*use)(void *context, struct dft_text group), void *context)
{
    char small[512], *pattern = file.length <= sizeof small ? small : malloc(file.length);
    int rc = -ENOMEM;

    if (pattern)
        rc = use(context, (struct dft_text){pattern, dft_pattern_of(file.bytes, file.length, pattern)});
    if (pattern != small)
        free(pattern);
    return rc;
}

/* What the recorder writes where directories are too many as well: such files may lie in each. */
static int is_anywhere(struct dft_text file)
{
    return file.length == 2 && !memcmp(file.bytes, "//", 2);
}

int dft_file_grouping_text(const struct dft_file_grouping *grouping, struct dft_text file,
                           int (*use)(void *context, struct dft_text group), void *context)
{
    if (is_anywhere(file) && grouping->by != DFT_FILES_PATTERN)
        return use(context, TEXT(DFT_FILES_UNKNOWN));
    switch (grouping->by) {
    case DFT_FILES_DIR:
        return use(context, cut_directory(directory_of(file), grouping->depth));
    case DFT_FILES_EXT:
        return use(context, extension_of(file));
    case DFT_FILES_MOUNT:
        return use(context, mount_of(&grouping->mounts, file));
    default:
        return use_pattern(file, use, context);
    }
}
