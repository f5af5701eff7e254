/* SPDX-License-Identifier: MIT */
/* Separate debug files: by build id, or by the name and the checksum that the module tells. */
#include "symbols/debug_file.h"

#ifdef DFT_HAVE_LIBDW
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/open_regular.h"

#define USUAL     "/usr/lib/debug"
#define BYTES_MAX (INT64_C(1) << 32) /* of a file whose checksum is taken */

struct asked {
    Dwfl_Module *module;
    const char *file, *link;
    int length; /* of the module's folder in `file` */
    GElf_Word crc;
    char **found;
};

/* Tries a path, which it owns. Returns a descriptor or -1. */
static int try(char *path, char **found)
{
    int fd = path ? dft_open_regular(path, O_RDONLY, NULL) : -1;

    if (fd >= 0)
        *found = path;
    else
        free(path);
    return fd < 0 ? -1 : fd;
}

int dft_debug_is_elf(int fd)
{
    char magic[4];

    return pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic && !memcmp(magic, "\177ELF", sizeof magic);
}

char **dft_debug_nowhere(void)
{
    static char nothing[] = "/dev/null", *path = nothing;

    return &path;
}

static char *in_folder(const char *folder, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* FOLDER/.build-id/ab/cdef.debug */
static int try_build_id(Dwfl_Module *module, const char *folder, char **found)
{
    const unsigned char *bits;
    char name[256] = ".build-id/";
    GElf_Addr address;
    int n = dwfl_module_build_id(module, &bits, &address);
    size_t at = strlen(name);

    if (n < 2 || n > 64)
        return -1;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(name + at, sizeof name - at, i ? "%02x" : "%02x/", bits[i]);
    strcpy(name + at, ".debug");
    return try(in_folder(folder, name), found);
}

/* The checksum of .gnu_debuglink is that of zip. */
static int has_checksum(int fd, uint32_t wanted)
{
    static unsigned char bytes[65536]; /* under the lock of symbols.c */
    uLong crc = crc32(0, NULL, 0);
    off_t at = 0;
    ssize_t n;

    while (at < BYTES_MAX && (n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        at += n;
        crc = crc32(crc, bytes, (uInt)n);
    }
    return at < BYTES_MAX && crc == wanted;
}

/* Is it a file of ELF that has the build id of the module? Returns -1: the module has none. */
static int has_build_id_of(Dwfl_Module *module, int fd)
{
    static const Dwfl_Callbacks none = {.section_address = dwfl_offline_section_address};
    const unsigned char *bits, *own;
    GElf_Addr address;
    int n = dwfl_module_build_id(module, &bits, &address), copy = n > 0 ? dup(fd) : -1, is = 0;
    Dwfl *session = copy < 0 ? NULL : dwfl_begin(&none);
    Dwfl_Module *debug = session ? dwfl_report_offline(session, "debug", "debug", copy) : NULL;

    if (n <= 0)
        return -1;
    if (debug)
        is = dwfl_module_build_id(debug, &own, &address) == n && !memcmp(own, bits, (size_t)n);
    else if (copy >= 0)
        close(copy);
    dwfl_end(session);
    return is;
}

static int fits(Dwfl_Module *module, int fd, uint32_t crc)
{
    int same = dft_debug_is_elf(fd) ? has_build_id_of(module, fd) : 0;

    return same < 0 ? has_checksum(fd, crc) : same;
}

/* The names that a module tells: FOLDER is the module's, or one of the usual place. */
static int try_link(const struct asked *asked, const char *folder, const char *below)
{
    char *path = NULL;
    int fd = asprintf(&path, "%s%.*s/%s%s", folder, asked->length, asked->file, below, asked->link) < 0
                 ? -1
                 : try(path, asked->found);

    if (fd < 0 || fits(asked->module, fd, asked->crc))
        return fd;
    close(fd);
    free(*asked->found);
    *asked->found = NULL;
    return -1;
}

/* What several debug files have in common (dwz) is in a file that they name by its path. */
static int try_common(const struct asked *asked)
{
    char *path = NULL;

    if (asked->link[0] == '/')
        return try(strdup(asked->link), asked->found);
    return asprintf(&path, "%.*s/%s", asked->length, asked->file, asked->link) < 0 ? -1 : try(path, asked->found);
}

/* Asks debuginfod, where the user wants that. libdwfl looks into no folder: dft_debug_nowhere. */
static int ask_server(const struct asked *asked, void **userdata, const char *name, Dwarf_Addr base)
{
    return getenv("DEBUGINFOD_URLS") ? dwfl_standard_find_debuginfo(asked->module, userdata, name, base, asked->file,
                                                                    asked->link, asked->crc, asked->found)
                                     : -1;
}

int dft_debug_find(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, const char *file,
                   const char *link, GElf_Word crc, char **found)
{
    const char *own = getenv("DFTMERGE_DEBUG_DIR"), *slash = file ? strrchr(file, '/') : NULL;
    const struct asked asked = {module, file, link, slash ? (int)(slash - file) : 0, crc, found};
    int fd = -1;

    if (link && !crc && strchr(link, '/'))
        return slash ? try_common(&asked) : -1;
    fd = own ? try_build_id(module, own, found) : -1;
    fd = fd < 0 ? try_build_id(module, USUAL, found) : fd;
    if (fd >= 0 || !link || strchr(link, '/') || !slash)
        return fd >= 0 ? fd : ask_server(&asked, userdata, name, base);
    fd = own ? try_link(&asked, own, "") : -1;
    fd = fd < 0 ? try_link(&asked, "", "") : fd;
    fd = fd < 0 ? try_link(&asked, "", ".debug/") : fd;
    fd = fd < 0 ? try_link(&asked, USUAL, "") : fd;
    return fd >= 0 ? fd : ask_server(&asked, userdata, name, base);
}
#endif
