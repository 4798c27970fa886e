/* What record.py, executor.py, declare.py, variable.py and autodiff/tape.py do most often, in C:
   the same steps on the same objects, many times as fast.

   Optional. Those files have the same in Python, and say what it does and why; where a compiler was
   found at installation it is replaced by this. Whatever is out of the ordinary
   goes to dispatch.apply, as there. The classes stay Python's: their slots are reached by the
   offsets that their member descriptors tell.

   No Python code runs between the steps, but for finalizers: before Python 3.12 the allocation of a
   container may collect garbage. So what is used after one is owned, and an entry is appended only
   if no other has come in between.
*/
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <limits.h>
#include <structmember.h>

/* record.py takes this module only if it is of its own version. */
#define VERSION 19

static PyTypeObject *Tensor, *Program, *Tape, *Record, *Variable, *Prepared, *Executable;
static PyObject *ndarray, *local, *mode, *next_id, *new_program, *new_array, *float32;
static PyObject *apply_general, *scalar_general, *notify, *flush, *no_ids, *no_reads;
static PyObject *s_state, *s_immediate, *s_record_one, *s_ids, *s_variable_accessed, *s_unread;
static PyObject *s_gradient, *s_acquire, *s_release, *s_enter, *s_exit, *s_arguments, *s_call;
static PyObject *s_spread, *s_pack, *empty, *zero, *one;
static PyObject *run_general, *enable_x64, *counters, *copy_all, *discard;
static int own_local;

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

static struct { Py_ssize_t aval, array, id; } tensor;
static struct {
    Py_ssize_t children, full, single, outputs, first, first_leaf, taped, scalars, usual;
    Py_ssize_t splices, runners, depth, aval;
} node;
static struct {
    Py_ssize_t log, refs, donatable, aliases, moved, calling, lock, owner, ran, results, launched;
    Py_ssize_t spread, origin, joins;
} program;
static struct { Py_ssize_t donate, origin, recent, call, packs, packed; } prepared;
static Py_ssize_t compiled; /* of the Runners of a node */
static struct { Py_ssize_t key, settled; } origin;
static struct { Py_ssize_t instructions, cache_hits, dispatches, fused; } counted;
static struct { Py_ssize_t program, recorders, deferring, capture, origin, device; } state;
static struct {
    Py_ssize_t ids, record, reads, watches, persistent, recording, watched, used_at, warned;
    Py_ssize_t calls, program, variables, reassigned, escapes;
} tape;
static struct {
    Py_ssize_t scalar, packed, plain, trainable, floating, np_dtype, dtype, tensor_shape;
} aval;
static struct { Py_ssize_t handle, trainable, view, id, tensor, dtype, shape; } variable;

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

static void put(PyObject *object, Py_ssize_t offset, PyObject *value)
{
    Py_INCREF(value);
    Py_XSETREF(SLOT(object, offset), value);
}

/* A tensor with all its parts: Tensor.__new__ alone gives none. */
static int is_tensor(PyObject *object)
{
    return PyObject_TypeCheck(object, Tensor) && SLOT(object, tensor.aval) &&
           SLOT(object, tensor.array) && PLACE(object)->program && SLOT(object, tensor.id);
}

static Py_ssize_t offset_of(PyObject *type, const char *name)
{
    PyObject *descriptor = PyObject_GetAttrString(type, name);
    if (!descriptor)
        return -1;
    Py_ssize_t offset = -1;
    if (Py_TYPE(descriptor) == &PyMemberDescr_Type)
        offset = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "%R.%s is not a slot", type, name);
    Py_DECREF(descriptor);
    return offset;
}

typedef struct {
    PyObject *type;
    const char *name;
    Py_ssize_t *offset;
} Wanted;

static int find_offsets(const Wanted *wanted, size_t size)
{
    for (size_t i = 0; i < size / sizeof *wanted; i++)
        if ((*wanted[i].offset = offset_of(wanted[i].type, wanted[i].name)) < 0)
            return -1;
    return 0;
}

/* The state of this thread, a new reference: state.LOCAL.state. The last thread's is kept at hand,
   unless the thread-local objects of another library stand for Python's. */
static PyObject *thread_state(void)
{
    static PyThreadState *last;
    static uint64_t last_id;
    static PyObject *kept;
    PyThreadState *now = PyThreadState_Get();
    uint64_t id = PyThreadState_GetID(now);
    if (kept && now == last && id == last_id)
        return Py_NewRef(kept);
    PyObject *current = PyObject_GetAttr(local, s_state);
    if (current && own_local) {
        PyObject *before = kept;
        kept = Py_NewRef(current);
        last = now;
        last_id = id;
        Py_XDECREF(before);
    }
    return current;
}

/* Garbage collections need not look at what is made for each op: a tensor leads to no more than its
   program, which leads to no tensor. (`track` is for those that are made to lead to more.) */
static PyObject *untracked(PyObject *made)
{
    if (made)
        PyObject_GC_UnTrack(made);
    return made;
}

static PyObject *track(PyObject *module, PyObject *x)
{
    if (Py_TYPE(x) == Tensor && !PyObject_GC_IsTracked(x))
        PyObject_GC_Track(x);
    Py_RETURN_NONE;
}

static PyObject *tuple_of(PyObject *const *items, Py_ssize_t n)
{
    PyObject *made = PyTuple_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++)
        PyTuple_SET_ITEM(made, i, Py_NewRef(items[i]));
    return made;
}

static void set_place(PyObject *x, PyObject *owner, Py_ssize_t slot)
{
    PyObject *before = PLACE(x)->program;
    PLACE(x)->program = Py_NewRef(owner);
    PLACE(x)->slot = slot;
    Py_XDECREF(before);
}

/* A pending tensor with the value of a slot of a program, of an identity of its own if none is
   given. */
static PyObject *pending(PyObject *known, PyObject *owner, Py_ssize_t slot, PyObject *id)
{
    id = id ? Py_NewRef(id) : PyIter_Next(next_id);
    PyObject *out = id ? Tensor->tp_alloc(Tensor, 0) : NULL;
    if (!out) {
        Py_XDECREF(id);
        return NULL;
    }
    SLOT(out, tensor.aval) = Py_NewRef(known);
    SLOT(out, tensor.array) = Py_NewRef(Py_None);
    SLOT(out, tensor.id) = id;
    set_place(out, owner, slot);
    return Py_TYPE(owner) == Program ? untracked(out) : out;
}

/* --------------------------------------------------------------------------------------------
   The tensors that a program is to compute, as long as somebody else has them: like a list of weak
   references, but that it takes no object for each. */

typedef struct {
    PyObject_HEAD
    Link all; /* before the first and after the last */
} References;

static PyTypeObject References_type;

static void unlink_place(Link *link)
{
    if (!link->after)
        return;
    link->before->after = link->after;
    link->after->before = link->before;
    link->before = link->after = NULL;
}

static void refer(PyObject *refs, PyObject *x)
{
    Link *all = &((References *)refs)->all, *link = &PLACE(x)->link;
    unlink_place(link);
    *link = (Link){all->before, all};
    all->before = all->before->after = link;
}

static int append_reference(PyObject *owner, PyObject *out)
{
    PyObject *refs = SLOT(owner, program.refs);
    if (Py_TYPE(refs) != &References_type) {
        PyErr_SetString(PyExc_TypeError, "the references of a program are no References");
        return -1;
    }
    refer(refs, out);
    return 0;
}

static void forget_all(PyObject *refs)
{
    Link *all = &((References *)refs)->all;
    while (all->after != all)
        unlink_place(all->after);
}

static PyObject *references_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (PyTuple_GET_SIZE(args) || kwargs)
        return PyErr_Format(PyExc_TypeError, "usage: References()");
    References *self = (References *)type->tp_alloc(type, 0);
    if (self)
        self->all = (Link){&self->all, &self->all};
    return (PyObject *)self;
}

static void references_dealloc(PyObject *self)
{
    forget_all(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *references_append(PyObject *self, PyObject *x)
{
    if (!PyObject_TypeCheck(x, Tensor))
        return PyErr_Format(PyExc_TypeError, "usage: append(tensor)");
    refer(self, x);
    Py_RETURN_NONE;
}

static PyMethodDef references_methods[] = {
    {"append", references_append, METH_O, "Refer to a tensor."}, {NULL, NULL, 0, NULL}};

static PyTypeObject References_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tape_compat._src.native._fastpath.References",
    .tp_basicsize = sizeof(References),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = references_new,
    .tp_dealloc = references_dealloc,
    .tp_methods = references_methods,
};

static int placed_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(PLACE(self)->program);
    return 0;
}

static int placed_clear(PyObject *self)
{
    Py_CLEAR(PLACE(self)->program);
    return 0;
}

static void placed_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    unlink_place(&PLACE(self)->link);
    Py_CLEAR(PLACE(self)->program);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *placed_at(PyObject *self, void *nothing)
{
    if (PLACE(self)->program)
        return Py_BuildValue("On", PLACE(self)->program, PLACE(self)->slot);
    PyErr_SetString(PyExc_AttributeError, "_at");
    return NULL;
}

static int placed_set_at(PyObject *self, PyObject *at, void *nothing)
{
    if (!at || !PyTuple_CheckExact(at) || PyTuple_GET_SIZE(at) != 2) {
        PyErr_SetString(PyExc_TypeError, "_at is a program and a slot");
        return -1;
    }
    Py_ssize_t slot = PyLong_AsSsize_t(PyTuple_GET_ITEM(at, 1));
    if (slot == -1 && PyErr_Occurred())
        return -1;
    set_place(self, PyTuple_GET_ITEM(at, 0), slot);
    return 0;
}

static PyGetSetDef placed_attributes[] = {
    {"_at", placed_at, placed_set_at, "Program and slot.", NULL}, {NULL, NULL, NULL, NULL, NULL}};

#if PY_VERSION_HEX < 0x030C0000
/* Python's own way to Tensor.__buffer__ comes with 3.12. */
static int placed_buffer(PyObject *self, Py_buffer *view, int flags)
{
    PyObject *exporter = PyObject_CallMethod(self, "__buffer__", "i", flags);
    int failed = exporter ? PyObject_GetBuffer(exporter, view, flags) : -1;
    Py_XDECREF(exporter);
    if (failed)
        view->obj = NULL;
    return failed;
}

static PyBufferProcs placed_buffers = {.bf_getbuffer = placed_buffer};
#endif

