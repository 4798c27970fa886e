/* Whether all are tensors with their parts, or variables, and of these classes themselves. */
static int are_inputs(PyObject *const *args, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (Py_TYPE(args[i]) == Tensor.type ? !is_tensor(args[i])
                                            : Py_TYPE(args[i]) != Variable.type)
            return 0;
    return 1;
}

/* GradientTape.variable_accessed */
static int record_read(PyObject *recorder, PyObject *read, PyObject *key, PyObject *value)
{
    PyObject *reads = SLOT(recorder, GradientTape.reads);
    PyObject *kept = SLOT(recorder, GradientTape._record);
    PyObject *before = PyDict_GetItemWithError(reads, key);
    if (!before && PyErr_Occurred())
        return -1;
    if (before == value || kept == Py_None)
        return 0;
    if (before)
        Py_SETREF(SLOT(kept, Record.reassigned), Py_NewRef(Py_True));
    else {
        PyObject *variables = SLOT(kept, Record.variables);
        int found = PyDict_Contains(variables, key);
        if (found < 0)
            return -1;
        if (!found) {
            if (SLOT(recorder, GradientTape._watch_accessed_variables) != Py_True ||
                SLOT(read, Variable._trainable) != Py_True)
                return 0;
            if (PyDict_SetItem(variables, key, read))
                return -1;
            if (SLOT(SLOT(value, Tensor._aval), Aval.trainable) == Py_True &&
                PySet_Add(SLOT(recorder, GradientTape.ids), key))
                return -1;
        }
    }
    return PyDict_SetItem(reads, key, value);
}

/* read(variable): its tensor, after notifying the recorders. */
static PyObject *native_read(PyObject *module, PyObject *read)
{
    if (!Variable.type || !PyObject_TypeCheck(read, Variable.type))
        return refuse("read(variable)");
    PyObject *handle = SLOT(read, Variable._handle);
    if (!handle) {
        PyErr_SetString(PyExc_AttributeError, "a Variable is read before its __init__: _handle");
        return NULL;
    }
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    if (SLOT(current, ThreadState.capture) != Py_None) { /* which knows what it holds */
        Py_DECREF(current);
        return PyObject_CallOneArg(python.read, read);
    }
    PyObject *recorders = Py_NewRef(SLOT(current, ThreadState.recorders));
    PyObject *value = Py_NewRef(SLOT(handle, Handle.tensor));
    int failed = 0;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(recorders); i++) {
        PyObject *recorder = PyTuple_GET_ITEM(recorders, i);
        if (Py_TYPE(recorder) == GradientTape.type &&
            PyBool_Check(SLOT(recorder, GradientTape._watch_accessed_variables)))
            failed = record_read(recorder, read, SLOT(handle, Handle.id), value);
        else {
            PyObject *done = PyObject_CallMethodOneArg(recorder, text.variable_accessed, read);
            failed = !done;
            Py_XDECREF(done);
        }
    }
    DROP(recorders, current);
    if (failed)
        Py_CLEAR(value);
    return value;
}

/* Variable._set: the variable of a handle now holds a tensor of its identity. */
static int set_value(PyObject *current, PyObject *handle, PyObject *value)
{
    PyObject *before = SLOT(handle, Handle.tensor), *slot = NULL;
    PyObject *owner = PLACE(before)->program, *into = PLACE(value)->program;
    SLOT(handle, Handle.tensor) = Py_NewRef(value);
    int failed = 0;
    if (SLOT(value, Tensor._array) == Py_None && Py_TYPE(into) == Program.type) {
        PyObject *held = into == owner ? PyLong_FromSsize_t(PLACE(before)->slot)
                                       : Py_NewRef(before), *changed = SLOT(into, Program.changed);
        failed = !held || PyList_Append(changed, SLOT(handle, Handle.id)) ||
                 PyList_Append(changed, held);
        Py_XDECREF(held);
    }
    /* The overwritten buffer may be reused, if the pending program reads it as a leaf. */
    if (!failed && owner != Py_None && owner == SLOT(current, ThreadState.program) &&
        SLOT(before, Tensor._array) != Py_None) {
        slot = PyLong_FromSsize_t(PLACE(before)->slot);
        failed = !slot || PyList_Append(SLOT(owner, Program.donatable), slot);
        Py_XDECREF(slot);
    }
    Py_DECREF(before);
    return failed ? -1 : 0;
}

/* A variable gets what a closure gives of its value, the first of the inputs, and others, with no
   recorder notified: 1, -1 for an error. */
