/* One output that all ranks write by turns; see relay.h. */
#include "mpi/relay.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "base/gzip_members.h"
#include "base/outfile.h"

#define KEPT_BYTES   ((size_t)48 << 20) /* of a turn whose place is not known yet */
#define STREAM_BYTES (1u << 16)

/* What a rank tells the one that has the next turn; and, of a piece that rank 0 is to write, rank 0. */
struct word {
    uint64_t bytes; /* where the next turn begins; length of the piece that follows, 0: none does, the turn is over */
    int64_t error;
};

struct dft_relay {
    uint64_t turns, turn; /* turn: that is being written; of rank 0, behind it those that are not through yet */
    unsigned rank, ranks;
    struct dft_outfile out; /* of rank 0 */
    int shared;             /* all ranks write into the file */
    int fd;                 /* which is this */
    FILE *stream;
    struct dft_gzip *gzip;
    char *kept;
    size_t used, room, bound;
    int found;     /* it is known where this turn begins; or it is this rank's to send */
    int has_place; /* what is written in this turn goes out at once */
    uint64_t at;   /* shared: where the next byte goes */
    int error;     /* the first one */
};

static unsigned owner_of(const struct dft_relay *relay, uint64_t turn)
{
    return turn + 1 < relay->turns ? (unsigned)(turn % relay->ranks) : 0;
}

int dft_relay_is_mine(const struct dft_relay *relay, uint64_t turn)
{
    return owner_of(relay, turn) == relay->rank;
}

static int fail(struct dft_relay *relay, int error)
{
    if (!relay->error)
        relay->error = error;
    return relay->error;
}

/* --- words between ranks --------------------------------------------------------------------------------------------- */

static struct word hear(unsigned from)
{
    size_t length;
    struct word *heard = dft_comm_receive(from, &length), word = {0, -EIO};

    if (heard && length == sizeof word)
        word = *heard;
    free(heard);
    return word;
}

static void tell(unsigned to, uint64_t bytes, int error)
{
    struct word word = {bytes, error};

    dft_comm_send(to, &word, sizeof word);
}

/* --- bytes ----------------------------------------------------------------------------------------------------------- */

static int write_bytes(struct dft_relay *relay, const void *bytes, size_t length)
{
    int rc = 0;

    if (relay->error || !length)
        return relay->error;
    if (relay->shared) {
        rc = dft_outfile_put_beside(relay->fd, bytes, length, relay->at);
        relay->at += length;
    } else if (relay->rank) {
        tell(0, length, 0);
        dft_comm_send(0, bytes, length);
    } else {
        errno = 0;
        if (fwrite(bytes, 1, length, dft_outfile_below(&relay->out)) != length)
            rc = errno ? -errno : -EIO;
    }
    return rc ? fail(relay, rc) : 0;
}

/* Where this turn begins, as whoever has the one before it says; or that rank 0 is ready for it: who sends much to somebody
 * who is not waits busily. What rank 0 writes for all has no place: it is its turn. */
static void find_place(struct dft_relay *relay)
{
    unsigned from = relay->shared && relay->turn ? owner_of(relay, relay->turn - 1) : 0;
    struct word word;

    if (relay->found)
        return;
    relay->found = 1;
    relay->has_place = relay->shared;
    if (from == relay->rank || (relay->shared && !relay->turn))
        return;
    word = hear(from);
    if (relay->shared)
        relay->at = word.bytes;
    if (word.error)
        fail(relay, (int)word.error);
}

static int write_kept(struct dft_relay *relay)
{
    int rc;

    find_place(relay);
    rc = write_bytes(relay, relay->kept, relay->used);
    relay->used = 0;
    return rc;
}

static int put(void *context, const void *bytes, size_t length)
{
    struct dft_relay *relay = context;

    if (relay->error)
        return relay->error;
    if (relay->has_place)
        return write_bytes(relay, bytes, length);
    if (relay->used + length > relay->room) {
        size_t room = 2 * relay->room > relay->used + length ? 2 * relay->room : relay->used + length;
        char *bigger = realloc(relay->kept, room);

        if (!bigger)
            return fail(relay, -ENOMEM);
        relay->kept = bigger;
        relay->room = room;
    }
    memcpy(relay->kept + relay->used, bytes, length);
    relay->used += length;
    return relay->used < relay->bound ? 0 : write_kept(relay);
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t length)
{
    struct dft_relay *relay = cookie;
    int rc = relay->gzip ? dft_gzip_put(relay->gzip, bytes, length) : put(relay, bytes, length);

    return rc ? (errno = -fail(relay, rc), -1) : (ssize_t)length;
}

