/* SPDX-License-Identifier: MIT */
/* Owns spans, and the steps of what goes on after its call: generators and coroutines. Between the
 * steps the thread does other things, and the next step may be another thread's. */
#include "core.h"

struct span {
    PyObject_HEAD struct dftrace_span span;
    struct core_region *region;
    struct span *parent;   /* at its end those that have ended are passed over */
    struct span *inside;   /* the innermost within it, while its steps rest; NULL: itself */
    struct core_args args; /* of the end */
};

struct steps {
    PyObject_HEAD PyObject *inner, *send; /* the generator or coroutine, and its method */
    struct span *span;
    int ends; /* the span ends with it */
};

/* --- spans ------------------------------------------------------------------------------------ */

/* A new reference, or NULL. */
static struct span *parent_of(struct span *self)
{
    struct span *parent;

    CORE_LOCK((PyObject *)self);
    parent = self->parent;
    Py_XINCREF(parent);
    CORE_UNLOCK();
    return parent;
}

/* The innermost that goes on, of this one and those around it. Takes and gives a reference. */
static struct span *going_on(struct span *self)
{
    while (self && !__atomic_load_n(&self->span.id, __ATOMIC_RELAXED)) {
        struct span *parent = parent_of(self);

        Py_DECREF(self);
        self = parent;
    }
    return self;
}

static struct span *current_span(struct core_state *state)
{
    PyObject *value = NULL;

    if (!core_cpython.context_get || core_cpython.context_get(state->current, NULL, &value) < 0)
        PyErr_Clear();
    if (value && Py_TYPE(value) != state->span)
        Py_CLEAR(value);
    return (struct span *)value;
}

PyObject *core_span_begin(PyObject *module, PyObject *region)
{
    struct core_state *state = core_state(module);
    const struct dftrace_api *api = core_api();
    struct core_site *at;
    struct span *self;

    if (Py_TYPE(region) != state->region) {
        PyErr_SetString(PyExc_TypeError, "span() needs a region");
        return NULL;
    }
    self = (struct span *)core_new(state->span);
    if (!self)
        return NULL;
    core_args_init(&self->args);
    Py_INCREF(region);
    self->region = (struct core_region *)region;
    self->parent = going_on(current_span(state));
    at = &self->region->at;
    if (api->enabled && at->site.name && !self->region->off)
        api->span_begin(&self->span, &at->site, self->parent ? &self->parent->span : NULL,
                        at->args.count ? at->args.items : NULL, at->args.count);
    return (PyObject *)self;
}

/* Its arguments, those of the region before them, and those set since. */
static void record_end(const struct dftrace_api *api, struct span *self)
{
    struct core_args args;

    core_args_init(&args);
    CORE_LOCK((PyObject *)self);
    if (core_args_copy(&args, &self->region->at.args) < 0 || core_args_copy(&args, &self->args) < 0)
        PyErr_Clear();
    CORE_UNLOCK();
    if (self->region->more && core_args_add_mapping(&args, self->region->more) < 0)
        PyErr_Clear();
    core_args_settle(&args);
    api->span_end(&self->span, args.count ? args.items : NULL, args.count);
    core_args_clear(&args);
}

/* An error of the program's stays what it is. */
static void end_span(struct span *self)
{
    const struct dftrace_api *api = core_api();
    PyObject *type, *value, *trace;
    struct span *around, *parent, *inside;

    PyErr_Fetch(&type, &value, &trace);
    if (api->enabled && self->span.id)
        record_end(api, self);
    around = going_on(parent_of(self));
    CORE_LOCK((PyObject *)self);
    parent = self->parent;
    self->parent = around;
    inside = self->inside;
    self->inside = NULL;
    CORE_UNLOCK();
    Py_XDECREF(parent);
    Py_XDECREF(inside);
    PyErr_Restore(type, value, trace);
}

static void span_dealloc(PyObject *object)
{
    struct span *self = (struct span *)object;

    end_span(self);
    Py_CLEAR(self->parent);
    core_args_clear(&self->args);
    Py_XDECREF(self->region);
    core_free(object, 0);
}

static PyObject *span_end(PyObject *self, PyObject *Py_UNUSED(none))
{
    end_span((struct span *)self);
    Py_RETURN_NONE;
}

