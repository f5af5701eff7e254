/* SPDX-License-Identifier: MIT */
/* Keys in files, and the keyed hash: BLAKE2b of libsodium. */
#include "anonymize/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_FILE_MOST 65536u

#ifdef DFT_HAVE_SODIUM
#include <sodium.h>

int dft_key_can_hash(void)
{
    if (sodium_init() >= 0)
        return 1;
    fputs("dftmerge: anonymize: libsodium cannot begin\n", stderr);
    return 0;
}

void dft_key_hash(const struct dft_hash_key *key, const void *text, size_t length, uint8_t *digest, size_t bytes)
{
    crypto_generichash(digest, bytes, text, length, key->bytes, sizeof key->bytes);
}

void dft_key_forget(struct dft_hash_key *key)
{
    sodium_memzero(key, sizeof *key);
}

static void derive(const void *bytes, size_t length, struct dft_hash_key *key)
{
    crypto_generichash(key->bytes, sizeof key->bytes, bytes, length, NULL, 0);
}

static void make_random(uint8_t *bytes, size_t length)
{
    randombytes_buf(bytes, length);
}

#else

int dft_key_can_hash(void)
{
    fputs("dftmerge: anonymize: this dftmerge was built without libsodium; install it (libsodium-dev) and build "
          "again\n",
          stderr);
    return 0;
}

void dft_key_hash(const struct dft_hash_key *key, const void *text, size_t length, uint8_t *digest, size_t bytes)
{
    (void)key;
    (void)text;
    (void)length;
    memset(digest, 0, bytes);
}

void dft_key_forget(struct dft_hash_key *key)
{
    memset(key, 0, sizeof *key);
}

static void derive(const void *bytes, size_t length, struct dft_hash_key *key)
{
    (void)bytes;
    (void)length;
    dft_key_forget(key);
}

static void make_random(uint8_t *bytes, size_t length)
{
    memset(bytes, 0, length);
}

#endif

static int read_whole(const char *path, char bytes[KEY_FILE_MOST], size_t *length)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
    struct stat st;

    if (fd < 0)
        return -errno;
    *length = 0;
    for (ssize_t n = 1; n && !error;) {
        n = read(fd, bytes + *length, KEY_FILE_MOST - *length);
        if (n < 0 && errno != EINTR)
            error = -errno;
        *length += n > 0 ? (size_t)n : 0;
    }
    if (!error && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & (S_IRGRP | S_IROTH))
        fprintf(stderr, "dftmerge: %s: others may read this key, and what is hashed with it: chmod 600 %s\n", path,
                path);
    close(fd);
    return error;
}

int dft_key_read(const char *path, struct dft_hash_key *key)
{
    static char bytes[KEY_FILE_MOST];
    size_t length = 0;
    int error = read_whole(path, bytes, &length);

    if (error) {
        fprintf(stderr, "dftmerge: %s: %s; `dftmerge anonymize --new-key FILE` makes a key\n", path, strerror(-error));
    } else if (length < DFT_KEY_FILE_LEAST) {
        fprintf(stderr, "dftmerge: %s: a key has at least %u bytes; `dftmerge anonymize --new-key FILE` makes one\n",
                path, DFT_KEY_FILE_LEAST);
        error = -EINVAL;
    } else {
        derive(bytes, length, key);
    }
    explicit_bzero(bytes, sizeof bytes);
    return error;
}

int dft_key_make(const char *path)
{
    uint8_t random[32];
    char line[2 * sizeof random + 2];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error = fd < 0 ? -errno : 0;

    if (!error) {
        make_random(random, sizeof random);
        for (size_t i = 0; i < sizeof random; i++)
            sprintf(line + 2 * i, "%02x", random[i]);
        line[sizeof line - 2] = '\n';
        error = write(fd, line, sizeof line - 1) == (ssize_t)sizeof line - 1 && !fsync(fd) ? 0 : errno ? -errno : -EIO;
        close(fd);
        if (error)
            unlink(path);
        explicit_bzero(random, sizeof random);
        explicit_bzero(line, sizeof line);
    }
    if (error == -EEXIST)
        fprintf(stderr, "dftmerge: %s is there already, and is not replaced: name a new file\n", path);
    else if (error)
        fprintf(stderr, "dftmerge: %s: %s; no key was made\n", path, strerror(-error));
    return error;
}
