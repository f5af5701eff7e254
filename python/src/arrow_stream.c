/* SPDX-License-Identifier: MIT */
/* A stream of tables for readers in other languages: each table comes from a Python iterator when
 * it is requested. */
#include "arrow_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct source {
    PyObject *tables;     /* an iterator of Table */
    struct table *schema; /* an empty table */
    char error[512];
};

/* The text of the exception that is set; clears it. */
static void keep_error(struct source *source)
{
    PyObject *type, *value, *trace, *text, *bytes = NULL;

    PyErr_Fetch(&type, &value, &trace);
    text = value ? PyObject_Str(value) : NULL;
    if (text)
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    strncpy(source->error, bytes ? PyBytes_AsString(bytes) : "a Python exception without a text",
            sizeof(source->error) - 1);
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct source *source = stream->private_data;

    return arrow_export_schema(source->schema, out);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct source *source = stream->private_data;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *next = PyIter_Next(source->tables);
    struct table *table = next ? arrow_table_of(next) : NULL;
    int rc = 0;

    memset(out, 0, sizeof(*out));
    if (table) {
        rc = arrow_export_table(table, out);
        if (rc)
            strcpy(source->error, "out of memory");
        arrow_table_taken(next);
    } else if (PyErr_Occurred()) {
        keep_error(source);
        rc = EIO;
    }
    Py_XDECREF(next);
    PyGILState_Release(state);
    return rc;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    struct source *source = stream->private_data;

    return source->error[0] ? source->error : NULL;
}

static void release(struct ArrowArrayStream *stream)
{
    struct source *source = stream->private_data;

    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();

        Py_CLEAR(source->tables);
        PyGILState_Release(state);
    }
    arrow_table_free(source->schema);
    free(source);
    stream->release = NULL;
}

static void free_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

PyObject *arrow_stream_new(const struct table *schema, PyObject *tables)
{
    struct ArrowArrayStream *stream = calloc(1, sizeof(*stream));
    struct source *source = calloc(1, sizeof(*source));
    PyObject *capsule = NULL;

    if (stream && source)
        source->schema = arrow_table_like(schema);
    if (source && source->schema) {
        source->tables = PyObject_GetIter(tables);
        stream->private_data = source;
        stream->get_schema = get_schema;
        stream->get_next = get_next;
        stream->get_last_error = get_last_error;
        stream->release = release;
        if (source->tables)
            capsule = PyCapsule_New(stream, "arrow_array_stream", free_stream);
    } else {
        PyErr_NoMemory();
    }
    if (!capsule) {
        if (source) {
            Py_XDECREF(source->tables);
            arrow_table_free(source->schema);
        }
        free(source);
        free(stream);
    }
    return capsule;
}

static void free_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");

    if (schema && schema->release)
        schema->release(schema);
    free(schema);
}

PyObject *arrow_schema_new(const struct table *table)
{
    struct ArrowSchema *schema = calloc(1, sizeof(*schema));
    PyObject *capsule;

    if (!schema || arrow_export_schema(table, schema)) {
        free(schema);
        return PyErr_NoMemory();
    }
    capsule = PyCapsule_New(schema, "arrow_schema", free_schema);
    if (!capsule) {
        schema->release(schema);
        free(schema);
    }
    return capsule;
}
