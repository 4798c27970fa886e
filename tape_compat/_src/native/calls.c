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

/* Let a program whose run has raised the error that is set be as if it had not been recorded. */
static void give_up(PyObject *owner)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *given_up = PyObject_CallOneArg(python.give_up, owner);
    if (given_up)
        PyErr_Restore(type, value, traceback);
    else
        DROP(type, value, traceback);
    Py_XDECREF(given_up);
}

/* Run what is pending, which a function has recorded. */
static int run_or_give_up(PyObject *owner)
{
    PyObject *done = native_run(NULL, owner);
    Py_XDECREF(done);
    if (!done)
        give_up(owner);
    return done ? 0 : -1;
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

/* How a settled function is called again: Trace.plan. Its program is recorded anew for each call
   without a look at what it consists of, and is as any other while the call lasts: who wants a value
   meanwhile waits for its lock, and what fails is repaired. Nobody has it between calls, or another
   one is made. */
enum { RUNNER, PROGRAM, SLOTS, AVALS, NODE, SCALARS, VECTORS, PLAN_SIZE };
#define MOST_PLANNED 512

/* The tensor that is an input of a call. */
static PyObject *input_at(PyObject *tensors, PyObject *sources, Py_ssize_t i)
{
    Py_ssize_t given = PyList_GET_SIZE(tensors);
    PyObject *source = i < given ? PyList_GET_ITEM(tensors, i)
                                 : PyTuple_GET_ITEM(sources, i - given);
    if (Py_TYPE(source) == Handle.type)
        source = SLOT(source, Handle.tensor);
    return source && Py_TYPE(source) == Tensor.type && is_tensor(source) ? source : NULL;
}

/* The inputs of a call that bring arrays in, if these have the avals of a plan: how many, or -1. The
   others, whose aval is None there, are numbers that do not change. */
static Py_ssize_t fitting_inputs(PyObject *tensors, PyObject *sources, PyObject *avals,
                                 PyObject **inputs)
{
    Py_ssize_t n = PyTuple_GET_SIZE(avals), found = 0;
    if (n != PyList_GET_SIZE(tensors) + PyTuple_GET_SIZE(sources))
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (PyTuple_GET_ITEM(avals, i) == Py_None)
            continue;
        PyObject *x = input_at(tensors, sources, i), *array = x ? SLOT(x, Tensor._array) : Py_None;
        if (array == Py_None || (PyObject *)Py_TYPE(array) == python.ndarray ||
            SLOT(x, Tensor._aval) != PyTuple_GET_ITEM(avals, i))
            return -1;
        inputs[found++] = x;
    }
    return found;
}

/* Whether nobody else holds the buffers that a call takes. */
static int buffers_are_ours(PyObject *const *inputs, PyObject *donate)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(donate); i++) {
        PyObject *x = inputs[PyLong_AsSsize_t(PyTuple_GET_ITEM(donate, i))];
        if (Py_REFCNT(x) > 1 || Py_REFCNT(SLOT(x, Tensor._array)) > 1)
            return 0;
    }
    return 1;
}

/* Whether this thread may call what is planned now. */
static int is_ready(PyObject *current, PyObject *plan)
{
    PyObject *from = SLOT(PyTuple_GET_ITEM(plan, RUNNER), Runner.origin);
    PyObject *owner = PyTuple_GET_ITEM(plan, PROGRAM);
    if (SLOT(from, History.settled) != Py_True || Py_REFCNT(owner) != 1 ||
        SLOT(current, ThreadState.program) != Py_None ||
        SLOT(current, ThreadState.ran_now) != zero ||
        SLOT(current, ThreadState.capture) != Py_None)
        return 0;
    PyObject *immediate = PyObject_GetAttr(python.mode, text.immediate);
    Py_XDECREF(immediate);
    return immediate == Py_False;
}

