/* SPDX-License-Identifier: MIT */
/* What regions are for: the patterns of each kind. */
#include "job/region_kinds.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define TEXT_MAX 256u /* of a category or a name: what is longer fits no pattern */

/* DFTracer's AI categories and DLIO's names; kernels of GPUs; and what people call such regions. */
const struct dft_region_patterns dft_region_usual = {{
    [DFT_REGION_COMPUTE] =
        "compute:*,ai_framework:*,compute,forward,backward,cupti:*,!cupti:memcpy *,!cupti:memset,!cupti:sync *",
    [DFT_REGION_DATA] = "*wait*data*,*wait*batch*,next_batch,*fetch*,*.iter,dataloader:*,!compute:*",
    [DFT_REGION_ITEM] = "*getitem*,get_item,load_item,read_index,read_sample,data:item",
    [DFT_REGION_EPOCH] = "epoch,epoch[. _0-9]*",
    [DFT_REGION_STEP] = "step,step[. _0-9]*,train_step,training_step,*.block,!compute:*",
}};

static char *copy(const char *bytes, size_t length)
{
    return strndup(bytes, length);
}

static int add(struct dft_region_kinds *kinds, uint8_t kind, const char *word, size_t length)
{
    struct dft_region_pattern pattern = {.kind = kind, .takes_away = *word == '!'};
    const char *colon;

    word += pattern.takes_away;
    length -= pattern.takes_away;
    colon = memchr(word, ':', length);
    if (colon)
        pattern.category = copy(word, (size_t)(colon - word));
    pattern.name = colon ? copy(colon + 1, length - (size_t)(colon + 1 - word)) : copy(word, length);
    if (pattern.name && (!colon || pattern.category) &&
        !DFT_ARRAY_PUSH(kinds->list, kinds->capacity, kinds->count, pattern))
        return 0;
    free(pattern.category);
    free(pattern.name);
    return -ENOMEM;
}

int dft_region_kinds_init(struct dft_region_kinds *kinds, const struct dft_region_patterns *patterns)
{
    int rc = 0;

    *kinds = (struct dft_region_kinds){0};
    for (uint8_t kind = 0; !rc && kind < DFT_REGION_KINDS; kind++)
        for (const char *word = patterns->lists[kind]; !rc && word && *word;) {
            size_t length;

            word += strspn(word, " ");
            length = strcspn(word, ",");
            if (length)
                rc = add(kinds, kind, word, length);
            word += length + (word[length] == ',');
        }
    return rc;
}

void dft_region_kinds_fini(struct dft_region_kinds *kinds)
{
    for (size_t i = 0; i < kinds->count; i++) {
        free(kinds->list[i].category);
        free(kinds->list[i].name);
    }
    free(kinds->list);
}

unsigned dft_region_kinds_of(const struct dft_region_kinds *kinds, struct dft_text category, struct dft_text name)
{
    char texts[2][TEXT_MAX];
    unsigned found = 0;

    if (category.length >= TEXT_MAX || name.length >= TEXT_MAX)
        return 0;
    memcpy(texts[0], category.length ? category.bytes : "", category.length);
    memcpy(texts[1], name.length ? name.bytes : "", name.length);
    texts[0][category.length] = texts[1][name.length] = '\0';
    for (size_t i = 0; i < kinds->count; i++) {
        const struct dft_region_pattern *pattern = &kinds->list[i];

        if ((pattern->category && fnmatch(pattern->category, texts[0], FNM_CASEFOLD)) ||
            fnmatch(pattern->name, texts[1], FNM_CASEFOLD))
            continue;
        found = pattern->takes_away ? found & ~(1u << pattern->kind) : found | 1u << pattern->kind;
    }
    return found;
}

unsigned dft_region_kinds_of_call(const struct dft_region_kinds *kinds, const struct dft_names *names, uint64_t call)
{
    struct dft_text category, name;
    char text[18];

    dft_names_call(names, call, &category, &name, text);
    return dft_region_kinds_of(kinds, category, name);
}
