/* SPDX-License-Identifier: MIT */
/* What the parts of dftrace._arrow share that know Python. */
#ifndef DFTRACE_ARROW_MODULE_H
#define DFTRACE_ARROW_MODULE_H

#include <Python.h>

#include "arrow.h"

/* The table of a Table object; NULL with an exception set if it is none, or was handed on already. */
struct table *arrow_table_of(PyObject *object);
/* Its memory was handed on. */
void arrow_table_taken(PyObject *object);

/* Capsules of the Arrow PyCapsule interface. */
PyObject *arrow_stream_new(const struct table *schema, PyObject *tables);
PyObject *arrow_schema_new(const struct table *table);

#endif
