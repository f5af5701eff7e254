/* SPDX-License-Identifier: MIT */
/* Owns decorated functions: callables that behave as the function does, with a region around each
 * call. What goes on after its call (generators, coroutines) is wrapped in Python, by _life.py. */
#include "core.h"

#define GENERATOR 0x20 /* flags of a code object */
#define LIVING    (GENERATOR | 0x80 | 0x100 | 0x200)

struct function {
    PyObject_HEAD core_vectorcall call; /* ours */
    core_vectorcall inner;              /* the function's */
    PyObject *wrapped;
    struct core_region *region;
    PyObject *dict, *weak;
};

/* For callables that are no Python functions, where the interpreter exports no better way. */
static PyObject *call_any(PyObject *callable, PyObject *const *args, size_t flagged, PyObject *names)
{
    Py_ssize_t count = (Py_ssize_t)(flagged & ~CORE_OFFSET), named = names ? PyTuple_Size(names) : 0;
    PyObject *tuple = PyTuple_New(count), *keywords = named ? PyDict_New() : NULL, *result = NULL;
    int bad = !tuple || (named && !keywords);

    for (Py_ssize_t i = 0; !bad && i < count; i++) {
        Py_INCREF(args[i]);
        PyTuple_SetItem(tuple, i, args[i]);
    }
    for (Py_ssize_t i = 0; !bad && i < named; i++)
        bad = PyDict_SetItem(keywords, PyTuple_GetItem(names, i), args[count + i]) < 0;
    if (!bad)
        result = PyObject_Call(callable, tuple, keywords);
    Py_XDECREF(tuple);
    Py_XDECREF(keywords);
    return result;
}

static core_vectorcall best_call(PyObject *callable)
{
    if (core_cpython.vectorcall)
        return core_cpython.vectorcall;
    if (core_cpython.function_vectorcall && Py_TYPE(callable) == core_cpython.function_type)
        return core_cpython.function_vectorcall;
    return call_any;
}

static PyObject *function_call(PyObject *object, PyObject *const *args, size_t flagged, PyObject *names)
{
    struct function *self = (struct function *)object;
    const struct dftrace_api *api = core_api();
    struct core_site *at;
    PyObject *result;

    if (__builtin_expect(!api->enabled || self->region->off, 1))
        return self->inner(self->wrapped, args, flagged, names);
    at = &self->region->at;
    if (at->args.count)
        api->region_begin_args(&at->site, at->args.items, at->args.count);
    else
        api->region_begin(&at->site);
    Py_INCREF(object); /* the call may drop what holds it */
    result = self->inner(self->wrapped, args, flagged, names);
    if (core_region_end(self->region, api) < 0)
        Py_CLEAR(result);
    Py_DECREF(object);
    return result;
}

/* --- life ------------------------------------------------------------------------------------- */

static int function_traverse(PyObject *object, visitproc visit, void *arg)
{
    struct function *self = (struct function *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->wrapped);
    Py_VISIT(self->region);
    Py_VISIT(self->dict);
    return 0;
}

static int function_clear(PyObject *object)
{
    struct function *self = (struct function *)object;
    PyObject *wrapped = self->wrapped;

    Py_CLEAR(self->dict);
    if (wrapped) {
        self->inner = call_any; /* of None: says that it cannot be called */
        Py_INCREF(Py_None);
        self->wrapped = Py_None;
        Py_DECREF(wrapped);
    }
    return 0;
}

static void function_dealloc(PyObject *object)
{
    struct function *self = (struct function *)object;

    PyObject_GC_UnTrack(object);
    if (self->weak)
        PyObject_ClearWeakRefs(object);
    function_clear(object);
    Py_CLEAR(self->wrapped);
    Py_CLEAR(self->region);
    core_free(object, 1);
}

/* --- attributes ------------------------------------------------------------------------------- */

/* What the object has not, the function has. */
static PyObject *function_getattr(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(object, name);
    struct function *self = (struct function *)object;

    if (value || !self->wrapped || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return PyObject_GetAttr(self->wrapped, name);
}

static PyObject *get_dict(PyObject *object, void *Py_UNUSED(closure))
{
    struct function *self = (struct function *)object;
    PyObject *dict;

    CORE_LOCK(object);
    if (!self->dict)
        self->dict = PyDict_New();
    dict = self->dict;
    Py_XINCREF(dict);
    CORE_UNLOCK();
    return dict;
}

static PyObject *get_wrapped(PyObject *object, void *Py_UNUSED(closure))
{
    struct function *self = (struct function *)object;

    Py_INCREF(self->wrapped);
    return self->wrapped;
}

static PyObject *function_get(PyObject *object, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    struct function *self = (struct function *)object;

    if (!instance || instance == Py_None) {
        Py_INCREF(object);
        return object;
    }
    return PyObject_CallFunctionObjArgs(core_state(self->region->module)->method_type, object, instance, NULL);
}

static PyObject *function_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<dftrace.region of %R>", ((struct function *)object)->wrapped);
}

