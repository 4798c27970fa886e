/* What is known of Python, each named once: slots of classes, objects, names and twins. */

/* Classes and those of their slots that are read here: `Tensor.type`, and SLOT(x, Tensor._aval). */
#define CLASSES(CLASS, X)                                                                          \
    CLASS(Aval, X(scalar) X(packed) X(plain) X(trainable) X(floating) X(np_dtype) X(dtype)         \
                X(shape) X(_tensor_shape))                                                         \
    CLASS(Counters, X(instructions) X(cache_hits) X(dispatches) X(fused))                          \
    CLASS(GradientTape, X(ids) X(reads) X(_record) X(_watch_accessed_variables) X(_persistent)     \
                        X(_recording) X(_watched) X(_used_at) X(_warned))                          \
    CLASS(Handle, X(id) X(tensor) X(dtype) X(shape))                                               \
    CLASS(History, X(key) X(settled) X(joins) X(step))                                             \
    CLASS(Node, X(children) X(must_flush) X(outputs) X(first) X(first_leaf) X(differentiable)      \
                X(scalars) X(last_edge) X(splices) X(runners) X(depth) X(aval))                    \
    CLASS(Program, X(log) X(refs) X(donatable) X(aliases) X(moved) X(calling) X(lock) X(owner)     \
                   X(ran) X(results) X(launched) X(unpack_results) X(origin) X(joins) X(joined_new)\
                   X(prepares) X(tree) X(begun) X(split) X(changed) X(failure))                     \
    CLASS(Quick, X(least) X(most) X(traces) X(retracing))                                          \
    CLASS(Record, X(calls) X(program) X(variables) X(reassigned) X(escapes))                       \
    CLASS(Results, X(single) X(nothing))                                                           \
    CLASS(Retracing, X(calls))                                                                     \
    CLASS(Runner, X(donate) X(origin) X(recent))                                                   \
    CLASS(Runners, X(compiled))                                                                    \
    CLASS(Tensor, X(_aval) X(_array) X(_id))                                                       \
    CLASS(ThreadState, X(program) X(recorders) X(deferring) X(capture) X(origin) X(device)         \
                       X(previous) X(programs) X(ran_now))                                         \
    CLASS(Trace, X(plain) X(plan) X(captured) X(results) X(_origin))                                       \
    CLASS(Tree, X(root))                                                                           \
    CLASS(Variable, X(_handle) X(_trainable) X(_view))                                             \
    CLASS(WholeProgram, X(packs) X(_packed))

/* Objects that Python provides: `python.mode`. */
#define OBJECTS(X)                                                                                 \
    X(array) X(as_result) X(begin_step) X(called) X(copy_all) X(counters) X(current_program)       \
    X(discard) X(enable_x64) X(float32) X(give_up) X(histories) X(local) X(mode) X(ndarray)        \
    X(new_lock) X(next_id) X(no_ids) X(no_reads) X(own_local) X(string) X(tree)

/* Functions here that have a twin in Python, with their parameters. Here `apply` is
   `native_apply`, and `python.apply` is its twin. */
#define TWINS(X)                                                                                   \
    X(apply, METH_FASTCALL, "closure, inputs")                                                     \
    X(apply_scalar, METH_FASTCALL, "closure, x, value, reflected")                                 \
    X(call_captured, METH_FASTCALL, "closure, tensors, sources, cells")                            \
    X(crc32c, METH_O, "data")                                                                      \
    X(features_of, METH_O, "message")                                                              \
    X(fill, METH_FASTCALL, "out, lower, upper, key, length, apart")                                \
    X(flatten, METH_O, "donated")                                                                  \
    X(flushed, METH_FASTCALL, "function, arguments")                                               \
    X(gather, METH_O, "log")                                                                       \
    X(look_for, METH_FASTCALL, "out, parameters, lower, upper, key, most")                         \
    X(read, METH_O, "variable")                                                                    \
    X(refer, METH_O, "x")                                                                          \
    X(resample, METH_FASTCALL, "images, found, above, below, down, left, right, across")           \
    X(run, METH_O, "program")                                                                      \
    X(splice_outputs, METH_FASTCALL, "program, slots")                                             \
    X(swap, METH_FASTCALL, "order, words")                                                         \
    X(take_steps, METH_FASTCALL, "values, steps")                                                  \
    X(track, METH_O, "tensor")                                                                     \
    X(waiting, METH_O, "references")                                                               \
    X(within, METH_FASTCALL, "array, sizes")