static PyTypeObject Placed_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tape_compat._src.native._fastpath.Placed",
    .tp_basicsize = sizeof(Placed),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = placed_dealloc,
    .tp_traverse = placed_traverse,
    .tp_clear = placed_clear,
    .tp_getset = placed_attributes,
#if PY_VERSION_HEX < 0x030C0000
    .tp_as_buffer = &placed_buffers,
#endif
};

/* -------------------------------------------------------------------------------------------- */

/* program.node_of */
static PyObject *node_of(PyObject *entry)
{
    return PyTuple_CheckExact(entry) ? PyTuple_GET_ITEM(entry, 0) : entry;
}

/* The last node of a log, borrowed. */
static PyObject *end_of(PyObject *log)
{
    return node_of(PyList_GET_ITEM(log, PyList_GET_SIZE(log) - 1));
}

/* How a program goes on from a node, as it did last: what its node keeps as `usual`. All that is
   read of the child when its instruction is recorded again is here, side by side.

   number: of a scalar closure, the number that was written in the log last, then the entry of one
   that comes again; see `scalar_entry`. aval: of a single output, or NULL. The slots of the child's
   leaves are those before `first`. */
typedef struct {
    PyObject_VAR_HEAD
    PyObject *child, *closure, *aval, *number;
    int first;
    short leaves;
    char taped;
    uintptr_t parts[];
} Way;

/* A part of a key: the slot of an input, or the aval or kind of a new leaf. */
#define SLOT_PART(slot) ((uintptr_t)(slot) << 1 | 1)
#define IS_SLOT(part) ((part) & 1)

static int way_traverse(PyObject *self, visitproc visit, void *arg)
{
    Way *way = (Way *)self;
    Py_VISIT(way->child);
    Py_VISIT(way->closure);
    Py_VISIT(way->aval);
    Py_VISIT(way->number);
    for (Py_ssize_t i = 0; i < Py_SIZE(way); i++)
        if (!IS_SLOT(way->parts[i]))
            Py_VISIT((PyObject *)way->parts[i]);
    return 0;
}

static int way_clear(PyObject *self)
{
    Way *way = (Way *)self;
    Py_CLEAR(way->number);
    return 0;
}

static void way_dealloc(PyObject *self)
{
    Way *way = (Way *)self;
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, way_dealloc)
    for (Py_ssize_t i = 0; i < Py_SIZE(way); i++)
        if (!IS_SLOT(way->parts[i]))
            Py_DECREF((PyObject *)way->parts[i]);
    Py_XDECREF(way->child);
    Py_XDECREF(way->closure);
    Py_XDECREF(way->aval);
    Py_XDECREF(way->number);
    PyObject_GC_Del(self);
    Py_TRASHCAN_END
}

static PyTypeObject Way_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tape_compat._src.native._fastpath.Way",
    .tp_basicsize = sizeof(Way),
    .tp_itemsize = sizeof(uintptr_t),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_dealloc = way_dealloc,
    .tp_traverse = way_traverse,
    .tp_clear = way_clear,
};

static Way *new_way(PyObject *child, PyObject *closure, const uintptr_t *parts, Py_ssize_t n)
{
    Py_ssize_t first = PyLong_AsSsize_t(SLOT(child, node.first));
    Py_ssize_t leaves = first - PyLong_AsSsize_t(SLOT(child, node.first_leaf));
    if (first > INT_MAX || leaves > SHRT_MAX)
        return NULL;
    Way *way = PyObject_GC_NewVar(Way, &Way_type, n);
    if (!way)
        return NULL;
    PyObject *known = SLOT(child, node.aval);
    way->child = Py_NewRef(child);
    way->closure = Py_NewRef(closure);
    way->aval = known == Py_None ? NULL : Py_NewRef(known);
    way->number = NULL;
    way->first = (int)first;
    way->leaves = (short)leaves;
    way->taped = SLOT(child, node.taped) == Py_True;
    for (Py_ssize_t i = 0; i < n; i++) {
        way->parts[i] = parts[i];
        if (!IS_SLOT(parts[i]))
            Py_INCREF((PyObject *)parts[i]);
    }
    PyObject_GC_Track(way);
    return way;
}

/* Remember where a leaf stands: x._at = (program, slot). See dispatch.put_leaf. */
static void put_leaf(PyObject *x, PyObject *owner, Py_ssize_t slot)
{
    PyObject *from = PLACE(x)->program;
    if (from != owner && Py_TYPE(from) == Program && SLOT(from, program.ran) == Py_False)
        put(from, program.moved, Py_True);
    set_place(x, owner, slot);
}

/* Whether a recorder tracks a tensor: -1, 0 or 1. */
static int tracks(PyObject *ids, PyObject *x)
{
    PyObject *id = SLOT(x, tensor.id);
    return PyAnySet_CheckExact(ids) ? PySet_Contains(ids, id) : PySequence_Contains(ids, id);
}

static PyObject *inputs_as_tuple(PyObject *const *inputs, Py_ssize_t n)
{
    PyObject *made = tuple_of(inputs, n);
    int plain = made != NULL;
    for (Py_ssize_t i = 0; plain && i < n; i++)
        plain = Py_TYPE(inputs[i]) == Tensor;
    return plain ? untracked(made) : made;
}

/* Append a call to what a tape has seen, as GradientTape.record_one does. */
static int add_call(PyObject *kept, PyObject *closure, PyObject *inputs, PyObject *id,
                    PyObject *child, PyObject *owner)
{
    PyObject *calls = SLOT(kept, tape.calls);
    Py_ssize_t length = PyList_GET_SIZE(calls);
    if (!length)
        put(kept, tape.program, owner);
    if (PyList_Append(calls, closure) || PyList_Append(calls, inputs) ||
        PyList_Append(calls, id) || PyList_Append(calls, child)) {
        PyList_SetSlice(calls, length, PyList_GET_SIZE(calls), NULL);
        return -1;
    }
    return 0;
}

/* Let a tape track the outputs of a call that it records; what they are known by, a new
   reference. */
static PyObject *tracked_outputs(PyObject *ids, PyObject *out)
{
    if (!PyTuple_CheckExact(out))
        return PySet_Add(ids, SLOT(out, tensor.id)) ? NULL : Py_NewRef(SLOT(out, tensor.id));
    Py_ssize_t n = PyTuple_GET_SIZE(out);
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t i = 0; all && i < n; i++) {
        PyObject *x = PyTuple_GET_ITEM(out, i), *id = SLOT(x, tensor.id);
        PyTuple_SET_ITEM(all, i, Py_NewRef(id));
        if (SLOT(SLOT(x, tensor.aval), aval.trainable) == Py_True && PySet_Add(ids, id))
            Py_CLEAR(all);
    }
    if (all && n == 1)
        Py_SETREF(all, Py_NewRef(PyTuple_GET_ITEM(all, 0)));
    return all;
}

static int all_tapes(PyObject *recorders)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(recorders); i++)
        if (Py_TYPE(PyTuple_GET_ITEM(recorders, i)) != Tape)
            return 0;
    return 1;
}

/* Tell the recorders that track an input of a call: tapes if there are several outputs. */
static int record(PyObject *recorders, PyObject *closure, PyObject *given, PyObject *const *inputs,
                  Py_ssize_t n, PyObject *out, PyObject *child)
{
    Py_INCREF(recorders);
    Py_XINCREF(given);
    int failed = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(recorders) && !failed; i++) {
        PyObject *recorder = PyTuple_GET_ITEM(recorders, i);
        int is_tape = Py_TYPE(recorder) == Tape;
        PyObject *ids = is_tape ? Py_XNewRef(SLOT(recorder, tape.ids))
                                : PyObject_GetAttr(recorder, s_ids);
        if (!ids) {
            failed = -1;
            break;
        }
        int found = 0;
        for (Py_ssize_t k = 0; k < n && !found; k++)
            found = tracks(ids, inputs[k]);
        int alone = is_tape && n == 1;
        if (found > 0 && !alone && !given && !(given = inputs_as_tuple(inputs, n)))
            found = -1;
        if (found < 0)
            failed = -1;
        else if (found && is_tape) {
            PyObject *kept = Py_NewRef(SLOT(recorder, tape.record)), *first = out;
            if (PyTuple_CheckExact(out))
                first = PyTuple_GET_ITEM(out, 0);
            PyObject *id = kept != Py_None ? tracked_outputs(ids, out) : NULL;
            failed = kept != Py_None &&
                     (!id || add_call(kept, closure, alone ? inputs[0] : given, id, child,
                                      PLACE(first)->program));
            Py_XDECREF(id);
            Py_DECREF(kept);
        } else if (found) {
            PyObject *done = PyObject_CallMethodObjArgs(recorder, s_record_one, closure, given,
                                                        out, child, NULL);
            failed = !done;
            Py_XDECREF(done);
        }
        Py_DECREF(ids);
    }
    Py_XDECREF(given);
    Py_DECREF(recorders);
    return failed ? -1 : 0;
}

/* The way that a key (a closure and `n` parts) leads from the end of a log, a new reference. NULL
   if there is none or it fills the program, with an error set if one happened. */
static Way *way_of(PyObject *log, PyObject *closure, const uintptr_t *parts, Py_ssize_t n)
{
    if (!PyList_GET_SIZE(log))
        return NULL;
    PyObject *last = end_of(log);
    Way *way = (Way *)SLOT(last, node.usual);
    if (way && Py_TYPE(way) == &Way_type && way->closure == closure && Py_SIZE(way) == n &&
        !memcmp(way->parts, parts, n * sizeof *parts))
        return (Way *)Py_NewRef(way);
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
        child = Py_XNewRef(PyDict_GetItemWithError(SLOT(last, node.children), key));
    way = child && SLOT(child, node.full) == Py_False ? new_way(child, closure, parts, n) : NULL;
    if (way)
        Py_XSETREF(SLOT(last, node.usual), Py_NewRef(way));
    Py_XDECREF(child);
    Py_XDECREF(key);
    Py_DECREF(last);
    return way;
}

#define MOST_INPUTS 8

/* declare.MOST_NUMBER */
#define MOST_NUMBER 16777216.0

/* The program to append to, a new reference; NULL if the call must go the general way, with an
   error set if one happened. */
