/* SPDX-License-Identifier: MIT */
/* Owns the rules of DFTRACER_DATA_DIR. */
#include "probe/traced.h"

#include <stdatomic.h>
#include <string.h>

#include "os/bulk.h"
#include "probe/call.h"
#include "settings/config.h"
#include "settings/message.h"
#include "settings/config_place.h"
#include "probe/paths.h"
#include "probe/traced_real.h"
#include "store/first.h"
#include "store/place.h"
#include "os/sys.h"

#define RULES_MAX (2 * DFT_TRACED_ENTRIES + 16) /* a directory may have two names */

struct rule {
    const char *text;
    uint32_t length; /* without a slash at the end; 0: everything */
    int traced;
    int named; /* by the user */
};

static const struct rule all[] = {
    {"", 0, 1, 0}, {"/proc", 5, 0, 0}, {"/sys", 4, 0, 0}, {"/dev", 4, 0, 0}, {"/dev/shm", 8, 1, 0}};
#define ALL_COUNT (sizeof all / sizeof *all)

static struct rule rules[RULES_MAX];
static uint32_t rule_count, entry_count, too_many;
/* By the letter behind a path's first slash: no rule for a directory begins so, and what the rules
 * for everything say holds. */
static uint8_t begins_no_rule[256];
static int all_traced;
static int pipes_traced, sockets_traced;
static _Atomic uint64_t left_out;

static void add_rule(const char *text, size_t length, int traced, int named)
{
    while (length && text[length - 1] == '/')
        length--;
    if (rule_count < RULES_MAX)
        rules[rule_count++] = (struct rule){text, (uint32_t)length, traced, named};
}

/* Nothing of all is the first rule alone, turned round. */
static void add_all(int traced)
{
    if (!traced)
        add_rule("", 0, 0, 0);
    for (size_t i = 0; i < ALL_COUNT && traced; i++)
        add_rule(all[i].text, all[i].length, all[i].traced, 0);
}

/* The path as events have it: without empty, `.` and `..` components. "": too long. */
static const char *clean(const char *entry)
{
    const struct dft_text text = dft_text_from(entry);
    static char copy[DFT_PLACE_ROOM] DFT_BULK;
    struct dft_path path;

    dft_path_make(NULL, &path, AT_FDCWD, text);
    *copy = 0;
    if (path.length < sizeof copy) {
        memcpy(copy, path.text, path.length);
        copy[path.length] = 0;
    }
    dft_path_done(&path);
    return dft_config_keep(copy);
}

/* The path as the kernel tells it, of a directory that may not be there yet. "": nobody tells it. */
static const char *make_real(const char *entry)
{
    static char place[DFT_PLACE_ROOM] DFT_BULK, real[DFT_PLACE_ROOM] DFT_BULK;
    size_t length = strlen(entry), end = length, used;

    if (length + 1 > sizeof place)
        return "";
    memcpy(place, entry, length + 1);
    while (end && dft_place_real(real, place)) {
        while (end && place[end - 1] == '/')
            end--;
        while (end && place[end - 1] != '/')
            end--;
        place[end] = 0;
    }
    used = end ? strlen(real) : 0;
    if (!end || used + length - end + 1 > sizeof real)
        return "";
    memcpy(real + used, entry + end, length - end + 1);
    return clean(real);
}

/* A directory by each of its names. */
static void add_entry(const struct dft_data_entry *entry)
{
    static char copy[DFT_PLACE_ROOM] DFT_BULK;
    const char *path, *plain, *real;

    if (*entry->text != '/' || entry->length >= sizeof copy) /* the working directory has no name */
        return;
    if (entry_count++ >= DFT_TRACED_ENTRIES) {
        if (!too_many++ && dft_first_tells_of("DATA_DIR", dft_config.data_dir))
            dft_message(DFT_LOG_ERROR, "DFTRACER_DATA_DIR has more than 64 entries; the rest is ignored", NULL);
        return;
    }
    memcpy(copy, entry->text, entry->length);
    copy[entry->length] = 0;
    path = dft_config_keep(copy);
    plain = clean(path);
    real = make_real(path);
    add_rule(plain, strlen(plain), entry->traced, 1);
    if (*real && strcmp(real, plain) != 0)
        add_rule(real, strlen(real), entry->traced, 1);
    dft_traced_real_add(path, entry->traced ? DFT_SELECTED : DFT_EXCLUDED);
}

static int names_directories(const char *list)
{
    struct dft_data_entry entry;

    while (*list) {
        list = dft_data_entry_read(list, &entry);
        if (entry.length && entry.kind == DFT_DATA_PATH)
            return 1;
    }
    return 0;
}

/* Does the list alone say what is traced? Exclusions, pipes and sockets alone are changes to
 * what is traced without them. */
