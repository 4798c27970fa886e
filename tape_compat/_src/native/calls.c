/* Whether an argument is a part of the key as it is; see signature.LITERALS. */
static int is_literal(PyObject *value)
{
    return value == Py_None || PyLong_CheckExact(value) || PyBool_Check(value) ||
           PyFloat_CheckExact(value) || PyUnicode_CheckExact(value);
}

/* The key of arguments, and the tensors among them as a new list; NULL without an error where
   Python is to take them apart. */
static PyObject *key_of(PyObject *const *args, Py_ssize_t n, PyObject *tensors)
{
    PyObject *key = PyTuple_New(n);
    for (Py_ssize_t i = 0; key && i < n; i++) {
        PyObject *part = args[i];
        int is_input = Py_TYPE(part) == Tensor.type && is_tensor(part);
        if (is_input) {
            part = SLOT(part, Tensor._aval);
            is_input = SLOT(part, Aval.dtype) != python.string && !PyList_Append(tensors, args[i]);
        }
        if (is_input || is_literal(part))
            PyTuple_SET_ITEM(key, i, Py_NewRef(part));
        else
            Py_CLEAR(key);
    }
    return key;
}

/* The trace of a function for arguments of which no binding is needed, a new reference, if it runs
   as it was recorded; NULL without an error where Python is to find it. */
static PyObject *trace_of(PyObject *quick, PyObject *const *args, Py_ssize_t n, PyObject *tensors)
{
    if (n < PyLong_AsSsize_t(SLOT(quick, Quick.least)) ||
        n > PyLong_AsSsize_t(SLOT(quick, Quick.most)))
        return NULL;
    PyObject *key = key_of(args, n, tensors);
    if (!key)
        return NULL;
    PyObject *trace = Py_XNewRef(PyDict_GetItemWithError(SLOT(quick, Quick.traces), key));
    Py_DECREF(key);
    if (trace && (Py_TYPE(trace) != Trace.type || SLOT(trace, Trace.plain) != Py_True))
        Py_CLEAR(trace);
    return trace;
}

/* Note one more call of a function. */
static int note_call(PyObject *quick)
{
    PyObject *retracing = SLOT(quick, Quick.retracing);
    PyObject *calls = PyNumber_Add(SLOT(retracing, Retracing.calls), one);
    if (calls)
        Py_XSETREF(SLOT(retracing, Retracing.calls), calls);
    return calls ? 0 : -1;
}

/* Run what is pending, which a function has recorded; if it fails, it is as if it had not been. */
static int run_or_give_up(PyObject *owner)
{
    PyObject *done = native_run(NULL, owner);
    Py_XDECREF(done);
    if (done)
        return 0;
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyObject *given_up = PyObject_CallOneArg(python.give_up, owner);
        if (given_up)
            PyErr_Restore(type, value, traceback);
        else {
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
        }
        Py_XDECREF(given_up);
    }
    return -1;
}

/* The outputs of a call as the function returned them: see trace.Results. Takes the reference. */
static PyObject *packed(PyObject *results, PyObject *outputs)
{
    PyObject *answer;
    if (!PyTuple_CheckExact(outputs))
        answer = PyObject_CallMethodOneArg(results, text.packed, outputs);
    else if (SLOT(results, Results.single) == Py_True && PyTuple_GET_SIZE(outputs) == 1)
        answer = Py_NewRef(PyTuple_GET_ITEM(outputs, 0));
    else if (SLOT(results, Results.nothing) == Py_True)
        answer = Py_NewRef(Py_None);
    else
        answer = PyObject_CallMethodOneArg(results, text.packed, outputs);
    Py_DECREF(outputs);
    return answer;
}

/* Trace.call of one that runs as it was recorded, where nothing is recorded. */
static PyObject *call_trace(PyObject *current, PyObject *trace, PyObject *tensors)
{
    PyObject *captured = SLOT(trace, Trace.captured); /* closure, sources, result, cells */
    PyObject *args[] = {PyTuple_GET_ITEM(captured, 0), tensors, PyTuple_GET_ITEM(captured, 1),
                        PyTuple_GET_ITEM(captured, 3)};
    if (SLOT(current, ThreadState.program) != Py_None) {
        PyObject *begun = PyObject_CallNoArgs(python.begin_step);
        if (!begun)
            return NULL;
        Py_DECREF(begun);
    }
    Py_INCREF(captured);
    put(current, ThreadState.origin, SLOT(trace, Trace._origin));
    put(current, ThreadState.deferring, Py_True); /* no recorder is told which variables are read */
    PyObject *outputs = native_call_captured(NULL, args, 4);
    put(current, ThreadState.deferring, Py_False);
    Py_DECREF(captured);
    PyObject *owner = outputs ? Py_NewRef(SLOT(current, ThreadState.program)) : Py_None;
    if (outputs && owner != Py_None && run_or_give_up(owner))
        Py_CLEAR(outputs);
    if (outputs)
        Py_DECREF(owner);
    return outputs ? packed(SLOT(trace, Trace.results), outputs) : NULL;
}

/* Whether functions run what was recorded, and nobody wants to know which. */
static int as_usual(void)
{
    PyObject *as_python = PyObject_GetAttr(python.mode, text.python);
    PyObject *graphs = as_python ? PyObject_GetAttr(python.called, text.graphs) : NULL;
    int usual = as_python == Py_False && graphs == Py_None;
    Py_XDECREF(as_python);
    Py_XDECREF(graphs);
    return usual;
}

/* function.Function.__call__ */
static PyObject *traced_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Py_ssize_t n = PyVectorcall_NARGS(nargsf) - 1;
    if (n < 0 || names || !Trace.type)
        return python_call(self, args, nargsf, names);
    PyObject *current = thread_state(), *out = NULL;
    if (!current)
        return NULL;
    PyObject *quick = NULL, *tensors = NULL, *trace = NULL;
    if (SLOT(current, ThreadState.deferring) == Py_False && as_usual() &&
        (quick = PyObject_GetAttr(args[0], text._quick)) && Py_TYPE(quick) == Quick.type &&
        (tensors = PyList_New(0)) && (trace = trace_of(quick, args + 1, n, tensors)) &&
        !note_call(quick))
        out = call_trace(current, trace, tensors);
    int general = !trace && !PyErr_Occurred();
    Py_XDECREF(trace);
    Py_XDECREF(tensors);
    Py_XDECREF(quick);
    Py_DECREF(current);
    return general ? python_call(self, args, nargsf, names) : out;
}
