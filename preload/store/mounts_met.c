/* SPDX-License-Identifier: MIT */
/* Owns what is known of the file systems: the mounts at the start, those that turn up later, and directories that
 * lie elsewhere than their path tells.
 *
 * A path tells its mount by its beginning. The device of the file's directory shows whether that is true. */
#include "store/mounts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "format/hash.h"
#include "os/bulk.h"
#include "os/self.h"
#include "os/sys.h"
#include "store/place.h"
#include "store/notes.h"

enum { LINES_ROOM = 8192, LINKS_ROOM = 4096, MET = 512, DEVICES = 16 };

/* The mounts, then the links; the links move when the mounts are read again. */
static char lines[LINES_ROOM + LINKS_ROOM] DFT_BULK;
static char links[LINKS_ROOM] DFT_BULK;
static size_t nmounts, nlinks;
static uint64_t met[MET]; /* atomic: directories by the hash of their path */
/* Devices that no mount point shows, as of subvolumes: the mounts need not be read again for them. */
static uint64_t strange[DEVICES];
static uint32_t nstrange;

static void read_mounts(void)
{
    nmounts = dft_mounts_read(lines, LINES_ROOM);
    memcpy(lines + nmounts, links, nlinks);
}

void dft_mounts_begin(void)
{
    if (!nmounts)
        read_mounts();
}

struct dft_text dft_mounts_now(void)
{
    return (struct dft_text){lines, (uint32_t)(nmounts ? nmounts + nlinks : 0)};
}

/* --- lines ------------------------------------------------------------------------------------ */

static int is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Does the path lie below the first word of a line? Returns the length of that word as a part of the path, or 0. */
static size_t covers(const char *line, const char *path, size_t length)
{
    size_t at = 0;

    for (; *line != ' '; at++) {
        char c = *line++;

        if (c == '\\' && is_octal(line[0]) && is_octal(line[1]) && is_octal(line[2])) {
            c = (char)((line[0] - '0') << 6 | (line[1] - '0') << 3 | (line[2] - '0'));
            line += 3;
        }
        if (at == length || path[at] != c)
            return 0;
    }
    return at == 1 || at == length || path[at] == '/' ? at : 0;
}

/* The line that the path belongs to: the longest, and the last of equal ones. *root: how much of the path names
 * its directory. NULL: none. */
static const char *line_of(const char *path, size_t length, size_t *root)
{
    const char *found = NULL, *end = lines + nmounts + nlinks;

    *root = 0;
    for (const char *line = lines; line < end; line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
        size_t covered = covers(line, path, length);

        if (covered && covered >= *root) {
            *root = covered;
            found = line;
        }
    }
    return found;
}

static size_t put_escaped(char *to, const char *text, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == '\\') {
            to[used++] = '\\';
            to[used++] = (char)('0' + ((unsigned char)text[i] >> 6));
            to[used++] = (char)('0' + ((unsigned char)text[i] >> 3 & 7));
            to[used++] = (char)('0' + ((unsigned char)text[i] & 7));
        } else {
            to[used++] = text[i];
        }
    return used;
}

/* Adds "directory, space" and the line of the mount without the link that it may begin with. */
static int put_link(const char *directory, size_t length, const char *line)
{
    const char *end = strchr(line, '\n'), *type = end, *point = line;

    while (type > line && *type != ' ')
        type--;
    for (const char *space = strchr(line, ' '); space && space < type; space = strchr(space + 1, ' '))
        point = space + 1;
    if (nlinks + 4 * length + (size_t)(end - point) + 2 > sizeof links)
        return 0;
    nlinks += put_escaped(links + nlinks, directory, length);
    links[nlinks++] = ' ';
    memcpy(links + nlinks, point, (size_t)(end - point) + 1);
    nlinks += (size_t)(end - point) + 1;
    memcpy(lines + nmounts, links, nlinks);
    return 1;
}

/* --- directories ------------------------------------------------------------------------------ */

/* The device of the first so many bytes of a path; 0: not known. */
static uint64_t device_of(char *path, size_t length)
{
    char letter = path[length];
    struct stat st;
    long result;

    path[length] = 0;
    result = DFT_SYS(newfstatat, AT_FDCWD, path, &st, 0, 0, 0);
    path[length] = letter;
    return result ? 0 : st.st_dev;
}

static const char *right_line(char *path, size_t length, uint64_t device)
{
    size_t root;
    const char *line = line_of(path, length, &root);

    return line && device_of(path, root) == device ? line : NULL;
}

static int is_strange(uint64_t device)
{
    for (uint32_t i = 0; i < nstrange && i < DEVICES; i++)
        if (strange[i] == device)
            return 1;
    strange[nstrange++ % DEVICES] = device;
    return 0;
}

/* The topmost directory of the path that lies on the device. */
static size_t beginning(char *path, size_t length, uint64_t device)
{
    for (size_t up = length; up > 1;) {
        do
            up--;
        while (up > 1 && path[up] != '/');
        if (device_of(path, up) != device)
            break;
        length = up;
    }
    return length;
}

/* Returns 1 when there is something new to write. */
static int look(const char *text, size_t length)
{
    static char path[DFT_PLACE_ROOM] DFT_BULK, real[DFT_PLACE_ROOM] DFT_BULK;
    const char *line;
    uint64_t device;
    size_t n;
    int is_new = 0;

    if (!nmounts || length >= sizeof path)
        return 0;
    memcpy(path, text, length);
    path[length] = 0;
    device = device_of(path, length);
    if (!device || right_line(path, length, device) || dft_place_real(real, path))
        return 0;
    n = strlen(real);
    if (n > 1)
        real[--n] = 0;
    line = right_line(real, n, device);
    if (!line && !is_strange(device)) {
        read_mounts();
        line = right_line(real, n, device);
        is_new = line != NULL;
    }
    if (line && strcmp(real, path) != 0)
        is_new |= put_link(path, beginning(path, length, device), line);
    return is_new;
}

void dft_mounts_meet(const char *path, uint32_t length)
{
    struct dft_signals before;
    uint64_t id, *place;

    while (length && path[length - 1] != '/')
        length--;
    length -= length > 1;
    if (!length || path[0] != '/' || !nmounts)
        return;
    id = dft_name_id(path, length);
    place = &met[id % MET];
    if (__atomic_exchange_n(place, id, __ATOMIC_RELAXED) == id || dft_is_sandboxed() || dft_in_vfork_child())
        return;
    before = dft_signals_block();
    dft_spin_lock(&dft_process_lock);
    if (look(path, length))
        dft_process_changed();
    dft_spin_unlock(&dft_process_lock);
    dft_signals_restore(before);
}
