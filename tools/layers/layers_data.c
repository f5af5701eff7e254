/* SPDX-License-Identifier: MIT */
/* Layers for programs: JSON and CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/facet_words.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "layers/layers_output.h"
#include "object/source_notes.h"

void dft_layer_values(const struct dft_layers *layers, const struct dft_source *source,
                      const struct dft_layer_group *group, struct dft_layer_value values[DFT_LAYER_VALUES])
{
    const struct dft_layer_times *times = &group->times;
    const struct dft_metrics *m = &group->metrics;
    const struct dft_overlap_process *slowest = &layers->overlap.processes[times->slowest];
    uint8_t exposed = !layers->preset->layers[group->layer].computes, some = m->samples != 0, data = m->data != 0;
    uint8_t active = times->active_ns != 0, runs = times->slowest_ns != 0;
    uint32_t count, n = 0;
    const struct dft_source_process *processes = dft_source_processes(source, &count);

#define VALUE(known, name, number) (values[n++] = (struct dft_layer_value){name, number, 0, known, 0})
#define REAL(known, name, real)    (values[n++] = (struct dft_layer_value){name, 0, real, known, 1})
    VALUE(1, "ops", m->count);
    VALUE(1, "errors", m->errors);
    VALUE(1, "time_ns", m->dur_sum);
    VALUE(some, "mean_ns", some ? m->dur_sum / m->samples : 0);
    VALUE(some, "p50_ns", group->p50);
    VALUE(some, "p95_ns", group->p95);
    VALUE(some, "p99_ns", group->p99);
    VALUE(1, "active_ns", times->active_ns);
    VALUE(exposed, "unoverlapped_ns", times->unoverlapped_ns);
    VALUE(exposed, "own_ns", times->own_ns);
    VALUE(1, "process_active_ns", times->process_active_ns);
    VALUE(exposed, "process_unoverlapped_ns", times->process_unoverlapped_ns);
    VALUE(1, "slowest_ns", times->slowest_ns);
    VALUE(runs, "slowest_wall_ns", runs ? slowest->times.wall_ns : 0);
    VALUE(runs, "slowest_pid", runs ? processes[slowest->process].process.pid : 0);
    REAL(active, "ops_per_s", dft_layer_rate(m->count, times->active_ns));
    VALUE(1, "bytes", m->bytes);
    REAL(active && data, "bytes_per_s", dft_layer_rate(m->bytes, times->active_ns));
    VALUE(1, "data_ops", m->data);
    VALUE(data, "size_mean", data ? m->bytes / m->data : 0);
    VALUE(1, "sequential", m->sequential);
    VALUE(1, "consecutive", m->consecutive);
#undef VALUE
#undef REAL
}

const struct dft_source_process *dft_layer_process(const struct dft_layers *layers, const struct dft_source *source,
                                                   const struct dft_layer_group *group)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);

    return &processes[group->view == DFT_LAYER_RANK ? layers->overlap.teams[group->key].trainer
                                                    : layers->overlap.processes[group->key].process];
}

const struct dft_layer_group *dft_layer_groups(const struct dft_layers *layers, enum dft_layer_view view,
                                               uint32_t *count)
{
    uint32_t first = 0;

    while (first < layers->ngroups && layers->groups[first].view < view)
        first++;
    for (*count = 0; first + *count < layers->ngroups && layers->groups[first + *count].view == view;)
        ++*count;
    return layers->groups ? &layers->groups[first] : NULL;
}

static uint32_t shown_of(const struct dft_layers_asked *asked, uint32_t count)
{
    return asked->top && asked->top < count ? (uint32_t)asked->top : count;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_layer(struct dft_json *json, const char *key, const struct dft_preset *preset, uint16_t layer)
{
    if (layer == DFT_LAYER_NONE)
        dft_json_null(json, key);
    else
        dft_json_text(json, key, preset->layers[layer].name, strlen(preset->layers[layer].name));
}

static void put_metrics(struct dft_json *json, const struct dft_layers_asked *asked,
                        const struct dft_layer_group *group)
{
    struct dft_layer_value values[DFT_LAYER_VALUES];

    dft_layer_values(asked->layers, asked->source, group, values);
    for (uint32_t i = 0; i < DFT_LAYER_VALUES; i++)
        if (values[i].is_real)
            dft_json_known_double(json, values[i].name, values[i].is_known, values[i].real);
        else
            dft_json_known_uint(json, values[i].name, values[i].is_known, values[i].number);
    dft_json_array(json, "sizes");
    for (uint8_t class = 1; class < DFT_SIZE_CLASSES; class ++) {
        if (!group->sizes[class])
            continue;
        dft_json_object(json, NULL);
        dft_json_uint(json, "from", dft_size_class_low(class));
        dft_json_uint(json, "ops", group->sizes[class]);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void put_key(struct dft_json *json, const struct dft_layers_asked *asked, const struct dft_layer_group *group)
{
    const struct dft_layers *layers = asked->layers;
    const struct dft_process *process;
    struct dft_text text;

    if (group->view == DFT_LAYER_TIME) {
        dft_json_uint(json, "t_ns", layers->base_ns + group->key * layers->width_ns);
    } else if (group->view >= DFT_LAYER_HOST) {
        text = dft_layer_group_text(layers, asked->source, group);
        dft_json_text(json, dft_layer_view_words[group->view], text.bytes ? text.bytes : "", text.length);
    } else if (group->view != DFT_LAYER_WHOLE) {
        process = &dft_layer_process(layers, asked->source, group)->process;
        dft_json_known_int(json, "rank", process->rank >= 0, process->rank);
        dft_json_uint(json, "pid", process->pid);
        dft_json_text(json, "host", process->host.length ? process->host.bytes : "", process->host.length);
    }
}

static void put_view(struct dft_json *json, const struct dft_layers_asked *asked, enum dft_layer_view view)
{
    const struct dft_layers *layers = asked->layers;
    uint32_t count, shown;
    const struct dft_layer_group *groups = dft_layer_groups(layers, view, &count);

    shown = shown_of(asked, count);
    dft_json_object(json, NULL);
    dft_json_string(json, "view", dft_layer_view_words[view]);
    dft_json_known_uint(json, "width_ns", view == DFT_LAYER_TIME, layers->width_ns);
    dft_json_uint(json, "found", count);
    dft_json_array(json, "groups");
    for (uint32_t i = 0; i < shown; i++) {
        dft_json_object(json, NULL);
        put_layer(json, "layer", layers->preset, groups[i].layer);
        put_key(json, asked, &groups[i]);
        put_metrics(json, asked, &groups[i]);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
    dft_json_end_object(json);
}

static void put_layers(struct dft_json *json, const struct dft_layers_asked *asked)
{
    const struct dft_preset *preset = asked->layers->preset;

    dft_json_array(json, "layers");
    for (uint16_t i = 0; i < preset->nlayers && i < asked->layers->ngroups; i++) {
        dft_json_object(json, NULL);
        put_layer(json, "layer", preset, i);
        put_layer(json, "parent", preset, preset->layers[i].parent);
        dft_json_bool(json, "is_compute", preset->layers[i].computes);
        put_metrics(json, asked, &asked->layers->groups[i]);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

void dft_layers_json(const struct dft_layers_asked *asked)
{
    const struct dft_layers *layers = asked->layers;
    const char *preset = layers->preset->name;
    struct dft_json json;
    size_t nnotes;
    char *const *notes = dft_source_notes(asked->source, &nnotes);

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_text(&json, "preset", preset, strlen(preset));
    dft_json_bool(&json, "is_chosen", asked->is_chosen);
    dft_json_bool(&json, "complete", dft_source_kept(asked->source) == DFT_KEPT_ALL);
    dft_json_bool(&json, "has_compute", layers->has_compute);
    put_layer(&json, "worst", layers->preset, layers->worst < 0 ? DFT_LAYER_NONE : (uint16_t)layers->worst);
    dft_json_uint(&json, "job_ns", layers->overlap.wall_ns);
    dft_json_uint(&json, "wall_ns", layers->wall_ns);
    dft_json_uint(&json, "ranks", dft_overlap_working(&layers->overlap));
    dft_json_uint(&json, "processes", layers->overlap.nprocesses);
    dft_json_uint(&json, "other_ops", layers->none_ops);
    dft_json_uint(&json, "other_ns", layers->none_ns);
    put_layers(&json, asked);
    dft_json_array(&json, "views");
    for (unsigned i = 0; i < asked->nviews; i++)
        put_view(&json, asked, asked->views[i]);
    dft_json_end_array(&json);
    dft_json_strings(&json, "notes", notes, nnotes);
    dft_json_end_object(&json);
    putchar('\n');
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void csv_layer(const struct dft_preset *preset, uint16_t layer)
{
    if (layer != DFT_LAYER_NONE)
        dft_csv_text(stdout, preset->layers[layer].name, strlen(preset->layers[layer].name));
    putchar(',');
}

/* One field: the quotes are around all of it. */
static void csv_process(const struct dft_process *process)
{
    char *text;
    int n = asprintf(&text, "%u@%.*s", process->pid, (int)process->host.length, process->host.bytes);

    if (n < 0)
        return;
    dft_csv_text(stdout, text, (size_t)n);
    free(text);
}

