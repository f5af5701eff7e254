/* SPDX-License-Identifier: MIT */
/* 200 threads, one after another, each of which writes 5 times. Prints by how many pages the last 180 made
 * the process larger. With LATE the library of threads is loaded by dlopen, after the first writes. With KEYS
 * the program then makes 40 keys, and one after all threads. */
#include "old.h"

#include <dlfcn.h>
#include <pthread.h>

#ifdef LATE
static int (*create)(pthread_t *thread, const void *attributes, void *(*function)(void *argument), void *argument);
static int (*join)(pthread_t thread, void **result);
static int (*make_key)(pthread_key_t *key, void (*end)(void *value));
#else
#define create pthread_create
#define join   pthread_join
#endif

static void *work(void *argument)
{
    int fd = open("written", O_WRONLY | O_CREAT | O_APPEND, 0600);

    for (int i = 0; i < 5; i++)
        if (write(fd, "x", 1) != 1)
            return NULL;
    close(fd);
    return argument;
}

int main(void)
{
    long before = 0;
#ifdef KEYS
    pthread_key_t key;
#endif

    work(NULL);
#ifdef LATE
    void *library = dlopen("libpthread.so.0", RTLD_NOW);

    *(void **)&create = dlsym(library, "pthread_create");
    *(void **)&join = dlsym(library, "pthread_join");
    *(void **)&make_key = dlsym(library, "pthread_key_create");
#endif
#ifdef KEYS
    for (int i = 0; i < 40; i++)
        if (make_key(&key, NULL))
            return 4;
#endif
    for (int i = 0; i < 200; i++) {
        pthread_t thread;

        if (i == 20)
            before = mapped_pages();
        if (create(&thread, NULL, work, NULL) || join(thread, NULL))
            return 3;
    }
#ifdef KEYS
    if (make_key(&key, NULL) || key > 45)
        return 5;
#endif
    printf("%ld\n", mapped_pages() - before);
    return 0;
}