static PyObject *program_for(PyObject *current, PyObject *const *inputs, Py_ssize_t n)
{
    PyObject *owner = SLOT(current, state.program);
    int records = SLOT(current, state.deferring) == Py_True;
    if (owner == Py_None) {
        PyObject *immediate = records ? PyObject_GetAttr(mode, s_immediate) : NULL;
        Py_XDECREF(immediate);
        return immediate == Py_False ? PyObject_CallOneArg(new_program, current) : NULL;
    }
    records = records || (SLOT(owner, program.joins) == Py_True &&
                          SLOT(current, state.device) == Py_None);
    for (Py_ssize_t i = 0; i < n && !records; i++)
        records = SLOT(inputs[i], tensor.array) == Py_None;
    return records ? Py_NewRef(owner) : NULL;
}

/* The parts of the key of a call: for each input its slot, or its aval if it is a new leaf. They
   are borrowed. 0 if the call must go the general way. */
static int parts_of(PyObject *const *inputs, Py_ssize_t n, PyObject *owner, uintptr_t *parts,
                    int *is_leaf)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *from = PLACE(inputs[i])->program, *known = SLOT(inputs[i], tensor.aval);
        is_leaf[i] = from != owner;
        parts[i] = is_leaf[i] ? (uintptr_t)known : SLOT_PART(PLACE(inputs[i])->slot);
        if (!is_leaf[i])
            continue;
        PyObject *array = SLOT(inputs[i], tensor.array);
        if (array == Py_None || Py_TYPE(owner) != Program)
            return 0;
        /* dispatch._moves */
        if ((PyObject *)Py_TYPE(array) == ndarray &&
            (from != Py_None || SLOT(known, aval.plain) != Py_True))
            return 0;
        for (Py_ssize_t k = 0; k < i; k++)
            if (inputs[k] == inputs[i])
                return 0;
    }
    return 1;
}

/* The entry of a call and what it brings in, a new reference. */
static PyObject *entry_of(PyObject *child, PyObject *const *inputs, Py_ssize_t n,
                          const int *is_leaf)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        count += is_leaf[i];
    if (!count)
        return Py_NewRef(child);
    PyObject *arrays = PyTuple_New(count);
    for (Py_ssize_t i = 0, k = 0; arrays && i < n; i++)
        if (is_leaf[i])
            PyTuple_SET_ITEM(arrays, k++, Py_NewRef(SLOT(inputs[i], tensor.array)));
    PyObject *entry = arrays ? untracked(PyTuple_Pack(3, child, untracked(arrays), empty)) : NULL;
    Py_XDECREF(arrays);
    return entry;
}

/* One output, of this identity or one of its own, or a tuple of them. */
static PyObject *outputs_of(Way *way, PyObject *owner, PyObject *id)
{
    if (way->aval)
        return pending(way->aval, owner, way->first, id);
    PyObject *avals = SLOT(way->child, node.outputs);
    Py_ssize_t count = PyTuple_GET_SIZE(avals);
    PyObject *outs = PyTuple_New(count);
    for (Py_ssize_t i = 0; outs && i < count; i++) {
        PyObject *out = pending(PyTuple_GET_ITEM(avals, i), owner, way->first + i, NULL);
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
    return failed ? -1 : SLOT(current, state.program) == owner;
}

static int told(PyObject *recorders, PyObject *closure, PyObject *given, PyObject *const *inputs,
                Py_ssize_t n, PyObject *out, Way *way)
{
    if (!PyTuple_GET_SIZE(recorders))
        return 0;
    if (way->aval || all_tapes(recorders))
        return way->taped ? record(recorders, closure, given, inputs, n, out, way->child) : 0;
    Py_INCREF(recorders);
    given = given ? Py_NewRef(given) : tuple_of(inputs, n);
    PyObject *done = given ? PyObject_CallFunctionObjArgs(notify, recorders, closure, given, out,
                                                          way->child, NULL)
                           : NULL;
    Py_XDECREF(given);
    Py_DECREF(recorders);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* dispatch.apply. `given` is the inputs as a tuple, or NULL if there is none yet; `id` what a
   single output had better be known by, or NULL. */
static PyObject *apply_to(PyObject *closure, PyObject *const *inputs, Py_ssize_t n, PyObject *given,
                          PyObject *id)
{
    PyObject *log = NULL, *out = NULL;
    Way *way = NULL;
    uintptr_t parts[MOST_INPUTS];
    Py_ssize_t length = 0;
    int is_leaf[MOST_INPUTS];
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    PyObject *owner = n <= MOST_INPUTS ? program_for(current, inputs, n) : NULL;
    if (owner && parts_of(inputs, n, owner, parts, is_leaf)) {
        log = Py_NewRef(SLOT(owner, program.log));
        length = PyList_GET_SIZE(log);
        way = way_of(log, closure, parts, n);
    }
    int failed = !way && PyErr_Occurred();
    if (way) {
        out = outputs_of(way, owner, id);
        PyObject *entry = out ? entry_of(way->child, inputs, n, is_leaf) : NULL;
        int appended = entry ? append(current, owner, log, length, entry, out) : -1;
        Py_XDECREF(entry);
        failed = appended < 0;
        for (Py_ssize_t i = 0, slot = way->first - way->leaves; i < n && appended > 0; i++)
            if (is_leaf[i])
                put_leaf(inputs[i], owner, slot++);
        if (!appended)
            Py_CLEAR(way);
        else if (!failed)
            failed = told(SLOT(current, state.recorders), closure, given, inputs, n, out, way);
    }
    if (failed || !way)
        Py_CLEAR(out);
    if (!failed && !way && (given = given ? Py_NewRef(given) : tuple_of(inputs, n))) {
        out = PyObject_CallFunctionObjArgs(apply_general, closure, given, NULL);
        Py_DECREF(given);
    }
    Py_XDECREF(way);
    Py_XDECREF(log);
    Py_XDECREF(owner);
    Py_DECREF(current);
    return out;
}

static PyObject *refuse(const char *usage)
{
    PyErr_Format(PyExc_TypeError, "usage: %s", usage);
    return NULL;
}

static PyObject *apply(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2 || !PyTuple_CheckExact(args[1]))
        return refuse("apply(closure, tensors)");
    Py_ssize_t count = PyTuple_GET_SIZE(args[1]);
    PyObject **inputs = ((PyTupleObject *)args[1])->ob_item;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!is_tensor(inputs[i]))
            return refuse("apply(closure, tensors)");
    return apply_to(args[0], inputs, count, args[1], NULL);
}

static PyObject *apply1(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2 || !is_tensor(args[1]))
        return refuse("apply1(closure, tensor)");
    return apply_to(args[0], args + 1, 1, NULL, NULL);
}

static PyObject *apply2(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 3 || !is_tensor(args[1]) || !is_tensor(args[2]))
        return refuse("apply2(closure, tensor, tensor)");
    return apply_to(args[0], args + 1, 2, NULL, NULL);
}

/* NumPy's array of a Python number. Those made last are kept: a program has few numbers. */
static PyObject *number_array(PyObject *value, PyObject *dtype)
{
    static struct { PyObject *value, *dtype, *array; } kept[64], before;
    int keep = PyFloat_CheckExact(value) || PyLong_CheckExact(value);
    size_t i = ((size_t)value >> 4) % (sizeof kept / sizeof *kept);
    if (keep && kept[i].value == value && kept[i].dtype == dtype)
        return Py_NewRef(kept[i].array);
    PyObject *array = PyObject_CallFunctionObjArgs(new_array, value, dtype, NULL);
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

/* dispatch._record_scalar, where the number is the leaf in a slot. */
static int record_scalar(PyObject *recorders, PyObject *closure, PyObject *x, PyObject *value,
                         int reflected, Py_ssize_t slot, PyObject *out, PyObject *child)
{
    int found = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(recorders) && !found; i++) {
        PyObject *recorder = PyTuple_GET_ITEM(recorders, i);
        PyObject *ids = Py_TYPE(recorder) == Tape ? Py_XNewRef(SLOT(recorder, tape.ids))
                                                  : PyObject_GetAttr(recorder, s_ids);
        found = ids ? tracks(ids, x) : -1;
        Py_XDECREF(ids);
    }
    if (found <= 0)
        return found;
    /* The pullback may want the number: it is in the slot of the leaf. */
    PyObject *known = SLOT(SLOT(x, tensor.aval), aval.scalar), *number = NULL;
    PyObject *array = number_array(value, SLOT(known, aval.np_dtype));
    if (array)
        number = pending(known, PLACE(out)->program, slot, zero);
    int failed = -1;
    if (number) {
        Py_SETREF(SLOT(number, tensor.array), Py_NewRef(array));
        PyObject *inputs[2] = {reflected ? number : x, reflected ? x : number};
        failed = record(recorders, closure, NULL, inputs, 2, out, child);
    }
    Py_XDECREF(number);
    Py_XDECREF(array);
    return failed;
}

/* What stands in the log for a number, and an array if it comes with a leaf: (child, arrays,
   (value,)). A way keeps the number that was written there last, then the entry of one that comes
   again: that of a constant in the program. */
