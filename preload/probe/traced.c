/* SPDX-License-Identifier: MIT */
/* Owns the rules of DFTRACER_DATA_DIR. */
#include "probe/traced.h"

#include <stdatomic.h>
#include <string.h>

#include "os/bulk.h"
#include "probe/call.h"
#include "os/config.h"
#include "store/first.h"
#include "os/sys.h"

#define RULES_MAX 64u

struct rule {
    const char *text;
    uint32_t length; /* without a slash at the end; 0: everything */
    int traced;
};

static const struct rule all[] = {{"", 0, 1}, {"/proc", 5, 0}, {"/sys", 4, 0}, {"/dev", 4, 0}, {"/dev/shm", 8, 1}};
#define ALL_COUNT (sizeof all / sizeof *all)

static struct rule rules[RULES_MAX];
static uint32_t rule_count, too_many;
/* By the letter behind a path's first slash: no rule for a directory begins so, and what the rules
 * for everything say holds. */
static uint8_t begins_no_rule[256];
static int all_traced;
static int pipes_traced, sockets_traced;
static _Atomic uint64_t left_out;

static void add_rule(const char *text, size_t length, int traced)
{
    while (length && text[length - 1] == '/')
        length--;
    if (rule_count < RULES_MAX)
        rules[rule_count++] = (struct rule){text, (uint32_t)length, traced};
    else if (!too_many++ && dft_first_tells_of("DATA_DIR", dft_config.data_dir))
        dft_message(DFT_LOG_ERROR, "DFTRACER_DATA_DIR has more than 64 entries; the rest is ignored", NULL);
}

/* Nothing of all is the first rule alone, turned round. */
static void add_all(int traced)
{
    if (!traced)
        add_rule("", 0, 0);
    for (size_t i = 0; i < ALL_COUNT && traced; i++)
        add_rule(all[i].text, all[i].length, all[i].traced);
}

/* An entry as an absolute path, in a text that lives on. */
static void add_entry(const char *entry, size_t length, int traced)
{
    static char absolute[8192] DFT_BULK;
    static size_t used;
    char *to = absolute + used;
    long n;

    if (entry[0] == '/') {
        add_rule(entry, length, traced);
        return;
    }
    n = used + length + 2 < sizeof absolute ? DFT_SYS(getcwd, to, sizeof absolute - used - length - 2, 0, 0, 0, 0) : -1;
    if (n <= 0)
        return;
    n--;
    while (length >= 2 && entry[0] == '.' && entry[1] == '/')
        entry += 2, length -= 2;
    if (length == 1 && entry[0] == '.')
        length = 0;
    to[n++] = '/';
    memcpy(to + n, entry, length);
    add_rule(to, (size_t)n + length, traced);
    used += (size_t)n + length;
}

enum kind { PATH, ALL, PIPES, SOCKETS };

/* One entry of the list: its text without `!`. */
struct entry {
    const char *text;
    size_t length;
    int traced;
    enum kind kind;
};

static int is_word(const struct entry *entry, const char *word)
{
    return entry->length == strlen(word) && !memcmp(entry->text, word, entry->length);
}

/* Returns where the next one begins. `pipe` and `socket` are not the last: there they are
 * directories. */
static const char *read_entry(const char *at, struct entry *entry)
{
    const char *end = strchr(at, ':');
    size_t length = end ? (size_t)(end - at) : strlen(at);

    *entry = (struct entry){.text = at + (*at == '!'), .length = length - (*at == '!'), .traced = *at != '!'};
    if (end && entry->traced && is_word(entry, "pipe"))
        entry->kind = PIPES;
    else if (end && entry->traced && is_word(entry, "socket"))
        entry->kind = SOCKETS;
    else if (is_word(entry, "all") || is_word(entry, "/"))
        entry->kind = ALL;
    return at + length + (end != NULL);
}

static int names_directories(const char *list)
{
    struct entry entry;

    while (*list) {
        list = read_entry(list, &entry);
        if (entry.length && entry.kind == PATH)
            return 1;
    }
    return 0;
}

/* Does the list say by itself what is traced? Exclusions, pipes and sockets alone are changes to
 * what is traced without them. */
static int says_what_is_traced(const char *list)
{
    struct entry entry;

    while (*list) {
        list = read_entry(list, &entry);
        if (entry.length && (entry.kind == ALL || (entry.kind == PATH && entry.traced)))
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
    const char *at = dft_config.data_dir;
    struct entry entry;

    rule_count = 0;
    pipes_traced = sockets_traced = 0;
    if (!says_what_is_traced(at))
        add_all(1);
    if (names_directories(at))
        add_rule(DFT_UNNAMED, sizeof DFT_UNNAMED - 1, 0);
    while (*at) {
        at = read_entry(at, &entry);
        if (entry.kind == PIPES)
            pipes_traced = 1;
        else if (entry.kind == SOCKETS)
            sockets_traced = 1;
        else if (is_word(&entry, "all") || (entry.kind == ALL && !entry.traced))
            add_all(entry.traced);
        else if (entry.length)
            add_entry(entry.text, entry.length, entry.traced);
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

static __attribute__((noinline)) int judge(const struct rule *by, size_t count, const char *text, size_t length)
{
    uint32_t longest = 0;
    int traced = 0;

    if (!length || text[0] != '/')
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &by[i];

        if (rule->length < longest || rule->length > length || memcmp(rule->text, text, rule->length) ||
            (rule->length < length && text[rule->length] != '/'))
            continue;
        longest = rule->length;
        traced = rule->traced;
    }
    return traced;
}

int dft_traced_path(const char *text, size_t length)
{
    if (length > 1 && text[0] == '/' && begins_no_rule[(uint8_t)text[1]])
        return all_traced;
    return judge(rules, rule_count, text, length);
}

void dft_traced_leave_out(const char *text, size_t length)
{
    if (judge(all, ALL_COUNT, text, length))
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
