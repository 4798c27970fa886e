/* The tensors that somebody has and that have no value, of those referred to: a new list. */
static PyObject *awaited(PyObject *references)
{
    PyObject *tensors = PyList_New(0);
    Link *all = &((References *)references)->all;
    for (Link *link = all->after; tensors && link != all; link = link->after) {
        PyObject *x = LINKED(link);
        /* One of which no reference is left is being deallocated. */
        if (Py_REFCNT(x) && SLOT(x, Tensor._array) == Py_None && PyList_Append(tensors, x))
            Py_CLEAR(tensors);
    }
    return tensors;
}

/* The slots of pending tensors. */
static PyObject *slots_of(PyObject *tensors)
{
    Py_ssize_t n = PyList_GET_SIZE(tensors);
    PyObject *slots = PyTuple_New(n);
    for (Py_ssize_t i = 0; slots && i < n; i++) {
        PyObject *slot = PyLong_FromSsize_t(PLACE(PyList_GET_ITEM(tensors, i))->slot);
        if (slot)
            PyTuple_SET_ITEM(slots, i, slot);
        else
            Py_CLEAR(slots);
    }
    return slots;
}

/* waiting(references): the tensors that are alive and have no value, after their slots. */
static PyObject *native_waiting(PyObject *module, PyObject *references)
{
    if (PyList_CheckExact(references)) /* weak ones */
        return PyObject_CallOneArg(python.waiting, references);
    if (Py_TYPE(references) != &References_type)
        return refuse("waiting(references)");
    PyObject *tensors = awaited(references), *slots = tensors ? slots_of(tensors) : NULL;
    PyObject *answer = slots ? PyTuple_Pack(2, slots, tensors) : NULL;
    DROP(slots, tensors);
    return answer;
}

/* gather(log): the array leaves as a list, the scalar leaves as lists by dtype. */
static PyObject *native_gather(PyObject *module, PyObject *log)
{
    if (!PyList_CheckExact(log))
        return refuse("gather(log)");
    PyObject *arrays = PyList_New(0), *by_dtype = PyDict_New();
    int failed = !arrays || !by_dtype;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(log); i++) {
        PyObject *entry = PyList_GET_ITEM(log, i);
        if (!PyTuple_CheckExact(entry))
            continue;
        PyObject *leaves = PyTuple_GET_ITEM(entry, 1), *scalars = PyTuple_GET_ITEM(entry, 2);
        for (Py_ssize_t k = 0; !failed && k < PyTuple_GET_SIZE(leaves); k++)
            failed = PyList_Append(arrays, PyTuple_GET_ITEM(leaves, k));
        PyObject *dtypes = SLOT(PyTuple_GET_ITEM(entry, 0), Node.scalars);
        for (Py_ssize_t k = 0; !failed && k < PyTuple_GET_SIZE(scalars); k++) {
            PyObject *dtype = PyTuple_GET_ITEM(dtypes, k);
            PyObject *values = PyDict_GetItemWithError(by_dtype, dtype);
            if (!values && !PyErr_Occurred() && (values = PyList_New(0))) {
                failed = PyDict_SetItem(by_dtype, dtype, values);
                Py_DECREF(values);
            }
            failed = failed || !values || PyList_Append(values, PyTuple_GET_ITEM(scalars, k));
        }
    }
    PyObject *answer = failed ? NULL : PyTuple_Pack(2, arrays, by_dtype);
    DROP(arrays, by_dtype);
    return answer;
}

/* What was compiled for the tensors in these slots, a new reference. */
static PyObject *compiled_for(PyObject *owner, PyObject *last, PyObject *slots)
{
    PyObject *runners = SLOT(last, Node.runners), *found = NULL;
    if (runners == Py_None)
        return NULL;
    PyObject *reused = PyList_AsTuple(SLOT(owner, Program.donatable));
    PyObject *key = reused ? PyTuple_Pack(2, slots, reused) : NULL;
    if (key)
        found = PyDict_GetItemWithError(SLOT(runners, Runners.compiled), key);
    found = found && PyObject_TypeCheck(found, Runner.type) ? Py_NewRef(found) : NULL;
    DROP(key, reused);
    return found;
}

/* Whether two lists hold the same numbers, none of which can change. */
static int same_numbers(PyObject *a, PyObject *b)
{
    if (!PyList_CheckExact(a) || PyList_GET_SIZE(a) != PyList_GET_SIZE(b))
        return 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(a); i++) {
        PyObject *x = PyList_GET_ITEM(a, i), *y = PyList_GET_ITEM(b, i);
        if (PyFloat_CheckExact(x) && PyFloat_CheckExact(y)) {
            double left = PyFloat_AS_DOUBLE(x), right = PyFloat_AS_DOUBLE(y);
            if (memcmp(&left, &right, sizeof left))
                return 0;
        } else if (x != y || !(PyLong_CheckExact(x) || PyBool_Check(x)))
            return 0;
    }
    return 1;
}