/* The outputs of the program of a plan, pending; those of cells are known as their variables. */
static PyObject *planned_outputs(PyObject *plan, PyObject *cells)
{
    PyObject *node = PyTuple_GET_ITEM(plan, NODE), *avals = SLOT(node, Node.outputs);
    Py_ssize_t n = PyTuple_GET_SIZE(avals), results = n - PyTuple_GET_SIZE(cells);
    Py_ssize_t first = PyLong_AsSsize_t(SLOT(node, Node.first));
    PyObject *outputs = PyTuple_New(n), *owner = PyTuple_GET_ITEM(plan, PROGRAM);
    for (Py_ssize_t i = 0; outputs && i < n; i++) {
        PyObject *id = i < results ? NULL
                                   : SLOT(PyTuple_GET_ITEM(cells, i - results), Handle.id);
        PyObject *x = pending(PyTuple_GET_ITEM(avals, i), owner, first + i, id);
        if (x) {
            PyTuple_SET_ITEM(outputs, i, x);
            link_place(SLOT(owner, Program.refs), x);
        } else
            Py_CLEAR(outputs);
    }
    return outputs;
}

/* Let the program of a plan be recorded: its leaves are the arrays of the inputs, and its last
   outputs are in the cells. Nothing is allocated here, so no finalizer comes between. */
static void record_planned(PyObject *current, PyObject *plan, PyObject *const *inputs,
                           PyObject *cells, PyObject *arrays, PyObject *outputs, PyObject **before)
{
    PyObject *owner = PyTuple_GET_ITEM(plan, PROGRAM);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrays); i++)
        PyTuple_SET_ITEM(arrays, i, Py_NewRef(SLOT(inputs[i], Tensor._array)));
    Py_ssize_t n = PyTuple_GET_SIZE(cells), results = PyTuple_GET_SIZE(outputs) - n;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *handle = PyTuple_GET_ITEM(cells, i);
        before[i] = SLOT(handle, Handle.tensor);
        SLOT(handle, Handle.tensor) = Py_NewRef(PyTuple_GET_ITEM(outputs, results + i));
    }
    put(owner, Program.owner, current);
    put(current, ThreadState.previous, SLOT(owner, Program.origin));
}

/* What is compiled for a program takes its arrays, those that are donated before the others, then
   the vectors of numbers. */
static int launch_planned(PyObject *plan, PyObject *arrays)
{
    PyObject *used = PyTuple_GET_ITEM(plan, RUNNER), *donate = SLOT(used, Runner.donate);
    PyObject *arguments[2 * MOST_PLANNED + 1], *first = NULL, *vectors;
    Py_ssize_t taken = PyTuple_GET_SIZE(donate), n = 0;
    char is_taken[MOST_PLANNED] = {0};
    if (taken) {
        PyObject *donated = PyList_New(taken);
        for (Py_ssize_t i = 0; donated && i < taken; i++) {
            Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(donate, i));
            PyList_SET_ITEM(donated, i, Py_NewRef(PyTuple_GET_ITEM(arrays, place)));
            is_taken[place] = 1;
        }
        first = donated ? donated_of(donated) : NULL;
        Py_XDECREF(donated);
        if (!first)
            return -1;
        arguments[n++] = first;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrays); i++)
        if (!is_taken[i])
            arguments[n++] = PyTuple_GET_ITEM(arrays, i);
    vectors = PyTuple_GET_ITEM(plan, VECTORS);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(vectors); i++)
        arguments[n++] = PyTuple_GET_ITEM(vectors, i);
    int done = launch(PyTuple_GET_ITEM(plan, PROGRAM), used, PyTuple_GET_ITEM(plan, SLOTS),
                      SLOT(PyTuple_GET_ITEM(plan, NODE), Node.depth), arguments, n);
    Py_XDECREF(first);
    return done;
}

