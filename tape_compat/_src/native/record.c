/* Remember where a leaf stands: x._at = (program, slot). See record.put_leaf. */
static void put_leaf(PyObject *x, PyObject *owner, Py_ssize_t slot)
{
    PyObject *from = PLACE(x)->program;
    if (from != owner && Py_TYPE(from) == Program.type && SLOT(from, Program.ran) == Py_False)
        put(from, Program.moved, Py_True);
    set_place(x, owner, slot);
}

/* Whether a recorder tracks one of these tensors: -1, 0 or 1. */
static int tracks(PyObject *recorder, PyObject *const *inputs, Py_ssize_t n)
{
    PyObject *ids = Py_TYPE(recorder) == GradientTape.type
                        ? Py_XNewRef(SLOT(recorder, GradientTape.ids))
                        : PyObject_GetAttr(recorder, text.ids);
    int found = ids ? 0 : -1, is_set = ids && PyAnySet_CheckExact(ids);
    for (Py_ssize_t i = 0; i < n && !found; i++) {
        PyObject *id = inputs[i] ? SLOT(inputs[i], Tensor._id) : zero;
        found = is_set ? PySet_Contains(ids, id) : PySequence_Contains(ids, id);
    }
    Py_XDECREF(ids);
    return found;
}

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

/* The aval of the number in a call. */
static PyObject *number_aval(const Call *call)
{
    PyObject *other = call->inputs[0] ? call->inputs[0] : call->inputs[1];
    return SLOT(SLOT(other, Tensor._aval), Aval.scalar);
}

/* The number in a call as a tensor, for a pullback: the leaf in this slot. */
static PyObject *number_tensor(const Call *call, PyObject *owner, Py_ssize_t slot)
{
    PyObject *aval = number_aval(call);
    PyObject *array = number_array(call->number, SLOT(aval, Aval.np_dtype));
    PyObject *made = array ? pending(aval, owner, slot, zero) : NULL;
    if (made)
        put(made, Tensor._array, array);
    Py_XDECREF(array);
    return made;
}

static PyObject *inputs_as_tuple(const Call *call, PyObject *owner)
{
    PyObject *made = PyTuple_New(call->n);
    int plain = made != NULL;
    for (Py_ssize_t i = 0; made && i < call->n; i++) {
        PyObject *x = call->inputs[i] ? Py_NewRef(call->inputs[i])
                                      : number_tensor(call, owner, call->slot);
        if (x)
            PyTuple_SET_ITEM(made, i, x);
        else
            Py_CLEAR(made);
        plain = plain && x && Py_TYPE(x) == Tensor.type;
    }
    return plain ? untracked(made) : made;
}

/* Append a call to a tape's record. */
static int add_call(PyObject *record, PyObject *closure, PyObject *inputs, PyObject *id,
                    PyObject *child, PyObject *owner)
{
    PyObject *calls = SLOT(record, Record.calls);
    Py_ssize_t length = PyList_GET_SIZE(calls);
    if (!length)
        put(record, Record.program, owner);
    if (PyList_Append(calls, closure) || PyList_Append(calls, inputs) ||
        PyList_Append(calls, id) || PyList_Append(calls, child)) {
        PyList_SetSlice(calls, length, PyList_GET_SIZE(calls), NULL);
        return -1;
    }
    return 0;
}

/* Let a tape track the outputs of a call; what they are known by, a new reference. */
static PyObject *tracked_outputs(PyObject *ids, PyObject *out)
{
    if (!PyTuple_CheckExact(out))
        return PySet_Add(ids, SLOT(out, Tensor._id)) ? NULL : Py_NewRef(SLOT(out, Tensor._id));
    Py_ssize_t n = PyTuple_GET_SIZE(out);
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t i = 0; all && i < n; i++) {
        PyObject *x = PyTuple_GET_ITEM(out, i), *id = SLOT(x, Tensor._id);
        PyTuple_SET_ITEM(all, i, Py_NewRef(id));
        if (SLOT(SLOT(x, Tensor._aval), Aval.trainable) == Py_True && PySet_Add(ids, id))
            Py_CLEAR(all);
    }
    if (all && n == 1)
        Py_SETREF(all, Py_NewRef(PyTuple_GET_ITEM(all, 0)));
    return all;
}