/* WholeProgram.arguments */
static int add_scalars(PyObject *used, PyObject *arrays, PyObject *scalars)
{
    PyObject *packs = SLOT(used, WholeProgram.packs), *packed = SLOT(used, WholeProgram._packed);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(packs); i++) {
        PyObject *dtype = PyList_GET_ITEM(packs, i), *before = PyList_GET_ITEM(packed, i);
        PyObject *values = PyDict_GetItemWithError(scalars, dtype), *vector;
        if (!values) {
            if (!PyErr_Occurred())
                PyErr_SetObject(PyExc_KeyError, dtype);
            return -1;
        }
        if (before != Py_None && PyTuple_GET_ITEM(before, 2) != Py_None &&
            same_numbers(PyTuple_GET_ITEM(before, 1), values))
            vector = Py_NewRef(PyTuple_GET_ITEM(before, 2));
        else {
            PyObject *number = PyLong_FromSsize_t(i);
            vector = number ? PyObject_CallMethodObjArgs(used, text._pack, number, dtype, values,
                                                         NULL)
                            : NULL;
            Py_XDECREF(number);
        }
        int failed = !vector || PyList_Append(arrays, vector);
        Py_XDECREF(vector);
        if (failed)
            return -1;
    }
    return 0;
}

/* The arguments of a compiled program, as a list; NULL without an error if somebody else holds a
   buffer that it is to take: the log holds one reference, the list another. */
static PyObject *arguments_of(PyObject *used, PyObject *log)
{
    PyObject *leaves = native_gather(NULL, log), *arguments = NULL;
    if (!leaves)
        return NULL;
    PyObject *arrays = PyTuple_GET_ITEM(leaves, 0), *scalars = PyTuple_GET_ITEM(leaves, 1);
    if (Py_TYPE(used) == WholeProgram.type)
        arguments = add_scalars(used, arrays, scalars) ? NULL : Py_NewRef(arrays);
    else
        arguments = PyObject_CallMethodObjArgs(used, text.arguments, arrays, scalars, NULL);
    Py_DECREF(leaves);
    if (arguments && !PyList_CheckExact(arguments)) {
        PyErr_SetString(PyExc_TypeError, "the arguments of a program are no list");
        Py_CLEAR(arguments);
    }
    PyObject *donate = SLOT(used, Runner.donate);
    for (Py_ssize_t i = 0; arguments && i < PyTuple_GET_SIZE(donate); i++) {
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(donate, i));
        int valid = place >= 0 && place < PyList_GET_SIZE(arguments);
        PyObject *array = valid ? PyList_GET_ITEM(arguments, place) : NULL;
        if (!array || (Py_REFCNT(array) > 2 && (PyObject *)Py_TYPE(array) != python.ndarray))
            Py_CLEAR(arguments);
    }
    if (arguments && PyTuple_GET_SIZE(donate))
        Py_SETREF(arguments, arranged(arguments, donate));
    return arguments;
}

/* Call a method with these arguments, up to three, whatever error is set: that stays the error. */
static int call_whatever(PyObject *object, PyObject *method, PyObject *argument, int times)
{
    PyObject *type, *value, *traceback;
    PyObject *args[] = {object, argument, argument, argument};
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *done = PyObject_VectorcallMethod(method, args, 1 + times, NULL);
    Py_XDECREF(done);
    if (!type)
        return done ? 0 : -1;
    if (!done)
        PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    return -1;
}

/* JAX's 64-bit mode as a context that no call is in. One that was left can be entered again: to
   make one takes as long as to enter it. */
static struct { PyObject *context, *made_by; } left;

static PyObject *context_x64(void)
{
    PyObject *context = left.context;
    if (!context || left.made_by != python.enable_x64)
        return PyObject_CallOneArg(python.enable_x64, Py_True);
    left.context = NULL;
    return context;
}

/* Let the next call have a context, which it takes. */
static void keep_left(PyObject *context)
{
    PyObject *before = left.context, *made_by = left.made_by;
    left.context = context;
    left.made_by = Py_NewRef(python.enable_x64);
    DROP(before, made_by);
}

/* Leave JAX's 64-bit mode. */
static int leave(PyObject *context)
{
    return call_whatever(context, text.__exit__, Py_None, 3);
}

