/* What record.py, executor.py, variable.py, declare.py and autodiff/tape.py do most often, in C:
   the same steps on the same objects, many times as fast.

   Optional. Those files have the same in Python, and say what it does and why; `@native` puts this
   in its place where a compiler was found at installation. Whatever is out of the ordinary goes
   to the Python twin. The classes stay Python's: their slots are reached by the offsets that their
   member descriptors tell, see layout.c.

   No Python code runs between the steps, but for finalizers: before Python 3.12 the allocation of a
   container may collect garbage. So what is used after one is owned, and an entry is appended only
   if no other has come in between.

   module.c includes all other parts, in the order in which they build on each other. */
#ifndef TAPE_COMPAT_NATIVE_H
#define TAPE_COMPAT_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <structmember.h>

/* core/native.py takes this module only if it is of its own version. */
#define VERSION 42

/* Full name of a type. */
#define NAMED(name) "tape_compat._src.native._fastpath." name

/* Give up references, NULL among them: DROP(x, y). */
#define DROP(...)                                                                                  \
    drop((void *const[]){__VA_ARGS__}, sizeof(void *[]){__VA_ARGS__} / sizeof(void *))
static inline void drop(void *const *objects, size_t n)
{
    for (size_t i = 0; i < n; i++)
        Py_XDECREF((PyObject *)objects[i]);
}

/* The value in a slot of a Python object: SLOT(x, Tensor._aval). */
#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* A part of a key: the slot of an input, or the aval or kind of a new leaf. */
#define SLOT_PART(slot) ((uintptr_t)(slot) << 1 | 1)
#define IS_SLOT(part) ((part) & 1)

/* More go the general way: inputs of an op, and of what was recorded. */
#define MOST_INPUTS 8
#define MOST_LEAVES 4096

typedef struct Link {
    struct Link *before, *after;
} Link;

/* The base of tensors: a program and a slot, where one is pending or was a leaf last. The links are
   those of a pending tensor among all of its program that somebody has; see References. */
typedef struct {
    PyObject_HEAD
    PyObject *program;
    Py_ssize_t slot;
    Link link;
} Placed;

#define PLACE(x) ((Placed *)(x))
#define LINKED(link_) ((PyObject *)((char *)(link_) - offsetof(Placed, link)))

/* The tensors that a program is to compute, as long as somebody else has them: like a list of weak
   references, but that it takes no object for each. */
typedef struct {
    PyObject_HEAD
    Link all; /* before the first and after the last */
} References;

/* How a program goes on from a node, as it did last: the node's `last_edge`. What is read when the
   same instruction is recorded again is here, side by side.

   aval: of one output, or NULL. The slots of the child's leaves are those before `first`. */
typedef struct {
    PyObject_VAR_HEAD
    PyObject *child, *closure, *aval;
    int first;
    short leaves;
    char differentiable;
    uintptr_t parts[];
} Edge;

/* A call of a closure with tensors. NULL among them is for a Python number, which is the leaf in
   `slot` once it is recorded. given: the tensors as a tuple, or NULL. */
typedef struct {
    PyObject *closure, *const *inputs;
    Py_ssize_t n;
    PyObject *given, *number;
    Py_ssize_t slot;
} Call;

/* The arrays of one call that are donated; see donation.py. */
typedef struct {
    PyObject_HEAD
    PyObject *arrays, *copies;
    int looked;
} Donated;

/* What ops, operators and methods are called by. It does its commonest calls at once, and leaves
   all others, with the same arguments, to the Python function that it stands for, whose attributes
   it has. It is pickled by its name, as functions are, and binds to instances. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *weak, *function, *closure, *written, *retry;
    Py_ssize_t arity;
} Function;

static PyTypeObject Placed_type, References_type, Edge_type, Donated_type, Function_type;

static inline PyObject *python_call(PyObject *self, PyObject *const *args, size_t nargsf,
                                    PyObject *names)
{
    return PyObject_Vectorcall(((Function *)self)->function, args, nargsf, names);
}

#endif
