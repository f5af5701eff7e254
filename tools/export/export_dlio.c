/* SPDX-License-Identifier: MIT */
/* `--format dlio`: a workload for DLIO benchmark; see export_dlio.h. */
#include "export/export_dlio.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_dlio_facts.h"
#include "export/export_model_finish.h"
#include "mpi/comm.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

#define NO_REGIONS "no region says what an epoch or a step is"
#define NAME_BYTES 40u

struct dlio {
    struct dft_model model;
    struct dft_dlio_facts facts;
    FILE *out;
};

/* What DLIO calls the forms of files. */
static const struct {
    const char *ending, *format;
} formats[] = {{"npz", "npz"},           {"npy", "npy"},   {"h5", "hdf5"},           {"hdf5", "hdf5"},
               {"hdf", "hdf5"},          {"csv", "csv"},   {"tfrecord", "tfrecord"}, {"tfrecords", "tfrecord"},
               {"jpg", "jpeg"},          {"jpeg", "jpeg"}, {"png", "png"},           {"bin", "indexed_binary"},
               {"dat", "indexed_binary"}};

static const char *format_of(struct dft_text ending)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strlen(formats[i].ending) == ending.length && !strncasecmp(formats[i].ending, ending.bytes, ending.length))
            return formats[i].format;
    return NULL;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void section(struct dlio *dlio, const char *name)
{
    fprintf(dlio->out, "\n%s:\n", name);
}