static PyObject *scalar_entry(Way *way, PyObject *array, PyObject *value)
{
    PyObject *kept = way->number;
    int keep = !array && (PyFloat_CheckExact(value) || PyLong_CheckExact(value));
    int again = keep && kept == value;
    if (keep && kept && PyTuple_CheckExact(kept) &&
        PyTuple_GET_ITEM(PyTuple_GET_ITEM(kept, 2), 0) == value)
        return Py_NewRef(kept);
    PyObject *arrays = array ? tuple_of(&array, 1) : Py_NewRef(empty);
    PyObject *scalars = arrays ? untracked(tuple_of(&value, 1)) : NULL;
    PyObject *entry = scalars ? PyTuple_New(3) : NULL;
    if (entry) {
        PyTuple_SET_ITEM(entry, 0, Py_NewRef(way->child));
        PyTuple_SET_ITEM(entry, 1, Py_NewRef(arrays));
        PyTuple_SET_ITEM(entry, 2, Py_NewRef(scalars));
        if (!again)
            untracked(entry); /* what the way keeps leads to the node again */
        if (keep)
            Py_XSETREF(way->number, Py_NewRef(again ? entry : value));
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
    Way *way = NULL;
    uintptr_t part;
    Py_ssize_t length = 0;
    int is_leaf = 0;
    if (owner && Py_TYPE(owner) == Program && parts_of(&x, 1, owner, &part, &is_leaf)) {
        PyObject *kind = SLOT(SLOT(SLOT(x, tensor.aval), aval.scalar), aval.packed);
        uintptr_t parts[2] = {part, (uintptr_t)kind};
        if (reflected) {
            parts[0] = (uintptr_t)kind;
            parts[1] = part;
        }
        log = Py_NewRef(SLOT(owner, program.log));
        length = PyList_GET_SIZE(log);
        way = way_of(log, closure, parts, 2);
    }
    int failed = !way && PyErr_Occurred();
    if (way && !way->aval)
        Py_CLEAR(way);
    if (way) {
        PyObject *array = is_leaf ? Py_NewRef(SLOT(x, tensor.array)) : NULL;
        PyObject *entry = scalar_entry(way, array, value);
        out = entry ? outputs_of(way, owner, NULL) : NULL;
        int appended = out ? append(current, owner, log, length, entry, out) : -1;
        Py_XDECREF(entry);
        Py_XDECREF(array);
        failed = appended < 0;
        Py_ssize_t slot = way->first - way->leaves;
        if (appended > 0 && is_leaf)
            put_leaf(x, owner, slot + reflected);
        if (!appended)
            Py_CLEAR(way);
        else if (!failed && way->taped) {
            PyObject *recorders = Py_NewRef(SLOT(current, state.recorders));
            failed = record_scalar(recorders, closure, x, value, reflected,
                                   slot + (is_leaf && !reflected), out, way->child);
            Py_DECREF(recorders);
        }
    }
    if (failed || !way)
        Py_CLEAR(out);
    if (!failed && !way)
        out = PyObject_CallFunctionObjArgs(scalar_general, closure, x, value,
                                           reflected ? Py_True : Py_False, NULL);
    Py_XDECREF(way);
    Py_XDECREF(log);
    Py_XDECREF(owner);
    Py_DECREF(current);
    return out;
}

static PyObject *apply_scalar(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 4 || !is_tensor(args[1]))
        return refuse("apply_scalar(closure, tensor, number, reflected)");
    return scalar_to(args[0], args[1], args[2], args[3] == Py_True);
}

/* An answer of a splice: a pending tensor for (slot, aval), the one at a place before for (place,
   None), or None. A new reference. */
static PyObject *answer(PyObject *part, PyObject *owner, PyObject *answers)
{
    PyObject *slot = PyTuple_GET_ITEM(part, 0), *known = PyTuple_GET_ITEM(part, 1);
    if (known != Py_None)
        return pending(known, owner, PyLong_AsSsize_t(slot), NULL);
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
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots) && !failed; i++)
        if (PyTuple_GET_ITEM(PyTuple_GET_ITEM(slots, i), 1) != Py_None)
            failed = append_reference(owner, PyList_GET_ITEM(answers, i));
    return failed;
}

/* splice_outputs(program, slots): the answers of a splice as a list. */
static PyObject *splice_outputs(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2 || !PyObject_TypeCheck(args[0], Program) || !PyTuple_CheckExact(args[1]))
        return refuse("splice_outputs(program, slots)");
    PyObject *answers = answers_of(args[0], args[1]);
    if (answers && append_references(args[0], args[1], answers))
        Py_CLEAR(answers);
    return answers;
}

/* The tensors that somebody has and that have no value, of those referred to: a new list. */
static PyObject *awaited(PyObject *references)
{
    PyObject *tensors = PyList_New(0);
    Link *all = &((References *)references)->all;
    for (Link *link = all->after; tensors && link != all; link = link->after) {
        PyObject *x = LINKED(link);
        /* One of which no reference is left is being deallocated. */
        if (Py_REFCNT(x) && SLOT(x, tensor.array) == Py_None && PyList_Append(tensors, x))
            Py_CLEAR(tensors);
    }
    return tensors;
}

/* The same of weak references. */
static PyObject *awaited_of_list(PyObject *references)
{
    PyObject *tensors = PyList_New(0);
    for (Py_ssize_t i = 0; tensors && i < PyList_GET_SIZE(references); i++) {
        PyObject *x = PyObject_CallNoArgs(PyList_GET_ITEM(references, i));
        if (!x || (Py_TYPE(x) == Tensor && SLOT(x, tensor.array) == Py_None &&
                   PyList_Append(tensors, x)))
            Py_CLEAR(tensors);
        Py_XDECREF(x);
    }
    return tensors;
}

/* waiting(references): the tensors that are alive and have no value, after their slots. */
static PyObject *waiting(PyObject *module, PyObject *references)
{
    int is_list = PyList_CheckExact(references);
    if (!is_list && Py_TYPE(references) != &References_type)
        return refuse("waiting(references)");
    PyObject *tensors = is_list ? awaited_of_list(references) : awaited(references);
    Py_ssize_t n = tensors ? PyList_GET_SIZE(tensors) : 0;
    PyObject *slots = tensors ? PyTuple_New(n) : NULL;
    for (Py_ssize_t i = 0; slots && i < n; i++) {
        PyObject *slot = PyLong_FromSsize_t(PLACE(PyList_GET_ITEM(tensors, i))->slot);
        if (slot)
            PyTuple_SET_ITEM(slots, i, slot);
        else
            Py_CLEAR(slots);
    }
    PyObject *answer = slots ? PyTuple_Pack(2, slots, tensors) : NULL;
    Py_XDECREF(slots);
    Py_XDECREF(tensors);
    return answer;
}

/* gather(log): the array leaves as a list, the scalar leaves as lists by dtype. */
static PyObject *gather(PyObject *module, PyObject *log)
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
        PyObject *dtypes = SLOT(PyTuple_GET_ITEM(entry, 0), node.scalars);
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
    Py_XDECREF(arrays);
    Py_XDECREF(by_dtype);
    return answer;
}

typedef struct {
    Py_ssize_t slot;
    PyObject *tensor;
} Awaited;

static int earlier(const void *a, const void *b)
{
    const Awaited *x = a, *y = b;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Put tensors in the order of their slots: 0 if they were. */
static int sort(PyObject *tensors)
{
    Py_ssize_t n = PyList_GET_SIZE(tensors), i = 1;
    PyObject **items = ((PyListObject *)tensors)->ob_item;
    while (i < n && PLACE(items[i - 1])->slot <= PLACE(items[i])->slot)
        i++;
    if (i >= n)
        return 0;
    Awaited *all = PyMem_New(Awaited, n);
    if (!all) {
        PyErr_NoMemory();
        return -1;
    }
    for (i = 0; i < n; i++)
        all[i] = (Awaited){PLACE(items[i])->slot, items[i]};
    qsort(all, n, sizeof *all, earlier);
    for (i = 0; i < n; i++)
        items[i] = all[i].tensor;
    PyMem_Free(all);
    return 1;
}

/* Whether a key of `runners.compiled` is (slots of the tensors, tuple(donatable)). */
static int is_compiled_key(PyObject *key, PyObject *tensors, PyObject *donatable)
{
    PyObject *slots = PyTuple_GET_ITEM(key, 0), *reused = PyTuple_GET_ITEM(key, 1);
    if (!PyTuple_CheckExact(slots) || PyTuple_GET_SIZE(slots) != PyList_GET_SIZE(tensors) ||
        PyTuple_GET_SIZE(reused) != PyList_GET_SIZE(donatable))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++)
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(slots, i)) != PLACE(PyList_GET_ITEM(tensors, i))->slot)
            return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(reused); i++)
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(reused, i)) !=
            PyLong_AsSsize_t(PyList_GET_ITEM(donatable, i)))
            return 0;
    return 1;
}

/* What was compiled for the tensors, a new reference, and its slots, borrowed from it. A node has
   few: to compare is cheaper than to hash. */
