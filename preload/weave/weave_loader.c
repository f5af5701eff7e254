/* What stands in for dlopen, dlsym and dlvsym while weaving is on: libraries that are loaded later are woven too, and addresses that
 * are looked up are those of closures.
 *
 * The loader looks at the return address to see which library asks. So the real function is called with one in the caller
 * (weave_loader.S): at the nearest instruction there that returns, and returns to us. */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

#include "weave/weave_inside.h"

#define PAGE ((uintptr_t)4096)

void *dft_weave_dlopen(const char *path, int flags);
void *dft_weave_dlsym(void *handle, const char *name);
void *dft_weave_dlvsym(void *handle, const char *name, const char *version);

/* Of weave_loader.S. */
void *(*dft_weave_real_dlopen)(const char *path, int flags) __attribute__((visibility("hidden"))) = dlopen;
void *(*dft_weave_real_dlsym)(void *handle, const char *name) __attribute__((visibility("hidden"))) = dlsym;
void *(*dft_weave_real_dlvsym)(void *handle, const char *name, const char *version)
    __attribute__((visibility("hidden"))) = dlvsym;

const struct dft_weave_loader dft_weave_loader[DFT_WEAVE_LOADER] = {
    {"dlopen", (void *)dft_weave_dlopen}, {"dlsym", (void *)dft_weave_dlsym}, {"dlvsym", (void *)dft_weave_dlvsym}};

/* --- called by weave_loader.S ------------------------------------------------------------------------------------- */

/* Where the caller has an instruction that returns, in the page that it is executing; NULL: nowhere. `frame`: what that takes from the
 * stack first. */
struct way_back {
    const void *at;
    uintptr_t frame;
};
struct way_back dft_weave_way_back(const uint8_t *caller) __attribute__((visibility("hidden")));
void *dft_weave_opened(void *handle) __attribute__((visibility("hidden")));
void *dft_weave_looked_up(void *address) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
struct way_back dft_weave_way_back(const uint8_t *caller)
{
    const uint8_t *page = (const uint8_t *)((uintptr_t)caller & ~(PAGE - 1));

    for (const uint8_t *at = caller; at < page + PAGE; at++)
        if (*at == 0xc3)
            return (struct way_back){at, 0};
    for (const uint8_t *at = caller; at-- > page;)
        if (*at == 0xc3)
            return (struct way_back){at, 0};
    return (struct way_back){NULL, 0};
}
#elif defined(__aarch64__)
/* ldp x29, x30, [sp], #frame; ret */
static int returns(const uint32_t *at)
{
    return (at[0] & 0xffe07fff) == 0xa8c07bfd && (at[0] >> 15 & 0x3f) >= 2 && at[1] == 0xd65f03c0;
}

struct way_back dft_weave_way_back(const uint8_t *caller)
{
    const uint32_t *page = (const uint32_t *)((uintptr_t)caller & ~(PAGE - 1));

    for (const uint32_t *at = page; at + 1 < page + PAGE / 4; at++)
        if (returns(at))
            return (struct way_back){at, (*at >> 15 & 0x3f) * 8};
    return (struct way_back){NULL, 0};
}
#endif

void *dft_weave_opened(void *handle)
{
    int error = errno;

    if (handle)
        dft_weave_scan(handle);
    errno = error;
    return handle;
}

void *dft_weave_looked_up(void *address)
{
    return dft_weave_replacement(address);
}