/* Hand the results of a program to its outputs, and let it be as it was: 0 if another has run it. */
static int fill_planned(PyObject *owner, PyObject *outputs)
{
    PyObject *found = SLOT(owner, Program.results);
    if (SLOT(owner, Program.ran) != Py_False || !PyList_GET_SIZE(found))
        return 0;
    PyObject *all = PySequence_Fast(PyList_GET_ITEM(found, 0), "results of a program");
    Py_ssize_t n = PyTuple_GET_SIZE(outputs);
    if (!all)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        put(PyTuple_GET_ITEM(outputs, i), Tensor._array, PySequence_Fast_GET_ITEM(all, i));
        set_place(PyTuple_GET_ITEM(outputs, i), Py_None, -1);
    }
    Py_DECREF(all);
    forget_all(SLOT(owner, Program.refs));
    return PyList_SetSlice(found, 0, PY_SSIZE_T_MAX, NULL) ||
                   PyList_SetSlice(SLOT(owner, Program.log), 1, PY_SSIZE_T_MAX, NULL)
               ? -1
               : 1;
}

/* Call what is planned with inputs that fit, as a program that is locked; what it is to be given is
   made first. 0 if the call is to go the general way, for a finalizer has come between. */
static int run_planned(PyObject *current, PyObject *plan, PyObject *tensors, PyObject *captured,
                       PyObject **outputs)
{
    PyObject *owner = PyTuple_GET_ITEM(plan, PROGRAM), *log = SLOT(owner, Program.log);
    PyObject *sources = PyTuple_GET_ITEM(captured, 1), *cells = PyTuple_GET_ITEM(captured, 3);
    PyObject *avals = PyTuple_GET_ITEM(plan, AVALS);
    PyObject *inputs[MOST_PLANNED], *before[MOST_PLANNED];
    if (SLOT(owner, Program.ran) != Py_False) /* a reader that waited found nothing left to run */
        return 0;
    Py_ssize_t n = PyTuple_GET_SIZE(avals) - PyTuple_GET_SIZE(PyTuple_GET_ITEM(plan, SCALARS));
    PyObject *arrays = PyTuple_New(n), *entry = NULL;
    if (arrays)
        entry = PyTuple_Pack(3, PyTuple_GET_ITEM(plan, NODE), arrays,
                             PyTuple_GET_ITEM(plan, SCALARS));
    *outputs = entry ? planned_outputs(plan, cells) : NULL;
    PyObject *programs = *outputs ? PyNumber_Add(SLOT(current, ThreadState.programs), one) : NULL;
    int done = programs && !PyList_Append(log, entry) ? 0 : -1;
    if (!done && fitting_inputs(tensors, sources, avals, inputs) == n &&
        buffers_are_ours(inputs, SLOT(PyTuple_GET_ITEM(plan, RUNNER), Runner.donate))) {
        record_planned(current, plan, inputs, cells, arrays, *outputs, before);
        put(current, ThreadState.programs, programs);
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cells); i++)
            Py_DECREF(before[i]);
        done = launch_planned(plan, arrays);
        if (done >= 0)
            done = done ? fill_planned(owner, *outputs) : 0;
        if (!done) {
            PyObject *ran = PyObject_CallOneArg(python.run, owner);
            done = ran ? 1 : -1;
            Py_XDECREF(ran);
        }
    } else if (!done && PyList_SetSlice(log, 1, PY_SSIZE_T_MAX, NULL))
        done = -1;
    if (done <= 0)
        Py_CLEAR(*outputs);
    DROP(programs, entry, arrays);
    return done;
}

/* The results of a call as it is planned; NULL without an error if it is to go the general way. */
static PyObject *call_planned(PyObject *current, PyObject *trace, PyObject *tensors)
{
    PyObject *plan = SLOT(trace, Trace.plan), *captured = SLOT(trace, Trace.captured);
    PyObject *inputs[MOST_PLANNED];
    if (!PyTuple_CheckExact(plan))
        return NULL;
    if (SLOT(PyTuple_GET_ITEM(plan, RUNNER), Runner.origin) == Py_None) { /* it was forgotten */
        put(trace, Trace.plan, Py_None);
        return NULL;
    }
    if (!is_ready(current, plan) ||
        fitting_inputs(tensors, PyTuple_GET_ITEM(captured, 1), PyTuple_GET_ITEM(plan, AVALS),
                       inputs) < 0)
        return NULL;
    PyObject *owner = Py_NewRef(PyTuple_GET_ITEM(plan, PROGRAM)), *outputs = NULL;
    PyObject *lock = SLOT(owner, Program.lock), *results = NULL;
    Py_INCREF(plan);
    Py_INCREF(captured);
    PyObject *free = PyObject_CallMethodNoArgs(lock, text.acquire);
    int done = free ? run_planned(current, plan, tensors, captured, &outputs) : -1;
    if (free && call_whatever(lock, text.release, NULL, 0))
        done = -1;
    Py_XDECREF(free);
    if (done < 0)
        give_up(owner);
    if (done < 0 || SLOT(owner, Program.ran) != Py_False)
        put(trace, Trace.plan, Py_None);
    if (done > 0)
        results = PyTuple_GetSlice(outputs, 0, PyTuple_GET_SIZE(outputs) -
                                                   PyTuple_GET_SIZE(PyTuple_GET_ITEM(captured, 3)));
    DROP(outputs, captured, plan, owner);
    return results;
}

