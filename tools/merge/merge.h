/* What the files of `dftmerge merge` share. */
#ifndef DFT_MERGE_H
#define DFT_MERGE_H

#include "source/archive.h"

/* Encodes the texts of names in a COVERED block. Returns the bytes (*text: until the encoder is used again), 0: there are
 * none, or it cannot be read, which is noted; or -errno. */
long dft_merge_names_of(struct dft_reader *reader, struct dft_encoder *encoder, const struct dft_block *block,
                        const void **text);

/* Texts of names that were referred to only in COVERED blocks, which do not come along: kept. Returns 0 or -errno. */
int dft_merge_covered_names(struct dft_archive *archive, struct dft_reader *reader, struct dft_encoder *encoder,
                            const struct dft_block *block);

/* An encoder of one's own. NULL: no memory. */
struct dft_encoder *dft_merge_encoder(void);
void dft_merge_encoder_free(struct dft_encoder *encoder);

/* merge_split.c: one archive a process, rank or host into the directory `path`. Returns 0 or -errno, said on stderr. */
enum dft_split_by { DFT_SPLIT_BY_PROCESS, DFT_SPLIT_BY_RANK, DFT_SPLIT_BY_HOST };
int dft_merge_split(struct dft_source *source, const char *path, enum dft_split_by by, int quiet);

/* merge_groups.c: one archive a group. `rules`: a file, or the rules themselves. */
int dft_merge_groups(struct dft_source *source, const char *path, const char *rules, int quiet);

#endif
