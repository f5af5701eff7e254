/* SPDX-License-Identifier: MIT */
/* The most common ordering as JSON. */
#include "spans/distribution.h"
#include "spans/orderings.h"

void dft_spans_steps_json(struct dft_json *json, const struct dft_spans_model *model,
                          const struct dft_spans_orderings *orderings, size_t top)
{
    const struct dft_spans_ordering *most = orderings->count ? orderings->ordered[0] : NULL;

    dft_json_array(json, "most_common");
    for (size_t i = 0; most && i < most->length && i < top; i++) {
        const struct dft_spans_step *step = &orderings->steps[i];

        dft_json_object(json, NULL);
        dft_json_string(json, "event", model->kinds[orderings->kinds[most->kinds + i]].name);
        dft_json_int(json, "since_first_mean_ns", dft_spans_mean(step->since_first_ns, most->roots));
        dft_json_int(json, "since_before_mean_ns", dft_spans_mean(step->since_before_ns, most->roots));
        dft_json_uint(json, "since_before_min_ns", step->least_ns);
        dft_json_uint(json, "since_before_max_ns", step->most_ns);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}
