static PyObject *donated_of(PyObject *arrays)
{
    Donated *self = PyObject_New(Donated, &Donated_type);
    if (!self)
        return NULL;
    self->arrays = Py_NewRef(arrays);
    self->copies = NULL;
    self->looked = 0;
    return (PyObject *)self;
}

static PyObject *donated_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *arrays;
    if (kwargs || !PyArg_ParseTuple(args, "O!", &PyList_Type, &arrays))
        return refuse("Donated(list)");
    return donated_of(arrays);
}

static void donated_dealloc(PyObject *self)
{
    Py_XDECREF(((Donated *)self)->arrays);
    Py_XDECREF(((Donated *)self)->copies);
    PyObject_Free(self);
}

static PyTypeObject Donated_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = NAMED("Donated"),
    .tp_basicsize = sizeof(Donated),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = donated_new,
    .tp_dealloc = donated_dealloc,
};

static PyObject *native_flatten(PyObject *module, PyObject *object)
{
    if (Py_TYPE(object) != &Donated_type)
        return refuse("flatten(donated)");
    Donated *self = (Donated *)object;
    if (!self->looked) {
        self->looked = 1;
        return PyTuple_Pack(2, self->arrays, Py_None);
    }
    if (!self->copies) {
        PyObject *copies = PyObject_CallOneArg(python.copy_all, self->arrays);
        if (!copies)
            return NULL;
        Py_XSETREF(self->copies, copies);
    }
    return PyTuple_Pack(2, self->copies, Py_None);
}

/* donation.arranged: a new list of the arguments, which are checked, with those that are donated in
   a Donated before the others. */
static PyObject *arranged(PyObject *arguments, PyObject *donate)
{
    Py_ssize_t taken = PyTuple_GET_SIZE(donate), n = PyList_GET_SIZE(arguments);
    PyObject *donated = PyList_New(taken), *made = PyList_New(1 + n - taken), *first = NULL;
    char *is_taken = PyMem_Calloc(n ? n : 1, 1);
    for (Py_ssize_t k = 0; donated && made && is_taken && k < taken; k++) {
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(donate, k));
        PyList_SET_ITEM(donated, k, Py_NewRef(PyList_GET_ITEM(arguments, place)));
        is_taken[place] = 1;
    }
    if (donated && made && is_taken) {
        for (Py_ssize_t i = 0, k = 1; i < n && k <= n - taken; i++)
            if (!is_taken[i])
                PyList_SET_ITEM(made, k++, Py_NewRef(PyList_GET_ITEM(arguments, i)));
        first = donated_of(donated);
    } else if (!PyErr_Occurred())
        PyErr_NoMemory();
    PyMem_Free(is_taken);
    Py_XDECREF(donated);
    if (first)
        PyList_SET_ITEM(made, 0, first);
    else
        Py_CLEAR(made);
    return made;
}
