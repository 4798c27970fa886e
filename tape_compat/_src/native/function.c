/* declare.MOST_NUMBER */
#define MOST_NUMBER 16777216.0

/* A closure applied to tensors and variables, which are read in their order. */
static PyObject *apply_reading(PyObject *closure, PyObject *const *args, Py_ssize_t n)
{
    PyObject *inputs[MOST_INPUTS] = {NULL}, *out = NULL;
    Py_ssize_t i = 0;
    while (i < n) {
        inputs[i] = Py_TYPE(args[i]) == Tensor.type ? Py_NewRef(args[i])
                                                    : native_read(NULL, args[i]);
        if (!inputs[i])
            break;
        i++;
    }
    if (i == n)
        out = apply_to(&(Call){closure, inputs, n}, NULL);
    while (i)
        Py_DECREF(inputs[--i]);
    return out;
}

/* A result, unless the error is one that the Python function is to deal with. */
static int settled(PyObject *self, PyObject *out)
{
    PyObject *retry = ((Function *)self)->retry;
    if (out || retry == Py_None || !PyErr_ExceptionMatches(retry))
        return 1;
    PyErr_Clear();
    return 0;
}

/* The closure by the attributes as they are written in a call, a new reference: see declare._key.
   NULL without an error if it is not known. `n` of the attributes have no name. */
static PyObject *written_closure(PyObject *written, PyObject *const *values, Py_ssize_t n,
                                 PyObject *names)
{
    Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0, all = n + named;
    if (!PyDict_CheckExact(written))
        return NULL;
    PyObject *count = PyLong_FromSsize_t(n), *key = count ? PyTuple_New(1 + named + 2 * all) : NULL;
    if (!key) {
        Py_XDECREF(count);
        return NULL;
    }
    PyTuple_SET_ITEM(key, 0, count);
    for (Py_ssize_t i = 0; i < named; i++)
        PyTuple_SET_ITEM(key, 1 + i, Py_NewRef(PyTuple_GET_ITEM(names, i)));
    for (Py_ssize_t i = 0; i < all; i++) {
        PyTuple_SET_ITEM(key, 1 + named + i, Py_NewRef(values[i]));
        PyTuple_SET_ITEM(key, 1 + named + all + i, Py_NewRef((PyObject *)Py_TYPE(values[i])));
    }
    PyObject *closure = Py_XNewRef(PyDict_GetItemWithError(written, key));
    Py_DECREF(key);
    if (!closure && PyErr_ExceptionMatches(PyExc_TypeError)) /* a list or a tensor among them */
        PyErr_Clear();
    return closure;
}

/* An op of so many tensors, then attributes. */
static PyObject *op_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Function *op = (Function *)self;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf), arity = op->arity;
    if (n < arity || arity > MOST_INPUTS || !are_inputs(args, arity))
        return python_call(self, args, nargsf, names);
    PyObject *closure = n > arity || (names && PyTuple_GET_SIZE(names))
                            ? written_closure(op->written, args + arity, n - arity, names)
                            : op->closure == Py_None ? NULL : Py_NewRef(op->closure);
    if (!closure)
        return PyErr_Occurred() ? NULL : python_call(self, args, nargsf, names);
    PyObject *out = apply_reading(closure, args, arity);
    Py_DECREF(closure);
    return settled(self, out) ? out : python_call(self, args, nargsf, names);
}

/* gather(params, indices) of rows. */
static PyObject *rows_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    if (PyVectorcall_NARGS(nargsf) != 2 || names || !are_inputs(args, 2) ||
        Py_TYPE(args[1]) != Tensor.type)
        return python_call(self, args, nargsf, names);
    PyObject *x = Py_TYPE(args[0]) == Tensor.type ? Py_NewRef(args[0]) : native_read(NULL, args[0]);
    if (!x)
        return NULL;
    PyObject *inputs[] = {x, args[1]};
    PyObject *out = are_rows(args[1], x)
                        ? apply_to(&(Call){((Function *)self)->closure, inputs, 2}, NULL)
                        : python_call(self, inputs, 2, NULL);
    Py_DECREF(x);
    return out;
}

/* Whether a value is a Python number that a floating tensor, or a variable of float32, takes as it
   is; see declare.binary. */
static int is_number_for(PyObject *value, PyObject *x)
{
    if (!PyFloat_CheckExact(value) && !PyLong_CheckExact(value))
        return 0;
    if (Py_TYPE(x) == Tensor.type)
        return is_tensor(x) && SLOT(SLOT(x, Tensor._aval), Aval.floating) == Py_True;
    if (Py_TYPE(x) != Variable.type || !SLOT(x, Variable._handle))
        return 0;
    PyObject *held = SLOT(SLOT(x, Variable._handle), Handle.tensor);
    if (SLOT(SLOT(held, Tensor._aval), Aval.dtype) != python.float32)
        return 0;
    int overflow = 0;
    double number = PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value)
                                              : (double)PyLong_AsLongAndOverflow(value, &overflow);
    return !overflow && -MOST_NUMBER <= number && number <= MOST_NUMBER;
}