static PyObject *compiled_for(PyObject *owner, PyObject *last, PyObject *tensors, PyObject **slots)
{
    PyObject *key, *value;
    Py_ssize_t place = 0;
    PyObject *runners = SLOT(last, node.runners);
    if (runners == Py_None)
        return NULL;
    while (PyDict_Next(SLOT(runners, compiled), &place, &key, &value))
        if (PyObject_TypeCheck(value, Prepared) &&
            is_compiled_key(key, tensors, SLOT(owner, program.donatable))) {
            *slots = PyTuple_GET_ITEM(key, 0);
            return Py_NewRef(value);
        }
    return NULL;
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

/* Executable.arguments */
static int add_scalars(PyObject *used, PyObject *arrays, PyObject *scalars)
{
    PyObject *packs = SLOT(used, prepared.packs), *packed = SLOT(used, prepared.packed);
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
            vector = number ? PyObject_CallMethodObjArgs(used, s_pack, number, dtype, values, NULL)
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

/* donation.Donated, and what takes it apart. */
typedef struct {
    PyObject_HEAD
    PyObject *arrays, *copies;
    int looked;
} Donated;

static PyTypeObject Donated_type;

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
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tape_compat._src.native._fastpath.Donated",
    .tp_basicsize = sizeof(Donated),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = donated_new,
    .tp_dealloc = donated_dealloc,
};

static PyObject *flatten(PyObject *module, PyObject *object)
{
    if (Py_TYPE(object) != &Donated_type)
        return refuse("flatten(donated)");
    Donated *self = (Donated *)object;
    if (!self->looked) {
        self->looked = 1;
        return PyTuple_Pack(2, self->arrays, Py_None);
    }
    if (!self->copies) {
        PyObject *copies = PyObject_CallOneArg(copy_all, self->arrays);
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
    PyObject *donated = PyList_New(taken), *made = PyList_New(1 + n - taken);
    for (Py_ssize_t i = 0, k = 0; donated && made && i < n; i++) {
        PyObject *array = Py_NewRef(PyList_GET_ITEM(arguments, i));
        if (k < taken && PyLong_AsSsize_t(PyTuple_GET_ITEM(donate, k)) == i)
            PyList_SET_ITEM(donated, k++, array);
        else
            PyList_SET_ITEM(made, 1 + i - k, array);
    }
    PyObject *first = donated && made ? donated_of(donated) : NULL;
    Py_XDECREF(donated);
    if (first)
        PyList_SET_ITEM(made, 0, first);
    else
        Py_CLEAR(made);
    return made;
}

/* The arguments of a compiled program, as a list; NULL without an error if somebody else holds a
   buffer that it is to take: the log holds one reference, the list another. */
static PyObject *arguments_of(PyObject *used, PyObject *log)
{
    PyObject *leaves = gather(NULL, log), *arguments = NULL;
    if (!leaves)
        return NULL;
    PyObject *arrays = PyTuple_GET_ITEM(leaves, 0), *scalars = PyTuple_GET_ITEM(leaves, 1);
    if (Py_TYPE(used) == Executable)
        arguments = add_scalars(used, arrays, scalars) ? NULL : Py_NewRef(arrays);
    else
        arguments = PyObject_CallMethodObjArgs(used, s_arguments, arrays, scalars, NULL);
    Py_DECREF(leaves);
    if (arguments && !PyList_CheckExact(arguments)) {
        PyErr_SetString(PyExc_TypeError, "the arguments of a program are no list");
        Py_CLEAR(arguments);
    }
    PyObject *donate = SLOT(used, prepared.donate);
    Py_ssize_t last = -1;
    for (Py_ssize_t i = 0; arguments && i < PyTuple_GET_SIZE(donate); i++) {
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(donate, i));
        int valid = place > last && place < PyList_GET_SIZE(arguments);
        PyObject *array = valid ? PyList_GET_ITEM(arguments, place) : NULL;
        last = place;
        if (!array || (Py_REFCNT(array) > 2 && (PyObject *)Py_TYPE(array) != ndarray))
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

/* Leave JAX's 64-bit mode. */
static int leave(PyObject *context)
{
    return call_whatever(context, s_exit, Py_None, 3);
}

/* Whether nobody has run a program that this thread is about to run: the lock keeps out others, but
   a signal handler or a finalizer may have wanted a value. */
static int is_ours(PyObject *owner, PyObject *results)
{
    return SLOT(owner, program.ran) == Py_False && SLOT(owner, program.results) == results;
}

/* x64.in_x64(program.results.append, call(*arguments)): 0 if it is not to be run any more. */
static int call_into(PyObject *owner, PyObject *call, PyObject *arguments)
{
    PyObject *context = PyObject_CallOneArg(enable_x64, Py_True);
    if (!context)
        return -1;
    PyObject *results = Py_NewRef(SLOT(owner, program.results)), *given = NULL;
    PyObject *entered = PyObject_CallMethodNoArgs(context, s_enter);
    int ours = is_ours(owner, results) && !PyList_GET_SIZE(results);
    if (entered && ours) {
        put(owner, program.calling, Py_True);
        given = PyObject_Vectorcall(call, ((PyListObject *)arguments)->ob_item,
                                    PyList_GET_SIZE(arguments), NULL);
        put(owner, program.calling, Py_False);
    }
    int done = entered && (given || !ours) ? 0 : -1;
    if (given)
        done = PyList_Append(results, given) ? -1 : 1;
    Py_XDECREF(given);
    Py_XDECREF(entered);
    Py_DECREF(results);
    if (leave(context)) {
        /* An interrupt may have come while it was being left: twice does no harm. */
        if (done >= 0)
            leave(context);
        done = -1;
    }
    Py_DECREF(context);
    return done;
}

/* Count one more, or so many. */
static int count(Py_ssize_t offset, PyObject *more)
{
    PyObject *sum = PyNumber_Add(SLOT(counters, offset), more);
    if (sum)
        Py_SETREF(SLOT(counters, offset), sum);
    return sum ? 0 : -1;
}

/* Call executor.discard with a program and the error that is set, which stays set. */
static void discard_left(PyObject *used)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *done = PyObject_CallFunctionObjArgs(discard, used, value, NULL);
    if (!done)
        PyErr_Clear();
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
}

/* executor._call of a compiled program: 1 if it ran, 0 if it is to be run the general way. */
static int call_program(PyObject *owner, PyObject *log, PyObject *used, PyObject *slots)
{
    PyObject *arguments = arguments_of(used, log);
    if (!arguments)
        return PyErr_Occurred() ? -1 : 0;
    if (SLOT(owner, program.log) != log) { /* a finalizer has run it */
        Py_DECREF(arguments);
        return 0;
    }
    int own = Py_TYPE(used) == Executable;
    PyObject *call = own ? Py_NewRef(SLOT(used, prepared.call)) : PyObject_GetAttr(used, s_call);
    PyObject *spread = own ? Py_NewRef(Py_None) : PyObject_GetAttr(used, s_spread);
    int done = -1;
    if (call && spread && !count(counted.instructions, SLOT(end_of(log), node.depth)) &&
        !count(counted.cache_hits, one) && !count(counted.dispatches, one) &&
        !count(counted.fused, one)) {
        put(used, prepared.recent, Py_True);
        put(owner, program.launched, slots);
        put(owner, program.spread, spread);
        done = call_into(owner, call, arguments);
        if (done < 0)
            discard_left(used);
    }
    Py_XDECREF(call);
    Py_XDECREF(spread);
    Py_DECREF(arguments);
    return done;
}

/* executor._fill where the tensors are those of the slots. */
static int fill(PyObject *owner, PyObject *tensors)
{
    if (SLOT(owner, program.ran) != Py_False || !PyList_GET_SIZE(SLOT(owner, program.results)))
        return 0; /* see is_ours */
    PyObject *results = Py_NewRef(PyList_GET_ITEM(SLOT(owner, program.results), 0));
    int spread = SLOT(owner, program.spread) != Py_None;
    if (spread)
        Py_SETREF(results, PyObject_CallOneArg(SLOT(owner, program.spread), results));
    PyObject *all = results ? PySequence_Fast(results, "results of a program") : NULL;
    Py_XDECREF(results);
    Py_ssize_t n = PyList_GET_SIZE(tensors);
    int done = all ? PySequence_Fast_GET_SIZE(all) == n : -1;
    for (Py_ssize_t i = 0; done > 0 && i < n; i++) {
        PyObject *x = PyList_GET_ITEM(tensors, i), *array = PySequence_Fast_GET_ITEM(all, i);
        put(x, tensor.array, array);
        if (spread && (PyObject *)Py_TYPE(array) == ndarray)
            set_place(x, Py_None, -1);
    }
    Py_XDECREF(all);
    return done;
}

/* A program that has run keeps nothing. */
static int finished(PyObject *owner)
{
    PyObject *log = PyList_GetSlice(SLOT(owner, program.log), 0, 1), *results = PyList_New(0);
    int failed = !log || !results;
    if (!failed) {
        put(owner, program.ran, Py_True);
        put(owner, program.log, log);
        put(owner, program.results, results);
        forget_all(SLOT(owner, program.refs));
    }
    Py_XDECREF(log);
    Py_XDECREF(results);
    return failed ? -1 : 1;
}

/* executor.run of a program that is found compiled, from a place that is settled: 1 if it ran. The
   program is locked; what is still changed where it is not run is what executor.run does first. */
static int run_known(PyObject *owner)
{
    PyObject *log = SLOT(owner, program.log), *thread = SLOT(owner, program.owner);
    if (SLOT(owner, program.ran) != Py_False || SLOT(owner, program.calling) != Py_False ||
        PyList_GET_SIZE(SLOT(owner, program.aliases)) ||
        PyList_GET_SIZE(SLOT(owner, program.results)) || !PyList_GET_SIZE(log) ||
        Py_TYPE(SLOT(owner, program.refs)) != &References_type)
        return 0;
    Py_INCREF(log);
    if (thread != Py_None && SLOT(thread, state.program) == owner) {
        put(thread, state.program, Py_None);
        PyObject *copy = PyList_GetSlice(log, 0, PyList_GET_SIZE(log));
        int same = SLOT(owner, program.log) == log;
        if (copy && same)
            put(owner, program.log, copy);
        Py_SETREF(log, copy);
        if (!copy || !same) {
            Py_XDECREF(copy);
            return copy ? 0 : -1;
        }
    }
    PyObject *last = end_of(log), *slots = NULL, *used = NULL;
    PyObject *tensors = awaited(SLOT(owner, program.refs));
    int done = tensors ? 0 : -1;
    if (tensors && PyList_GET_SIZE(tensors)) {
        used = compiled_for(owner, last, tensors, &slots);
        if (!used && (done = sort(tensors)) > 0) {
            used = compiled_for(owner, last, tensors, &slots);
            done = 0;
        }
    }
    if (used) {
        PyObject *from = SLOT(used, prepared.origin);
        if (from != Py_None && SLOT(from, origin.settled) == Py_True)
            done = PyObject_RichCompareBool(SLOT(from, origin.key), SLOT(owner, program.origin),
                                            Py_EQ);
        Py_INCREF(slots);
        if (done > 0)
            done = call_program(owner, log, used, slots);
        if (done > 0)
            done = fill(owner, tensors);
        if (done > 0)
            done = finished(owner);
        Py_DECREF(slots);
        Py_DECREF(used);
    }
    Py_XDECREF(tensors);
    Py_DECREF(log);
    return done;
}

/* run(program): see executor.run. */
static PyObject *run(PyObject *module, PyObject *owner)
{
    if (!Executable || Py_TYPE(owner) != Program)
        return refuse("run(program)");
    PyObject *lock = SLOT(owner, program.lock);
    PyObject *free = PyObject_CallMethodOneArg(lock, s_acquire, Py_False);
    if (!free)
        return NULL;
    int done = 0;
    if (PyObject_IsTrue(free) == 1) {
        done = run_known(owner);
        if (call_whatever(lock, s_release, NULL, 0))
            done = -1;
    }
    Py_DECREF(free);
    if (done < 0)
        return NULL;
    return done ? Py_NewRef(Py_None) : PyObject_CallOneArg(run_general, owner);
}

/* Tell a tape that a variable was read, as GradientTape.variable_accessed does. */
static int accessed(PyObject *recorder, PyObject *read, PyObject *key, PyObject *value)
{
    PyObject *reads = SLOT(recorder, tape.reads), *kept = SLOT(recorder, tape.record);
    PyObject *before = PyDict_GetItemWithError(reads, key);
    if (!before && PyErr_Occurred())
        return -1;
    if (before == value || kept == Py_None)
        return 0;
    if (before)
        Py_SETREF(SLOT(kept, tape.reassigned), Py_NewRef(Py_True));
    else {
        PyObject *variables = SLOT(kept, tape.variables);
        int known = PyDict_Contains(variables, key);
        if (known < 0)
            return -1;
        if (!known) {
            if (SLOT(recorder, tape.watches) != Py_True ||
                SLOT(read, variable.trainable) != Py_True)
                return 0;
            if (PyDict_SetItem(variables, key, read))
                return -1;
            if (SLOT(SLOT(value, tensor.aval), aval.trainable) == Py_True &&
                PySet_Add(SLOT(recorder, tape.ids), key))
                return -1;
        }
    }
    return PyDict_SetItem(reads, key, value);
}

/* read(variable): its tensor, after telling the recorders. */
static PyObject *read_variable(PyObject *module, PyObject *read)
{
    if (!Variable || !PyObject_TypeCheck(read, Variable))
        return refuse("read(variable)");
    PyObject *handle = SLOT(read, variable.handle);
    if (!handle) {
        PyErr_SetString(PyExc_AttributeError, "a Variable is read before its __init__: _handle");
        return NULL;
    }
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    PyObject *recorders = Py_NewRef(SLOT(current, state.recorders));
    PyObject *value = Py_NewRef(SLOT(handle, variable.tensor));
    int failed = 0;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(recorders); i++) {
        PyObject *recorder = PyTuple_GET_ITEM(recorders, i);
        if (Py_TYPE(recorder) == Tape && PyBool_Check(SLOT(recorder, tape.watches)))
            failed = accessed(recorder, read, SLOT(handle, variable.id), value);
        else {
            PyObject *done = PyObject_CallMethodOneArg(recorder, s_variable_accessed, read);
            failed = !done;
            Py_XDECREF(done);
        }
    }
    Py_DECREF(recorders);
    Py_DECREF(current);
    if (failed)
        Py_CLEAR(value);
    return value;
}

/* Variable._set: the variable of a handle now holds a tensor of its identity. */
static int set_value(PyObject *current, PyObject *handle, PyObject *value)
{
    PyObject *before = SLOT(handle, variable.tensor), *slot = NULL;
    PyObject *owner = PLACE(before)->program;
    SLOT(handle, variable.tensor) = Py_NewRef(value);
    int failed = 0;
    /* The overwritten buffer may be reused, if the pending program reads it as a leaf. */
    if (owner != Py_None && owner == SLOT(current, state.program) &&
        SLOT(before, tensor.array) != Py_None) {
        slot = PyLong_FromSsize_t(PLACE(before)->slot);
        failed = !slot || PyList_Append(SLOT(owner, program.donatable), slot);
        Py_XDECREF(slot);
    }
    Py_DECREF(before);
    return failed ? -1 : 0;
}

/* Whether a variable now holds what a closure gives of its value and a delta, told to no recorder;
   not if the delta is no tensor of its aval. -1 for an error. */
static int updated(PyObject *changed, PyObject *closure, PyObject *delta)
{
    PyObject *handle = SLOT(changed, variable.handle);
    if (!handle || Py_TYPE(delta) != Tensor || !is_tensor(delta))
        return 0;
    PyObject *inputs[2] = {SLOT(handle, variable.tensor), delta};
    if (SLOT(inputs[0], tensor.aval) != SLOT(delta, tensor.aval))
        return 0;
    PyObject *current = thread_state();
    if (!current)
        return -1;
    PyObject *recorders = Py_NewRef(SLOT(current, state.recorders));
    PyObject *id = Py_NewRef(SLOT(handle, variable.id));
    Py_INCREF(handle);
    Py_INCREF(inputs[0]);
    put(current, state.recorders, empty);
    PyObject *out = apply_to(closure, inputs, 2, NULL, id);
    put(current, state.recorders, recorders);
    int failed = !out;
    if (out && !is_tensor(out)) {
        PyErr_SetString(PyExc_TypeError, "update: the closure gives no single tensor");
        failed = 1;
    }
    if (!failed) {
        put(out, tensor.id, id);
        failed = set_value(current, handle, out);
    }
    Py_XDECREF(out);
    Py_DECREF(id);
    Py_DECREF(recorders);
    Py_DECREF(inputs[0]);
    Py_DECREF(handle);
    Py_DECREF(current);
    return failed ? -1 : 1;
}

/* Whether a variable now holds the value of a tensor of its shape and dtype: -1 for an error, 0 if
   it is for Variable.assign to see. Only the owner of a pending program may ask it for the value
   without its lock; see tensor.same_value. */
static int assigned(PyObject *changed, PyObject *value)
{
    PyObject *handle = SLOT(changed, variable.handle);
    if (!handle || Py_TYPE(value) != Tensor || !is_tensor(value))
        return 0;
    PyObject *known = SLOT(value, tensor.aval), *owner = PLACE(value)->program;
    if (SLOT(known, aval.dtype) != SLOT(handle, variable.dtype) ||
        SLOT(known, aval.tensor_shape) != SLOT(handle, variable.shape))
        return 0;
    PyObject *current = thread_state();
    if (!current)
        return -1;
    int done = 0, is_pending = SLOT(value, tensor.array) == Py_None;
    if (!is_pending || (Py_TYPE(owner) == Program && owner == SLOT(current, state.program))) {
        Py_INCREF(handle);
        Py_INCREF(owner);
        PyObject *same = pending(known, owner, PLACE(value)->slot, SLOT(handle, variable.id));
        PyObject *reference = same && is_pending ? untracked(PyWeakref_NewRef(same, NULL)) : NULL;
        done = same && (reference || !is_pending) ? 1 : -1;
        if (done > 0 && SLOT(value, tensor.array) != Py_None) {
            put(same, tensor.array, SLOT(value, tensor.array));
            set_place(same, Py_None, -1);
        } else if (done > 0 && SLOT(current, state.program) != owner)
            done = 0;
        else if (done > 0)
            done = PyList_Append(SLOT(owner, program.aliases), reference) ? -1 : 1;
        if (done > 0 && set_value(current, handle, same))
            done = -1;
        Py_XDECREF(reference);
        Py_XDECREF(same);
        Py_DECREF(owner);
        Py_DECREF(handle);
    }
    Py_DECREF(current);
    return done;
}

/* update(variable, closure, delta): see variable.update. */
static PyObject *update(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 3 || !Variable || !PyObject_TypeCheck(args[0], Variable))
        return refuse("update(variable, closure, delta)");
    int done = updated(args[0], args[1], args[2]);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

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
    if (PyTuple_GET_ITEM(key, 0) != s_gradient)
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
        if (Py_TYPE(x) == Tensor && is_tensor(x))
            id = SLOT(x, tensor.id);
        else if (Variable && PyObject_TypeCheck(x, Variable) && SLOT(x, variable.handle)) {
            id = SLOT(SLOT(x, variable.handle), variable.id);
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

/* --------------------------------------------------------------------------------------------
   Functions: what ops, operators and methods are called by. One does its commonest calls at once,
   and leaves all others, with the same arguments, to the Python function that it stands for, whose
   attributes it has. It is pickled by its name, as functions are, and binds to instances. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *weak, *function, *closure, *written, *retry;
    Py_ssize_t arity;
} Function;

static PyObject *python_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    return PyObject_Vectorcall(((Function *)self)->function, args, nargsf, names);
}

/* Whether all are tensors with their parts, or variables, and of these classes themselves. */
static int are_inputs(PyObject *const *args, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (Py_TYPE(args[i]) == Tensor ? !is_tensor(args[i]) : Py_TYPE(args[i]) != Variable)
            return 0;
    return 1;
}

/* A closure applied to tensors and variables, which are read in their order. */
static PyObject *apply_reading(PyObject *closure, PyObject *const *args, Py_ssize_t n)
{
    PyObject *inputs[MOST_INPUTS] = {NULL}, *out = NULL;
    Py_ssize_t i = 0;
    while (i < n) {
        inputs[i] = Py_TYPE(args[i]) == Tensor ? Py_NewRef(args[i]) : read_variable(NULL, args[i]);
        if (!inputs[i])
            break;
        i++;
    }
    if (i == n)
        out = apply_to(closure, inputs, n, NULL, NULL);
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

/* Whether a value is a Python number that a floating tensor, or a variable of float32, takes as it
   is; see declare.binary. */
static int is_number_for(PyObject *value, PyObject *x)
{
    if (!PyFloat_CheckExact(value) && !PyLong_CheckExact(value))
        return 0;
    if (Py_TYPE(x) == Tensor)
        return is_tensor(x) && SLOT(SLOT(x, tensor.aval), aval.floating) == Py_True;
    if (Py_TYPE(x) != Variable || !SLOT(x, variable.handle))
        return 0;
    PyObject *held = SLOT(SLOT(x, variable.handle), variable.tensor);
    if (SLOT(SLOT(held, tensor.aval), aval.dtype) != float32)
        return 0;
    int overflow = 0;
    double number = PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value)
                                              : (double)PyLong_AsLongAndOverflow(value, &overflow);
    return !overflow && -MOST_NUMBER <= number && number <= MOST_NUMBER;
}

/* A binary closure applied to a tensor or variable and a number. */
static PyObject *scalar_reading(PyObject *closure, PyObject *x, PyObject *value, int reflected)
{
    PyObject *read = Py_TYPE(x) == Tensor ? Py_NewRef(x) : read_variable(NULL, x);
    PyObject *out = read ? scalar_to(closure, read, value, reflected) : NULL;
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

/* Variable.assign_add and assign_sub, and assign, which has no closure. */
static PyObject *update_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    PyObject *closure = ((Function *)self)->closure;
    if (PyVectorcall_NARGS(nargsf) != 2 || names || Py_TYPE(args[0]) != Variable)
        return python_call(self, args, nargsf, names);
    int done = closure == Py_None ? assigned(args[0], args[1])
                                  : updated(args[0], closure, args[1]);
    if (done <= 0)
        return done ? NULL : python_call(self, args, nargsf, names);
    PyObject *view = SLOT(args[0], variable.view);
    return view && view != Py_None ? Py_NewRef(view)
                                   : PyObject_CallMethodOneArg(args[0], s_unread, Py_True);
}

/* GradientTape() */
static PyObject *init_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    if (PyVectorcall_NARGS(nargsf) != 1 || (names && PyTuple_GET_SIZE(names)) ||
        !PyObject_TypeCheck(args[0], Tape))
        return python_call(self, args, nargsf, names);
    PyObject *made = args[0], *watched = PyDict_New();
    if (!watched)
        return NULL;
    put(made, tape.persistent, Py_False);
    put(made, tape.watches, Py_True);
    put(made, tape.record, Py_None);
    put(made, tape.ids, no_ids);
    put(made, tape.reads, no_reads);
    put(made, tape.recording, Py_False);
    put(made, tape.watched, watched);
    put(made, tape.used_at, Py_None);
    put(made, tape.warned, Py_False);
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
    PyObject *record = Record->tp_alloc(Record, 0), *ids = PySet_New(NULL), *reads = PyDict_New();
    PyObject *calls = PyList_New(0), *variables = PyDict_New(), *escapes = PyList_New(0);
    int failed = !record || !ids || !reads || !calls || !variables || !escapes;
    if (!failed) {
        put(record, tape.calls, calls);
        put(record, tape.program, Py_None);
        put(record, tape.variables, variables);
        put(record, tape.reassigned, Py_False);
        put(record, tape.escapes, escapes);
        put(made, tape.record, record);
        put(made, tape.ids, ids);
        put(made, tape.reads, reads);
    }
    Py_XDECREF(record);
    Py_XDECREF(ids);
    Py_XDECREF(reads);
    Py_XDECREF(calls);
    Py_XDECREF(variables);
    Py_XDECREF(escapes);
    return failed ? -1 : 0;
}

/* A tape with its parts: GradientTape.__new__ alone gives none. */
static int is_tape(PyObject *object)
{
    return Py_TYPE(object) == Tape && SLOT(object, tape.record) && SLOT(object, tape.recording) &&
           SLOT(object, tape.ids) && SLOT(object, tape.reads);
}

/* GradientTape.__enter__ */
static PyObject *enter_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    PyObject *entered = args[0], *code;
    int instruction;
    if (PyVectorcall_NARGS(nargsf) != 1 || names || !is_tape(entered) ||
        SLOT(entered, tape.recording) != Py_False || !caller(&code, &instruction))
        return python_call(self, args, nargsf, names);
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    int failed = 0;
    if (SLOT(current, state.deferring) != Py_True) {
        if (SLOT(current, state.program) != Py_None) {
            PyObject *done = PyObject_CallNoArgs(flush);
            failed = !done;
            Py_XDECREF(done);
        }
        PyObject *origin = failed ? NULL : Py_BuildValue("Ni", PyLong_FromVoidPtr(code),
                                                         instruction);
        if (origin)
            put(current, state.origin, origin);
        failed = !origin;
        Py_XDECREF(origin);
    }
    if (!failed && SLOT(entered, tape.record) == Py_None)
        failed = begin_record(entered);
    PyObject *before = Py_NewRef(SLOT(current, state.recorders));
    Py_ssize_t n = PyTuple_GET_SIZE(before);
    PyObject *recorders = failed ? NULL : PyTuple_New(n + 1);
    if (recorders) {
        for (Py_ssize_t i = 0; i < n; i++)
            PyTuple_SET_ITEM(recorders, i, Py_NewRef(PyTuple_GET_ITEM(before, i)));
        PyTuple_SET_ITEM(recorders, n, Py_NewRef(entered));
        put(entered, tape.recording, Py_True);
        put(current, state.recorders, recorders);
        put(current, state.deferring, Py_True);
        Py_DECREF(recorders);
    }
    Py_DECREF(before);
    Py_DECREF(current);
    return recorders ? Py_NewRef(entered) : NULL;
}

