/* SPDX-License-Identifier: MIT */
/* Wrappers around directories that no row can express: readdir, from which our descriptor is
 * hidden, those that return nothing, those that move the working directory (walks, on their way) or
 * the root, and fts, whose calls say only afterwards which file they are about. */
#include "wrap/wrapper.h"

#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <unistd.h>

#include "probe/convert.h"
#include "probe/directories.h"
#include "probe/probe.h"
#include "store/tracefile.h"
#include "wrap/wrap_special.h"

/* --- readdir ---------------------------------------------------------------------------------- */

/* The next entry that is not our descriptor in the list of those that are open (/proc/self/fd). */
static inline struct dirent *next_entry(DIR *dir)
{
    struct dirent *entry;

    do
        entry = DFT_REAL(readdir)(dir);
    while (entry && dft_tracefile_is_entry(dir, entry->d_name));
    return entry;
}

WRAPPER(struct dirent *, readdir, (DIR * dir))
{
    const struct dft_call_args args = DFT_ARGS(.dir = dir, .errno_tells = 1);
    struct dft_probe probe;
    struct dirent *result;

    if (dft_probe_is_idle(DFT_OP_READDIR, &args, DFT_ON_POSIX) ||
        !dft_probe_begin(&probe, DFT_CALL_readdir, DFT_OP_READDIR, &args, DFT_ON_POSIX))
        return next_entry(dir);
    result = next_entry(dir);
    dft_finish(&probe, DFT_CALL_readdir, DFT_OP_READDIR, &args, (intptr_t)result, 1);
    return result;
}
ALIAS(readdir, readdir64)

/* --- those that return nothing ---------------------------------------------------------------- */

WRAPPER(void, rewinddir, (DIR * dir))
{
    const struct dft_call_args args = DFT_ARGS(.dir = dir);
    struct dft_probe probe;
    int traced = dft_probe_begin(&probe, DFT_CALL_rewinddir, DFT_OP_READDIR, &args, DFT_ON_POSIX);

    DFT_REAL(rewinddir)(dir);
    if (traced)
        dft_end_fd(&probe, DFT_CALL_rewinddir, DFT_OP_READDIR, &args, 0, 0);
}

WRAPPER(void, seekdir, (DIR * dir, long position))
{
    const struct dft_call_args args = DFT_ARGS(.dir = dir, .offset = position);
    struct dft_probe probe;
    int traced = dft_probe_begin(&probe, DFT_CALL_seekdir, DFT_OP_READDIR, &args, DFT_ON_POSIX);

    DFT_REAL(seekdir)(dir, position);
    if (traced)
        dft_end_fd(&probe, DFT_CALL_seekdir, DFT_OP_READDIR, &args, 0, 0);
}

/* --- chroot ----------------------------------------------------------------------------------- */

/* Our files must be there before: inside the new root their names mean something else. The same
 * goes for a relative path. */
int dft_chroot(const char *path, int (*make)(const char *path))
{
    const struct dft_call_args args = DFT_ARGS(.path = path);
    struct dft_thread *self = dft_on && !dft_in_vfork_child() ? dft_thread_get() : NULL;
    struct dft_probe probe;
    int result;

    if (self)
        dft_directory_of_work_know(self);
    if (!dft_probe_begin(&probe, DFT_CALL_chroot, DFT_OP_CONTROL, &args, DFT_ON_POSIX))
        return make(path);
    result = make(path);
    dft_finish(&probe, DFT_CALL_chroot, DFT_OP_CONTROL, &args, result, 0);
    return result;
}

WRAPPER(int, chroot, (const char *path))
{
    return dft_chroot(path, DFT_REAL(chroot));
}

/* --- nftw ------------------------------------------------------------------------------------- */

/* What the visits do with relative paths is meant from where the walk is by then. */
static int walk(const char *path, __nftw_func_t visit, int descriptors, int flags, __typeof__(dft_real.nftw) make)
{
    const struct dft_call_args args = DFT_ARGS(.path = path, .flags = flags);
    struct dft_probe probe;
    int moves = flags & FTW_CHDIR, result;

    if (!dft_probe_begin(&probe, DFT_CALL_nftw, DFT_OP_READDIR, &args, DFT_ON_POSIX))
        return make(path, visit, descriptors, flags);
    if (moves)
        dft_directories_walking(1);
    result = make(path, visit, descriptors, flags);
    if (moves)
        dft_directories_walking(-1);
    dft_finish(&probe, DFT_CALL_nftw, DFT_OP_READDIR, &args, result, 0);
    return result;
}