/* A binary closure applied to a tensor or variable and a number. */
static PyObject *scalar_reading(PyObject *closure, PyObject *x, PyObject *value, int reflected)
{
    PyObject *read = Py_TYPE(x) == Tensor.type ? Py_NewRef(x) : native_read(NULL, x);
    PyObject *out = read ? apply_scalar(closure, read, value, reflected) : NULL;
    Py_XDECREF(read);
    return out;
}

/* An elementwise op of two, of which the second may be a Python number. */
static PyObject *binary_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    PyObject *out;
    if (PyVectorcall_NARGS(nargsf) != 2 || names)
        return python_call(self, args, nargsf, names);
    if (are_inputs(args, 2))
        out = apply_reading(((Function *)self)->closure, args, 2);
    else if (is_number_for(args[1], args[0]))
        out = scalar_reading(((Function *)self)->closure, args[0], args[1], 0);
    else
        return python_call(self, args, nargsf, names);
    return settled(self, out) ? out : python_call(self, args, nargsf, names);
}

/* The same from the right: the tensor comes first, the number is the left operand. */
static PyObject *reflected_call(PyObject *self, PyObject *const *args, size_t nargsf,
                                PyObject *names)
{
    if (PyVectorcall_NARGS(nargsf) == 2 && !names && is_number_for(args[1], args[0]))
        return scalar_reading(((Function *)self)->closure, args[0], args[1], 1);
    return python_call(self, args, nargsf, names);
}

#define CALL(name) {#name, name##_call},
static const struct { const char *name; vectorcallfunc call; } calls[] = {
    CALL(op) CALL(binary) CALL(reflected) CALL(rows) CALL(update) CALL(scatter) CALL(init)
    CALL(enter) CALL(exit) CALL(gradient) CALL(traced)};

static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"kind", "function", "closure", "arity", "written", "retry", NULL};
    const char *kind;
    PyObject *function, *closure = Py_None, *written = Py_None, *retry = Py_None;
    Py_ssize_t arity = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|OnOO", names, &kind, &function, &closure,
                                     &arity, &written, &retry))
        return NULL;
    vectorcallfunc call = NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(kind, calls[i].name))
            call = calls[i].call;
    if (!call)
        return PyErr_Format(PyExc_ValueError, "a Function is of no kind %s", kind);
    Function *self = (Function *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->call = call;
    self->function = Py_NewRef(function);
    self->closure = Py_NewRef(closure);
    self->written = Py_NewRef(written);
    self->retry = Py_NewRef(retry);
    self->arity = arity;
    return (PyObject *)self;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Function *)self)->function);
    Py_VISIT(((Function *)self)->closure);
    Py_VISIT(((Function *)self)->written);
    Py_VISIT(((Function *)self)->retry);
    return 0;
}

static void function_dealloc(PyObject *self)
{
    Function *parts = (Function *)self;
    PyObject_GC_UnTrack(self);
    if (parts->weak)
        PyObject_ClearWeakRefs(self);
    DROP(parts->function, parts->closure, parts->written, parts->retry);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *function_get(PyObject *self, PyObject *instance, PyObject *type)
{
    return instance && instance != Py_None ? PyMethod_New(self, instance) : Py_NewRef(self);
}

static PyObject *function_getattr(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    PyErr_Clear();
    return PyObject_GetAttr(((Function *)self)->function, name);
}

static int function_setattr(PyObject *self, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((Function *)self)->function, name, value);
}

static PyObject *function_repr(PyObject *self)
{
    return PyObject_Repr(((Function *)self)->function);
}

static PyObject *function_reduce(PyObject *self, PyObject *nothing)
{
    return PyObject_GetAttrString(((Function *)self)->function, "__qualname__");
}

static PyObject *function_wrapped(PyObject *self, void *nothing)
{
    return Py_NewRef(((Function *)self)->function);
}

static PyObject *function_class(PyObject *self, void *nothing)
{
    return Py_NewRef((PyObject *)Py_TYPE(((Function *)self)->function));
}

static PyObject *function_own(PyObject *self, void *name)
{
    return PyObject_GetAttrString(((Function *)self)->function, name);
}

static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, "Its name, by which it is pickled."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef function_attributes[] = {
    {"__class__", function_class, NULL, "It passes for the Python function, as it did.", NULL},
    {"__wrapped__", function_wrapped, NULL, "The Python function that it stands for.", NULL},
    {"__doc__", function_own, NULL, NULL, "__doc__"},
    {"__module__", function_own, NULL, NULL, "__module__"},
    {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject Function_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = NAMED("Function"),
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = function_new,
    .tp_dealloc = function_dealloc,
    .tp_traverse = function_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Function, call),
    .tp_weaklistoffset = offsetof(Function, weak),
    .tp_descr_get = function_get,
    .tp_getattro = function_getattr,
    .tp_setattro = function_setattr,
    .tp_repr = function_repr,
    .tp_methods = function_methods,
    .tp_getset = function_attributes,
};