/* GradientTape.__exit__, of the tape that was entered last. */
static PyObject *exit_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Py_ssize_t given = PyVectorcall_NARGS(nargsf);
    if (given < 1 || names || !is_tape(args[0]) || SLOT(args[0], tape.recording) != Py_True)
        return python_call(self, args, nargsf, names);
    PyObject *current = thread_state();
    if (!current)
        return NULL;
    PyObject *before = Py_NewRef(SLOT(current, state.recorders));
    Py_ssize_t n = PyTuple_GET_SIZE(before);
    int last = n && PyTuple_GET_ITEM(before, n - 1) == args[0];
    for (Py_ssize_t i = 0; i < n - 1; i++)
        last = last && PyTuple_GET_ITEM(before, i) != args[0];
    PyObject *recorders = last ? PyTuple_GetSlice(before, 0, n - 1) : NULL;
    if (recorders) {
        put(current, state.recorders, recorders);
        put(current, state.deferring,
            n > 1 || SLOT(current, state.capture) != Py_None ? Py_True : Py_False);
        put(args[0], tape.recording, Py_False);
        Py_DECREF(recorders);
    }
    Py_DECREF(before);
    Py_DECREF(current);
    if (recorders)
        Py_RETURN_NONE;
    return last ? NULL : python_call(self, args, nargsf, names);
}