static int updated(PyObject *current, PyObject *handle, PyObject *closure, PyObject **inputs,
                   Py_ssize_t n)
{
    PyObject *recorders = Py_NewRef(SLOT(current, ThreadState.recorders));
    PyObject *id = Py_NewRef(SLOT(handle, Handle.id));
    Py_INCREF(inputs[0]);
    put(current, ThreadState.recorders, empty);
    PyObject *out = apply_to(&(Call){closure, inputs, n}, id);
    put(current, ThreadState.recorders, recorders);
    int failed = !out;
    if (out && !is_tensor(out)) {
        PyErr_SetString(PyExc_TypeError, "an update gives no single tensor");
        failed = 1;
    }
    if (!failed) {
        put(out, Tensor._id, id);
        failed = set_value(current, handle, out);
    }
    DROP(out, id, recorders);
    Py_DECREF(inputs[0]);
    return failed ? -1 : 1;
}

/* The same with a delta of the variable's aval: 0 if it is for Variable.assign_add to see. */
static int added(PyObject *current, PyObject *handle, PyObject *closure, PyObject *delta)
{
    PyObject *inputs[] = {SLOT(handle, Handle.tensor), delta};
    if (SLOT(inputs[0], Tensor._aval) != SLOT(delta, Tensor._aval))
        return 0;
    return updated(current, handle, closure, inputs, 2);
}

/* The same with rows of IndexedSlices: 0 if it is for Variable._scatter to see. */
static int scattered(PyObject *current, PyObject *handle, PyObject *closure, PyObject *slices)
{
    PyObject *values = PyObject_GetAttr(slices, text.values);
    PyObject *indices = values ? PyObject_GetAttr(slices, text.indices) : NULL;
    PyObject *held = Py_NewRef(SLOT(handle, Handle.tensor));
    int done = 0;
    if (!indices && !PyErr_ExceptionMatches(PyExc_AttributeError))
        done = -1;
    else if (!indices)
        PyErr_Clear();
    else if (Py_TYPE(indices) == Tensor.type && is_tensor(indices) &&
             Py_TYPE(values) == Tensor.type && is_tensor(values) &&
             SLOT(SLOT(values, Tensor._aval), Aval.dtype) == SLOT(handle, Handle.dtype) &&
             are_rows(indices, held) && SLOT(handle, Handle.tensor) == held)
        done = updated(current, handle, closure, (PyObject *[]){held, indices, values}, 3);
    DROP(held, indices, values);
    return done;
}

/* A variable gets the value of a tensor of its shape and dtype: 1, -1 for an error, 0 if it is for
   Variable.assign to see. Only the owner of a pending program may ask it for the value without its
   lock; see tensor.same_value. */
static int assigned(PyObject *current, PyObject *handle, PyObject *value)
{
    PyObject *aval = SLOT(value, Tensor._aval), *owner = PLACE(value)->program;
    int is_pending = SLOT(value, Tensor._array) == Py_None;
    if (SLOT(aval, Aval.dtype) != SLOT(handle, Handle.dtype) ||
        SLOT(aval, Aval._tensor_shape) != SLOT(handle, Handle.shape) ||
        (is_pending &&
         (Py_TYPE(owner) != Program.type || owner != SLOT(current, ThreadState.program))))
        return 0;
    Py_INCREF(owner);
    PyObject *same = pending(aval, owner, PLACE(value)->slot, SLOT(handle, Handle.id));
    PyObject *reference = same && is_pending ? untracked(PyWeakref_NewRef(same, NULL)) : NULL;
    int done = same && (reference || !is_pending) ? 1 : -1;
    if (done > 0 && SLOT(value, Tensor._array) != Py_None) {
        put(same, Tensor._array, SLOT(value, Tensor._array));
        set_place(same, Py_None, -1);
    } else if (done > 0 && SLOT(current, ThreadState.program) != owner)
        done = 0;
    else if (done > 0)
        done = PyList_Append(SLOT(owner, Program.aliases), reference) ? -1 : 1;
    if (done > 0 && set_value(current, handle, same))
        done = -1;
    DROP(reference, same, owner);
    return done;
}

/* What a method gives that has changed a variable. */
static PyObject *changed(PyObject *variable)
{
    PyObject *view = SLOT(variable, Variable._view);
    return view && view != Py_None ? Py_NewRef(view)
                                   : PyObject_CallMethodOneArg(variable, text._unread, Py_True);
}

/* How a variable is changed by a value: 1, -1 for an error, 0 if it is for Python to see. */
typedef int (*Change)(PyObject *current, PyObject *handle, PyObject *closure, PyObject *value);