static PyObject *span_update(PyObject *object, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    struct span *self = (struct span *)object;
    struct core_args args;
    int bad;

    if (!core_api()->enabled)
        Py_RETURN_NONE;
    core_args_init(&args);
    bad = core_args_add_call(&args, values, count, names) < 0;
    CORE_LOCK(object);
    bad = bad || core_args_copy(&self->args, &args) < 0;
    CORE_UNLOCK();
    core_args_clear(&args);
    if (bad)
        return NULL;
    Py_RETURN_NONE;
}

/* since(earlier) */
static PyObject *span_since(PyObject *object, PyObject *earlier)
{
    const struct dftrace_api *api = core_api();

    if (Py_TYPE(earlier) != Py_TYPE(object)) {
        PyErr_SetString(PyExc_TypeError, "since() needs a span");
        return NULL;
    }
    if (api->enabled && CORE_HAS(api, span_since))
        api->span_since(&((struct span *)object)->span, &((struct span *)earlier)->span);
    Py_RETURN_NONE;
}

static PyObject *get_parent(PyObject *self, void *Py_UNUSED(closure))
{
    struct span *parent = parent_of((struct span *)self);

    if (!parent)
        Py_RETURN_NONE;
    return (PyObject *)parent;
}

static PyObject *get_region(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *region = (PyObject *)((struct span *)self)->region;

    Py_INCREF(region);
    return region;
}

/* steps(inner, ends=True) */
static PyObject *span_steps(PyObject *object, PyObject *args)
{
    struct span *self = (struct span *)object;
    struct steps *steps;
    PyObject *inner;
    int ends = 1;

    if (!PyArg_ParseTuple(args, "O|p:steps", &inner, &ends))
        return NULL;
    steps = (struct steps *)core_new(core_state(self->region->module)->steps);
    if (!steps)
        return NULL;
    Py_INCREF(inner);
    steps->inner = inner;
    Py_INCREF(self);
    steps->span = self;
    steps->ends = ends;
    steps->send = PyObject_GetAttrString(inner, "send");
    if (!steps->send)
        Py_CLEAR(steps);
    return (PyObject *)steps;
}

static PyMethodDef span_methods[] = {
    {"end", span_end, METH_NOARGS, "Ends the span; a second time nothing."},
    {"since", span_since, METH_O, "since(earlier): it starts where `earlier` did, which goes on."},
    {"update", CORE_CALL(span_update), CORE_FAST | METH_KEYWORDS,
     "update(mapping=None, /, **args): arguments that the end records."},
    {"steps", span_steps, METH_VARARGS,
     "steps(inner, ends=True): inner's steps as the span's, to be awaited or yielded from."},
    {NULL}};
static PyGetSetDef span_attributes[] = {{"parent", get_parent, NULL, "The span around it.", NULL},
                                        {"region", get_region, NULL, "The region that it is of.", NULL},
                                        {NULL}};
static PyType_Slot span_slots[] = {{Py_tp_dealloc, CORE_SLOT(span_dealloc)},
                                   {Py_tp_new, CORE_SLOT(core_no_new)},
                                   {Py_tp_methods, span_methods},
                                   {Py_tp_getset, span_attributes},
                                   {0, NULL}};
PyType_Spec core_span_spec = {
    .name = "dftrace._core.Span", .basicsize = sizeof(struct span), .flags = Py_TPFLAGS_DEFAULT, .slots = span_slots};

/* --- steps ------------------------------------------------------------------------------------ */

/* Where the step before left the context: an `async with` goes on through the waits within it. A new
 * reference, or NULL. */
static struct span *take_inside(struct span *self)
{
    struct span *inside;

    CORE_LOCK((PyObject *)self);
    inside = self->inside;
    self->inside = NULL;
    CORE_UNLOCK();
    return going_on(inside);
}

static void keep_inside(struct core_state *state, struct span *self)
{
    struct span *inside = going_on(current_span(state)), *around = inside, *before;

    Py_XINCREF(around);
    while (around && around != self) {
        before = around;
        around = parent_of(before);
        Py_DECREF(before);
    }
    if (!around || inside == self)
        Py_CLEAR(inside);
    Py_XDECREF(around);
    CORE_LOCK((PyObject *)self);
    before = self->inside;
    self->inside = inside;
    CORE_UNLOCK();
    Py_XDECREF(before);
}