WRAPPER(int, nftw, (const char *path, __nftw_func_t visit, int descriptors, int flags))
{
    return walk(path, visit, descriptors, flags, DFT_REAL(nftw));
}
ALIAS(nftw, nftw64)

#if defined(__x86_64__)
VERSIONED_WRAPPER(int, nftw_older, (const char *path, __nftw_func_t visit, int descriptors, int flags))
{
    return walk(path, visit, descriptors, flags, DFT_REAL(nftw_older));
}
VERSION(dft_wrap_nftw_older, nftw, DFT_FIRST_GLIBC)
VERSION(dft_wrap_nftw_older, nftw64, DFT_FIRST_GLIBC)
#endif

/* --- fts -------------------------------------------------------------------------------------- */

/* path: as it is reached from the working directory by now; NULL: there is none. */
static void end_fts(struct dft_probe *probe, enum dft_call_number call, const char *path, int flags, int result,
                    int err)
{
    const struct dft_call_args args = DFT_ARGS(.path = path, .flags = flags);

    if (path)
        dft_end_path(probe, call, DFT_OP_READDIR, &args, result, err);
    else
        dft_end_many(probe, call, &args, result, err);
}

static int begin_fts(struct dft_probe *probe, enum dft_call_number call)
{
    const struct dft_call_args args = DFT_ARGS(.system = 1);

    return dft_probe_begin(probe, call, DFT_OP_READDIR, &args, DFT_ON_POSIX);
}

/* A walk goes from directory to directory on its own, unless its options forbid that. */
static int moves(const FTS *walk)
{
    return !(walk->fts_options & FTS_NOCHDIR);
}

WRAPPER(FTS *, fts_open, (char *const *paths, int options, int (*compare)(const FTSENT **one, const FTSENT **other)))
{
    struct dft_probe probe;
    FTS *result;

    if (!begin_fts(&probe, DFT_CALL_fts_open))
        return DFT_REAL(fts_open)(paths, options, compare);
    result = DFT_REAL(fts_open)(paths, options, compare);
    end_fts(&probe, DFT_CALL_fts_open, result ? paths[0] : NULL, options, result ? 0 : -1, result ? 0 : errno);
    return result;
}
ALIAS(fts_open, fts64_open)

WRAPPER(FTSENT *, fts_read, (FTS * walk))
{
    struct dft_probe probe;
    FTSENT *result;

    if (!begin_fts(&probe, DFT_CALL_fts_read))
        return DFT_REAL(fts_read)(walk);
    result = DFT_REAL(fts_read)(walk);
    if (moves(walk))
        dft_directory_of_work_changed();
    end_fts(&probe, DFT_CALL_fts_read, result ? result->fts_accpath : NULL, 0, result != NULL, result ? 0 : errno);
    return result;
}
ALIAS(fts_read, fts64_read)

WRAPPER(FTSENT *, fts_children, (FTS * walk, int options))
{
    struct dft_probe probe;
    const FTSENT *of;
    FTSENT *result;

    if (!begin_fts(&probe, DFT_CALL_fts_children))
        return DFT_REAL(fts_children)(walk, options);
    result = DFT_REAL(fts_children)(walk, options);
    of = walk->fts_cur;
    end_fts(&probe, DFT_CALL_fts_children, of && of->fts_info != FTS_INIT ? of->fts_accpath : NULL, options,
            result != NULL, result ? 0 : errno);
    return result;
}
ALIAS(fts_children, fts64_children)

WRAPPER(int, fts_close, (FTS * walk))
{
    struct dft_probe probe;
    int result;

    if (!begin_fts(&probe, DFT_CALL_fts_close))
        return DFT_REAL(fts_close)(walk);
    result = DFT_REAL(fts_close)(walk);
    dft_directory_of_work_changed(); /* it goes back to where it began */
    end_fts(&probe, DFT_CALL_fts_close, NULL, 0, result, result ? errno : 0);
    return result;
}
ALIAS(fts_close, fts64_close)
