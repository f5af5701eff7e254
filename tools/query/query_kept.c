/* Kept answers: which question they are to, where they lie, what makes room for them. See query_kept.h. */
#include "query/query_kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/comm.h"
#include "query/index_beside.h"
#include "query/kept_answer.h"
#include "source/source_inside.h"

#define VERSION    UINT64_C(2) /* of what stands in the files, and of what answers mean */
#define WHAT       "answer"
#define ALL_MIN    ((uint64_t)1 << 20)
#define INDEX_PART 8u /* all answers take one of so many parts of the index */

/* --- the question --------------------------------------------------------------------------------------------------- */

static void put_number(struct dft_pack *pack, uint64_t number)
{
    dft_pack_put(pack, &number, sizeof number);
}

static void put_ranges(struct dft_pack *pack, const struct dft_filter_range *ranges, size_t count)
{
    put_number(pack, count);
    dft_pack_put(pack, ranges, count * sizeof *ranges);
}

static void put_patterns(struct dft_pack *pack, const char *const *patterns, size_t count)
{
    put_number(pack, count);
    for (size_t i = 0; i < count; i++)
        dft_pack_string(pack, patterns[i]);
}

/* All that the answer depends on, but for the source. */
static void put_question(struct dft_pack *pack, const struct dft_filter *filter, const struct dft_query *query,
                         const struct dft_order *order)
{
    put_number(pack, query->nby);
    dft_pack_put(pack, query->by, query->nby * sizeof *query->by);
    put_number(pack, query->ops);
    put_number(pack, query->width_ns);
    put_number(pack, (unsigned)!!query->percentiles | (unsigned)!!query->busy_union << 1 |
                         (unsigned)!!query->events << 2 | (unsigned)!!query->busy << 3);
    dft_pack_string(pack, order->column);
    put_number(pack, order->top);
    put_number(pack, filter->from_ns);
    put_number(pack, filter->to_ns);
    put_ranges(pack, filter->ranks, filter->nranks);
    put_ranges(pack, filter->pids, filter->npids);
    put_patterns(pack, filter->cats, filter->ncats);
    put_patterns(pack, filter->names, filter->nnames);
    put_patterns(pack, filter->files, filter->nfiles);
}

static char *path_of(const struct dft_source *source, const struct dft_pack *question)
{
    char number[18];

    snprintf(number, sizeof number, "-%016" PRIx64, dft_name_id(question->bytes, question->length));
    return dft_beside_path(source, WHAT, number);
}

/* --- room ----------------------------------------------------------------------------------------------------------- */

static uint64_t room_of(const struct dft_source *source)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < source->nblocks; i++)
        bytes += source->blocks[i].stored;
    return bytes / INDEX_PART > ALL_MIN ? bytes / INDEX_PART : ALL_MIN;
}

/* The bytes of all answers beside this one that have its directory in their name; *oldest: the name of the oldest, from malloc. */
static uint64_t others(DIR *dir, const char *name, char **oldest)
{
    size_t same = (size_t)(strrchr(name, '-') - name);
    struct timespec least = {0};
    struct dirent *entry;
    uint64_t bytes = 0;

    *oldest = NULL;
    rewinddir(dir);
    while ((entry = readdir(dir))) {
        struct stat st;

        if (strncmp(entry->d_name, name, same) != 0 || !strcmp(entry->d_name, name) ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        bytes += (uint64_t)st.st_size;
        if (*oldest && (st.st_mtim.tv_sec > least.tv_sec ||
                        (st.st_mtim.tv_sec == least.tv_sec && st.st_mtim.tv_nsec >= least.tv_nsec)))
            continue;
        least = st.st_mtim;
        free(*oldest);
        *oldest = strdup(entry->d_name);
    }
    return bytes;
}

/* The oldest answers go, until there is room for this one. */
static void make_room(const char *path, uint64_t bytes, uint64_t room)
{
    const char *name = strrchr(path, '/') + 1;
    char *directory = strndup(path, (size_t)(name - path)), *oldest = NULL;
    DIR *dir = directory ? opendir(directory) : NULL;

    while (dir && others(dir, name, &oldest) + bytes > room && oldest && !unlinkat(dirfd(dir), oldest, 0)) {
        free(oldest);
        oldest = NULL;
    }
    free(oldest);
    if (dir)
        closedir(dir);
    free(directory);
}

/* --- finding and keeping -------------------------------------------------------------------------------------------- */

/* A file is: the question, its length before it; the answer; a checksum of both. */
static int read_answer(const char *bytes, size_t length, const struct dft_pack *question, struct dft_source *source,
                       const struct dft_query *query, struct dft_answer *answer)
{
    uint64_t asked;
    uint32_t crc;
    size_t before;

    if (length < sizeof asked + sizeof crc)
        return 0;
    memcpy(&asked, bytes, sizeof asked);
    memcpy(&crc, bytes + length - sizeof crc, sizeof crc);
    length -= sizeof crc;
    before = sizeof asked + question->length;
    if (asked != question->length || before > length || memcmp(bytes + sizeof asked, question->bytes, asked) != 0 ||
        dft_crc32c(0, bytes, length) != crc)
        return 0;
    return dft_kept_answer_get(bytes + before, length - before, source, query, answer);
}

int dft_kept_find(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                  const struct dft_order *order, struct dft_answer *answer)
{
    struct dft_pack question = {0};
    struct dft_pfw_counts counts;
    struct dft_index_key key;
    char *path, *bytes = NULL;
    size_t length;
    int rc;

    if (dft_comm_size() > 1 || !dft_beside_key(source, VERSION, &key))
        return 0;
    put_question(&question, filter, query, order);
    path = question.rc ? NULL : path_of(source, &question);
    rc = path ? dft_beside_read(path, &key, room_of(source), &counts, &bytes, &length) : question.rc;
    if (rc == 1)
        rc = read_answer(bytes, length, &question, source, query, answer);
    free(bytes);
    free(path);
    free(question.bytes);
    return rc;
}

uint64_t dft_kept_notes(const struct dft_source *source)
{
    return source->notes.told;
}

static void write_answer(const struct dft_source *source, const struct dft_index_key *key,
                         const struct dft_pack *question, const struct dft_answer *answer)
{
    struct dft_pack file = {0};
    struct dft_pfw_counts counts = {0};
    uint64_t room = room_of(source);
    char *path = path_of(source, question);
    uint32_t crc;

    put_number(&file, question->length);
    dft_pack_put(&file, question->bytes, question->length);
    dft_kept_answer_put(&file, answer);
    if (path && !file.rc && file.length < room / 2) {
        crc = dft_crc32c(0, file.bytes, file.length);
        dft_pack_put(&file, &crc, sizeof crc);
        make_room(path, file.length + DFT_ORIGIN_ROOM, room);
        if (!file.rc)
            dft_beside_write(path, key, &counts, file.bytes, file.length);
    }
    free(file.bytes);
    free(path);
}

void dft_kept_put(const struct dft_asking *asking, const struct dft_filter *filter, const struct dft_query *query,
                  const struct dft_order *order, uint64_t notes, const struct dft_answer *answer)
{
    const struct dft_source *source = asking->source;
    struct dft_pack question = {0};
    struct dft_index_key key;

    if (dft_comm_size() > 1 || answer->source != DFT_ANSWER_EVENTS || answer->windows || source->notes.told != notes ||
        asking->asked_events < DFT_BESIDE_EVENTS || !dft_beside_key(source, VERSION, &key))
        return;
    put_question(&question, filter, query, order);
    if (!question.rc)
        write_answer(source, &key, &question, answer);
    free(question.bytes);
}
