/* SPDX-License-Identifier: MIT */
/* Owns where the library is: its exported table, or one that does nothing; and the functions of
 * CPython that only some versions export. */
#include "core.h"

#include <dlfcn.h>
#include <stdio.h>

struct core_cpython core_cpython;

void core_cpython_find(void)
{
    core_cpython.vectorcall = (core_vectorcall)dlsym(RTLD_DEFAULT, "PyObject_Vectorcall");
    core_cpython.function_vectorcall = (core_vectorcall)dlsym(RTLD_DEFAULT, "_PyFunction_Vectorcall");
    core_cpython.function_type = dlsym(RTLD_DEFAULT, "PyFunction_Type");
    core_cpython.context_get = (int (*)(PyObject *, PyObject *, PyObject **))dlsym(RTLD_DEFAULT, "PyContextVar_Get");
    core_cpython.context_set = (PyObject * (*)(PyObject *, PyObject *)) dlsym(RTLD_DEFAULT, "PyContextVar_Set");
    core_cpython.context_reset = (int (*)(PyObject *, PyObject *))dlsym(RTLD_DEFAULT, "PyContextVar_Reset");
}

struct dftrace_api core_none = {.version = DFTRACE_API_VERSION, .size = offsetof(struct dftrace_api, region_begin)};
const struct dftrace_api *core_table = &core_none;

/* All that the annotations of this package call for each event. */
#define LEAST_SIZE (offsetof(struct dftrace_api, set_role) + sizeof(void *))

static char why[600] = "libdftrace.so is not loaded: run the program with `python -m dftrace run`";

int core_api_find(void)
{
    const struct dftrace_api *found = dlsym(RTLD_DEFAULT, "dftrace_api_v1");

    if (!found)
        return core_api() != &core_none;
    if (found->version != DFTRACE_API_VERSION || found->size < LEAST_SIZE) {
        snprintf(why, sizeof why,
                 "the loaded libdftrace.so is of another version (%u, %u bytes): install one with this package",
                 found->version, found->size);
        return 0;
    }
    __atomic_store_n(&core_table, found, __ATOMIC_RELEASE);
    return 1;
}

const char *core_api_why_not(void)
{
    if (core_api() == &core_none)
        return why;
    return core_api()->enabled ? NULL : "tracing is off: set DFTRACER_ENABLE=1, or call dftrace.init()";
}

PyObject *core_api_set_why_not(PyObject *Py_UNUSED(module), PyObject *text)
{
    PyObject *held;
    const char *utf8 = core_text(text, &held);

    if (!utf8)
        return NULL;
    snprintf(why, sizeof why, "%s", utf8);
    Py_DECREF(held);
    Py_RETURN_NONE;
}

int core_api_load(const char *path)
{
    void *library;

    Py_BEGIN_ALLOW_THREADS library = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* never closed */
    Py_END_ALLOW_THREADS if (!library)
    {
        const char *error = dlerror();

        PyErr_Format(PyExc_OSError, "%s", error ? error : path);
        return -1;
    }
    return core_api_find();
}