static int says_what_is_traced(const char *list)
{
    struct dft_data_entry entry;

    while (*list) {
        list = dft_data_entry_read(list, &entry);
        if (entry.length && (entry.kind == DFT_DATA_ALL || (entry.kind == DFT_DATA_PATH && entry.traced)))
            return 1;
    }
    return 0;
}

static void note_beginnings(void)
{
    all_traced = 0;
    memset(begins_no_rule, 1, sizeof begins_no_rule);
    for (uint32_t i = 0; i < rule_count; i++)
        if (rules[i].length > 1)
            begins_no_rule[(uint8_t)rules[i].text[1]] = 0;
        else
            all_traced = rules[i].traced;
}

void dft_traced_init(void)
{
    const char *at;
    struct dft_data_entry entry;

    dft_config.data_dir = dft_config_absolute_dirs(dft_config.data_dir);
    at = dft_config.data_dir;
    rule_count = entry_count = 0;
    pipes_traced = sockets_traced = 0;
    dft_traced_real_clear();
    if (!says_what_is_traced(at))
        add_all(1);
    if (names_directories(at))
        add_rule(DFT_UNNAMED, sizeof DFT_UNNAMED - 1, 0, 1);
    while (*at) {
        at = dft_data_entry_read(at, &entry);
        if (entry.kind == DFT_DATA_PIPES)
            pipes_traced = 1;
        else if (entry.kind == DFT_DATA_SOCKETS)
            sockets_traced = 1;
        else if (entry.kind == DFT_DATA_ALL && entry.traced && *entry.text == '/')
            add_rule("", 0, 1, 1);
        else if (entry.kind == DFT_DATA_ALL)
            add_all(entry.traced);
        else if (entry.length)
            add_entry(&entry);
    }
    note_beginnings();
}

int dft_traced_kind(int kind)
{
    return kind == DFT_KIND_PIPE ? pipes_traced : kind == DFT_KIND_SOCKET ? sockets_traced : 0;
}

/* "pipe:[12]", "socket:[34]" */
int dft_traced_link(const char *text, size_t length)
{
    return (length > 5 && pipes_traced && !memcmp(text, "pipe:", 5)) ||
           (length > 7 && sockets_traced && !memcmp(text, "socket:", 7));
}

static __attribute__((noinline)) enum dft_verdict judge(const struct rule *by, size_t count, const char *text,
                                                        size_t length)
{
    enum dft_verdict verdict = DFT_UNSAID;
    uint32_t longest = 0;

    if (!length || text[0] != '/')
        return DFT_UNSAID;
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &by[i];

        if (rule->length < longest || rule->length > length || memcmp(rule->text, text, rule->length) ||
            (rule->length < length && text[rule->length] != '/'))
            continue;
        longest = rule->length;
        verdict = rule->traced ? DFT_SELECTED : rule->named ? DFT_EXCLUDED : DFT_UNSAID;
    }
    return verdict;
}

static enum dft_verdict judge_text(const char *text, size_t length)
{
    if (length > 1 && text[0] == '/' && begins_no_rule[(uint8_t)text[1]])
        return all_traced ? DFT_SELECTED : DFT_UNSAID;
    return judge(rules, rule_count, text, length);
}

int dft_traced_path(const char *text, size_t length)
{
    return judge_text(text, length) == DFT_SELECTED;
}

/* What the user says of this very path: nothing is nearer. */
static enum dft_verdict judge_itself(const char *text, size_t length)
{
    enum dft_verdict verdict = DFT_UNSAID;

    for (uint32_t i = 0; i < rule_count; i++)
        if (rules[i].named && rules[i].length == length && !memcmp(rules[i].text, text, length))
            verdict = rules[i].traced ? DFT_SELECTED : DFT_EXCLUDED;
    return verdict;
}

/* Queries the kernel only where that may change something. */
int dft_traced_name(struct dft_text text, int dirfd, struct dft_text name)
{
    enum dft_verdict verdict = judge_text(text.bytes, text.length), real;

    if (!dft_traced_real_any() || verdict == DFT_EXCLUDED || (verdict == DFT_SELECTED && !dft_traced_real_excludes()) ||
        dft_is_sandboxed())
        return verdict == DFT_SELECTED;
    real = dft_traced_real(dirfd, name, text, judge_itself(text.bytes, text.length));
    return real == DFT_SELECTED || (real == DFT_UNSAID && verdict == DFT_SELECTED);
}

void dft_traced_leave_out(const char *text, size_t length)
{
    if (judge(all, ALL_COUNT, text, length) == DFT_SELECTED)
        atomic_fetch_add_explicit(&left_out, 1, memory_order_relaxed);
}

uint64_t dft_traced_left_out(void)
{
    return atomic_load_explicit(&left_out, memory_order_relaxed);
}

void dft_traced_forked(void)
{
    atomic_store_explicit(&left_out, 0, memory_order_relaxed);
}