/* Names of attributes, as strings: `text.ids`. */
#define NAMES(X)                                                                                   \
    X(__enter__) X(__exit__) X(_pack) X(_quick) X(_unread) X(acquire) X(answers) X(arguments)      \
    X(call) X(draw) X(gradient) X(graphs) X(ids) X(immediate) X(indices) X(item) X(packed) X(python)\
    X(record) X(release) X(unpack_results) X(state) X(values) X(variable_accessed)

#define MOST_SLOTS 24
#define FIELD(slot) Py_ssize_t slot;
#define DECLARE(name, fields)                                                                      \
    static struct {                                                                                \
        PyTypeObject *type;                                                                        \
        union {                                                                                    \
            Py_ssize_t offsets[MOST_SLOTS];                                                        \
            struct { fields };                                                                     \
        };                                                                                         \
    } name;
CLASSES(DECLARE, FIELD)

#define OBJECT(name, ...) PyObject *name;
static struct { OBJECTS(OBJECT) TWINS(OBJECT) } python;
static struct { NAMES(OBJECT) } text;
static PyObject *empty, *zero, *one;

#define SLOT_NAME(slot) #slot,
#define CLASS_ROW(name, slots) {#name, &name.type, name.offsets, {slots}},
static const struct Class {
    const char *name;
    PyTypeObject **type;
    Py_ssize_t *offsets;
    const char *slots[MOST_SLOTS];
} classes[] = {CLASSES(CLASS_ROW, SLOT_NAME) {NULL}};

#define OBJECT_ROW(name, ...) {#name, &python.name},
static const struct Object {
    const char *name;
    PyObject **kept;
} objects[] = {OBJECTS(OBJECT_ROW) TWINS(OBJECT_ROW) {NULL}};

static int take_class(const struct Class *class, PyObject *type)
{
    for (int i = 0; i < MOST_SLOTS && class->slots[i]; i++) {
        PyObject *slot = PyObject_GetAttrString(type, class->slots[i]);
        if (!slot)
            return -1;
        int is_slot = Py_TYPE(slot) == &PyMemberDescr_Type;
        if (is_slot)
            class->offsets[i] = ((PyMemberDescrObject *)slot)->d_member->offset;
        else
            PyErr_Format(PyExc_TypeError, "%R.%s is not a slot", type, class->slots[i]);
        Py_DECREF(slot);
        if (!is_slot)
            return -1;
    }
    Py_XSETREF(*class->type, (PyTypeObject *)Py_NewRef(type));
    return 0;
}

static int take(PyObject *name, PyObject *object)
{
    for (const struct Class *class = classes; class->name; class++)
        if (!PyUnicode_CompareWithASCIIString(name, class->name))
            return take_class(class, object);
    for (const struct Object *row = objects; row->name; row++)
        if (!PyUnicode_CompareWithASCIIString(name, row->name)) {
            Py_XSETREF(*row->kept, Py_NewRef(object));
            return 0;
        }
    PyErr_Format(PyExc_TypeError, "provide() takes no %R", name);
    return -1;
}

static int note_missing(PyObject *missing, const char *name, void *found)
{
    PyObject *text = found ? NULL : PyUnicode_FromString(name);
    int failed = !found && (!text || PyList_Append(missing, text));
    Py_XDECREF(text);
    return failed;
}

/* provide(**objects): take what is named in the tables above; the names that are missing still. */
static PyObject *provide(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *name, *object, *missing = PyTuple_GET_SIZE(args) ? NULL : PyList_New(0);
    if (!missing)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "provide(**objects)");
    int failed = 0;
    for (Py_ssize_t i = 0; !failed && kwargs && PyDict_Next(kwargs, &i, &name, &object);)
        failed = take(name, object);
    for (const struct Class *class = classes; !failed && class->name; class++)
        failed = note_missing(missing, class->name, *class->type);
    for (const struct Object *row = objects; !failed && row->name; row++)
        failed = note_missing(missing, row->name, *row->kept);
    if (failed)
        Py_CLEAR(missing);
    return missing;
}