/* A method of a variable that takes one value. */
static PyObject *change_call(Change change, PyObject *self, PyObject *const *args, size_t nargsf,
                             PyObject *names)
{
    PyObject *handle;
    if (PyVectorcall_NARGS(nargsf) != 2 || names || Py_TYPE(args[0]) != Variable.type ||
        !(handle = SLOT(args[0], Variable._handle)))
        return python_call(self, args, nargsf, names);
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    int done = 0;
    Py_INCREF(handle);
    if (SLOT(current, ThreadState.capture) == Py_None) /* which keeps what a cell held */
        done = change(current, handle, ((Function *)self)->closure, args[1]);
    DROP(handle, current);
    if (done <= 0)
        return done ? NULL : python_call(self, args, nargsf, names);
    return changed(args[0]);
}

/* By a tensor; to it where there is no closure. */
static int changed_by_tensor(PyObject *current, PyObject *handle, PyObject *closure,
                             PyObject *value)
{
    if (Py_TYPE(value) != Tensor.type || !is_tensor(value))
        return 0;
    return closure == Py_None ? assigned(current, handle, value)
                              : added(current, handle, closure, value);
}

/* Variable.assign_add and assign_sub, and assign, which has no closure. */
static PyObject *update_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    return change_call(changed_by_tensor, self, args, nargsf, names);
}

/* Variable.scatter_add and its like. */
static PyObject *scatter_call(PyObject *self, PyObject *const *args, size_t nargsf,
                              PyObject *names)
{
    return change_call(scattered, self, args, nargsf, names);
}

/* What a source gives now, a new reference: see capture.Source. */
static PyObject *source_value(PyObject *source)
{
    if (Py_TYPE(source) == Tensor.type)
        return Py_NewRef(source);
    if (Py_TYPE(source) == Handle.type) {
        PyObject *x = SLOT(source, Handle.tensor);
        int number = x && (PyObject *)Py_TYPE(SLOT(x, Tensor._array)) == python.ndarray &&
                     SLOT(SLOT(x, Tensor._aval), Aval.packed) != Py_None;
        return number ? PyObject_CallOneArg(python.as_result, x) : Py_XNewRef(x);
    }
    PyObject *draw = PyObject_GetAttr(source, text.draw);
    PyObject *drawn = draw ? PyObject_CallNoArgs(draw) : NULL;
    Py_XDECREF(draw);
    return drawn;
}

/* The inputs of what was captured: tensors, then what the sources give. NULL without an error if
   they are for Python to see. */
static PyObject *captured_inputs(PyObject *tensors, PyObject *sources)
{
    Py_ssize_t given = PyList_GET_SIZE(tensors), n = given + PyTuple_GET_SIZE(sources);
    PyObject *inputs = PyTuple_New(n);
    for (Py_ssize_t i = 0; inputs && i < n; i++) {
        PyObject *x = i < given ? Py_NewRef(PyList_GET_ITEM(tensors, i))
                                : source_value(PyTuple_GET_ITEM(sources, i - given));
        if (x)
            PyTuple_SET_ITEM(inputs, i, x);
        if (!x || !is_tensor(x))
            Py_CLEAR(inputs);
    }
    return inputs;
}

/* call_captured(closure, tensors, sources, cells): see capture.call_captured. */
static PyObject *native_call_captured(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 4 || !PyTuple_CheckExact(args[2]) || !PyTuple_CheckExact(args[3]) || !Handle.type)
        return refuse("call_captured(closure, tensors, sources, cells)");
    PyObject *current = thread_state(), *inputs = NULL, *out = NULL, *results = NULL;
    if (!current)
        return NULL;
    int general = SLOT(current, ThreadState.capture) != Py_None || !PyList_CheckExact(args[1]);
    if (!general && (inputs = captured_inputs(args[1], args[2]))) {
        Call call = {args[0], ((PyTupleObject *)inputs)->ob_item, PyTuple_GET_SIZE(inputs), inputs};
        out = apply_to(&call, NULL);
    }
    int failed = PyErr_Occurred() != NULL;
    Py_ssize_t cells = PyTuple_GET_SIZE(args[3]);
    Py_ssize_t count = out && PyTuple_CheckExact(out) ? PyTuple_GET_SIZE(out) - cells : 0;
    for (Py_ssize_t i = 0; !failed && out && i < cells; i++) {
        PyObject *handle = PyTuple_GET_ITEM(args[3], i), *x = PyTuple_GET_ITEM(out, count + i);
        put(x, Tensor._id, SLOT(handle, Handle.id));
        failed = set_value(current, handle, x);
    }
    if (!failed)
        results = out ? PyTuple_GetSlice(out, 0, count)
                      : PyObject_Vectorcall(python.call_captured, args, n, NULL);
    DROP(out, inputs, current);
    return results;
}
