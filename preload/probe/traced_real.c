/* SPDX-License-Identifier: MIT */
/* Owns the device and inode of each directory of DFTRACER_DATA_DIR, and the way up from a file to them.
 *
 * The way up is made of `..`: it needs no /proc, no descriptor, and sees through links and mounts. What was
 * found is remembered by directory: path, device and inode together. So it costs two system calls a name, and
 * holds until somebody moves directories. */
#include "probe/traced_real.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "format/hash.h"
#include "os/sys.h"

#define KNOWN     256u
#define LONGEST   16384u
#define TARGET    8192u /* within the same memory: what a link says */
#define SHORT     384u
#define LINKS_MAX 40
#define DEPTH_MAX 512

static struct entry {
    const char *path;
    enum dft_verdict verdict;
    uint64_t device, inode; /* inode 0: never seen */
    int is_file;
} entries[DFT_TRACED_ENTRIES];
static uint32_t count;
static int excludes, has_files;

/* Verdicts by directory: a hash with the verdict in its last two bits. Atomic. */
static uint64_t known[KNOWN];

static void look_at_entries(void)
{
    for (uint32_t i = 0; i < count; i++) {
        struct stat st;

        if (DFT_SYS(newfstatat, AT_FDCWD, entries[i].path, &st, 0, 0, 0))
            continue; /* renamed, perhaps: it stays the one that was named */
        entries[i].device = st.st_dev;
        entries[i].inode = st.st_ino;
        entries[i].is_file = !S_ISDIR(st.st_mode);
        has_files |= entries[i].is_file;
    }
}

void dft_traced_real_clear(void)
{
    count = 0;
    excludes = has_files = 0;
    memset(known, 0, sizeof known);
}

void dft_traced_real_add(const char *path, enum dft_verdict verdict)
{
    if (count == DFT_TRACED_ENTRIES)
        return;
    entries[count++] = (struct entry){.path = path, .verdict = verdict};
    excludes |= verdict == DFT_EXCLUDED;
    look_at_entries();
}

int dft_traced_real_excludes(void)
{
    return excludes;
}

int dft_traced_real_any(void)
{
    return count != 0;
}

/* Joins the verdicts on two names of a file. What is excluded by one of them is excluded. */
static enum dft_verdict both(enum dft_verdict one, enum dft_verdict other)
{
    return one > other ? one : other;
}

/* The last of equal ones counts, as among equal texts. */
static enum dft_verdict verdict_of(const struct stat *st, int is_file)
{
    enum dft_verdict verdict = DFT_UNSAID;

    for (uint32_t i = 0; i < count; i++)
        if (entries[i].inode == st->st_ino && entries[i].device == st->st_dev && entries[i].is_file == is_file)
            verdict = entries[i].verdict;
    return verdict;
}

/* --- a name ----------------------------------------------------------------------------------- */

/* A name that this code may write to, and what is there. */
struct place {
    int dirfd;
    char *name;
    uint32_t length;
    struct stat st;
};

static int look(struct place *at, int flags)
{
    return (int)DFT_SYS(newfstatat, at->dirfd, at->name, &at->st, flags, 0, 0);
}

/* Cuts off slashes at the end, but not the root. */
static void trim(struct place *at)
{
    while (at->length > 1 && at->name[at->length - 1] == '/')
        at->length--;
    at->name[at->length] = 0;
}

/* Becomes the directory that the name lies in. Returns 0: there is none above. */
static int go_up(struct place *at)
{
    if (at->length == 1 && (*at->name == '/' || *at->name == '.'))
        return 0;
    while (at->length && at->name[at->length - 1] != '/')
        at->length--;
    if (!at->length)
        at->name[at->length++] = '.';
    trim(at);
    return 1;
}

/* From a file to its directory, or to the nearest one that is there. Returns 0, or -ELOOP at a link, which
 * stays as it is. `*own`: what an entry says of the file itself, too. */
static int find_directory(struct place *at, enum dft_verdict *own)
{
    int result;

    trim(at);
    result = look(at, AT_SYMLINK_NOFOLLOW);
    if (!result && S_ISLNK(at->st.st_mode))
        return -ELOOP;
    if (!result && S_ISDIR(at->st.st_mode))
        return 0;
    if (!result && has_files)
        *own = both(*own, verdict_of(&at->st, 1));
    do
        if (!go_up(at))
            return -ENOENT;
    while (look(at, 0));
    return 0;
}

/* --- the way up ------------------------------------------------------------------------------- */

