/* SPDX-License-Identifier: MIT */
/* Strongly connected components: spans that all lead to each other, along subspans and facets. */
#ifndef DFT_SPANS_COMPONENTS_H
#define DFT_SPANS_COMPONENTS_H

#include <stddef.h>
#include <stdint.h>

/* Edges by node: those of node i lead to to[first[i]] ... to[first[i + 1] - 1]. */
struct dft_spans_edges {
    size_t nodes;
    const uint64_t *first;
    const uint32_t *to;
};

/* Numbers the components from 1 on in component[node], of all nodes that the roots lead to. The
 * array is all 0 at first. Returns 0 or -ENOMEM. */
int dft_spans_components(const struct dft_spans_edges *edges, const uint32_t *roots, size_t nroots,
                         uint32_t *component);

#endif
