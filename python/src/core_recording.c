/* SPDX-License-Identifier: MIT */
/* Owns what programs ask of the recording itself: is it on, why not, flush, pause, begin it. */
#include "core.h"

static PyObject *enabled(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(core_api()->enabled);
}

static PyObject *why_off(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    const char *why = core_api_why_not();

    if (!why)
        Py_RETURN_NONE;
    return PyUnicode_FromString(why);
}

static PyObject *flush(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    const struct dftrace_api *api = core_api();

    if (api->enabled) {
        Py_BEGIN_ALLOW_THREADS api->flush();
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

/* thread=False */
static PyObject *pause_or_resume(PyObject *args, PyObject *keywords, const char *format, int resumes)
{
    static char *names[] = {"thread", NULL};
    const struct dftrace_api *api = core_api();
    int of_thread = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names, &of_thread))
        return NULL;
    if (api->enabled) {
        Py_BEGIN_ALLOW_THREADS(resumes ? api->resume : api->pause)(!of_thread);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyObject *pause_recording(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    return pause_or_resume(args, keywords, "|p:pause", 0);
}

static PyObject *resume_recording(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    return pause_or_resume(args, keywords, "|p:resume", 1);
}

/* (path): loads the library, where none is. */
static PyObject *load(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *path;
    int done;

    if (!PyArg_ParseTuple(args, "O&:load", PyUnicode_FSConverter, &path))
        return NULL;
    done = core_api_load(PyBytes_AsString(path));
    Py_DECREF(path);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

/* (log_file, data_dirs, process_id): the first two str or None. */
static PyObject *configure(PyObject *Py_UNUSED(module), PyObject *args)
{
    const struct dftrace_api *api = core_api();
    const char *log_file, *data_dirs;
    int process_id = -1;

    if (!PyArg_ParseTuple(args, "zz|i:configure", &log_file, &data_dirs, &process_id))
        return NULL;
    if (CORE_HAS(api, init)) {
        Py_BEGIN_ALLOW_THREADS api->init(log_file, data_dirs, &process_id, 1);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

PyMethodDef core_recording_methods[] = {{"enabled", enabled, METH_NOARGS, NULL},
                                        {"why_off", why_off, METH_NOARGS, NULL},
                                        {"set_why_off", core_api_set_why_not, METH_O, NULL},
                                        {"flush", flush, METH_NOARGS, NULL},
                                        {"pause", CORE_CALL(pause_recording), METH_VARARGS | METH_KEYWORDS, NULL},
                                        {"resume", CORE_CALL(resume_recording), METH_VARARGS | METH_KEYWORDS, NULL},
                                        {"load", load, METH_VARARGS, NULL},
                                        {"configure", configure, METH_VARARGS, NULL},
                                        {NULL}};
