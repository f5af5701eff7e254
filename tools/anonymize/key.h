/* SPDX-License-Identifier: MIT */
/* Keys in files, and the keyed hash. The only part that uses libsodium. */
#ifndef DFT_ANONYMIZE_KEY_H
#define DFT_ANONYMIZE_KEY_H

#include "anonymize/words.h"

#define DFT_KEY_FILE_LEAST 16u

/* Is there a library of hashes in this build? Says on stderr what to do, if not. */
int dft_key_can_hash(void);
/* The key of a file: BLAKE2b of its bytes. Says on stderr why not, and warns of a file that others
 * may read. Returns 0 or -errno. */
int dft_key_read(const char *path, struct dft_hash_key *key);
/* Makes a file with a new key, and never replaces one. Says on stderr why not. Returns 0 or -errno. */
int dft_key_make(const char *path);
void dft_key_forget(struct dft_hash_key *key);
/* Keyed BLAKE2b of `bytes` bytes. */
void dft_key_hash(const struct dft_hash_key *key, const void *text, size_t length, uint8_t *digest, size_t bytes);

#endif
