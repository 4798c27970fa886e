/* Whether a part of a key is the slot of a tensor in a program; if `wrapped` in a tuple. */
static int is_slot(PyObject *part, PyObject *x, PyObject *owner, int wrapped)
{
    if (wrapped != PyTuple_CheckExact(part) || PLACE(x)->program != owner)
        return 0;
    part = wrapped ? PyTuple_GET_ITEM(part, 0) : part;
    return PyLong_AsSsize_t(part) == PLACE(x)->slot;
}

/* Whether a key of a splice is that of a gradient: ("gradient", tape.structure_key(...)). -1 for an
   error. */
static int is_key(PyObject *key, PyObject *owner, PyObject *calls, PyObject *target,
                  PyObject *const *sources, Py_ssize_t n, PyObject *tracked, PyObject *reads)
{
    Py_ssize_t length = PyList_GET_SIZE(calls) / 4;
    if (PyTuple_GET_ITEM(key, 0) != text.gradient)
        return 0;
    key = PyTuple_GET_ITEM(key, 1);
    if (PyTuple_GET_SIZE(key) != length + n + 3)
        return 0;
    PyObject **parts = ((PyTupleObject *)key)->ob_item;
    for (Py_ssize_t i = 0; i < length; i++)
        if (parts[i] != PyList_GET_ITEM(calls, 4 * i + 3))
            return 0;
    parts += length;
    if (parts[0] != Py_None || parts[2] != Py_None || !is_slot(parts[1], target, owner, 0))
        return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *x = sources[i], *id;
        if (Py_TYPE(x) == Tensor.type && is_tensor(x))
            id = SLOT(x, Tensor._id);
        else if (Variable.type && PyObject_TypeCheck(x, Variable.type) &&
                 SLOT(x, Variable._handle)) {
            id = SLOT(SLOT(x, Variable._handle), Handle.id);
            x = PyDict_GetItemWithError(reads, id);
            if (!x)
                return PyErr_Occurred() ? -1 : 0;
        } else
            return 0;
        int known = PySet_Contains(tracked, id);
        if (known < 0 || !is_slot(parts[i + 3], x, owner, !known))
            return known < 0 ? -1 : 0;
    }
    return 1;
}

/* GradientTape() */
static PyObject *init_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    if (PyVectorcall_NARGS(nargsf) != 1 || (names && PyTuple_GET_SIZE(names)) ||
        !PyObject_TypeCheck(args[0], GradientTape.type))
        return python_call(self, args, nargsf, names);
    PyObject *made = args[0], *watched = PyDict_New();
    if (!watched)
        return NULL;
    put(made, GradientTape._persistent, Py_False);
    put(made, GradientTape._watch_accessed_variables, Py_True);
    put(made, GradientTape._record, Py_None);
    put(made, GradientTape.ids, python.no_ids);
    put(made, GradientTape.reads, python.no_reads);
    put(made, GradientTape._recording, Py_False);
    put(made, GradientTape._watched, watched);
    put(made, GradientTape._used_at, Py_None);
    put(made, GradientTape._warned, Py_False);
    Py_DECREF(watched);
    Py_RETURN_NONE;
}

/* The code object that calls, borrowed from its frame, and the instruction in it. */
static int caller(PyObject **code, int *instruction)
{
    PyFrameObject *frame = PyEval_GetFrame();
    if (!frame)
        return 0;
    *code = (PyObject *)PyFrame_GetCode(frame);
    Py_DECREF(*code);
    *instruction = PyFrame_GetLasti(frame);
    return 1;
}

/* A tape gets an empty record, where GradientTape._push makes one. */
static int begin_record(PyObject *made)
{
    PyObject *record = Record.type->tp_alloc(Record.type, 0);
    PyObject *ids = PySet_New(NULL), *reads = PyDict_New();
    PyObject *calls = PyList_New(0), *variables = PyDict_New(), *escapes = PyList_New(0);
    int failed = !record || !ids || !reads || !calls || !variables || !escapes;
    if (!failed) {
        put(record, Record.calls, calls);
        put(record, Record.program, Py_None);
        put(record, Record.variables, variables);
        put(record, Record.reassigned, Py_False);
        put(record, Record.escapes, escapes);
        put(made, GradientTape._record, record);
        put(made, GradientTape.ids, ids);
        put(made, GradientTape.reads, reads);
    }
    DROP(record, ids, reads, calls, variables, escapes);
    return failed ? -1 : 0;
}