static void csv_key(const struct dft_layers_asked *asked, const struct dft_layer_group *group)
{
    const struct dft_layers *layers = asked->layers;
    struct dft_text text = {0};

    if (group->view == DFT_LAYER_TIME)
        printf("%" PRIu64, layers->base_ns + group->key * layers->width_ns);
    if (group->view == DFT_LAYER_RANK && layers->overlap.teams[group->key].rank >= 0) {
        printf("%lld", (long long)layers->overlap.teams[group->key].rank);
    } else if (group->view == DFT_LAYER_RANK || group->view == DFT_LAYER_PROCESS) {
        csv_process(&dft_layer_process(layers, asked->source, group)->process);
    } else if (group->view >= DFT_LAYER_HOST) {
        text = dft_layer_group_text(layers, asked->source, group);
    }
    if (text.length)
        dft_csv_text(stdout, text.bytes, text.length);
}

static void csv_line(const struct dft_layers_asked *asked, const struct dft_layer_group *group)
{
    const struct dft_preset *preset = asked->layers->preset;
    struct dft_layer_value values[DFT_LAYER_VALUES];

    dft_layer_values(asked->layers, asked->source, group, values);
    printf("%s,", dft_layer_view_words[group->view]);
    csv_layer(preset, group->layer);
    csv_layer(preset, preset->layers[group->layer].parent);
    csv_key(asked, group);
    for (uint32_t i = 0; i < DFT_LAYER_VALUES; i++) {
        putchar(',');
        if (values[i].is_known && values[i].is_real)
            printf("%.17g", values[i].real);
        else if (values[i].is_known)
            printf("%llu", (unsigned long long)values[i].number);
    }
    for (uint8_t class = 1; class < DFT_SIZE_CLASSES; class ++)
        printf(",%llu", (unsigned long long)group->sizes[class]);
    putchar('\n');
}

void dft_layers_csv(const struct dft_layers_asked *asked)
{
    struct dft_layer_value values[DFT_LAYER_VALUES];
    const struct dft_layers *layers = asked->layers;

    if (!layers->ngroups)
        return;
    dft_layer_values(layers, asked->source, layers->groups, values);
    printf("view,layer,parent,key");
    for (uint32_t i = 0; i < DFT_LAYER_VALUES; i++)
        printf(",%s", values[i].name);
    for (uint8_t class = 1; class < DFT_SIZE_CLASSES; class ++)
        printf(",ops_from_%llu", (unsigned long long)dft_size_class_low(class));
    putchar('\n');
    for (uint32_t i = 0; i < layers->preset->nlayers; i++)
        csv_line(asked, &layers->groups[i]);
    for (unsigned k = 0; k < asked->nviews; k++) {
        uint32_t count;
        const struct dft_layer_group *groups = dft_layer_groups(layers, asked->views[k], &count);

        for (uint32_t i = 0; i < shown_of(asked, count); i++)
            csv_line(asked, &groups[i]);
    }
}
