/* NumPy's array of a Python number. Those made last are kept: a program has few numbers. */
static PyObject *number_array(PyObject *value, PyObject *dtype)
{
    static struct { PyObject *value, *dtype, *array; } kept[64], before;
    int keep = PyFloat_CheckExact(value) || PyLong_CheckExact(value);
    size_t i = ((size_t)value >> 4) % (sizeof kept / sizeof *kept);
    if (keep && kept[i].value == value && kept[i].dtype == dtype)
        return Py_NewRef(kept[i].array);
    PyObject *array = PyObject_CallFunctionObjArgs(python.array, value, dtype, NULL);
    if (array && keep) {
        before = kept[i];
        kept[i].value = Py_NewRef(value);
        kept[i].dtype = Py_NewRef(dtype);
        kept[i].array = Py_NewRef(array);
        Py_XDECREF(before.value);
        Py_XDECREF(before.dtype);
        Py_XDECREF(before.array);
    }
    return array;
}

/* Notify the recorders of a call with a number, which is the leaf in a slot. */
static int record_scalar(PyObject *recorders, PyObject *closure, PyObject *x, PyObject *value,
                         int reflected, Py_ssize_t slot, PyObject *out, PyObject *child)
{
    int found = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(recorders) && !found; i++)
        found = tracks(PyTuple_GET_ITEM(recorders, i), &x, 1);
    if (found <= 0)
        return found;
    /* The pullback may want the number: it is in the slot of the leaf. */
    PyObject *aval = SLOT(SLOT(x, Tensor._aval), Aval.scalar), *number = NULL;
    PyObject *array = number_array(value, SLOT(aval, Aval.np_dtype));
    if (array)
        number = pending(aval, PLACE(out)->program, slot, zero);
    int failed = -1;
    if (number) {
        Py_SETREF(SLOT(number, Tensor._array), Py_NewRef(array));
        PyObject *inputs[2] = {reflected ? number : x, reflected ? x : number};
        failed = notify(recorders, closure, NULL, inputs, 2, out, child);
    }
    Py_XDECREF(number);
    Py_XDECREF(array);
    return failed;
}

/* What stands in the log for a number, and an array if it comes with a leaf: (child, arrays,
   (value,)). An edge keeps the number that was written there last, then the entry of one that comes
   again: that of a constant in the program. */
static PyObject *scalar_entry(Edge *edge, PyObject *array, PyObject *value)
{
    PyObject *kept = edge->number;
    int keep = !array && (PyFloat_CheckExact(value) || PyLong_CheckExact(value));
    int again = keep && kept == value;
    if (keep && kept && PyTuple_CheckExact(kept) &&
        PyTuple_GET_ITEM(PyTuple_GET_ITEM(kept, 2), 0) == value)
        return Py_NewRef(kept);
    PyObject *arrays = array ? tuple_of(&array, 1) : Py_NewRef(empty);
    PyObject *scalars = arrays ? untracked(tuple_of(&value, 1)) : NULL;
    PyObject *entry = scalars ? PyTuple_New(3) : NULL;
    if (entry) {
        PyTuple_SET_ITEM(entry, 0, Py_NewRef(edge->child));
        PyTuple_SET_ITEM(entry, 1, Py_NewRef(arrays));
        PyTuple_SET_ITEM(entry, 2, Py_NewRef(scalars));
        if (!again)
            untracked(entry); /* what the edge keeps leads to the node again */
        if (keep)
            Py_XSETREF(edge->number, Py_NewRef(again ? entry : value));
    }
    Py_XDECREF(arrays);
    Py_XDECREF(scalars);
    return entry;
}

static PyObject *scalar_to(PyObject *closure, PyObject *x, PyObject *value, int reflected)
{
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    PyObject *owner = program_for(current, &x, 1);
    PyObject *log = NULL, *out = NULL;
    Edge *edge = NULL;
    uintptr_t part;
    Py_ssize_t length = 0;
    int is_leaf = 0;
    if (owner && Py_TYPE(owner) == Program.type && parts_of(&x, 1, owner, &part, &is_leaf) &&
        is_leaf != SCALAR_LEAF) {
        PyObject *kind = SLOT(SLOT(SLOT(x, Tensor._aval), Aval.scalar), Aval.packed);
        uintptr_t parts[2] = {part, (uintptr_t)kind};
        if (reflected) {
            parts[0] = (uintptr_t)kind;
            parts[1] = part;
        }
        log = Py_NewRef(SLOT(owner, Program.log));
        length = PyList_GET_SIZE(log);
        edge = edge_of(log, closure, parts, 2);
    }
    int failed = !edge && PyErr_Occurred();
    if (edge && !edge->aval)
        Py_CLEAR(edge);
    if (edge) {
        PyObject *array = is_leaf ? Py_NewRef(SLOT(x, Tensor._array)) : NULL;
        PyObject *entry = scalar_entry(edge, array, value);
        out = entry ? outputs_of(edge, owner, NULL) : NULL;
        int appended = out ? append(current, owner, log, length, entry, out) : -1;
        Py_XDECREF(entry);
        Py_XDECREF(array);
        failed = appended < 0;
        Py_ssize_t slot = edge->first - edge->leaves;
        if (appended > 0 && is_leaf)
            put_leaf(x, owner, slot + reflected);
        if (!appended)
            Py_CLEAR(edge);
        else if (!failed && edge->differentiable) {
            PyObject *recorders = Py_NewRef(SLOT(current, ThreadState.recorders));
            failed = record_scalar(recorders, closure, x, value, reflected,
                                   slot + (is_leaf && !reflected), out, edge->child);
            Py_DECREF(recorders);
        }
    }
    if (failed || !edge)
        Py_CLEAR(out);
    if (!failed && !edge)
        out = PyObject_CallFunctionObjArgs(python.apply_scalar, closure, x, value,
                                           reflected ? Py_True : Py_False, NULL);
    Py_XDECREF(edge);
    Py_XDECREF(log);
    Py_XDECREF(owner);
    Py_DECREF(current);
    return out;
}

static PyObject *native_apply_scalar(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 4 || !is_tensor(args[1]))
        return refuse("apply_scalar(closure, tensor, number, reflected)");
    return scalar_to(args[0], args[1], args[2], args[3] == Py_True);
}
