/* Owns the rules of DFTRACER_DATA_DIR. */
#include "traced.h"

#include <string.h>

#include "call.h"
#include "config.h"
#include "sys.h"

#define RULES_MAX 64u

static struct rule {
    const char *text;
    uint32_t length; /* without a slash at the end; 0: everything */
    int traced;
} rules[RULES_MAX];
static uint32_t rule_count;
static int pipes_traced, sockets_traced;

static void add_rule(const char *text, size_t length, int traced)
{
    while (length && text[length - 1] == '/')
        length--;
    if (rule_count < RULES_MAX)
        rules[rule_count++] = (struct rule){text, (uint32_t)length, traced};
    else
        dft_message(DFT_LOG_ERROR, "DFTRACER_DATA_DIR has more than 64 entries; the rest is ignored", NULL);
}

static void add_all(int traced)
{
    add_rule("", 0, traced);
    if (!traced)
        return;
    add_rule("/proc", 5, 0);
    add_rule("/sys", 4, 0);
    add_rule("/dev", 4, 0);
    add_rule("/dev/shm", 8, 1);
}

/* An entry as an absolute path, in a text that lives on. */
static void add_entry(const char *entry, size_t length, int traced)
{
    static char absolute[8192];
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

void dft_traced_init(void)
{
    const char *at = dft_config.data_dir;

    rule_count = 0;
    pipes_traced = sockets_traced = 0;
    while (*at) {
        const char *end = strchr(at, ':');
        size_t length = end ? (size_t)(end - at) : strlen(at);
        int traced = *at != '!';
        const char *entry = at + !traced;
        size_t n = length - (size_t)!traced;

        if (end && traced && n == 4 && !memcmp(entry, "pipe", 4))
            pipes_traced = 1;
        else if (end && traced && n == 6 && !memcmp(entry, "socket", 6))
            sockets_traced = 1;
        else if (length && n == 3 && !memcmp(entry, "all", 3))
            add_all(traced);
        else if (length && n)
            add_entry(entry, n, traced);
        at += length + (end != NULL);
    }
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

int dft_traced_path(const char *text, size_t length)
{
    uint32_t longest = 0;
    int traced = 0;

    if (!length || text[0] != '/')
        return 0;
    for (uint32_t i = 0; i < rule_count; i++) {
        const struct rule *rule = &rules[i];

        if (rule->length < longest || rule->length > length || memcmp(rule->text, text, rule->length) ||
            (rule->length < length && text[rule->length] != '/'))
            continue;
        longest = rule->length;
        traced = rule->traced;
    }
    return traced;
}
