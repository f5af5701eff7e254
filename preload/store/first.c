/* SPDX-License-Identifier: MIT */
/* Decides whether this process is the one that reports a setting. Only a process with something to
 * report asks, so speed does not matter here. */
#include "store/first.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "os/bulk.h"
#include "os/clock.h"
#include "settings/config.h"
#include "os/line.h"
#include "tables/fd_progress.h"
#include "os/self.h"
#include "settings/settings.h"
#include "os/sys.h"
#include "store/tracename.h"

#define TEXT_MAX 150u       /* compared bytes of a setting; PROCESS keeps as many */
#define LOOK_MAX (1u << 20) /* bytes of a file that are searched */
#define TICK_NS  10000000u  /* /proc counts in hundredths of a second */

static char buffer[8192] DFT_BULK;

static int find(const char *bytes, size_t size, const char *text, size_t length)
{
    for (size_t at = 0; at + length <= size; at++)
        if (bytes[at] == *text && !memcmp(bytes + at, text, length))
            return 1;
    return 0;
}

/* Does the file hold these bytes? Files below /proc have no size. */
static int holds(const char *path, const char *text, size_t length)
{
    long fd = dft_fd_progress_open(path, O_RDONLY, 0), n;
    size_t kept = 0;
    int found = 0;

    if (fd < 0)
        return 0;
    for (size_t all = 0; !found && all < LOOK_MAX; all += (size_t)n) {
        n = dft_sys_read((int)fd, buffer + kept, sizeof buffer - kept);
        if (n <= 0)
            break;
        kept += (size_t)n;
        found = find(buffer, kept, text, length);
        if (kept >= length) { /* the text may continue in the next piece */
            memmove(buffer, buffer + kept - (length - 1), length - 1);
            kept = length - 1;
        }
    }
    dft_sys_close((int)fd);
    return found;
}

/* Reads a number of /proc/self/stat. 0: the number cannot be read. */
static uint64_t read_stat(int wanted)
{
    long fd = dft_fd_progress_open("/proc/self/stat", O_RDONLY, 0);
    long n = fd < 0 ? -1 : dft_sys_read((int)fd, buffer, sizeof buffer - 1);
    uint64_t number = 0;
    const char *at;

    if (fd >= 0)
        dft_sys_close((int)fd);
    buffer[n > 0 ? n : 0] = 0;
    at = strrchr(buffer, ')'); /* the program's name before may hold any byte */
    for (int field = 2; at && field < wanted; field++)
        at = strchr(at + 1, ' ');
    while (at && *++at >= '0' && *at <= '9')
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

/* /proc/self/stat names the parent by its number in this /proc. This /proc may belong to another
 * PID namespace. */
static const char *parent_path(const char *file)
{
    static struct dft_message_line path DFT_BULK;

    path.used = 0;
    dft_line_text(&path, "/proc/");
    dft_line_number(&path, read_stat(4), 10);
    dft_line_text(&path, file);
    path.text[path.used] = 0;
    return path.text;
}

static int parent_holds(const char *file, const char *text, size_t length)
{
    return holds(parent_path(file), text, length);
}

static int parent_has(const char *variable)
{
    size_t length = strlen(variable) + 1;

    return parent_holds("/environ", variable, length < TEXT_MAX ? length : TEXT_MAX);
}

static int parent_maps(const char *library)
{
    return parent_holds("/maps", library, strlen(library));
}

static int parent_tells(const char *variable)
{
    return parent_has(variable) && (!dft_config_enabled_by || parent_has(dft_config_enabled_by)) &&
           parent_maps("/libdftrace");
}

static int parent_has_place(void)
{
    static const char name[] = "DFTRACER_LOG_FILE=";
    static struct dft_message_line line DFT_BULK;

    line.used = 0;
    dft_line_text(&line, name);
    dft_line_text(&line, dft_config.log_file);
    line.text[line.used] = 0;
    return parent_has(line.text) ||
           !(parent_holds("/environ", name, strlen(name)) || holds("/proc/self/environ", name, strlen(name)));
}

/* Does this process have its place from the same settings as its parent, and the same rights there? */
static int parent_is_alike(void)
{
    struct stat st;

    return dft_on & DFT_ON_PROCESS && dft_config_enabled_by && parent_tells(dft_config_enabled_by) &&
           parent_has_place() && DFT_SYS(newfstatat, AT_FDCWD, parent_path(""), &st, 0, 0, 0) >= 0 &&
           st.st_uid == (uint32_t)DFT_SYS(geteuid, 0, 0, 0, 0, 0, 0);
}

static uint32_t has_reported; /* atomic */

int dft_first_has_reported(void)
{
    return (int)__atomic_load_n(&has_reported, __ATOMIC_RELAXED);
}

void dft_first_note_reported(void)
{
    __atomic_store_n(&has_reported, 1, __ATOMIC_RELAXED);
}

/* All ranks of a node find the same. A parent without a live file could not make a trace either. */
int dft_first_tells_place(int is_made)
{
    int rank = dft_config_job.local_rank >= 0 ? dft_config_job.local_rank : dft_config_job.rank;
    int tells =
        !dft_first_has_reported() && rank <= 0 && !(parent_is_alike() && (is_made || !parent_maps(".dft.live")));

    dft_first_note_reported();
    return tells;
}

/* When this process began, whatever program it ran then (Unix ns). The time may be up to a tick
 * early. 0: unknown. */
static uint64_t process_start_ns(void)
{
    uint64_t ticks = read_stat(22);
    struct timespec now;

    if (!ticks || DFT_SYS(clock_gettime, CLOCK_BOOTTIME, &now, 0, 0, 0, 0) < 0)
        return 0;
    return dft_clock_realtime_ns() - ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) + ticks * TICK_NS;
}

