/* SPDX-License-Identifier: MIT */
/* The events that are requested of a command: the options --from, --to, --rank, --name and the
 * like. */
#ifndef DFT_FILTER_H
#define DFT_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "views/file_groups.h"
#include "object/object.h"

/* The options, in the order in which messages name them. */
enum dft_filter_option {
    DFT_FILTER_FROM, /* times */
    DFT_FILTER_TO,
    DFT_FILTER_LAST,
    DFT_FILTER_SLOWER,
    DFT_FILTER_RANK, /* numbers */
    DFT_FILTER_PID,
    DFT_FILTER_HOST, /* patterns */
    DFT_FILTER_PROGRAM,
    DFT_FILTER_ROLE,
    DFT_FILTER_CAT,
    DFT_FILTER_NAME,
    DFT_FILTER_REGION,
    DFT_FILTER_FILE,
    DFT_FILTER_DIR,
    DFT_FILTER_EXT,
    DFT_FILTER_MOUNT,
    DFT_FILTER_OP, /* words */
    DFT_FILTER_CLASS,
    DFT_FILTER_SIZE,
    DFT_FILTER_ACCESS,
    DFT_FILTER_ERRNO,  /* words and numbers */
    DFT_FILTER_ERRORS, /* no argument */
    DFT_FILTER_OPTIONS
};

/* Both bounds belong to the range. */
struct dft_filter_range {
    uint64_t low, high;
};

/* What one option says, in its form. Options that are not set have count 0. */
struct dft_filter_values {
    size_t count;
    struct dft_filter_range *ranges; /* numbers */
    const char **patterns;           /* shell patterns, where * also fits '/'; ! in front takes away */
    uint64_t mask;                   /* words: 1 << number */
    int64_t ns;                      /* times, as specified */
};

/* Patterns of absolute paths. */
struct dft_filter_paths {
    const char **list;
    size_t count;
};

/* An event passes when it fits each option that is set. Texts point into argv. */
struct dft_filter {
    /* Unix ns, set by dft_filter_begin; 0 and UINT64_MAX: all events. An event passes when it
     * starts in [from_ns, to_ns) */
    uint64_t from_ns, to_ns;
    struct dft_filter_values values[DFT_FILTER_OPTIONS];
    const struct dft_names *table;       /* set by dft_filter_begin */
    struct dft_filter_paths files, dirs; /* set by dft_filter_begin, for --file and --dir */
    struct dft_file_grouping mount;      /* set by dft_filter_begin, for --mount */
};

void dft_filter_init(struct dft_filter *filter);
void dft_filter_fini(struct dft_filter *filter);

/* Adds the argument of an option (NULL for those without one). Returns 0, -EINVAL (it makes no
 * sense: `why` says what would) or -ENOMEM. */
#define DFT_FILTER_WHY 512
int dft_filter_set(struct dft_filter *filter, enum dft_filter_option option, char *text, char why[DFT_FILTER_WHY]);
/* The same for the values of one option alone, by whatever name they were written. */
int dft_filter_read(struct dft_filter_values *values, enum dft_filter_option option, char *text,
                    char why[DFT_FILTER_WHY]);
/* Does the number of a word (an operation, a class) pass? */
int dft_filter_word_passes(const struct dft_filter_values *values, unsigned number);
/* Why no event can pass whatever the traces are; NULL: some may. */
const char *dft_filter_contradiction(const struct dft_filter *filter);
/* "1.5", "200ms", "2min": plain numbers are seconds, of at most nine decimals. Returns 0 or
 * -EINVAL. */
int dft_filter_seconds(int64_t *ns, const char *text);
/* "4096", "50M", "1 GiB": letters mean powers of 1024. Returns 0 or -EINVAL. */
int dft_filter_bytes(uint64_t *bytes, const char *text);
/* Does a text fit a list of patterns? The last one that fits decides: one behind a ! takes the text away again. A list
 * that begins with ! begins with every text. `flags`: of fnmatch. */
int dft_patterns_fit(const char *const *patterns, size_t count, struct dft_text text, int flags);

/* Prepares a filter for a source: makes its times absolute, and collects mount points for --mount.
 * A caller that queries files or calls on its own fetches their texts before. Returns 0 or
 * -ENOMEM. */
int dft_filter_begin(struct dft_filter *filter, struct dft_source *source);
/* Forgets what dft_filter_begin has made: for copies of a filter, each of a source of its own. */
void dft_filter_end(struct dft_filter *filter);