/* The cells that are no input, or were no array, are for the general way: whether those of a
   program that was recorded are the leaves that they were. */
static int changes_leaves(PyObject *owner, PyObject *cells)
{
    PyObject *changed = SLOT(owner, Program.changed);
    int are = PyList_GET_SIZE(changed) == 2 * PyTuple_GET_SIZE(cells);
    for (Py_ssize_t i = 0; are && i < PyTuple_GET_SIZE(cells); i++)
        are = PyLong_CheckExact(PyList_GET_ITEM(changed, 2 * i + 1));
    return are;
}

/* What `fitting_inputs` asks of the inputs of a call: None of a constant that is a number. */
static PyObject *planned_avals(PyObject *tensors, PyObject *sources)
{
    Py_ssize_t given = PyList_GET_SIZE(tensors), n = given + PyTuple_GET_SIZE(sources);
    PyObject *avals = PyTuple_New(n);
    for (Py_ssize_t i = 0; avals && i < n; i++) {
        PyObject *x = input_at(tensors, sources, i), *aval = x ? SLOT(x, Tensor._aval) : NULL;
        if (x && i >= given && x == PyTuple_GET_ITEM(sources, i - given) &&
            (PyObject *)Py_TYPE(SLOT(x, Tensor._array)) == python.ndarray)
            aval = SLOT(aval, Aval.packed) == Py_None ? NULL : Py_None;
        if (aval)
            PyTuple_SET_ITEM(avals, i, Py_NewRef(aval));
        else
            Py_CLEAR(avals);
    }
    return avals;
}

/* The vectors of the numbers of a program, of what is compiled for it, if it has them on the
   device. */
static PyObject *planned_vectors(PyObject *used, PyObject *log)
{
    PyObject *packs = SLOT(used, WholeProgram.packs), *packed = SLOT(used, WholeProgram._packed);
    PyObject *leaves = native_gather(NULL, log);
    PyObject *vectors = leaves ? PyTuple_New(PyList_GET_SIZE(packs)) : NULL;
    for (Py_ssize_t i = 0; vectors && i < PyTuple_GET_SIZE(vectors); i++) {
        PyObject *kept = PyList_GET_ITEM(packed, i);
        PyObject *values = PyDict_GetItemWithError(PyTuple_GET_ITEM(leaves, 1),
                                                   PyList_GET_ITEM(packs, i));
        if (values && kept != Py_None && PyTuple_GET_ITEM(kept, 2) != Py_None &&
            same_numbers(PyTuple_GET_ITEM(kept, 1), values))
            PyTuple_SET_ITEM(vectors, i, Py_NewRef(PyTuple_GET_ITEM(kept, 2)));
        else
            Py_CLEAR(vectors);
    }
    Py_XDECREF(leaves);
    return vectors;
}

/* The program of a plan, like one that was recorded. */
static PyObject *planned_program(PyObject *current, PyObject *owner)
{
    PyObject *from = history_here(current), *made = new_program(current, from);
    PyObject *donatable = PyList_GetSlice(SLOT(owner, Program.donatable), 0, PY_SSIZE_T_MAX);
    PyObject *changed = PyList_GetSlice(SLOT(owner, Program.changed), 0, PY_SSIZE_T_MAX);
    if (made && donatable && changed) {
        put(made, Program.donatable, donatable);
        put(made, Program.changed, changed);
    } else
        Py_CLEAR(made);
    DROP(donatable, changed);
    return made;
}