/* Has an earlier image of this process left a trace of this name, with the setting in its PROCESS
 * block? */
static int is_reported_in(const char *name, uint64_t since_ns, const char *text, size_t length)
{
    static char path[DFT_TRACENAME_ROOM] DFT_BULK;
    size_t used = dft_tracename_directory, n = strlen(name);
    uint64_t load_ns;

    if (!dft_tracename_is_of_process(name, &load_ns) || load_ns < since_ns || used + n >= sizeof path)
        return 0;
    memcpy(path, dft_tracename_base, used);
    memcpy(path + used, name, n + 1);
    return holds(path, text, length);
}

static long open_folder(void)
{
    char *end, letter;
    long fd;

    dft_tracename_make();
    end = dft_tracename_base + dft_tracename_directory;
    letter = *end;
    *end = 0;
    fd = dft_fd_progress_open(dft_tracename_base, O_RDONLY | O_DIRECTORY, 0);
    *end = letter;
    return fd;
}

static size_t put(char *to, size_t used, const char *text, size_t most)
{
    for (; *text && used < most; text++)
        to[used++] = *text;
    return used;
}

/* An exec is an event, so an image that ended by an exec has left a trace. `ending`: the text after
 * the setting in PROCESS. kept: how many bytes of the setting are in PROCESS. */
static int earlier_image_tells(const char *variable, size_t kept, const char *ending)
{
    static char entries[8192] DFT_BULK, line[TEXT_MAX + 32];
    size_t length = put(line, put(line, 0, "\n", 1), variable, kept < TEXT_MAX ? kept + 1 : TEXT_MAX);
    uint64_t since_ns = process_start_ns();
    long fd = since_ns ? open_folder() : -1, n;
    int reported = 0;

    if (length < TEXT_MAX)
        length = put(line, length, ending, sizeof line);
    while (fd >= 0 && !reported && (n = DFT_SYS(getdents64, fd, entries, sizeof entries, 0, 0, 0)) > 0)
        for (long at = 0; at < n && !reported;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

            reported = is_reported_in(entry->d_name, since_ns, line, length);
            at += entry->d_reclen;
        }
    if (fd >= 0)
        dft_sys_close((int)fd);
    return reported;
}

static int was_asked;

int dft_first_was_asked(void)
{
    return was_asked;
}

static int tells(const char *variable, size_t kept, const char *ending)
{
    was_asked = 1;
    return dft_config_job.rank <= 0 && !parent_tells(variable) &&
           !(dft_config.enable && earlier_image_tells(variable, kept, ending));
}

int dft_first_tells(const char *variable)
{
    return tells(variable, dft_config.private_texts ? dft_settings_name_length(variable) : strlen(variable),
                 DFT_SETTINGS_NO_EFFECT);
}

int dft_first_tells_musl(void)
{
    return dft_config_job.rank <= 0 && !(parent_maps("-musl") && parent_maps("/libdftrace") && dft_config_enabled_by &&
                                         parent_has(dft_config_enabled_by));
}

int dft_first_tells_of(const char *name, const char *value)
{
    static char variable[2 * TEXT_MAX];
    size_t used = put(variable, 0, "DFTRACER_", sizeof variable - 1);

    used = put(variable, used, name, sizeof variable - 1);
    used = put(variable, used, "=", sizeof variable - 1);
    used = put(variable, used, value, sizeof variable - 1);
    variable[used] = 0;
    return tells(variable, used, "\n");
}