/* Whether nobody has run a program that this thread is about to run: the lock keeps out others, but
   a signal handler or a finalizer may have wanted a value. */
static int is_ours(PyObject *owner, PyObject *results)
{
    return SLOT(owner, Program.ran) == Py_False && SLOT(owner, Program.results) == results;
}

/* x64.in_x64(Program.results.append, call(*arguments)): 0 if it is not to be run any more. */
static int call_into(PyObject *owner, PyObject *call, PyObject *const *arguments, Py_ssize_t n)
{
    PyObject *made_by = python.enable_x64, *context = context_x64();
    if (!context)
        return -1;
    PyObject *results = Py_NewRef(SLOT(owner, Program.results)), *given = NULL;
    PyObject *entered = PyObject_CallMethodNoArgs(context, text.__enter__);
    int ours = is_ours(owner, results) && !PyList_GET_SIZE(results);
    if (entered && ours) {
        put(owner, Program.calling, Py_True);
        given = PyObject_Vectorcall(call, arguments, n, NULL);
        put(owner, Program.calling, Py_False);
    }
    int done = entered && (given || !ours) ? 0 : -1, again = done >= 0;
    if (given)
        done = PyList_Append(results, given) ? -1 : 1;
    DROP(given, entered, results);
    if (leave(context)) {
        /* An interrupt may have come while it was being left: twice does no harm. */
        if (done >= 0)
            leave(context);
        done = -1;
        again = 0;
    }
    if (again && made_by == python.enable_x64)
        keep_left(context);
    else
        Py_DECREF(context);
    return done;
}

/* Count one more, or so many. */
static int count(Py_ssize_t offset, PyObject *more)
{
    PyObject *sum = PyNumber_Add(SLOT(python.counters, offset), more);
    if (sum)
        Py_SETREF(SLOT(python.counters, offset), sum);
    return sum ? 0 : -1;
}

/* Call executor.discard with what a program failed to run, and the error that is set. It stays set,
   -1, but for a lack of memory, 0: the general way runs it again and repairs what then fails. */
static int discard_left(PyObject *owner, PyObject *used)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *lack = PyObject_CallFunctionObjArgs(python.discard, used, value, NULL);
    if (!lack)
        PyErr_Clear();
    int again = lack == Py_True;
    Py_XDECREF(lack);
    if (!again && PyErr_GivenExceptionMatches(value, PyExc_Exception))
        put(owner, Program.failure, value);
    PyErr_Restore(type, value, traceback);
    if (again)
        PyErr_Clear();
    return again ? 0 : -1;
}

/* Call what was compiled for a program with what it takes: 1 if it ran, 0 if it was not to. */
static int launch(PyObject *owner, PyObject *used, PyObject *slots, PyObject *depth,
                  PyObject *const *arguments, Py_ssize_t n)
{
    PyObject *call = PyObject_GetAttr(used, text.call);
    PyObject *unpack_results = call ? PyObject_GetAttr(used, text.unpack_results) : NULL;
    int done = -1;
    if (unpack_results && !count(Counters.instructions, depth) &&
        !count(Counters.cache_hits, one) && !count(Counters.dispatches, one) &&
        !count(Counters.fused, one)) {
        put(used, Runner.recent, Py_True);
        put(owner, Program.launched, slots);
        put(owner, Program.unpack_results, unpack_results);
        done = call_into(owner, call, arguments, n);
        if (done < 0)
            done = discard_left(owner, used);
    }
    DROP(call, unpack_results);
    return done;
}

/* executor._call of a compiled program: 1 if it ran, 0 if it is to be run the general way. */
static int call_program(PyObject *owner, PyObject *log, PyObject *used, PyObject *slots)
{
    PyObject *arguments = arguments_of(used, log);
    if (!arguments)
        return PyErr_Occurred() ? -1 : 0;
    if (SLOT(owner, Program.log) != log) { /* a finalizer has run it */
        Py_DECREF(arguments);
        return 0;
    }
    int done = launch(owner, used, slots, SLOT(end_of(log), Node.depth),
                      ((PyListObject *)arguments)->ob_item, PyList_GET_SIZE(arguments));
    Py_DECREF(arguments);
    return done;
}

