/* The extension module `_fastpath`: all parts in one unit, so that their calls are inlined. */
#include "native.h"

#include "layout.c"
#include "places.c"
#include "record.c"
#include "donation.c"
#include "words.c"
#include "searched.c"
#include "host.c"
#include "examples.c"
#include "images.c"
#include "run.c"
#include "variable.c"
#include "tape.c"
#include "calls.c"
#include "function.c"

#define METHOD(name, flags, parameters)                                                            \
    {#name, (PyCFunction)(void (*)(void))native_##name, flags,                                     \
     #name "(" parameters ", /)\n--\n\nThe twin of the Python function."},
static PyMethodDef methods[] = {
    TWINS(METHOD)
    {"provide", (PyCFunction)(void (*)(void))provide, METH_VARARGS | METH_KEYWORDS,
     "provide(**objects)\n--\n\nTake these of Python's; the names that are missing still."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_fastpath",
                                        .m_doc = "What the engine does most often, in C.",
                                        .m_size = -1,
                                        .m_methods = methods};

#define NAME_ROW(name) {#name, &text.name},
#define TYPE(name) PyModule_AddObjectRef(module, #name, (PyObject *)&name##_type)

PyMODINIT_FUNC PyInit__fastpath(void)
{
    static const struct Object names[] = {NAMES(NAME_ROW)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(*names[i].kept = PyUnicode_InternFromString(names[i].name)))
            return NULL;
    empty = PyTuple_New(0);
    zero = PyLong_FromLong(0);
    one = PyLong_FromLong(1);
    if (!empty || !zero || !one || PyType_Ready(&Function_type) < 0 ||
        PyType_Ready(&Placed_type) < 0 || PyType_Ready(&References_type) < 0 ||
        PyType_Ready(&Edge_type) < 0 || PyType_Ready(&Donated_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && (PyModule_AddIntConstant(module, "VERSION", VERSION) < 0 ||
                   TYPE(Donated) < 0 || TYPE(Function) < 0 || TYPE(Placed) < 0 ||
                   TYPE(References) < 0))
        Py_CLEAR(module);
    return module;
}