/* Rank 0 writes what others have for the turns before this one. */
static void write_others(struct dft_relay *relay, uint64_t until)
{
    for (; relay->turn < until; relay->turn++) {
        unsigned from = owner_of(relay, relay->turn);
        struct word word;

        if (!from)
            continue;
        tell(from, 0, relay->error);
        while ((word = hear(from)).bytes) {
            size_t length;
            void *bytes = dft_comm_receive(from, &length);

            write_bytes(relay, bytes, length);
            free(bytes);
        }
        if (word.error)
            fail(relay, (int)word.error);
    }
}

/* --- turns ----------------------------------------------------------------------------------------------------------- */

FILE *dft_relay_begin(struct dft_relay *relay, uint64_t turn)
{
    if (!relay->rank && !relay->shared)
        write_others(relay, turn);
    relay->turn = turn;
    relay->used = 0;
    relay->has_place = relay->found = relay->ranks == 1 || (!relay->rank && !relay->shared) || !turn;
    if (turn + 1 == relay->turns)
        find_place(relay); /* then no word is on its way any more */
    return relay->error ? NULL : relay->stream;
}

int dft_relay_end(struct dft_relay *relay, int rc)
{
    unsigned next = owner_of(relay, relay->turn + 1);

    fflush(relay->stream);
    clearerr(relay->stream); /* the error is kept */
    if (!rc && relay->gzip && !relay->error)
        rc = dft_gzip_end(relay->gzip);
    if (rc)
        fail(relay, rc);
    find_place(relay);
    if (relay->shared) {
        if (next != relay->rank && relay->turn + 1 < relay->turns)
            tell(next, relay->at + relay->used, relay->error);
        write_bytes(relay, relay->kept, relay->used);
    } else {
        write_bytes(relay, relay->kept, relay->used);
        if (relay->rank)
            tell(0, 0, relay->error);
    }
    relay->used = 0;
    relay->turn += !relay->rank;
    return relay->error;
}

/* --- the output ------------------------------------------------------------------------------------------------------ */

/* What all must know of it: is it compressed, and may others write into it? */
static int open_out(struct dft_relay *relay, const char *path)
{
    uint8_t what[2] = {0};
    int rc = 0, joined;

    if (!relay->rank) {
        rc = dft_outfile_open(&relay->out, path);
        what[0] = relay->out.gzip != NULL;
        what[1] = relay->out.temporary != NULL;
    }
    rc = dft_comm_agree(rc);
    if (rc)
        return rc;
    dft_comm_broadcast(what, sizeof what);
    if (what[1]) {
        joined = dft_outfile_join(&relay->out, &relay->fd);
        relay->shared = !joined;
        if (joined)
            dft_outfile_leave(&relay->fd, 0, 0);
    }
    if (what[0])
        relay->gzip = dft_gzip_create(put, relay);
    return what[0] && !relay->gzip ? -ENOMEM : 0;
}

int dft_relay_open(struct dft_relay **result, const char *path, uint64_t turns, unsigned ranks)
{
    static const cookie_io_functions_t functions = {.write = stream_write};
    const char *bound = getenv("DFTMERGE_RELAY_BYTES"); /* for the tests; the output does not depend on it */
    struct dft_relay *relay = calloc(1, sizeof *relay);
    int rc = dft_comm_agree(relay ? 0 : -ENOMEM);

    *result = relay;
    if (rc)
        return rc;
    relay->turns = turns;
    relay->rank = dft_comm_rank();
    relay->ranks = ranks;
    relay->fd = -1;
    relay->bound = bound ? strtoull(bound, NULL, 10) : KEPT_BYTES;
    rc = open_out(relay, path);
    relay->stream = fopencookie(relay, "w", functions);
    if (relay->stream) {
        setvbuf(relay->stream, NULL, _IOFBF, STREAM_BYTES);
        __fsetlocking(relay->stream, FSETLOCKING_BYCALLER); /* one thread writes */
    }
    return dft_comm_agree(rc ? rc : relay->stream ? 0 : -ENOMEM);
}

int dft_relay_close(struct dft_relay *relay, int rc)
{
    rc = dft_comm_agree(relay && relay->error ? relay->error : rc ? rc : relay ? 0 : -ENOMEM);
    if (!relay)
        return rc;
    rc = dft_comm_agree(dft_outfile_leave(&relay->fd, rc, 0));
    if (!rc && !relay->rank)
        rc = dft_outfile_commit(&relay->out, 0);
    if (!relay->rank)
        dft_outfile_abort(&relay->out);
    if (relay->stream)
        fclose(relay->stream);
    dft_gzip_destroy(relay->gzip);
    free(relay->kept);
    free(relay);
    return dft_comm_agree(rc);
}
