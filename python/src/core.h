/* SPDX-License-Identifier: MIT */
/* What the files of dftrace._core share. Built in CPython's limited API of 3.9; for a free-threaded
 * CPython, which has none, in the usual one. */
#ifndef DFTRACE_CORE_H
#define DFTRACE_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <dftrace/api.h>

/* --- what CPython 3.9 has and its limited API does not name ----------------------------------- */

typedef PyObject *(*core_vectorcall)(PyObject *, PyObject *const *, size_t, PyObject *);
typedef PyObject *(*core_fast_method)(PyObject *, PyObject *const *, Py_ssize_t);
typedef PyObject *(*core_fast_keywords)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

#ifdef Py_LIMITED_API
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *callable, PyObject *args, PyObject *kwargs);
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size);
#endif
#define CORE_OFFSET          ((size_t)1 << (8 * sizeof(size_t) - 1)) /* PY_VECTORCALL_ARGUMENTS_OFFSET */
#define CORE_HAVE_VECTORCALL (1UL << 11)
#define CORE_METHOD          (1UL << 17) /* Py_TPFLAGS_METHOD_DESCRIPTOR */
#define CORE_FAST            0x0080      /* METH_FASTCALL */
#define CORE_SLOT(function)  ((void *)(uintptr_t)(function))
#define CORE_CALL(function)  ((PyCFunction)(uintptr_t)(function))

/* Functions that only some versions export. NULL: not this one. */
extern struct core_cpython {
    core_vectorcall vectorcall, function_vectorcall;
    PyTypeObject *function_type;
    int (*context_get)(PyObject *var, PyObject *none, PyObject **value);
    PyObject *(*context_set)(PyObject *var, PyObject *value);
    int (*context_reset)(PyObject *var, PyObject *token);
} core_cpython;
void core_cpython_find(void);

/* What threads change at the same time, where no lock of the interpreter keeps them apart. */
#ifdef Py_GIL_DISABLED
#define CORE_LOCK(object) Py_BEGIN_CRITICAL_SECTION(object)
#define CORE_UNLOCK()     Py_END_CRITICAL_SECTION()
#else
#define CORE_LOCK(object) {
#define CORE_UNLOCK()     }
#endif

/* --- the library ------------------------------------------------------------------------------ */

/* Never NULL: without the library a table that is not enabled. Its functions that the library is
 * too old for do nothing. */
extern struct dftrace_api core_none;
extern const struct dftrace_api *core_table;

static inline const struct dftrace_api *core_api(void)
{
    return __atomic_load_n(&core_table, __ATOMIC_ACQUIRE);
}
#define CORE_HAS(api, function) ((api)->size > offsetof(struct dftrace_api, function))

/* Looks for the library that is loaded. Returns 1: it is there. */
int core_api_find(void);
/* Why there is none: a text for users, NULL: there is one. */
const char *core_api_why_not(void);
/* (text): says so. */
PyObject *core_api_set_why_not(PyObject *module, PyObject *text);
/* Loads it. Returns 0, or -1 with an exception. */
int core_api_load(const char *path);

/* --- texts and arguments ---------------------------------------------------------------------- */

/* The text in UTF-8, which lives as long as *held, a new reference. Other objects: their str(), cut
 * at what a trace keeps. NULL with an exception where one must not be lost (KeyboardInterrupt). */
const char *core_text(PyObject *value, PyObject **held);

#define CORE_FEW_ARGS 3
struct core_args {
    uint32_t count, room;
    struct dftrace_arg *items; /* few, or from PyMem_Malloc */
    PyObject **held;           /* two for each item, or NULL */
    struct dftrace_arg few[CORE_FEW_ARGS];
    PyObject *few_held[2 * CORE_FEW_ARGS];
};
void core_args_init(struct core_args *args);
int core_args_add(struct core_args *args, PyObject *key, PyObject *value);
/* A dict, None or NULL; another mapping. */
int core_args_add_mapping(struct core_args *args, PyObject *mapping);
/* Adds the keywords of a call, and a mapping that comes before them. */
int core_args_add_call(struct core_args *args, PyObject *const *values, Py_ssize_t count, PyObject *names);
int core_args_copy(struct core_args *to, const struct core_args *from);
/* Leaves the last of the arguments with one key, in the place of the first. */
void core_args_settle(struct core_args *args);
void core_args_clear(struct core_args *args);

/* --- objects ---------------------------------------------------------------------------------- */

/* Where events come from: a name, a category and arguments. */
struct core_site {
    struct dftrace_site site;
    PyObject *name, *category; /* what holds their texts */
    struct core_args args;
};
int core_site_set(struct core_site *site, PyObject *category, PyObject *name);
void core_site_clear(struct core_site *site);

/* What one interpreter's module has. Objects that make others hold the module. */
struct core_state {
    PyTypeObject *region, *function, *span, *steps;
    PyObject *current;     /* the context variable with the span that goes on */
    PyObject *method_type; /* types.MethodType */
    PyObject *app;         /* "APP" */
};
static inline struct core_state *core_state(PyObject *module)
{
    return PyModule_GetState(module);
}

struct core_region {
    PyObject_HEAD struct core_site at;
    PyObject *module;
    PyObject *more; /* a dict that its owner changes, or NULL: arguments of the end, as they are then */
    char off;       /* decorated functions are not recorded */
};
/* Ends it in this thread. Returns 0, or -1 with an exception. An exception that is there stays. */
int core_region_end(struct core_region *self, const struct dftrace_api *api);

extern PyType_Spec core_region_spec, core_function_spec, core_span_spec, core_steps_spec;

/* What DFTracer's and PerfFlowAspect's modules, and entities, need. */
extern PyMethodDef core_compat_methods[];
/* What programs ask of the recording itself. */
extern PyMethodDef core_recording_methods[];

/* region(...): the decorated function, or a region. */
PyObject *core_region_call(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* The callable with the region around each call. */
PyObject *core_function_make(struct core_region *region, PyObject *callable);
/* An object of one of our types, and the type's part in its end. */
PyObject *core_new(PyTypeObject *type);
/* The tp_new of these types: programs cannot make them so, without a module and a name. */
PyObject *core_no_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
void core_free(PyObject *self, int collected);

/* For unpickling: without a function as yet, which __setstate__ takes. */
PyObject *core_function_empty(PyObject *module, PyObject *region);
PyObject *core_span_begin(PyObject *module, PyObject *region);

#endif