/* GradientTape.record. `inputs` is a tensor if there is one only. */
static int record_on_tape(PyObject *tape, PyObject *closure, PyObject *inputs, PyObject *out,
                          PyObject *child)
{
    if (SLOT(tape, GradientTape._record) == Py_None)
        return 0;
    PyObject *record = Py_NewRef(SLOT(tape, GradientTape._record));
    PyObject *ids = Py_NewRef(SLOT(tape, GradientTape.ids));
    PyObject *first = PyTuple_CheckExact(out) ? PyTuple_GET_ITEM(out, 0) : out;
    PyObject *id = tracked_outputs(ids, out);
    int failed = !id || add_call(record, closure, inputs, id, child, PLACE(first)->program);
    DROP(id, ids, record);
    return failed;
}

static int record_elsewhere(PyObject *recorder, PyObject *closure, PyObject *inputs, PyObject *out,
                            PyObject *child)
{
    PyObject *outs = PyTuple_CheckExact(out) ? Py_NewRef(out) : tuple_of(&out, 1), *done = NULL;
    if (outs)
        done = PyObject_CallMethodObjArgs(recorder, text.record, closure, inputs, outs, child,
                                          NULL);
    DROP(outs, done);
    return done ? 0 : -1;
}

/* record.notify */
static int notify(PyObject *recorders, const Call *call, PyObject *owner, PyObject *out,
                  PyObject *child)
{
    Py_INCREF(recorders);
    PyObject *given = Py_XNewRef(call->given);
    int failed = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(recorders) && !failed; i++) {
        PyObject *recorder = PyTuple_GET_ITEM(recorders, i);
        int is_tape = Py_TYPE(recorder) == GradientTape.type, alone = is_tape && call->n == 1;
        int found = tracks(recorder, call->inputs, call->n);
        if (found > 0 && !alone && !given && !(given = inputs_as_tuple(call, owner)))
            found = -1;
        if (found <= 0)
            failed = found;
        else if (is_tape)
            failed = record_on_tape(recorder, call->closure, alone ? call->inputs[0] : given, out,
                                    child);
        else
            failed = record_elsewhere(recorder, call->closure, given, out, child);
    }
    DROP(given, recorders);
    return failed ? -1 : 0;
}

/* Where a key (a closure and `n` parts) leads from the end of a log, a new reference. NULL if
   nowhere or if it fills the program, with an error set if one happened. */
static Edge *edge_of(PyObject *log, PyObject *closure, const uintptr_t *parts, Py_ssize_t n)
{
    if (!PyList_GET_SIZE(log))
        return NULL;
    PyObject *last = end_of(log);
    Edge *edge = (Edge *)SLOT(last, Node.last_edge);
    if (edge && Py_TYPE(edge) == &Edge_type && edge->closure == closure && Py_SIZE(edge) == n &&
        !memcmp(edge->parts, parts, n * sizeof *parts))
        return (Edge *)Py_NewRef(edge);
    Py_INCREF(last);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!IS_SLOT(parts[i]))
            Py_INCREF((PyObject *)parts[i]);
    PyObject *key = PyTuple_New(n + 1);
    if (key)
        PyTuple_SET_ITEM(key, 0, Py_NewRef(closure));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *part = IS_SLOT(parts[i]) ? PyLong_FromSize_t(parts[i] >> 1)
                                           : (PyObject *)parts[i];
        if (key && part)
            PyTuple_SET_ITEM(key, i + 1, part);
        else {
            Py_XDECREF(part);
            Py_CLEAR(key);
        }
    }
    PyObject *child = NULL;
    if (key)
        child = Py_XNewRef(PyDict_GetItemWithError(SLOT(last, Node.children), key));
    if (child && SLOT(child, Node.must_flush) == Py_False)
        edge = new_edge(child, closure, parts, n);
    else
        edge = NULL;
    if (edge)
        Py_XSETREF(SLOT(last, Node.last_edge), Py_NewRef(edge));
    DROP(child, key, last);
    return edge;
}