/* A sequence found in node.splices, appended to the log it was found for: its answers, a new list.
   NULL without an error if it came too late, as in `append`. See record.splice. */
static PyObject *jumped(PyObject *current, PyObject *owner, PyObject *found, PyObject *log,
                        Py_ssize_t length)
{
    PyObject *slots = PyTuple_GET_ITEM(found, 1), *answers = answers_of(owner, slots);
    if (!answers)
        return NULL;
    if (PyList_GET_SIZE(log) != length || SLOT(owner, program.log) != log ||
        PyList_Append(log, PyTuple_GET_ITEM(found, 0)) ||
        append_references(owner, slots, answers) || SLOT(current, state.program) != owner)
        Py_CLEAR(answers);
    return answers;
}

/* GradientTape.gradient(target, sources) of one tensor, by one tensor or variable or a list of
   them, after the `with` block: what tape._remembered finds. */
static PyObject *remembered_gradient(PyObject *self, PyObject *current, PyObject *record,
                                     PyObject *target, PyObject *const *sources, Py_ssize_t n)
{
    PyObject *owner = SLOT(current, state.program);
    if (Py_TYPE(owner) != Program || owner != SLOT(record, tape.program) ||
        PyTuple_GET_SIZE(SLOT(current, state.recorders)) ||
        SLOT(record, tape.reassigned) != Py_False || SLOT(owner, program.moved) != Py_False ||
        PyList_GET_SIZE(SLOT(owner, program.aliases)))
        return NULL;
    PyObject *immediate = PyObject_GetAttr(mode, s_immediate);
    Py_XDECREF(immediate);
    if (immediate != Py_False)
        return NULL;
    Py_INCREF(owner);
    PyObject *calls = Py_NewRef(SLOT(record, tape.calls));
    PyObject *log = Py_NewRef(SLOT(owner, program.log));
    PyObject *ids = Py_NewRef(SLOT(self, tape.ids)), *reads = Py_NewRef(SLOT(self, tape.reads));
    PyObject *key, *value, *found = NULL, *answers = NULL;
    Py_ssize_t length = PyList_GET_SIZE(log), place = 0;
    if (PySet_CheckExact(ids) && PyDict_CheckExact(reads) && PyList_CheckExact(calls) && length) {
        /* A few: to compare is cheaper than to hash thousands of nodes. */
        PyObject *last = end_of(log);
        while (!found && PyDict_Next(SLOT(last, node.splices), &place, &key, &value)) {
            int same = is_key(key, owner, calls, target, sources, n, ids, reads);
            if (same < 0)
                break;
            found = same ? Py_NewRef(value) : NULL;
        }
    }
    if (found)
        answers = jumped(current, owner, found, log, length);
    Py_XDECREF(found);
    Py_DECREF(reads);
    Py_DECREF(ids);
    Py_DECREF(log);
    Py_DECREF(calls);
    Py_DECREF(owner);
    return answers;
}

/* GradientTape._finish */
static int finish(PyObject *used, PyObject *record, PyObject *code, int instruction)
{
    PyObject *used_at = Py_BuildValue("OOi", s_gradient, code, instruction);
    if (!used_at)
        return -1;
    put(used, tape.watched, SLOT(record, tape.variables));
    put(used, tape.used_at, used_at);
    put(used, tape.ids, no_ids);
    put(used, tape.reads, no_reads);
    put(used, tape.record, Py_None);
    Py_DECREF(used_at);
    return 0;
}

static PyObject *gradient_call(PyObject *self, PyObject *const *args, size_t nargsf,
                               PyObject *names)
{
    PyObject *code, *answers = NULL;
    int instruction;
    if (PyVectorcall_NARGS(nargsf) != 3 || names || !is_tape(args[0]) ||
        SLOT(args[0], tape.recording) != Py_False || SLOT(args[0], tape.record) == Py_None ||
        Py_TYPE(args[1]) != Tensor || !caller(&code, &instruction))
        return python_call(self, args, nargsf, names);
    int one = are_inputs(args + 2, 1);
    if (!one && !PyList_CheckExact(args[2]))
        return python_call(self, args, nargsf, names);
    PyObject *sources = one ? tuple_of(args + 2, 1) : PyList_AsTuple(args[2]);
    PyObject *current = sources ? thread_state() : NULL;
    PyObject *record = Py_NewRef(SLOT(args[0], tape.record));
    if (current && are_inputs(((PyTupleObject *)sources)->ob_item, PyTuple_GET_SIZE(sources)))
        answers = remembered_gradient(args[0], current, record, args[1],
                                      ((PyTupleObject *)sources)->ob_item,
                                      PyTuple_GET_SIZE(sources));
    if (answers && SLOT(args[0], tape.persistent) != Py_True &&
        finish(args[0], record, code, instruction))
        Py_CLEAR(answers);
    Py_XDECREF(sources);
    Py_XDECREF(current);
    Py_DECREF(record);
    if (answers && one)
        Py_SETREF(answers, Py_NewRef(PyList_GET_ITEM(answers, 0)));
    if (answers || PyErr_Occurred())
        return answers;
    return python_call(self, args, nargsf, names);
}

static const struct { const char *name; vectorcallfunc call; } ways[] = {
    {"op", op_call}, {"binary", binary_call}, {"reflected", reflected_call},
    {"update", update_call}, {"init", init_call}, {"enter", enter_call}, {"exit", exit_call},
    {"gradient", gradient_call}};

static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"way", "function", "closure", "arity", "written", "retry", NULL};
    const char *way;
    PyObject *function, *closure = Py_None, *written = Py_None, *retry = Py_None;
    Py_ssize_t arity = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|OnOO", names, &way, &function, &closure,
                                     &arity, &written, &retry))
        return NULL;
    vectorcallfunc call = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(way, ways[i].name))
            call = ways[i].call;
    if (!call)
        return PyErr_Format(PyExc_ValueError, "a Function has no way %s", way);
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
    Py_XDECREF(parts->function);
    Py_XDECREF(parts->closure);
    Py_XDECREF(parts->written);
    Py_XDECREF(parts->retry);
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
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tape_compat._src.native._fastpath.Function",
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

