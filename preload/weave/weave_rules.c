/* SPDX-License-Identifier: MIT */
/* Owns the reading of weave files: one function a line, library, prototype, roles.
 *
 *   # comment
 *   typedef int64 hid_t;
 *   struct pair { double first, second; };
 *   libhdf5.so*   herr_t H5Dread(hid_t d, hid_t mt, hid_t ms, hid_t fs, hid_t xfer, void *buf)   cat=HDF5 capture=d
 *
 *   enum direction { host-device = 1, device-host };
 *
 * Roles are in weave_roles.c. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "settings/config.h"
#include "settings/message.h"
#include "os/bulk.h"
#include "store/first.h"
#include "os/line.h"
#include "loader/resolve.h"
#include "os/sys.h"
#include "os/whole.h"
#include "weave/weave_inside.h"

#define FILE_MAX (1u << 20)

struct dft_weave_rule *dft_weave_rules;
static struct dft_weave_rule **last_rule = &dft_weave_rules;

/* --- lines ------------------------------------------------------------------------------------ */

/* Functions that do not come back as others do. */
static int may_be_woven(struct dft_weave_text *text, const char *name)
{
    static const char *const never[] = {"setjmp",      "_setjmp", "sigsetjmp",  "__sigsetjmp", "longjmp",
                                        "siglongjmp",  "vfork",   "getcontext", "dlopen",      "dlmopen",
                                        "dlsym",       "dlvsym",  "fork",       "dlclose",     "clone",
                                        "swapcontext", "exit",    "_exit",      "_Exit",       "pthread_exit"};

    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (!strcmp(name, never[i]))
            return dft_weave_fail(text, "this function cannot be called by another one", name, strlen(name));
    return dft_resolve_is_wrapped(name) ? dft_weave_fail(text, "this function is recorded anyway", name, strlen(name))
                                        : 0;
}

static int parse_rule(struct dft_weave_text *text, struct dft_weave_rule *rule)
{
    const char *library = text->at;
    size_t length = strcspn(library, " \t");
    int rc;

    text->at += length;
    rule->library = dft_weave_keep_word(library, length);
    rule->finds = -1;
    rc = dft_weave_parse_function(text, &rule->function);
    dft_weave_take(text, ';');
    for (dft_weave_skip_blanks(text); !rc && *text->at && *text->at != '#'; dft_weave_skip_blanks(text))
        rc = dft_weave_parse_role(text, rule);
    if (!rc)
        rc = may_be_woven(text, rule->function.name);
    for (uint32_t i = 0; !rc && i < rule->function.count; i++)
        if (!(rule->types[i] = dft_weave_ffi_type(&rule->function.arguments[i].type)))
            rc = dft_weave_fail(text, "libffi has no such type for the argument", rule->function.arguments[i].name, 63);
    rule->site.name = rule->function.name;
    if (!rule->site.category)
        rule->site.category = "WEAVE";
    return rc;
}

static int reading_installed;

static int parse_line(struct dft_weave_text *text)
{
    struct dft_weave_rule *rule;
    int rc;

    dft_weave_skip_blanks(text);
    if (!*text->at || *text->at == '#')
        return 0;
    if (dft_weave_take_word(text, "typedef"))
        return dft_weave_parse_typedef(text);
    if (dft_weave_take_word(text, "struct"))
        return dft_weave_parse_struct(text);
    if (dft_weave_take_word(text, "enum"))
        return dft_weave_parse_enum(text);
    rule = dft_weave_reserve(sizeof *rule);
    if (!rule)
        return -ENOMEM;
    rc = parse_rule(text, rule);
    rule->installed = reading_installed;
    if (!rc) {
        *last_rule = rule;
        last_rule = &rule->next;
    }
    return rc;
}

/* Texts one behind another, up to NULL, ended by a zero; cut to the room. */
static void join(struct dft_message_line *line, const char *text, ...)
{
    va_list list;

    line->used = 0;
    va_start(list, text);
    for (; text; text = va_arg(list, const char *))
        dft_line_text(line, text);
    va_end(list);
    line->text[line->used < sizeof line->text ? line->used : sizeof line->text - 1] = 0;
}

int dft_weave_tells(void)
{
    static int known, tells; /* before main there is one thread */

    if (!known)
        tells = dft_first_tells_of("WEAVE", dft_config.weave);
    known = 1;
    return tells;
}

static void tell(const char *file, unsigned number, const struct dft_weave_text *text)
{
    static struct dft_message_line line DFT_BULK;

    if (!dft_weave_tells())
        return;
    line.used = 0;
    dft_line_number(&line, number, 10);
    line.text[line.used] = 0;
    dft_message(DFT_LOG_ERROR, file, ":", line.text, ": ", text->wrong ? text->wrong : "no memory",
                *text->word ? ": " : "", text->word, "; this line is left out", NULL);
}

static void parse_lines(const char *file, char *bytes)
{
    for (unsigned line = 1; *bytes; line++) {
        struct dft_weave_text text = {.at = bytes};
        size_t length = strcspn(bytes, "\n");
        char *next = bytes + length + (bytes[length] == '\n');

        bytes[length] = 0;
        if (length && bytes[length - 1] == '\r')
            bytes[length - 1] = 0;
        if (parse_line(&text))
            tell(file, line, &text);
        bytes = next;
    }
}

/* --- files ------------------------------------------------------------------------------------ */

static int read_file(const char *path)
{
    char *bytes;
    long length = dft_whole_read(path, FILE_MAX, &bytes);

    if (length >= 0)
        parse_lines(path, bytes);
    if (bytes)
        DFT_SYS(munmap, bytes, FILE_MAX + 1, 0, 0, 0, 0);
    return length < 0 ? (int)length : 0;
}

/* A name without a slash that is no file here is one of those that are installed: "hdf5". */
static int read_installed(const char *name)
{
    static struct dft_message_line path DFT_BULK;
    const char *own = dft_resolve_own_path(), *slash = own ? strrchr(own, '/') : NULL, *directory;
    /* From lib/libdftrace.so, and from lib/ARCHITECTURE/libdftrace.so. */
    static const char *const ups[] = {"/../", "/../../"};
    int rc = -ENOENT;

    if (!slash)
        return -ENOENT;
    directory = dft_weave_keep_word(own, (size_t)(slash - own));
    reading_installed = 1;
    for (int i = 0; i < 2 && rc; i++) {
        join(&path, directory, ups[i], "share/dftrace/weave/", name, ".weave", NULL);
        rc = read_file(path.text) ? -ENOENT : 0;
    }
    reading_installed = 0;
    return rc;
}

static const char *reason(int error)
{
    if (error == -ENOENT)
        return "there is no such file";
    return error == -EFBIG ? "it has more than 1 MiB" : "it cannot be read";
}

void dft_weave_read_rules(const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ":");
        const char *path = dft_weave_keep_word(list, length);
        int rc = length ? read_file(path) : 0;

        if (rc == -ENOENT && !memchr(list, '/', length))
            rc = read_installed(path);
        if (rc && *dft_config.weave && dft_weave_tells())
            dft_message(DFT_LOG_ERROR, "DFTRACER_WEAVE: ", path, ": ", reason(rc), "; its functions are not recorded",
                        NULL);
        list += length + (list[length] == ':');
    }
}