/* What was seen from where this thread is, borrowed; NULL if nothing was, or for an error. */
static PyObject *history_here(PyObject *current)
{
    return PyDict_GetItemWithError(python.histories, SLOT(current, ThreadState.origin));
}

/* executor.split_of a program that begins with a step, a new reference. */
static PyObject *split_of(PyObject *from)
{
    PyObject *step = from ? SLOT(from, History.step) : zero;
    return step == zero ? Py_NewRef(zero) : PyNumber_Add(step, one);
}

/* A program of this thread, none of which is pending: see Program.__init__. */
static PyObject *new_program(PyObject *current, PyObject *from)
{
    PyObject *split = split_of(from), *lock = split ? PyObject_CallNoArgs(python.new_lock) : NULL;
    PyObject *self = lock ? Program.type->tp_alloc(Program.type, 0) : NULL;
    if (!self) {
        DROP(split, lock);
        return NULL;
    }
    SLOT(self, Program.lock) = lock;
    SLOT(self, Program.split) = split;
    put(self, Program.begun, one);
    put(self, Program.tree, python.tree);
    put(self, Program.owner, current);
    put(self, Program.origin, SLOT(current, ThreadState.origin));
    put(self, Program.joins, from ? SLOT(from, History.joins) : Py_True);
    put(self, Program.launched, empty);
    put(self, Program.unpack_results, Py_None);
    put(self, Program.failure, Py_None);
    Py_ssize_t no[] = {Program.ran, Program.calling, Program.joined_new, Program.prepares,
                       Program.moved};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        put(self, no[i], Py_False);
    Py_ssize_t lists[] = {Program.log, Program.aliases, Program.donatable, Program.changed,
                          Program.results};
    int failed = !(SLOT(self, Program.refs) = PyObject_CallNoArgs((PyObject *)&References_type));
    for (size_t i = 0; !failed && i < sizeof lists / sizeof *lists; i++)
        failed = !(SLOT(self, lists[i]) = PyList_New(0));
    if (failed || PyList_Append(SLOT(self, Program.log), SLOT(python.tree, Tree.root)))
        Py_CLEAR(self);
    return self;
}

/* record.current_program where none is pending. */
static PyObject *begin_program(PyObject *current)
{
    PyObject *before = SLOT(current, ThreadState.ran_now), *from = history_here(current);
    if (!from && PyErr_Occurred())
        return NULL;
    if (before != zero) /* which may have led to a tape */
        return PyObject_CallOneArg(python.current_program, current);
    PyObject *owner = new_program(current, from);
    PyObject *programs = owner ? PyNumber_Add(SLOT(current, ThreadState.programs), one) : NULL;
    if (!programs) {
        Py_XDECREF(owner);
        return NULL;
    }
    Py_SETREF(SLOT(current, ThreadState.programs), programs);
    put(current, ThreadState.program, owner);
    put(current, ThreadState.previous, SLOT(current, ThreadState.origin));
    return owner;
}

static PyObject *native_run(PyObject *module, PyObject *owner);

/* Run what is pending, which is as long as a step was before the next one was prepared; a program
   for the first op of that, whose inputs have values, some on a device. NULL as of `program_for`. */
static PyObject *after_split(PyObject *current, PyObject *owner, const Call *call)
{
    int on_device = 0;
    for (Py_ssize_t i = 0; i < call->n; i++) {
        PyObject *x = call->inputs[i], *array = x ? SLOT(x, Tensor._array) : python.ndarray;
        if (array == Py_None)
            return NULL;
        on_device = on_device || (x && (PyObject *)Py_TYPE(array) != python.ndarray);
    }
    if (!on_device || SLOT(owner, Program.joins) != Py_True ||
        SLOT(current, ThreadState.device) != Py_None)
        return NULL;
    Py_INCREF(owner);
    PyObject *done = native_run(NULL, owner), *fresh = NULL;
    if (done && SLOT(current, ThreadState.program) == Py_None && (fresh = begin_program(current)))
        put(fresh, Program.prepares, Py_True);
    DROP(done, owner);
    return fresh;
}