static void comment(struct dlio *dlio, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void comment(struct dlio *dlio, const char *format, ...)
{
    va_list list;

    fputs("  # ", dlio->out);
    va_start(list, format);
    vfprintf(dlio->out, format, list);
    va_end(list);
    fputc('\n', dlio->out);
}

static void number(struct dlio *dlio, const char *key, uint64_t value)
{
    fprintf(dlio->out, "  %s: %" PRIu64 "\n", key, value);
}

static void word(struct dlio *dlio, const char *key, const char *value)
{
    fprintf(dlio->out, "  %s: %s\n", key, value);
}

static void seconds(struct dlio *dlio, const char *key, uint64_t ns)
{
    fprintf(dlio->out, "  %s: %" PRIu64 ".%09" PRIu64 "\n", key, ns / 1000000000, ns % 1000000000);
}

/* The key stays DLIO's own default, or is for the user to set. */
static void missing(struct dlio *dlio, const char *key, const char *why)
{
    fprintf(dlio->out, "  # %s: not recorded: %s\n", key, why);
    dft_source_note(dlio->model.export->source, 0, "not recorded: %s: %s", key, why);
}

/* A text of the trace as a word that YAML takes for nothing else: letters, digits, _ and -. */
static void put_name(struct dlio *dlio, const char *key, struct dft_text text)
{
    fprintf(dlio->out, "  %s: ", key);
    if (!text.length || !isalpha((unsigned char)text.bytes[0]))
        fputs("t_", dlio->out);
    for (uint32_t i = 0; i < text.length && i < NAME_BYTES; i++)
        fputc(isalnum((unsigned char)text.bytes[i]) || text.bytes[i] == '-' ? text.bytes[i] : '_', dlio->out);
    fputc('\n', dlio->out);
}

/* --- sections --------------------------------------------------------------------------------- */

static uint64_t samples_a_file(const struct dft_dlio_facts *facts)
{
    uint64_t whole = facts->files * (facts->epochs ? facts->epochs : 1);
    uint64_t samples = (facts->samples + whole / 2) / whole;

    return samples ? samples : 1;
}

static int is_tensorflow(const struct dft_dlio_facts *facts)
{
    const char *format = format_of(facts->ending);

    return !facts->is_torch && format && !strcmp(format, "tfrecord");
}

static void put_model(struct dlio *dlio)
{
    const struct dft_dlio_facts *facts = &dlio->facts;

    section(dlio, "model");
    put_name(dlio, "name", facts->trainer.length ? facts->trainer : (struct dft_text){"trace", 5});
    if (facts->checkpoints && facts->checkpoint_bytes) {
        comment(dlio, "bytes that one checkpoint writes");
        number(dlio, "model_size", facts->checkpoint_bytes);
    }
    fputc('\n', dlio->out);
    if (facts->is_torch || is_tensorflow(facts))
        fprintf(dlio->out, "framework: %s\n", facts->is_torch ? "pytorch" : "tensorflow");
    else
        missing(dlio, "framework", "nothing tells PyTorch from TensorFlow");
    section(dlio, "workflow");
    word(dlio, "generate_data", "True");
    word(dlio, "train", "True");
    if (!facts->checkpoints)
        comment(dlio, "no region is called a checkpoint; %" PRIu64 " bytes were written in all", dlio->model.written);
    word(dlio, "checkpoint", facts->checkpoints ? "True" : "False");
}

static void put_samples(struct dlio *dlio)
{
    const struct dft_dlio_facts *facts = &dlio->facts;
    uint64_t mean = (facts->file_bytes + facts->files / 2) / facts->files, each = samples_a_file(facts);

    if (facts->samples) {
        comment(dlio, "%" PRIu64 " items were loaded from %" PRIu64 " files, in all epochs", facts->samples,
                facts->files);
        number(dlio, "num_samples_per_file", each);
    } else {
        missing(dlio, "num_samples_per_file",
                "no region loads an item (getitem, load_item); one a file is assumed below");
    }
    comment(dlio, "files have %" PRIu64 " to %" PRIu64 " bytes, as far as they were read; %" PRIu64 " in all",
            facts->file_min, facts->file_max, facts->file_bytes);
    number(dlio, "record_length_bytes", mean / each ? mean / each : 1);
    number(dlio, "record_length_bytes_stdev", facts->file_stdev / each);
}

static void put_dataset(struct dlio *dlio)
{
    const struct dft_dlio_facts *facts = &dlio->facts;
    const char *format = format_of(facts->ending);

    section(dlio, "dataset");
    fputs("  # the files were in ", dlio->out);
    dft_model_comment(dlio->out, facts->folder);
    fputs("; DLIO makes its own\n", dlio->out);
    word(dlio, "data_folder", "data/trace");
    if (facts->ending.length) {
        fputs("  # the files end in .", dlio->out);
        dft_model_comment(dlio->out, facts->ending);
        fputc('\n', dlio->out);
    }
    if (!format)
        comment(dlio, "no format of DLIO is for files that end so: indexed_binary reads bytes");
    word(dlio, "format", format ? format : "indexed_binary");
    comment(dlio, "different files that were read");
    number(dlio, "num_files_train", facts->files);
    put_samples(dlio);
    if (facts->prefix.length)
        put_name(dlio, "file_prefix", facts->prefix);
}

static void put_batch(struct dlio *dlio)
{
    const struct dft_dlio_facts *facts = &dlio->facts;

    if (!facts->steps || !facts->samples) {
        missing(dlio, "batch_size", facts->steps ? "no region loads an item (getitem, load_item)" : NO_REGIONS);
        return;
    }
    comment(dlio, "%" PRIu64 " items in %" PRIu64 " steps", facts->samples, facts->steps);
    number(dlio, "batch_size", (facts->samples + facts->steps - 1) / facts->steps);
}

static void put_reader(struct dlio *dlio)
{
    const struct dft_dlio_facts *facts = &dlio->facts;

    section(dlio, "reader");
    if (facts->is_torch || is_tensorflow(facts))
        word(dlio, "data_loader", facts->is_torch ? "pytorch" : "tensorflow");
    else
        missing(dlio, "data_loader", "nothing tells PyTorch from TensorFlow");
    put_batch(dlio);
    if (facts->workers) {
        comment(dlio, facts->has_workers ? "workers of a DataLoader, by their roles"
                                         : "processes that read, for each that trains");
        number(dlio, "read_threads", facts->workers);
    } else if (facts->has_regions) {
        comment(dlio, "who trains reads, too; threads that read: %" PRIu64 ", their processes: %" PRIu64,
                facts->threads, facts->loaders);
        number(dlio, "read_threads", facts->threads > facts->loaders ? facts->threads / facts->loaders : 0);
    } else {
        comment(dlio, "threads that read; their processes: %" PRIu64, facts->loaders);
        number(dlio, "read_threads", facts->threads);
    }
    missing(dlio, "computation_threads", "a trace does not say what computes an item");
    missing(dlio, "file_shuffle", "the order of files and items is not looked at");
    missing(dlio, "sample_shuffle", "the order of files and items is not looked at");
    comment(dlio, "the size of the reads that moved most bytes");
    number(dlio, "transfer_size", facts->transfer);
}

static void put_computing(struct dlio *dlio)
{
    const struct dft_dlio_facts *facts = &dlio->facts;

    if (facts->steps && facts->compute_ns) {
        comment(dlio, "seconds that regions compute, for each of %" PRIu64 " steps", facts->steps);
        seconds(dlio, "computation_time", facts->compute_ns / facts->steps);
    } else if (facts->steps && facts->step_ns > facts->data_ns) {
        comment(dlio, "seconds of a step less those of waiting for data: no region computes");
        seconds(dlio, "computation_time", (facts->step_ns - facts->data_ns) / facts->steps);
    } else {
        missing(dlio, "computation_time", "no region computes, or none is a step");
    }
}

static void put_train(struct dlio *dlio)
{
    const struct dft_dlio_facts *facts = &dlio->facts;

    /* a section without a key would be none */
    fputs(facts->epochs || facts->passes > 1 || facts->steps ? "\ntrain:\n" : "\n# train:\n", dlio->out);
    if (facts->epochs) {
        number(dlio, "epochs", facts->epochs);
    } else if (facts->passes > 1) {
        comment(dlio, "no region is an epoch; the bytes read are those of the files, so many times");
        number(dlio, "epochs", facts->passes);
    } else {
        missing(dlio, "epochs", NO_REGIONS);
    }
    put_computing(dlio);
    if (facts->steps && facts->trainers) {
        comment(dlio, "steps of a process in all epochs; processes that train: %" PRIu64, facts->trainers);
        number(dlio, "total_training_steps", facts->steps / facts->trainers);
    } else {
        missing(dlio, "total_training_steps", NO_REGIONS);
    }
    if (!facts->checkpoints)
        return;
    section(dlio, "checkpoint");
    word(dlio, "checkpoint_folder", "checkpoints/trace");
    comment(dlio, "checkpoints of a process: %" PRIu64 ", epochs: %" PRIu64, facts->checkpoints, facts->epochs);
    number(dlio, "checkpoint_after_epoch", 1);
    number(dlio, "epochs_between_checkpoints",
           facts->epochs > facts->checkpoints ? facts->epochs / facts->checkpoints : 1);
}

static void put_lacks(struct dlio *dlio)
{
    struct dft_model *model = &dlio->model;

    fputs("\n# Not taken over:\n", dlio->out);
    dft_model_lacks(model);
    dft_model_lack_flags(model, 0);
    if (dlio->facts.other_files)
        dft_model_lack(model, "files with other endings, which were read, too: %" PRIu64, dlio->facts.other_files);
    if (dlio->facts.passes > dlio->facts.epochs && dlio->facts.epochs)
        dft_model_lack(model, "reads beyond one of each byte an epoch: %" PRIu64 " bytes of %" PRIu64,
                       dlio->facts.read_bytes - dlio->facts.file_bytes * dlio->facts.epochs, dlio->facts.read_bytes);
    if (model->written && !dlio->facts.checkpoints)
        dft_model_lack(model, "bytes that were written: %" PRIu64, model->written);
    dft_model_lack(model, "evaluation, names of files and their content, and the times at which workers read");
}

static void put_all(struct dlio *dlio)
{
    const struct dft_dlio_facts *facts = &dlio->facts;

    fprintf(dlio->out,
            "# A workload for DLIO benchmark, made of a trace by dftmerge " DFT_VERSION
            ". Put it among DLIO's workloads as trace.yaml:\n"
            "#   mpirun -n %" PRIu64 " dlio_benchmark workload=trace\n"
            "# Recorded: %" PRIu64 " reads of %" PRIu64 " bytes from %" PRIu64 " files; processes that read: %" PRIu64
            "\n",
            facts->trainers ? facts->trainers : 1, facts->reads, facts->read_bytes, facts->files, facts->loaders);
    put_model(dlio);
    put_dataset(dlio);
    put_reader(dlio);
    put_train(dlio);
    put_lacks(dlio);
}

/* The texts of the files that are used. Collective. */
static int name_files(const struct dft_model *model)
{
    uint64_t *ids = malloc((model->nuses + 1) * sizeof *ids);
    int rc = dft_comm_agree(ids ? 0 : -ENOMEM);
    size_t count = 0;

    for (size_t i = 0; !rc && i < model->nuses; i++)
        if (!count || ids[count - 1] != model->uses[i].file)
            ids[count++] = model->uses[i].file;
    if (!rc)
        rc = dft_source_names(model->export->source, ids, count);
    free(ids);
    return rc;
}

static int write_dlio(struct dft_export *export)
{
    struct dlio dlio = {.out = export->out};
    int rc = dft_model_collect(&dlio.model, export);

    if (!rc)
        rc = name_files(&dlio.model);
    if (!rc && !dft_comm_rank()) {
        rc = dft_dlio_facts_find(&dlio.facts, &dlio.model);
        if (rc == -ENODATA)
            rc = dft_model_say_nothing("dlio", "read of a file");
        else if (!rc)
            put_all(&dlio);
    }
    dft_model_fini(&dlio.model);
    return rc;
}

const struct dft_exporter dft_export_dlio = {"dlio", "a workload for DLIO benchmark that does the like", "trace.yaml",
                                             .write = write_dlio, .takes_rows = 1};