/* Plan further calls of a trace, of which a call was recorded as the only instruction of a program:
   -1 for an error. `avals`: those of what was given. */
static int make_plan(PyObject *current, PyObject *trace, PyObject *owner, PyObject *avals)
{
    PyObject *log = SLOT(owner, Program.log), *captured = SLOT(trace, Trace.captured);
    if (Py_TYPE(owner) != Program.type || PyList_GET_SIZE(log) != 2 ||
        PyList_GET_SIZE(SLOT(owner, Program.aliases)))
        return 0;
    PyObject *entry = PyList_GET_ITEM(log, 1), *cells = PyTuple_GET_ITEM(captured, 3);
    Py_ssize_t n = PyTuple_GET_SIZE(avals), arrays = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        arrays += PyTuple_GET_ITEM(avals, i) != Py_None;
    if (!PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(PyTuple_GET_ITEM(entry, 1)) != arrays ||
        PyTuple_GET_SIZE(PyTuple_GET_ITEM(entry, 2)) != n - arrays || n > MOST_PLANNED ||
        PyTuple_GET_SIZE(cells) > MOST_PLANNED || !changes_leaves(owner, cells))
        return 0;
    PyObject *tensors = awaited(SLOT(owner, Program.refs)), *used = NULL, *plan = NULL;
    PyObject *slots = tensors ? slots_of(tensors) : NULL, *node = end_of(log), *made = NULL;
    PyObject *vectors = NULL;
    if (slots && PyTuple_GET_SIZE(slots) == PyTuple_GET_SIZE(SLOT(node, Node.outputs)))
        used = compiled_for(owner, node, slots);
    if (used && Py_TYPE(used) == WholeProgram.type && SLOT(used, Runner.origin) != Py_None &&
        (vectors = planned_vectors(used, log)) && (made = planned_program(current, owner)))
        plan = PyTuple_Pack(PLAN_SIZE, used, made, slots, avals, node, PyTuple_GET_ITEM(entry, 2),
                            vectors);
    if (plan)
        put(trace, Trace.plan, plan);
    DROP(plan, made, vectors, used, slots, tensors);
    return PyErr_Occurred() ? -1 : 0;
}

/* Trace.call of one that runs as it was recorded, where nothing is recorded. */
static PyObject *call_trace(PyObject *current, PyObject *trace, PyObject *tensors)
{
    PyObject *planned = call_planned(current, trace, tensors);
    if (planned || PyErr_Occurred())
        return planned ? packed(SLOT(trace, Trace.results), planned) : NULL;
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
    PyObject *avals = SLOT(trace, Trace.plan) == Py_None ? planned_avals(tensors, args[2]) : NULL;
    PyObject *outputs = PyErr_Occurred() ? NULL : native_call_captured(NULL, args, 4);
    put(current, ThreadState.deferring, Py_False);
    Py_DECREF(captured);
    PyObject *owner = Py_NewRef(SLOT(current, ThreadState.program));
    if (outputs && avals && owner != Py_None && make_plan(current, trace, owner, avals))
        Py_CLEAR(outputs);
    Py_XDECREF(avals);
    if (outputs && owner != Py_None && run_or_give_up(owner))
        Py_CLEAR(outputs);
    Py_DECREF(owner);
    return outputs ? packed(SLOT(trace, Trace.results), outputs) : NULL;
}

/* Whether functions run what was recorded, and nobody wants to know which. */
static int as_usual(void)
{
    PyObject *as_python = PyObject_GetAttr(python.mode, text.python);
    PyObject *graphs = as_python ? PyObject_GetAttr(python.called, text.graphs) : NULL;
    int usual = as_python == Py_False && graphs == Py_None;
    DROP(as_python, graphs);
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
    DROP(trace, tensors, quick, current);
    return general ? python_call(self, args, nargsf, names) : out;
}