/* The program to append to, a new reference; NULL if the call must go the general way, with an
   error set if one happened. */
static PyObject *program_for(PyObject *current, const Call *call)
{
    PyObject *owner = SLOT(current, ThreadState.program);
    int records = SLOT(current, ThreadState.deferring) == Py_True;
    if (owner == Py_None) {
        PyObject *immediate = records ? PyObject_GetAttr(python.mode, text.immediate) : NULL;
        Py_XDECREF(immediate);
        return immediate == Py_False ? begin_program(current) : NULL;
    }
    /* What prepares the next step may begin here: see record._splits. */
    if (!records && Py_TYPE(owner) == Program.type && SLOT(owner, Program.split) != zero &&
        PyLong_AsSsize_t(SLOT(owner, Program.split)) == PyList_GET_SIZE(SLOT(owner, Program.log)))
        return after_split(current, owner, call);
    records = records || (SLOT(owner, Program.joins) == Py_True &&
                          SLOT(current, ThreadState.device) == Py_None);
    for (Py_ssize_t i = 0; i < call->n && !records; i++)
        records = call->inputs[i] && SLOT(call->inputs[i], Tensor._array) == Py_None;
    return records ? Py_NewRef(owner) : NULL;
}

/* What an input is to a program: read before, a new array leaf, or a new scalar leaf, which is a
   number or a NumPy scalar and travels packed. */
enum { SEEN, ARRAY_LEAF, SCALAR_LEAF };

/* The parts of the key of a call: for each input its slot, or what it is known by if it is a new
   leaf. They are borrowed. 0 if the call must go the general way. */
static int parts_of(const Call *call, PyObject *owner, uintptr_t *parts, int *leaf)
{
    int foldable = call->n > 0; /* all are integers of the host, so that it may compute */
    int is_program = Py_TYPE(owner) == Program.type;
    for (Py_ssize_t i = 0; i < call->n; i++) {
        PyObject *x = call->inputs[i];
        if (!x) {
            foldable = 0;
            leaf[i] = SCALAR_LEAF;
            parts[i] = (uintptr_t)SLOT(number_aval(call), Aval.packed);
            if (!is_program)
                return 0;
            continue;
        }
        PyObject *from = PLACE(x)->program, *aval = SLOT(x, Tensor._aval);
        PyObject *array = SLOT(x, Tensor._array);
        int on_host = (PyObject *)Py_TYPE(array) == python.ndarray;
        foldable = foldable && on_host && SLOT(aval, Aval.floating) != Py_True;
        leaf[i] = from == owner ? SEEN : ARRAY_LEAF;
        parts[i] = from == owner ? SLOT_PART(PLACE(x)->slot) : (uintptr_t)aval;
        if (from == owner)
            continue;
        if (array == Py_None || !is_program)
            return 0;
        if (on_host && SLOT(aval, Aval.packed) != Py_None) {
            leaf[i] = SCALAR_LEAF;
            parts[i] = (uintptr_t)SLOT(aval, Aval.packed);
        } else if (on_host && (from != Py_None || SLOT(aval, Aval.plain) != Py_True))
            return 0; /* it moves if it is used again; large or small ones have ways of their own */
        for (Py_ssize_t k = 0; k < i; k++)
            if (call->inputs[k] == x)
                return 0;
    }
    return !foldable;
}

/* The values of the inputs that are leaves of one kind, as a tuple. */
static PyObject *leaves_of(const Call *call, const int *leaf, int kind)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < call->n; i++)
        count += leaf[i] == kind;
    if (!count)
        return Py_NewRef(empty);
    PyObject *values = PyTuple_New(count);
    for (Py_ssize_t i = 0, k = 0; values && i < call->n; i++)
        if (leaf[i] == kind) {
            PyObject *x = call->inputs[i], *value;
            if (x && kind == SCALAR_LEAF)
                value = PyObject_CallMethodNoArgs(SLOT(x, Tensor._array), text.item);
            else
                value = Py_NewRef(x ? SLOT(x, Tensor._array) : call->number);
            if (value)
                PyTuple_SET_ITEM(values, k++, value);
            else
                Py_CLEAR(values);
        }
    return values ? untracked(values) : NULL;
}