/* Takes the classes, objects and functions of record.py by name. */
static PyObject *setup(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"Tensor", "Node", "Program", "ThreadState", "Aval", "ndarray", "local",
                            "mode", "counter", "apply", "apply_scalar", "array", "notify",
                            "current_program", NULL};
    PyObject *Node, *ThreadState, *Aval, *tensor_type, *program_type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOOOOOOOOOO", names, &tensor_type, &Node,
                                     &program_type, &ThreadState, &Aval, &ndarray, &local, &mode,
                                     &next_id, &apply_general, &scalar_general, &new_array,
                                     &notify, &new_program))
        return NULL;
    Wanted wanted[] = {
        {tensor_type, "_aval", &tensor.aval}, {tensor_type, "_array", &tensor.array},
        {tensor_type, "_id", &tensor.id},
        {Node, "children", &node.children}, {Node, "full", &node.full},
        {Node, "single", &node.single}, {Node, "outputs", &node.outputs},
        {Node, "first", &node.first},
        {Node, "first_leaf", &node.first_leaf},
        {Node, "taped", &node.taped}, {Node, "scalars", &node.scalars},
        {Node, "usual", &node.usual}, {Node, "splices", &node.splices},
        {Node, "runners", &node.runners}, {Node, "depth", &node.depth},
        {Node, "aval", &node.aval},
        {program_type, "log", &program.log}, {program_type, "refs", &program.refs},
        {program_type, "donatable", &program.donatable},
        {program_type, "aliases", &program.aliases}, {program_type, "lock", &program.lock},
        {program_type, "moved", &program.moved}, {program_type, "calling", &program.calling},
        {program_type, "owner", &program.owner}, {program_type, "ran", &program.ran},
        {program_type, "results", &program.results},
        {program_type, "launched", &program.launched},
        {program_type, "spread", &program.spread}, {program_type, "origin", &program.origin},
        {ThreadState, "program", &state.program}, {ThreadState, "recorders", &state.recorders},
        {ThreadState, "deferring", &state.deferring}, {ThreadState, "capture", &state.capture},
        {ThreadState, "device", &state.device}, {program_type, "joins", &program.joins},
        {ThreadState, "origin", &state.origin}, {Aval, "scalar", &aval.scalar},
        {Aval, "packed", &aval.packed}, {Aval, "plain", &aval.plain},
        {Aval, "trainable", &aval.trainable},
        {Aval, "floating", &aval.floating}, {Aval, "np_dtype", &aval.np_dtype},
        {Aval, "dtype", &aval.dtype},
        {Aval, "_tensor_shape", &aval.tensor_shape}};
    if (find_offsets(wanted, sizeof wanted))
        return NULL;
    PyObject *kept[] = {tensor_type, Node, program_type, ThreadState, Aval, ndarray, local, mode,
                        next_id, apply_general, scalar_general, new_array, notify, new_program};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        Py_INCREF(kept[i]);
    Tensor = (PyTypeObject *)tensor_type;
    Program = (PyTypeObject *)program_type;
    PyObject *threads = PyImport_ImportModule("_thread");
    PyObject *builtin = threads ? PyObject_GetAttrString(threads, "_local") : NULL;
    own_local = builtin ? PyObject_IsInstance(local, builtin) : -1;
    Py_XDECREF(builtin);
    Py_XDECREF(threads);
    if (own_local < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* The classes of executor.py and the counters, and its `run` for what is not done here. */
static PyObject *setup_run(PyObject *module, PyObject *args)
{
    PyObject *type, *base, *origin_type, *runners_type;
    if (!PyArg_ParseTuple(args, "OOOOOOOOO", &base, &type, &origin_type, &runners_type, &copy_all,
                          &discard, &counters, &run_general, &enable_x64))
        return NULL;
    Wanted wanted[] = {
        {base, "donate", &prepared.donate}, {base, "origin", &prepared.origin},
        {base, "recent", &prepared.recent}, {type, "call", &prepared.call},
        {type, "packs", &prepared.packs}, {type, "_packed", &prepared.packed},
        {runners_type, "compiled", &compiled}, {origin_type, "key", &origin.key}, {origin_type, "settled", &origin.settled},
        {(PyObject *)Py_TYPE(counters), "instructions", &counted.instructions},
        {(PyObject *)Py_TYPE(counters), "cache_hits", &counted.cache_hits},
        {(PyObject *)Py_TYPE(counters), "dispatches", &counted.dispatches},
        {(PyObject *)Py_TYPE(counters), "fused", &counted.fused}};
    if (find_offsets(wanted, sizeof wanted))
        return NULL;
    Py_INCREF(copy_all);
    Py_INCREF(discard);
    Py_INCREF(counters);
    Py_INCREF(run_general);
    Py_INCREF(enable_x64);
    Prepared = (PyTypeObject *)Py_NewRef(base);
    Executable = (PyTypeObject *)Py_NewRef(type);
    Py_RETURN_NONE;
}

/* The classes of tape.py: tapes, whose calls are appended here, and their records. And `flush`, and
   what an unused tape has as `ids` and `reads`. */
static PyObject *setup_tape(PyObject *module, PyObject *args)
{
    PyObject *type, *record_type;
    if (!PyArg_ParseTuple(args, "OOOOO", &type, &record_type, &flush, &no_ids, &no_reads))
        return NULL;
    Wanted wanted[] = {
        {type, "ids", &tape.ids}, {type, "_record", &tape.record}, {type, "reads", &tape.reads},
        {type, "_watch_accessed_variables", &tape.watches},
        {type, "_persistent", &tape.persistent}, {type, "_recording", &tape.recording},
        {type, "_watched", &tape.watched}, {type, "_used_at", &tape.used_at},
        {type, "_warned", &tape.warned}, {record_type, "calls", &tape.calls},
        {record_type, "program", &tape.program},
        {record_type, "variables", &tape.variables},
        {record_type, "reassigned", &tape.reassigned}, {record_type, "escapes", &tape.escapes}};
    if (find_offsets(wanted, sizeof wanted))
        return NULL;
    Py_INCREF(flush);
    Py_INCREF(no_ids);
    Py_INCREF(no_reads);
    Tape = (PyTypeObject *)Py_NewRef(type);
    Record = (PyTypeObject *)Py_NewRef(record_type);
    Py_RETURN_NONE;
}

/* The classes of variable.py. */
static PyObject *setup_variable(PyObject *module, PyObject *args)
{
    PyObject *type, *handle_type;
    if (!PyArg_ParseTuple(args, "OOO", &type, &handle_type, &float32))
        return NULL;
    Wanted wanted[] = {
        {type, "_handle", &variable.handle}, {type, "_trainable", &variable.trainable},
        {type, "_view", &variable.view}, {handle_type, "id", &variable.id},
        {handle_type, "tensor", &variable.tensor}, {handle_type, "dtype", &variable.dtype},
        {handle_type, "shape", &variable.shape}};
    if (find_offsets(wanted, sizeof wanted))
        return NULL;
    Py_INCREF(float32);
    Variable = (PyTypeObject *)Py_NewRef(type);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"apply", (PyCFunction)(void (*)(void))apply, METH_FASTCALL, "See dispatch.apply."},
    {"apply1", (PyCFunction)(void (*)(void))apply1, METH_FASTCALL, "See dispatch.apply1."},
    {"apply2", (PyCFunction)(void (*)(void))apply2, METH_FASTCALL, "See dispatch.apply2."},
    {"apply_scalar", (PyCFunction)(void (*)(void))apply_scalar, METH_FASTCALL,
     "See dispatch.apply_scalar."},
    {"splice_outputs", (PyCFunction)(void (*)(void))splice_outputs, METH_FASTCALL, "See splice.splice_outputs."},
    {"waiting", waiting, METH_O, "See executor.waiting."},
    {"gather", gather, METH_O, "See executor.gather."},
    {"run", run, METH_O, "See executor.run."},
    {"flatten", flatten, METH_O, "See donation.flatten."},
    {"setup_run", setup_run, METH_VARARGS, "Take the classes of executor.py."},
    {"setup", (PyCFunction)(void (*)(void))setup, METH_VARARGS | METH_KEYWORDS,
     "Take the classes and functions of record.py."},
    {"setup_tape", setup_tape, METH_VARARGS, "Take the classes of tape.py."},
    {"setup_variable", setup_variable, METH_VARARGS, "Take the classes of variable.py."},
    {"read", read_variable, METH_O, "See variable.read."},
    {"update", (PyCFunction)(void (*)(void))update, METH_FASTCALL, "See variable.update."},
    {"track", track, METH_O, "Let garbage collections look at a tensor."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_fastpath",
                                        .m_doc = "The fast paths of record.py in C.",
                                        .m_size = -1,
                                        .m_methods = methods};

PyMODINIT_FUNC PyInit__fastpath(void)
{
    static const struct { PyObject **kept; const char *text; } texts[] = {
        {&s_state, "state"}, {&s_immediate, "immediate"}, {&s_record_one, "record_one"},
        {&s_ids, "ids"}, {&s_variable_accessed, "variable_accessed"}, {&s_unread, "_unread"},
        {&s_gradient, "gradient"}, {&s_acquire, "acquire"}, {&s_release, "release"},
        {&s_enter, "__enter__"}, {&s_exit, "__exit__"}, {&s_arguments, "arguments"},
        {&s_call, "call"}, {&s_spread, "spread"}, {&s_pack, "_pack"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!(*texts[i].kept = PyUnicode_InternFromString(texts[i].text)))
            return NULL;
    empty = PyTuple_New(0);
    zero = PyLong_FromLong(0);
    one = PyLong_FromLong(1);
    if (!empty || !zero || !one || PyType_Ready(&Function_type) < 0 ||
        PyType_Ready(&Placed_type) < 0 || PyType_Ready(&References_type) < 0 ||
        PyType_Ready(&Way_type) < 0 || PyType_Ready(&Donated_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && (PyModule_AddIntConstant(module, "VERSION", VERSION) < 0 ||
                   PyModule_AddObjectRef(module, "Function", (PyObject *)&Function_type) < 0 ||
                   PyModule_AddObjectRef(module, "Donated", (PyObject *)&Donated_type) < 0 ||
                   PyModule_AddObjectRef(module, "Placed", (PyObject *)&Placed_type) < 0 ||
                   PyModule_AddObjectRef(module, "References", (PyObject *)&References_type) < 0))
        Py_CLEAR(module);
    return module;
}