/* A tape with its parts: GradientTape.__new__ alone gives none. */
static int is_tape(PyObject *object)
{
    return Py_TYPE(object) == GradientTape.type && SLOT(object, GradientTape._record) &&
           SLOT(object, GradientTape._recording) && SLOT(object, GradientTape.ids) &&
           SLOT(object, GradientTape.reads);
}

/* GradientTape.__enter__ */
static PyObject *enter_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    PyObject *entered = args[0], *code;
    int instruction;
    if (PyVectorcall_NARGS(nargsf) != 1 || names || !is_tape(entered) ||
        SLOT(entered, GradientTape._recording) != Py_False || !caller(&code, &instruction))
        return python_call(self, args, nargsf, names);
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    int failed = 0;
    if (SLOT(current, ThreadState.deferring) != Py_True) {
        if (SLOT(current, ThreadState.program) != Py_None) {
            PyObject *done = PyObject_CallNoArgs(python.begin_step);
            failed = !done;
            Py_XDECREF(done);
        }
        PyObject *origin = failed ? NULL : Py_BuildValue("Ni", PyLong_FromVoidPtr(code),
                                                         instruction);
        if (origin)
            put(current, ThreadState.origin, origin);
        failed = !origin;
        Py_XDECREF(origin);
    }
    if (!failed && SLOT(entered, GradientTape._record) == Py_None)
        failed = begin_record(entered);
    PyObject *before = Py_NewRef(SLOT(current, ThreadState.recorders));
    PyObject *own = failed ? NULL : tuple_of(&entered, 1);
    PyObject *recorders = own ? PySequence_Concat(before, own) : NULL;
    Py_XDECREF(own);
    if (recorders) {
        put(entered, GradientTape._recording, Py_True);
        put(current, ThreadState.recorders, recorders);
        put(current, ThreadState.deferring, Py_True);
        Py_DECREF(recorders);
    }
    DROP(before, current);
    return recorders ? Py_NewRef(entered) : NULL;
}

/* GradientTape.__exit__, of the tape that was entered last. */
static PyObject *exit_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Py_ssize_t given = PyVectorcall_NARGS(nargsf);
    if (given < 1 || names || !is_tape(args[0]) ||
        SLOT(args[0], GradientTape._recording) != Py_True)
        return python_call(self, args, nargsf, names);
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    PyObject *before = Py_NewRef(SLOT(current, ThreadState.recorders));
    Py_ssize_t n = PyTuple_GET_SIZE(before);
    int last = n && PyTuple_GET_ITEM(before, n - 1) == args[0];
    for (Py_ssize_t i = 0; i < n - 1; i++)
        last = last && PyTuple_GET_ITEM(before, i) != args[0];
    PyObject *recorders = last ? PyTuple_GetSlice(before, 0, n - 1) : NULL;
    if (recorders) {
        put(current, ThreadState.recorders, recorders);
        put(current, ThreadState.deferring,
            n > 1 || SLOT(current, ThreadState.capture) != Py_None ? Py_True : Py_False);
        put(args[0], GradientTape._recording, Py_False);
        Py_DECREF(recorders);
    }
    DROP(before, current);
    if (recorders)
        Py_RETURN_NONE;
    return last ? NULL : python_call(self, args, nargsf, names);
}

/* A sequence found in Node.splices, appended to the log it was found for: its answers, a new list.
   NULL without an error if it came too late, as in `append`. See record.splice. */
static PyObject *spliced(PyObject *current, PyObject *owner, PyObject *found, PyObject *log,
                        Py_ssize_t length)
{
    PyObject *slots = PyTuple_GET_ITEM(found, 1), *answers = answers_of(owner, slots);
    if (!answers)
        return NULL;
    if (PyList_GET_SIZE(log) != length || SLOT(owner, Program.log) != log ||
        PyList_Append(log, PyTuple_GET_ITEM(found, 0)) ||
        append_references(owner, slots, answers) || SLOT(current, ThreadState.program) != owner)
        Py_CLEAR(answers);
    return answers;
}

/* The derivatives that were found in Node.splices, likewise: the answers of a sequence, or what a
   remember.SlicedSequence makes of those of its own. */
static PyObject *derivatives(PyObject *current, PyObject *owner, PyObject *found, PyObject *log,
                             Py_ssize_t length, PyObject *calls)
{
    if (PyTuple_CheckExact(found))
        return spliced(current, owner, found, log, length);
    PyObject *made = spliced(current, owner, PyTuple_GET_ITEM(found, 0), log, length);
    PyObject *answers =
        made ? PyObject_CallMethodObjArgs(found, text.answers, made, calls, NULL) : NULL;
    Py_XDECREF(made);
    return answers;
}