/* The entry of a call and what it brings in, a new reference. */
static PyObject *entry_of(PyObject *child, const Call *call, const int *leaf)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < call->n; i++)
        count += leaf[i] != SEEN;
    if (!count)
        return Py_NewRef(child);
    PyObject *arrays = leaves_of(call, leaf, ARRAY_LEAF);
    PyObject *scalars = leaves_of(call, leaf, SCALAR_LEAF), *entry = NULL;
    if (arrays && scalars)
        entry = untracked(tuple_of((PyObject *[]){child, arrays, scalars}, 3));
    DROP(arrays, scalars);
    return entry;
}

/* One output, of this identity or one of its own, or a tuple of them. */
static PyObject *outputs_of(Edge *edge, PyObject *owner, PyObject *id)
{
    if (edge->aval)
        return pending(edge->aval, owner, edge->first, id);
    PyObject *avals = SLOT(edge->child, Node.outputs);
    Py_ssize_t count = PyTuple_GET_SIZE(avals);
    PyObject *outs = PyTuple_New(count);
    for (Py_ssize_t i = 0; outs && i < count; i++) {
        PyObject *out = pending(PyTuple_GET_ITEM(avals, i), owner, edge->first + i, NULL);
        if (out)
            PyTuple_SET_ITEM(outs, i, out);
        else
            Py_CLEAR(outs);
    }
    return outs;
}

/* Append an entry to a log that had `length`, and references to its outputs: -1 for an error; 0 if
   the call is to be made again, for a finalizer has made another, or a thread has run the program.
   The references come last: whoever runs the program wants what they refer to. */
static int append(PyObject *current, PyObject *owner, PyObject *log, Py_ssize_t length,
                  PyObject *entry, PyObject *out)
{
    if (PyList_GET_SIZE(log) != length)
        return 0;
    int failed = PyList_Append(log, entry), several = PyTuple_CheckExact(out);
    Py_ssize_t count = several ? PyTuple_GET_SIZE(out) : 1;
    for (Py_ssize_t i = 0; !failed && i < count; i++)
        failed = append_reference(owner, several ? PyTuple_GET_ITEM(out, i) : out);
    return failed ? -1 : SLOT(current, ThreadState.program) == owner;
}

static PyObject *apply_by_python(const Call *call)
{
    if (call->number)
        return PyObject_CallFunctionObjArgs(python.apply_scalar, call->closure,
                                            call->inputs[!call->inputs[0]], call->number,
                                            call->inputs[0] ? Py_False : Py_True, NULL);
    PyObject *given = call->given ? Py_NewRef(call->given) : tuple_of(call->inputs, call->n);
    PyObject *out = given ? PyObject_CallFunctionObjArgs(python.apply, call->closure, given, NULL)
                          : NULL;
    Py_XDECREF(given);
    return out;
}

/* record.apply and record.apply_scalar. `id` is what a single output had better be known by, or
   NULL. */
