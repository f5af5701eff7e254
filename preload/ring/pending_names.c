/* SPDX-License-Identifier: MIT */
/* Owns the names whose block could not be written. */
#include "ring/pending_names.h"

#include <string.h>

#include "tables/fdtable.h"
#include "ring/ring.h"

#define NAMES_MAX  2048u
#define TEXT_BYTES (256u << 10)
#define SEARCHED   4096u /* twice NAMES_MAX, a power of two */

static struct {
    struct dft_name names[NAMES_MAX];
    uint16_t at[SEARCHED]; /* by id: index + 1 */
    char text[TEXT_BYTES];
} * kept; /* mapped at the first use */

static uint32_t count, used; /* count: atomic */
static int overflowed;
static struct dft_spin lock; /* guards all of the above */

/* The entry of the id, or the free entry where the id belongs. */
static uint16_t *find(uint64_t id)
{
    uint32_t i = (uint32_t)(id >> 32) & (SEARCHED - 1);

    while (kept->at[i] && kept->names[kept->at[i] - 1].id != id)
        i = (i + 1) & (SEARCHED - 1);
    return &kept->at[i];
}

static int keep(const struct dft_name *name)
{
    uint16_t *at = find(name->id);

    if (*at)
        return 0;
    if (count == NAMES_MAX || name->text.length > TEXT_BYTES - used)
        return -1;
    memcpy(kept->text + used, name->text.bytes, name->text.length);
    kept->names[count] = *name;
    kept->names[count].text.bytes = kept->text + used;
    used += name->text.length;
    *at = (uint16_t)(count + 1);
    __atomic_store_n(&count, count + 1, __ATOMIC_RELAXED);
    return 0;
}

/* Makes every thread send its names again when it uses them again. Threads may be using their
 * caches right now. A name that is sent twice does no harm. A thread's store may overwrite ours:
 * the name is then sent at its next loss. */
static void forget_sent(void)
{
    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
        for (uint32_t i = 0; i < DFT_SENT_NAMES; i++)
            __atomic_store_n(&thread->sent[i], 0, __ATOMIC_RELAXED);
    dft_fdtable_unname();
}

void dft_pending_names_keep(const struct dft_name *names, uint32_t n)
{
    dft_spin_lock(&lock);
    if (!kept)
        kept = dft_sys_map(sizeof *kept);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || keep(&names[i]))
            overflowed = 1;
    dft_spin_unlock(&lock);
}

int dft_pending_names_are_there(void)
{
    return __atomic_load_n(&count, __ATOMIC_RELAXED) || __atomic_load_n(&overflowed, __ATOMIC_RELAXED);
}

void dft_pending_names_emit(int (*put)(void *context, const struct dft_name *names, uint32_t count), void *context)
{
    if (!dft_pending_names_are_there())
        return;
    dft_spin_lock(&lock);
    if (!count || !put(context, kept->names, count)) {
        if (count)
            memset(kept->at, 0, sizeof kept->at);
        if (overflowed)
            forget_sent();
        overflowed = 0;
        used = 0;
        __atomic_store_n(&count, 0, __ATOMIC_RELAXED);
    }
    dft_spin_unlock(&lock);
}

void dft_pending_names_leave(struct dft_thread *self)
{
    dft_spin_lock(&lock);
    for (uint32_t i = count; i > 0 && !dft_name_leave(self, &kept->names[i - 1]); i--)
        ;
    dft_spin_unlock(&lock);
}

void dft_pending_names_forked(void)
{
    if (kept)
        memset(kept->at, 0, sizeof kept->at);
    count = used = 0;
    overflowed = 0;
    lock.held = 0;
}