/* GradientTape.gradient(target, sources) of one tensor, by one tensor or variable or a list or tuple
   of them, after the `with` block: what tape._remembered finds. */
static PyObject *remembered_gradient(PyObject *self, PyObject *current, PyObject *record,
                                     PyObject *target, PyObject *const *sources, Py_ssize_t n)
{
    PyObject *owner = SLOT(current, ThreadState.program);
    if (Py_TYPE(owner) != Program.type || owner != SLOT(record, Record.program) ||
        PyTuple_GET_SIZE(SLOT(current, ThreadState.recorders)) ||
        SLOT(record, Record.reassigned) != Py_False || SLOT(owner, Program.moved) != Py_False ||
        PyList_GET_SIZE(SLOT(owner, Program.aliases)))
        return NULL;
    PyObject *immediate = PyObject_GetAttr(python.mode, text.immediate);
    Py_XDECREF(immediate);
    if (immediate != Py_False)
        return NULL;
    Py_INCREF(owner);
    PyObject *log = Py_NewRef(SLOT(owner, Program.log)), *calls = SLOT(record, Record.calls);
    PyObject *ids = SLOT(self, GradientTape.ids), *reads = SLOT(self, GradientTape.reads);
    PyObject *key, *value, *found = NULL, *answers = NULL;
    Py_ssize_t length = PyList_GET_SIZE(log), place = 0;
    if (PySet_CheckExact(ids) && PyDict_CheckExact(reads) && PyList_CheckExact(calls) && length) {
        /* A few: to compare is cheaper than to hash thousands of nodes. */
        PyObject *last = end_of(log);
        while (!found && PyDict_Next(SLOT(last, Node.splices), &place, &key, &value)) {
            int same = is_key(key, owner, calls, target, sources, n, ids, reads);
            if (same < 0)
                break;
            found = same ? Py_NewRef(value) : NULL;
        }
    }
    if (found)
        answers = derivatives(current, owner, found, log, length, calls);
    DROP(found, log, owner);
    return answers;
}

/* GradientTape._finish */
static int finish(PyObject *used, PyObject *record, PyObject *code, int instruction)
{
    PyObject *used_at = Py_BuildValue("OOi", text.gradient, code, instruction);
    if (!used_at)
        return -1;
    put(used, GradientTape._watched, SLOT(record, Record.variables));
    put(used, GradientTape._used_at, used_at);
    put(used, GradientTape.ids, python.no_ids);
    put(used, GradientTape.reads, python.no_reads);
    put(used, GradientTape._record, Py_None);
    Py_DECREF(used_at);
    return 0;
}

static PyObject *gradient_call(PyObject *self, PyObject *const *args, size_t nargsf,
                               PyObject *names)
{
    PyObject *code, *answers = NULL;
    int instruction;
    if (PyVectorcall_NARGS(nargsf) != 3 || names || !is_tape(args[0]) ||
        SLOT(args[0], GradientTape._recording) != Py_False ||
        SLOT(args[0], GradientTape._record) == Py_None ||
        Py_TYPE(args[1]) != Tensor.type || !caller(&code, &instruction))
        return python_call(self, args, nargsf, names);
    int one = are_inputs(args + 2, 1), is_tuple = PyTuple_CheckExact(args[2]);
    if (!one && !is_tuple && !PyList_CheckExact(args[2]))
        return python_call(self, args, nargsf, names);
    PyObject *sources = one ? tuple_of(args + 2, 1) : PySequence_Tuple(args[2]);
    PyObject *current = sources ? thread_state() : NULL;
    PyObject *record = Py_NewRef(SLOT(args[0], GradientTape._record));
    if (current && are_inputs(((PyTupleObject *)sources)->ob_item, PyTuple_GET_SIZE(sources)))
        answers = remembered_gradient(args[0], current, record, args[1],
                                      ((PyTupleObject *)sources)->ob_item,
                                      PyTuple_GET_SIZE(sources));
    if (answers && SLOT(args[0], GradientTape._persistent) != Py_True &&
        finish(args[0], record, code, instruction))
        Py_CLEAR(answers);
    DROP(sources, current, record);
    if (answers && one)
        Py_SETREF(answers, Py_NewRef(PyList_GET_ITEM(answers, 0)));
    else if (answers && is_tuple)
        Py_SETREF(answers, PyList_AsTuple(answers));
    if (answers || PyErr_Occurred())
        return answers;
    return python_call(self, args, nargsf, names);
}