static PyObject *apply_to(Call *call, PyObject *id)
{
    PyObject *log = NULL, *out = NULL;
    Edge *edge = NULL;
    uintptr_t parts[MOST_LEAVES];
    Py_ssize_t length = 0, n = call->n;
    int leaf[MOST_LEAVES];
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    PyObject *owner = n <= MOST_LEAVES ? program_for(current, call) : NULL;
    if (owner && parts_of(call, owner, parts, leaf)) {
        log = Py_NewRef(SLOT(owner, Program.log));
        length = PyList_GET_SIZE(log);
        edge = edge_of(log, call->closure, parts, n);
    }
    int failed = !edge && PyErr_Occurred();
    if (edge) {
        out = outputs_of(edge, owner, id);
        PyObject *entry = out ? entry_of(edge->child, call, leaf) : NULL;
        int appended = entry ? append(current, owner, log, length, entry, out) : -1;
        Py_XDECREF(entry);
        failed = appended < 0;
        for (Py_ssize_t i = 0, slot = edge->first - edge->leaves; i < n && appended > 0; i++) {
            if (leaf[i] != SEEN && call->inputs[i])
                put_leaf(call->inputs[i], owner, slot);
            else if (leaf[i] != SEEN)
                call->slot = slot;
            slot += leaf[i] != SEEN;
        }
        if (!appended)
            Py_CLEAR(edge);
        else if (!failed && edge->differentiable)
            failed = notify(SLOT(current, ThreadState.recorders), call, owner, out, edge->child);
    }
    if (failed || !edge)
        Py_CLEAR(out);
    if (!failed && !edge)
        out = apply_by_python(call);
    DROP(edge, log, owner, current);
    return out;
}

static PyObject *native_apply(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2 || !PyTuple_CheckExact(args[1]))
        return refuse("apply(closure, tensors)");
    Call call = {args[0], ((PyTupleObject *)args[1])->ob_item, PyTuple_GET_SIZE(args[1]), args[1]};
    for (Py_ssize_t i = 0; i < call.n; i++)
        if (!is_tensor(call.inputs[i]))
            return refuse("apply(closure, tensors)");
    return apply_to(&call, NULL);
}

static PyObject *apply_scalar(PyObject *closure, PyObject *x, PyObject *number, int reflected)
{
    PyObject *inputs[2] = {reflected ? NULL : x, reflected ? x : NULL};
    return apply_to(&(Call){closure, inputs, 2, .number = number}, NULL);
}

static PyObject *native_apply_scalar(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 4 || !is_tensor(args[1]))
        return refuse("apply_scalar(closure, tensor, number, reflected)");
    return apply_scalar(args[0], args[1], args[2], args[3] == Py_True);
}

/* An answer of a splice: a pending tensor for (slot, aval), the one at a place before for (place,
   None), or None. A new reference. */
static PyObject *answer(PyObject *part, PyObject *owner, PyObject *answers)
{
    PyObject *slot = PyTuple_GET_ITEM(part, 0), *aval = PyTuple_GET_ITEM(part, 1);
    if (aval != Py_None)
        return pending(aval, owner, PyLong_AsSsize_t(slot), NULL);
    if (slot == Py_None)
        return Py_NewRef(Py_None);
    return Py_NewRef(PyList_GET_ITEM(answers, PyLong_AsSsize_t(slot)));
}

static PyObject *answers_of(PyObject *owner, PyObject *slots)
{
    Py_ssize_t n = PyTuple_GET_SIZE(slots);
    PyObject *answers = PyList_New(n);
    for (Py_ssize_t i = 0; answers && i < n; i++) {
        PyObject *out = answer(PyTuple_GET_ITEM(slots, i), owner, answers);
        if (out)
            PyList_SET_ITEM(answers, i, out);
        else
            Py_CLEAR(answers);
    }
    return answers;
}

static int append_references(PyObject *owner, PyObject *slots, PyObject *answers)
{
    int failed = 0;
    /* From the last on: those of the first layers are computed last. */
    for (Py_ssize_t i = PyTuple_GET_SIZE(slots) - 1; i >= 0 && !failed; i--)
        if (PyTuple_GET_ITEM(PyTuple_GET_ITEM(slots, i), 1) != Py_None)
            failed = append_reference(owner, PyList_GET_ITEM(answers, i));
    return failed;
}

/* splice_outputs(program, slots): the answers of a splice as a list. */
static PyObject *native_splice_outputs(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2 || !PyObject_TypeCheck(args[0], Program.type) || !PyTuple_CheckExact(args[1]))
        return refuse("splice_outputs(program, slots)");
    PyObject *answers = answers_of(args[0], args[1]);
    if (answers && append_references(args[0], args[1], answers))
        Py_CLEAR(answers);
    return answers;
}