/* The context is the span's, or of what is open within. A new reference to its token, or NULL. */
static PyObject *enter_context(struct core_state *state, struct span *self)
{
    struct span *inside = take_inside(self);
    PyObject *token = NULL;

    if (core_cpython.context_set)
        token = core_cpython.context_set(state->current, (PyObject *)(inside ? inside : self));
    Py_XDECREF(inside);
    return token;
}

static void leave_context(struct core_state *state, struct span *self, PyObject *token)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    if (self->span.id)
        keep_inside(state, self);
    if (core_cpython.context_reset(state->current, token) < 0)
        PyErr_Clear();
    PyErr_Restore(type, value, trace);
    Py_DECREF(token);
}

/* One step: the calls of this thread are the span's meanwhile, and spans that begin are within. */
static PyObject *step(struct steps *self, PyObject *callable, PyObject *args)
{
    struct core_state *state = core_state(self->span->region->module);
    const struct dftrace_api *api = core_api();
    int goes_on = api->enabled && self->span->span.id != 0;
    PyObject *token = goes_on ? enter_context(state, self->span) : NULL, *result;

    if (goes_on)
        api->span_resume(&self->span->span);
    result = args ? PyObject_CallObject(callable, args) : PyObject_CallFunctionObjArgs(callable, Py_None, NULL);
    if (goes_on)
        api->span_suspend(&self->span->span);
    if (token)
        leave_context(state, self->span, token);
    if (!result && self->ends)
        end_span(self->span);
    return result;
}

static PyObject *steps_next(PyObject *object)
{
    struct steps *self = (struct steps *)object;

    return step(self, self->send, NULL);
}

static PyObject *steps_send(PyObject *object, PyObject *args)
{
    struct steps *self = (struct steps *)object;

    return step(self, self->send, args);
}

static PyObject *steps_throw(PyObject *object, PyObject *args)
{
    struct steps *self = (struct steps *)object;
    PyObject *throw = PyObject_GetAttrString(self->inner, "throw");
    PyObject *result = throw ? step(self, throw, args) : NULL;

    Py_XDECREF(throw);
    return result;
}

static PyObject *steps_close(PyObject *object, PyObject *Py_UNUSED(none))
{
    struct steps *self = (struct steps *)object;
    PyObject *close = PyObject_GetAttrString(self->inner, "close"), *none = PyTuple_New(0);
    PyObject *result = close && none ? step(self, close, none) : NULL;

    Py_XDECREF(close);
    Py_XDECREF(none);
    if (self->ends)
        end_span(self->span);
    return result;
}

static PyObject *steps_self(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static int steps_traverse(PyObject *object, visitproc visit, void *arg)
{
    struct steps *self = (struct steps *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->inner);
    Py_VISIT(self->send);
    Py_VISIT(self->span);
    return 0;
}

static void steps_dealloc(PyObject *object)
{
    struct steps *self = (struct steps *)object;

    PyObject_GC_UnTrack(object);
    if (self->ends && self->span)
        end_span(self->span);
    Py_CLEAR(self->send);
    Py_CLEAR(self->inner);
    Py_CLEAR(self->span);
    core_free(object, 1);
}

static PyMethodDef steps_methods[] = {{"send", steps_send, METH_VARARGS, NULL},
                                      {"throw", steps_throw, METH_VARARGS, NULL},
                                      {"close", steps_close, METH_NOARGS, NULL},
                                      {NULL}};
static PyType_Slot steps_slots[] = {{Py_tp_dealloc, CORE_SLOT(steps_dealloc)},
                                    {Py_tp_new, CORE_SLOT(core_no_new)},
                                    {Py_tp_traverse, CORE_SLOT(steps_traverse)},
                                    {Py_tp_iter, CORE_SLOT(steps_self)},
                                    {Py_tp_iternext, CORE_SLOT(steps_next)},
                                    {Py_am_await, CORE_SLOT(steps_self)},
                                    {Py_tp_methods, steps_methods},
                                    {0, NULL}};
PyType_Spec core_steps_spec = {.name = "dftrace._core.Steps",
                               .basicsize = sizeof(struct steps),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                               .slots = steps_slots};