/* By reference, as functions; cloudpickle's way, by value, is in Python. */
static PyObject *function_reduce(PyObject *object, PyObject *Py_UNUSED(none))
{
    PyObject *module = PyImport_ImportModule("dftrace._life"), *result;

    result = module ? PyObject_CallMethod(module, "reduce", "O", object) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *get_region(PyObject *object, void *Py_UNUSED(closure))
{
    struct function *self = (struct function *)object;

    Py_INCREF(self->region);
    return (PyObject *)self->region;
}

static int set_function(struct function *self, PyObject *callable);

/* Sets the state of one that core_function_empty() made, once. */
static PyObject *function_setstate(PyObject *object, PyObject *callable)
{
    struct function *self = (struct function *)object;

    if (self->wrapped != Py_None || !PyCallable_Check(callable)) {
        PyErr_SetString(PyExc_TypeError, "the function of a region is not changed");
        return NULL;
    }
    if (set_function(self, callable) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, NULL}, {"__setstate__", function_setstate, METH_O, NULL}, {NULL}};
static PyGetSetDef attributes[] = {{"__dict__", get_dict, NULL, NULL, NULL},
                                   {"__wrapped__", get_wrapped, NULL, "The function.", NULL},
                                   {"__dftrace_region__", get_region, NULL, "The region around each call.", NULL},
                                   {NULL}};
static PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(struct function, dict), READONLY, NULL},
                                {"__weaklistoffset__", T_PYSSIZET, offsetof(struct function, weak), READONLY, NULL},
                                {"__vectorcalloffset__", T_PYSSIZET, offsetof(struct function, call), READONLY, NULL},
                                {NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, CORE_SLOT(function_dealloc)},
                              {Py_tp_new, CORE_SLOT(core_no_new)},
                              {Py_tp_traverse, CORE_SLOT(function_traverse)},
                              {Py_tp_clear, CORE_SLOT(function_clear)},
                              {Py_tp_call, CORE_SLOT(PyVectorcall_Call)},
                              {Py_tp_descr_get, CORE_SLOT(function_get)},
                              {Py_tp_getattro, CORE_SLOT(function_getattr)},
                              {Py_tp_setattro, CORE_SLOT(PyObject_GenericSetAttr)},
                              {Py_tp_repr, CORE_SLOT(function_repr)},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {Py_tp_getset, attributes},
                              {0, NULL}};
PyType_Spec core_function_spec = {.name = "dftrace._core.Function",
                                  .basicsize = sizeof(struct function),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | CORE_HAVE_VECTORCALL | CORE_METHOD,
                                  .slots = slots};

/* --- making ----------------------------------------------------------------------------------- */

static int flags_of(PyObject *callable)
{
    PyObject *code = PyObject_GetAttrString(callable, "__code__");
    PyObject *flags = code ? PyObject_GetAttrString(code, "co_flags") : NULL;
    long value = flags ? PyLong_AsLong(flags) : 0;

    Py_XDECREF(code);
    Py_XDECREF(flags);
    PyErr_Clear();
    return (int)value;
}

/* What the type has of its own would hide the function's. */
static int copy_names(struct function *self)
{
    static const char *const names[] = {"__module__", "__name__", "__qualname__", "__doc__"};

    Py_CLEAR(self->dict);
    self->dict = PyDict_New();
    for (size_t i = 0; self->dict && i < sizeof names / sizeof *names; i++) {
        PyObject *value = PyObject_GetAttrString(self->wrapped, names[i]);

        if (!value)
            PyErr_Clear();
        else if (PyDict_SetItemString(self->dict, names[i], value) < 0)
            Py_CLEAR(self->dict);
        Py_XDECREF(value);
    }
    return self->dict ? 0 : -1;
}

static int set_function(struct function *self, PyObject *callable)
{
    PyObject *before = self->wrapped;

    Py_INCREF(callable);
    self->wrapped = callable;
    self->inner = best_call(callable);
    Py_XDECREF(before);
    return copy_names(self);
}

static PyObject *make_plain(struct core_region *region, PyObject *callable)
{
    struct function *self = (struct function *)core_new(core_state(region->module)->function);

    if (!self)
        return NULL;
    self->call = function_call;
    Py_INCREF(region);
    self->region = region;
    if (set_function(self, callable) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

PyObject *core_function_empty(PyObject *module, PyObject *region)
{
    if (Py_TYPE(region) != core_state(module)->region) {
        PyErr_SetString(PyExc_TypeError, "a region is needed");
        return NULL;
    }
    return make_plain((struct core_region *)region, Py_None);
}

/* By _life.py: what goes on after its call. */
static PyObject *make_otherwise(struct core_region *region, PyObject *callable)
{
    PyObject *module = PyImport_ImportModule("dftrace._life"), *result;

    result = module ? PyObject_CallMethod(module, "wrap", "OO", region, callable) : NULL;
    Py_XDECREF(module);
    return result;
}

PyObject *core_function_make(struct core_region *region, PyObject *callable)
{
    return flags_of(callable) & LIVING ? make_otherwise(region, callable) : make_plain(region, callable);
}
