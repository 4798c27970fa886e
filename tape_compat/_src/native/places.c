static void put(PyObject *object, Py_ssize_t offset, PyObject *value)
{
    Py_INCREF(value);
    Py_XSETREF(SLOT(object, offset), value);
}

/* A tensor with all its parts: Tensor.__new__ alone gives none. */
static int is_tensor(PyObject *object)
{
    return PyObject_TypeCheck(object, Tensor.type) && SLOT(object, Tensor._aval) &&
           SLOT(object, Tensor._array) && PLACE(object)->program && SLOT(object, Tensor._id);
}

static PyObject *refuse(const char *usage)
{
    PyErr_Format(PyExc_TypeError, "usage: %s", usage);
    return NULL;
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
    PyObject *current = PyObject_GetAttr(python.local, text.state);
    if (current && python.own_local == Py_True) {
        PyObject *before = kept;
        kept = Py_NewRef(current);
        last = now;
        last_id = id;
        Py_XDECREF(before);
    }
    return current;
}

/* Tensors cannot be part of a cycle, so GC tracking is off; `mark_slice` makes one that can, and
   re-tracks it. */
static PyObject *untracked(PyObject *made)
{
    if (made)
        PyObject_GC_UnTrack(made);
    return made;
}

static PyObject *native_track(PyObject *module, PyObject *x)
{
    if (Py_TYPE(x) == Tensor.type && !PyObject_GC_IsTracked(x))
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
static PyObject *pending(PyObject *aval, PyObject *owner, Py_ssize_t slot, PyObject *id)
{
    id = id ? Py_NewRef(id) : PyIter_Next(python.next_id);
    PyObject *out = id ? Tensor.type->tp_alloc(Tensor.type, 0) : NULL;
    if (!out) {
        Py_XDECREF(id);
        return NULL;
    }
    SLOT(out, Tensor._aval) = Py_NewRef(aval);
    SLOT(out, Tensor._array) = Py_NewRef(Py_None);
    SLOT(out, Tensor._id) = id;
    set_place(out, owner, slot);
    return Py_TYPE(owner) == Program.type ? untracked(out) : out;
}

static void unlink_place(Link *link)
{
    if (!link->after)
        return;
    link->before->after = link->after;
    link->after->before = link->before;
    link->before = link->after = NULL;
}

/* Refer to a tensor, in the order of slots: nearly always the last one. */
static void link_place(PyObject *refs, PyObject *x)
{
    Link *all = &((References *)refs)->all, *link = &PLACE(x)->link;
    unlink_place(link);
    Link *before = all->before;
    while (before != all && PLACE(LINKED(before))->slot > PLACE(x)->slot)
        before = before->before;
    *link = (Link){before, before->after};
    link->after->before = before->after = link;
}

/* Its References refer to tensors themselves. */
static PyObject *native_refer(PyObject *module, PyObject *x)
{
    return Py_NewRef(x);
}

static int append_reference(PyObject *owner, PyObject *out)
{
    PyObject *refs = SLOT(owner, Program.refs);
    if (Py_TYPE(refs) != &References_type) {
        PyErr_SetString(PyExc_TypeError, "the references of a program are no References");
        return -1;
    }
    link_place(refs, out);
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
        return refuse("References()");
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
    if (!PyObject_TypeCheck(x, Tensor.type))
        return refuse("append(tensor)");
    link_place(self, x);
    Py_RETURN_NONE;
}

static PyMethodDef references_methods[] = {
    {"append", references_append, METH_O, "Refer to a tensor."}, {NULL, NULL, 0, NULL}};

static PyTypeObject References_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = NAMED("References"),
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
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = NAMED("Placed"),
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

static int edge_traverse(PyObject *self, visitproc visit, void *arg)
{
    Edge *edge = (Edge *)self;
    Py_VISIT(edge->child);
    Py_VISIT(edge->closure);
    Py_VISIT(edge->aval);
    for (Py_ssize_t i = 0; i < Py_SIZE(edge); i++)
        if (!IS_SLOT(edge->parts[i]))
            Py_VISIT((PyObject *)edge->parts[i]);
    return 0;
}

static void edge_dealloc(PyObject *self)
{
    Edge *edge = (Edge *)self;
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, edge_dealloc)
    for (Py_ssize_t i = 0; i < Py_SIZE(edge); i++)
        if (!IS_SLOT(edge->parts[i]))
            Py_DECREF((PyObject *)edge->parts[i]);
    DROP(edge->child, edge->closure, edge->aval);
    PyObject_GC_Del(self);
    Py_TRASHCAN_END
}

static PyTypeObject Edge_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = NAMED("Edge"),
    .tp_basicsize = sizeof(Edge),
    .tp_itemsize = sizeof(uintptr_t),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_dealloc = edge_dealloc,
    .tp_traverse = edge_traverse,
};

static Edge *new_edge(PyObject *child, PyObject *closure, const uintptr_t *parts, Py_ssize_t n)
{
    Py_ssize_t first = PyLong_AsSsize_t(SLOT(child, Node.first));
    Py_ssize_t leaves = first - PyLong_AsSsize_t(SLOT(child, Node.first_leaf));
    if (first > INT_MAX || leaves > SHRT_MAX)
        return NULL;
    Edge *edge = PyObject_GC_NewVar(Edge, &Edge_type, n);
    if (!edge)
        return NULL;
    PyObject *aval = SLOT(child, Node.aval);
    edge->child = Py_NewRef(child);
    edge->closure = Py_NewRef(closure);
    edge->aval = aval == Py_None ? NULL : Py_NewRef(aval);
    edge->first = (int)first;
    edge->leaves = (short)leaves;
    edge->differentiable = SLOT(child, Node.differentiable) == Py_True;
    for (Py_ssize_t i = 0; i < n; i++) {
        edge->parts[i] = parts[i];
        if (!IS_SLOT(parts[i]))
            Py_INCREF((PyObject *)parts[i]);
    }
    PyObject_GC_Track(edge);
    return edge;
}