static uint64_t *place_of(struct dft_text text, const struct stat *st, uint64_t *hash)
{
    uint64_t parts[3] = {dft_name_id(text.bytes, text.length), st->st_dev, st->st_ino};

    *hash = dft_name_id(parts, sizeof parts) & ~UINT64_C(3);
    return &known[*hash >> 2 & (KNOWN - 1)];
}

/* Returns 1 when the verdict is known. */
static int recall(struct dft_text text, const struct stat *st, enum dft_verdict *verdict)
{
    uint64_t hash, there = __atomic_load_n(place_of(text, st, &hash), __ATOMIC_RELAXED);

    *verdict = (enum dft_verdict)(there & 3);
    return there && (there & ~UINT64_C(3)) == hash;
}

static void remember(struct dft_text text, const struct stat *st, enum dft_verdict verdict)
{
    uint64_t hash, *to = place_of(text, st, &hash);

    __atomic_store_n(to, hash | verdict, __ATOMIC_RELAXED);
}

/* Asks the directory and all above it. Only the root is its own parent. */
static enum dft_verdict climb(struct place *at)
{
    enum dft_verdict verdict = verdict_of(&at->st, 0);

    for (int i = 0; verdict == DFT_UNSAID && i < DEPTH_MAX && at->length + 4 < TARGET; i++) {
        const struct stat below = at->st;

        memcpy(at->name + at->length, "/..", 4);
        at->length += 3;
        if (look(at, 0) || (at->st.st_ino == below.st_ino && at->st.st_dev == below.st_dev))
            break;
        verdict = verdict_of(&at->st, 0);
    }
    return verdict;
}

static struct dft_text directory_of(struct dft_text text)
{
    while (text.length && text.bytes[text.length - 1] != '/')
        text.length--;
    return text;
}

/* The name is a link: it becomes what the link names. `*verdict`: of the link itself, too. There is room for
 * two names. */
static int follow_link(struct place *at, enum dft_verdict *verdict)
{
    long n = DFT_SYS(readlinkat, at->dirfd, at->name, at->name + TARGET, LONGEST - TARGET - 1, 0, 0);
    uint32_t length;

    if (n <= 0 || !go_up(at))
        return -1;
    length = at->length;
    *verdict = both(*verdict, look(at, 0) ? DFT_UNSAID : climb(at));
    at->length = at->name[TARGET] == '/' ? 0 : length;
    if (at->length && at->name[at->length - 1] != '/')
        at->name[at->length++] = '/';
    if (at->length + (uint32_t)n >= TARGET)
        return -1;
    memmove(at->name + at->length, at->name + TARGET, (size_t)n);
    at->length += (uint32_t)n;
    at->name[at->length] = 0;
    return 0;
}

/* Privacy comes first where nothing can be known. */
static enum dft_verdict in_doubt(void)
{
    return excludes ? DFT_EXCLUDED : DFT_UNSAID;
}

static __attribute__((noinline)) enum dft_verdict ask(int dirfd, struct dft_text name, struct dft_text text,
                                                      enum dft_verdict own)
{
    struct place at = {.dirfd = dirfd, .name = dft_sys_map(LONGEST), .length = name.length};
    enum dft_verdict more = DFT_UNSAID;
    struct stat st;
    int result;

    if (!at.name)
        return in_doubt();
    look_at_entries();
    memcpy(at.name, name.bytes, name.length);
    for (int i = 0; (result = find_directory(&at, &own)) == -ELOOP && i < LINKS_MAX; i++) {
        more = both(more, own);
        own = DFT_UNSAID;
        if (follow_link(&at, &more))
            break;
    }
    if (!result && own == DFT_UNSAID) {
        st = at.st;
        own = climb(&at);
        remember(directory_of(text), &st, own);
    }
    DFT_SYS(munmap, at.name, LONGEST, 0, 0, 0, 0);
    return both(more, own);
}

enum dft_verdict dft_traced_real(int dirfd, struct dft_text name, struct dft_text text, enum dft_verdict own)
{
    char room[SHORT];
    struct place at = {.dirfd = dirfd, .name = room, .length = name.length};
    enum dft_verdict verdict = own;

    if (name.length < SHORT) {
        memcpy(room, name.bytes, name.length);
        if (!find_directory(&at, &verdict) && (verdict != DFT_UNSAID || recall(directory_of(text), &at.st, &verdict)))
            return verdict;
    }
    return name.length < TARGET ? ask(dirfd, name, text, own) : in_doubt();
}