static inline int dft_filter_has(const struct dft_filter *filter, enum dft_filter_option option)
{
    return filter->values[option].count != 0;
}
/* Is a part of the time queried? */
static inline int dft_filter_has_times(const struct dft_filter *filter)
{
    return dft_filter_has(filter, DFT_FILTER_FROM) || dft_filter_has(filter, DFT_FILTER_TO) ||
           dft_filter_has(filter, DFT_FILTER_LAST);
}
/* Does the filter ask about processes? */
static inline int dft_filter_has_processes(const struct dft_filter *filter)
{
    return dft_filter_has(filter, DFT_FILTER_RANK) || dft_filter_has(filter, DFT_FILTER_PID) ||
           dft_filter_has(filter, DFT_FILTER_HOST) || dft_filter_has(filter, DFT_FILTER_PROGRAM) ||
           dft_filter_has(filter, DFT_FILTER_ROLE);
}
/* Does the filter ask about files? Call rows know nothing of files. */
static inline int dft_filter_has_files(const struct dft_filter *filter)
{
    return dft_filter_has(filter, DFT_FILTER_FILE) || dft_filter_has(filter, DFT_FILTER_DIR) ||
           dft_filter_has(filter, DFT_FILTER_EXT) || dft_filter_has(filter, DFT_FILTER_MOUNT);
}
/* Does the filter ask about names of calls? Their texts must be known then. */
static inline int dft_filter_has_calls(const struct dft_filter *filter)
{
    return dft_filter_has(filter, DFT_FILTER_CAT) || dft_filter_has(filter, DFT_FILTER_NAME);
}
/* Must texts of calls or regions be known? */
static inline int dft_filter_has_names(const struct dft_filter *filter)
{
    return dft_filter_has_calls(filter) || dft_filter_has(filter, DFT_FILTER_REGION);
}
/* Does the filter ask about what single calls of one kind may differ in? */
static inline int dft_filter_has_facets(const struct dft_filter *filter)
{
    return dft_filter_has(filter, DFT_FILTER_SIZE) || dft_filter_has(filter, DFT_FILTER_ACCESS) ||
           dft_filter_has(filter, DFT_FILTER_ERRNO) || dft_filter_has(filter, DFT_FILTER_ERRORS);
}
/* "from", "slower-than". */
const char *dft_filter_name(enum dft_filter_option option);
#define DFT_FILTER_WORDS_MAX 4096u
/* The words that an option knows, by number, some of them NULL. Returns how many numbers there are; 0: it takes any
 * word. */
size_t dft_filter_words(enum dft_filter_option option, const char *words[DFT_FILTER_WORDS_MAX]);
/* Is any option set? */
int dft_filter_has_any(const struct dft_filter *filter);
/* Does the filter ask about a part of the calls of processes? */
int dft_filter_is_partial(const struct dft_filter *filter);
/* The options (1 << enum dft_filter_option) that were set. */
uint64_t dft_filter_options(const struct dft_filter *filter);
/* Those that choose single calls of a file, of a process and of a time. */
#define DFT_FILTER_BIT(option) (UINT64_C(1) << DFT_FILTER_##option)
#define DFT_FILTER_OF_CALLS                                                                                            \
    (DFT_FILTER_BIT(SLOWER) | DFT_FILTER_BIT(CAT) | DFT_FILTER_BIT(NAME) | DFT_FILTER_BIT(REGION) |                    \
     DFT_FILTER_BIT(OP) | DFT_FILTER_BIT(CLASS) | DFT_FILTER_BIT(SIZE) | DFT_FILTER_BIT(ACCESS) |                      \
     DFT_FILTER_BIT(ERRNO) | DFT_FILTER_BIT(ERRORS))
/* The mounts are requested, and no process has recorded any. */
int dft_filter_lacks_mounts(const struct dft_filter *filter);

/* Does the process pass? A process without a rank never passes a list of ranks. */
int dft_filter_process(const struct dft_filter *filter, const struct dft_source_process *process);
/* What --host, --program or --role looks at; empty: not known. */
struct dft_text dft_filter_trait(const struct dft_process *process, enum dft_filter_option option);
/* Does a rank pass --rank? */
int dft_filter_rank(const struct dft_filter *filter, uint64_t rank);
/* The bounds of --from, --to and --last, where all begins and ends at these times. UINT64_MAX for
 * *to_ns: it is not limited. */
void dft_filter_window(const struct dft_filter *filter, uint64_t start_ns, uint64_t end_ns, uint64_t *from_ns,
                       uint64_t *to_ns);
/* These options (1 << enum dft_filter_option) as text, such as " --rank --name". The caller frees
 * the text; NULL: no memory. */
char *dft_filter_text(uint64_t options);
/* May the block hold an event that passes, judged by process and time? */
int dft_filter_block(const struct dft_filter *filter, const struct dft_source_process *process,
                     const struct dft_block *block);
/* Does a call pass by its names, its operation and its class? */
int dft_filter_call(const struct dft_filter *filter, const struct dft_call *call);
/* ... by its operation and class alone; by its class alone? */
int dft_filter_kind(const struct dft_filter *filter, uint8_t op, uint8_t io);
int dft_filter_class(const struct dft_filter *filter, uint8_t io);
/* Does a text of "category\0name" pass --cat and --name? */
int dft_filter_names(const struct dft_filter *filter, uint64_t call);
/* Does the innermost region (0: none) around an event pass? */
int dft_filter_region(const struct dft_filter *filter, uint64_t region);
/* Do facets pass, as dft_facets_of has them? */
int dft_filter_facets(const struct dft_filter *filter, uint32_t facets);
/* Do events of regions pass, but for names, regions and durations? */
int dft_filter_regions_pass(const struct dft_filter *filter);

enum dft_filter_decision { DFT_PASSES_NOT, DFT_PASSES, DFT_PASSES_SOME };
/* Do calls of a row pass --slower-than? */
enum dft_filter_decision dft_filter_durations(const struct dft_filter *filter, const struct dft_metrics *metrics);

/* Does an event of a process that passes pass as well? A file fits when the first or the second
 * path fits. */
int dft_filter_event(const struct dft_filter *filter, const struct dft_event *event, const struct dft_call *call);
/* Does a file (name id, or its path) pass? */
int dft_filter_file(const struct dft_filter *filter, uint64_t file);
int dft_filter_path(const struct dft_filter *filter, struct dft_text path);

#endif
