/* One output that all ranks write by turns: what is written in turn 0, then in turn 1, and so on, each by one of them.
 *
 * Ranks make their turns at the same time. A plain file they write themselves, gzip too: where a turn's bytes go is known
 * when those before it have their length, which each tells the next; until then they are kept, up to a bound, and then
 * whoever is ahead waits. Anything else (standard output, a pipe, a file that not every rank can open) rank 0 writes: the
 * others send it theirs. The bytes do not depend on the number of ranks; gzip members end with each turn. */
#ifndef DFT_RELAY_H
#define DFT_RELAY_H

#include <stdint.h>
#include <stdio.h>

struct dft_relay;

/* `ranks`: that take part, from 0 on. Collective; returns an agreed 0 or -errno. */
int dft_relay_open(struct dft_relay **relay, const char *path, uint64_t turns, unsigned ranks);

/* The first and the last turn are rank 0's. */
int dft_relay_is_mine(const struct dft_relay *relay, uint64_t turn);

/* A rank goes through all of its turns in order, and rank 0 begins the last one before anything else is collective. The stream is for this turn alone, and its errors are kept until the end;
 * NULL: it has gone wrong already, and nothing needs to be written. dft_relay_end all the same, with what went wrong while
 * the turn was made (0: nothing): it returns the first error of all that this rank knows of. */
FILE *dft_relay_begin(struct dft_relay *relay, uint64_t turn);
int dft_relay_end(struct dft_relay *relay, int rc);

/* Gives the output its name, if `rc` is 0 and all was written everywhere, else nothing is left of it. Collective; returns
 * an agreed 0 or -errno. Harmless on NULL, but collective. */
int dft_relay_close(struct dft_relay *relay, int rc);

#endif