/* executor._fill where the tensors are those of the slots. */
static int fill(PyObject *owner, PyObject *tensors)
{
    if (SLOT(owner, Program.ran) != Py_False || !PyList_GET_SIZE(SLOT(owner, Program.results)))
        return 0; /* see is_ours */
    PyObject *results = Py_NewRef(PyList_GET_ITEM(SLOT(owner, Program.results), 0));
    int unpack_results = SLOT(owner, Program.unpack_results) != Py_None;
    if (unpack_results)
        Py_SETREF(results, PyObject_CallOneArg(SLOT(owner, Program.unpack_results), results));
    PyObject *all = results ? PySequence_Fast(results, "results of a program") : NULL;
    Py_XDECREF(results);
    Py_ssize_t n = PyList_GET_SIZE(tensors);
    int done = all ? PySequence_Fast_GET_SIZE(all) == n : -1;
    for (Py_ssize_t i = 0; done > 0 && i < n; i++) {
        PyObject *x = PyList_GET_ITEM(tensors, i), *array = PySequence_Fast_GET_ITEM(all, i);
        put(x, Tensor._array, array);
        if (unpack_results && (PyObject *)Py_TYPE(array) == python.ndarray)
            set_place(x, Py_None, -1);
    }
    Py_XDECREF(all);
    return done;
}

/* A program that has run keeps nothing. */
static int finished(PyObject *owner)
{
    PyObject *log = PyList_GetSlice(SLOT(owner, Program.log), 0, 1), *results = PyList_New(0);
    int failed = !log || !results;
    if (!failed) {
        put(owner, Program.ran, Py_True);
        put(owner, Program.log, log);
        put(owner, Program.results, results);
        PyList_SetSlice(SLOT(owner, Program.changed), 0, PY_SSIZE_T_MAX, NULL);
        forget_all(SLOT(owner, Program.refs));
    }
    DROP(log, results);
    return failed ? -1 : 1;
}

/* executor.run of a program that is found compiled, from a place that is settled: 1 if it ran. The
   program is locked; what is still changed where it is not run is what executor.run does first. */
static int run_known(PyObject *owner)
{
    PyObject *log = SLOT(owner, Program.log), *thread = SLOT(owner, Program.owner);
    if (SLOT(owner, Program.ran) != Py_False || SLOT(owner, Program.calling) != Py_False ||
        SLOT(owner, Program.failure) != Py_None || PyList_GET_SIZE(SLOT(owner, Program.aliases)) ||
        PyList_GET_SIZE(SLOT(owner, Program.results)) || !PyList_GET_SIZE(log) ||
        Py_TYPE(SLOT(owner, Program.refs)) != &References_type)
        return 0;
    Py_INCREF(log);
    if (thread != Py_None && SLOT(thread, ThreadState.program) == owner) {
        put(thread, ThreadState.program, Py_None);
        PyObject *copy = PyList_GetSlice(log, 0, PyList_GET_SIZE(log));
        int same = SLOT(owner, Program.log) == log;
        if (copy && same)
            put(owner, Program.log, copy);
        Py_SETREF(log, copy);
        if (!copy || !same) {
            Py_XDECREF(copy);
            return copy ? 0 : -1;
        }
    }
    PyObject *last = end_of(log), *slots = NULL, *used = NULL;
    PyObject *tensors = awaited(SLOT(owner, Program.refs));
    if (tensors && PyList_GET_SIZE(tensors) && (slots = slots_of(tensors)))
        used = compiled_for(owner, last, slots);
    int done = PyErr_Occurred() ? -1 : 0;
    if (used) {
        PyObject *from = SLOT(used, Runner.origin);
        if (from != Py_None && SLOT(from, History.settled) == Py_True)
            done = PyObject_RichCompareBool(SLOT(from, History.key), SLOT(owner, Program.origin),
                                            Py_EQ);
        if (done > 0)
            done = call_program(owner, log, used, slots);
        if (done > 0)
            done = fill(owner, tensors);
        if (done > 0)
            done = finished(owner);
        Py_DECREF(used);
    }
    DROP(slots, tensors, log);
    return done;
}

/* run(program): see executor.run. */
static PyObject *native_run(PyObject *module, PyObject *owner)
{
    if (!WholeProgram.type || Py_TYPE(owner) != Program.type)
        return refuse("run(program)");
    PyObject *lock = SLOT(owner, Program.lock);
    PyObject *free = PyObject_CallMethodOneArg(lock, text.acquire, Py_False);
    if (!free)
        return NULL;
    int done = 0;
    if (PyObject_IsTrue(free) == 1) {
        done = run_known(owner);
        if (call_whatever(lock, text.release, NULL, 0))
            done = -1;
    }
    Py_DECREF(free);
    if (done < 0)
        return NULL;
    return done ? Py_NewRef(Py_None) : PyObject_CallOneArg(python.run, owner);
}
