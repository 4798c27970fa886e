/* The extension module `_kernels`: what XLA calls in its programs on the CPU, for convolutions,
   pools, sines and their like, the order of numbers, random words and numbers, and large pages, and
   convolutions for NumPy's arrays. It is empty where the compiler is not GCC or Clang. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if defined(__GNUC__) && !defined(_WIN32)
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "convolution.c"
#include "order.c"
#include "words.c"
#include "searched.c"
#include "xla.h"

/* A job under way. Threads of XLA come when they are free, perhaps when all is done: the last one to
   leave frees this. What is behind `job` may be gone then, but is read only by who has a task. */
typedef struct {
    const Job *job;
    long tasks, scratch;
    long next, done, thread, present; /* atomic */
    Memory *memory;
} Crew;

static void take_tasks(Crew *crew)
{
    float *scratch = NULL;
    for (;;) {
        long number = __atomic_fetch_add(&crew->next, 1, __ATOMIC_ACQ_REL);
        if (number >= crew->tasks)
            return;
        if (!scratch)
            scratch = crew->memory->floats +
                      __atomic_fetch_add(&crew->thread, 1, __ATOMIC_ACQ_REL) * crew->scratch;
        crew->job->task(crew->job, number, scratch);
        __atomic_fetch_add(&crew->done, 1, __ATOMIC_ACQ_REL);
    }
}

static void leave(Crew *crew)
{
    if (__atomic_sub_fetch(&crew->present, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    give_memory(FOR_SCRATCH, crew->memory);
    free(crew);
}

static void help(void *data)
{
    take_tasks(data);
    leave(data);
}

/* Where threads come from. start: begins `help` in another one, if there is any to be had. */
typedef struct Threads {
    long count;
    int (*start)(const struct Threads *threads, Crew *crew);
    const XLA_FFI_Api *api;
    XLA_FFI_ExecutionContext *context;
} Threads;

/* This thread takes tasks until all are taken, and then waits for those only that others are at: it
   is never held up by threads that do not come. */
static int perform(void *data, const Job *job)
{
    const Threads *threads = data;
    long helpers = larger(smaller(threads->count, job->tasks) - 1, 0);
    Crew *crew = malloc(sizeof(Crew));
    if (!crew)
        return 0;
    long scratch = parts(job->scratch, 16) * 16;
    *crew = (Crew){job, job->tasks, scratch, 0, 0, 0, 1,
                   take_memory(FOR_SCRATCH, (helpers + 1) * scratch)};
    if (!crew->memory) {
        leave(crew);
        return 0;
    }
    for (long i = 0; i < helpers; i++) {
        __atomic_fetch_add(&crew->present, 1, __ATOMIC_ACQ_REL);
        if (!threads->start(threads, crew))
            leave(crew);
    }
    take_tasks(crew);
    while (__atomic_load_n(&crew->done, __ATOMIC_ACQUIRE) < job->tasks)
        sched_yield();
    leave(crew);
    return 1;
}

/* Whether XLA reported no error. */
static int fine(const XLA_FFI_Api *api, XLA_FFI_Error *error)
{
    if (!error)
        return 1;
    XLA_FFI_Error_Destroy_Args args = {sizeof args, NULL, error};
    api->XLA_FFI_Error_Destroy(&args);
    return 0;
}

static int start_in_program(const Threads *threads, Crew *crew)
{
    XLA_FFI_ThreadPool_Schedule_Args args = {sizeof args, NULL, threads->context, help, crew};
    return fine(threads->api, threads->api->XLA_FFI_ThreadPool_Schedule(&args));
}

/* Those of the program that calls a handler. */
static Threads threads_of_program(const XLA_FFI_CallFrame *call)
{
    int64_t count = 1;
    XLA_FFI_ThreadPool_NumThreads_Args ask = {sizeof ask, NULL, call->ctx, &count};
    if (!fine(call->api, call->api->XLA_FFI_ThreadPool_NumThreads(&ask)))
        count = 1;
    return (Threads){count, start_in_program, call->api, call->ctx};
}

/* What a call is to have besides arrays: for each axis, as in Convolution, then whether it is flipped,
   and whether depthwise. */
enum {
    STRIDE = 0,
    DILATION = AXES,
    LOW = 2 * AXES,
    APART = 3 * AXES,
    FLIPPED = 4 * AXES,
    DEPTHWISE,
    NUMBERS
};

/* Arrays have examples first and channels last, or these two last. */
#define RANK (AXES + 2)

/* Shapes of images, of what is made at their places, and of kernels. */
typedef struct {
    const int64_t *images, *made, *kernel;
} Shapes;

/* The convolution of such arrays, of floats or doubles; whether they and the numbers fit. */
static int described(Shapes shapes, const int64_t *numbers, int wide, Convolution *c)
{
    const int64_t *x = shapes.images, *y = shapes.made, *k = shapes.kernel;
    const long channels = x[RANK - 1], features = y[RANK - 1];
    *c = (Convolution){.batch = x[0], .channels = channels, .features = features, .groups = 1};
    c->flipped = numbers[FLIPPED] != 0;
    c->depthwise = numbers[DEPTHWISE] != 0;
    for (int i = 0; i < AXES; i++) {
        c->size[i] = x[1 + i];
        c->places[i] = y[1 + i];
        c->window[i] = k[i];
        c->stride[i] = numbers[STRIDE + i];
        c->dilation[i] = numbers[DILATION + i];
        c->low[i] = numbers[LOW + i];
        c->apart[i] = numbers[APART + i];
        if (smaller(c->stride[i], c->apart[i]) != 1 || c->dilation[i] < 1)
            return 0;
    }
    if (y[0] != x[0])
        return 0;
    k += AXES;
    if (c->depthwise)
        return k[0] == channels && k[1] == 1 && features == channels &&
               channels >= best_instructions(wide)->width;
    if (channels == 0 || features == 0)
        return 1;
    if (k[0] == 0)
        return 0;
    /* The kernel is [..., some, all]: what goes in, of a group, and all that comes, or reversed. */
    long some = c->flipped ? features : channels, all = c->flipped ? channels : features;
    c->groups = some / k[0];
    return k[1] == all && some % k[0] == 0 && all % c->groups == 0;
}

/* Whether XLA asks what version of the interface a handler is of; the answer. Nothing is used here
   that came after jaxlib 0.8.0. */
static int asks_version(const XLA_FFI_CallFrame *call)
{
    XLA_FFI_Extension_Base *extension = call->extension_start;
    if (!extension || extension->type != XLA_FFI_Extension_Metadata)
        return 0;
    XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)extension)->metadata;
    metadata->api_version = (XLA_FFI_Api_Version){sizeof(XLA_FFI_Api_Version), NULL, 0, 1};
    metadata->traits = 0;
    return 1;
}

/* How a call ended. */
enum Outcome { DONE, UNFIT, NO_MEMORY };

/* What XLA is told of it: NULL if it is done. wanted: what a call is to be like. */
static XLA_FFI_Error *answer(const XLA_FFI_Api *api, enum Outcome outcome, const char *wanted,
                             const char *lacking)
{
    if (outcome == DONE)
        return NULL;
    int unfit = outcome == UNFIT;
    XLA_FFI_Error_Create_Args args = {
        sizeof args, NULL, unfit ? wanted : lacking,
        unfit ? XLA_FFI_Error_Code_INVALID_ARGUMENT : XLA_FFI_Error_Code_RESOURCE_EXHAUSTED};
    return api->XLA_FFI_Error_Create(&args);
}

/* The numbers that a call has besides arrays; NULL if there are not so many. */
static const int64_t *numbers_beside(const XLA_FFI_CallFrame *call, size_t count)
{
    if (call->args.size < 1 || call->attrs.size != 1 ||
        call->attrs.types[0] != XLA_FFI_AttrType_ARRAY)
        return NULL;
    const XLA_FFI_Array *numbers = call->attrs.attrs[0];
    return numbers->dtype == XLA_FFI_DataType_S64 && numbers->size == count ? numbers->data : NULL;
}

/* The same, of a call that gives one array. */
static const int64_t *numbers_of(const XLA_FFI_CallFrame *call, size_t count)
{
    return call->rets.size == 1 ? numbers_beside(call, count) : NULL;
}

typedef int Compute(const Convolution *, const Instructions *, const void *, const void *, void *,
                    Perform *, void *);

/* Of floats and of doubles. */
static Compute *const convolve[] = {single_convolve, double_convolve};
static Compute *const derive[] = {single_derive, double_derive};

/* A call: what `compute` does of two arrays gives a third, of doubles if they are wide. The numbers are as
   above. */
typedef struct {
    Compute *const *compute;
    int wide;
    const int64_t *shapes[3];
    const void *x, *other;
    void *out;
    const int64_t *numbers;
} Call;

/* The multiplications that it takes. */
static double work_of(const Convolution *c)
{
    double each = c->depthwise ? 1 : (double)c->channels / c->groups;
    for (int i = 0; i < AXES; i++)
        each *= (double)c->window[i] * c->places[i] / c->apart[i];
    return each * c->batch * c->features;
}

/* share: multiplications for which another one of these threads is worth it. */
static enum Outcome make_call(const Call *call, const Threads *threads, double share)
{
    Convolution c;
    const int64_t *const *shapes = call->shapes;
    Shapes given = {shapes[0], shapes[2], shapes[1]};
    if (call->compute == derive)
        given = (Shapes){shapes[0], shapes[1], shapes[2]};
    if (!described(given, call->numbers, call->wide, &c) || (call->compute == derive && is_spread(&c)))
        return UNFIT;
    size_t size = call->wide ? sizeof(double) : sizeof(float);
    for (int i = 0; i < RANK; i++)
        size *= shapes[2][i];
    if (size == 0)
        return DONE;
    if (work_of(&c) == 0) {
        memset(call->out, 0, size);
        return DONE;
    }
    Threads some = *threads;
    if (work_of(&c) < share * some.count)
        some.count = larger((long)(work_of(&c) / share), 1);
    int done = call->compute[call->wide](&c, best_instructions(call->wide), call->x, call->other,
                                         call->out, perform, &some);
    return done ? DONE : NO_MEMORY;
}

static enum Outcome do_compute(const XLA_FFI_CallFrame *frame, Compute *const *compute)
{
    const int64_t *numbers = numbers_of(frame, NUMBERS);
    if (!numbers || frame->args.size != 2)
        return UNFIT;
    const XLA_FFI_Buffer *x = frame->args.args[0], *other = frame->args.args[1];
    const XLA_FFI_Buffer *out = frame->rets.args[0];
    int wide = out->dtype == XLA_FFI_DataType_F64;
    if ((!wide && out->dtype != XLA_FFI_DataType_F32) || x->dtype != out->dtype ||
        other->dtype != out->dtype || x->rank != RANK || other->rank != RANK || out->rank != RANK)
        return UNFIT;
    Call call = {compute,     wide,      {x->dims, other->dims, out->dims}, x->data, other->data,
                 out->data, numbers};
    Threads threads = threads_of_program(frame);
    return make_call(&call, &threads, 0);
}

static enum Outcome do_convolution(const XLA_FFI_CallFrame *call) { return do_compute(call, convolve); }

static enum Outcome do_derivative(const XLA_FFI_CallFrame *call) { return do_compute(call, derive); }

/* What kind of numbers an array has; -1 for one that is not ordered. */
static int kind_of_numbers(const XLA_FFI_Buffer *array)
{
    switch (array->dtype) {
    case XLA_FFI_DataType_S32:
        return INT32;
    case XLA_FFI_DataType_S64:
        return INT64;
    case XLA_FFI_DataType_F32:
        return FLOAT32;
    case XLA_FFI_DataType_F64:
        return FLOAT64;
    }
    return -1;
}

/* How many elements there are along so many axes. */
static int64_t elements(const int64_t *dims, int64_t axes)
{
    int64_t all = 1;
    for (int64_t i = 0; i < axes; i++)
        all *= dims[i];
    return all;
}

/* The order along the last axis, as int32; whether it descends is told by a number. */
static enum Outcome do_order(const XLA_FFI_CallFrame *call)
{
    const int64_t *descending = numbers_of(call, 1);
    if (!descending || call->args.size != 1)
        return UNFIT;
    const XLA_FFI_Buffer *x = call->args.args[0], *out = call->rets.args[0];
    int kind = kind_of_numbers(x);
    if (kind < 0 || x->rank < 1 || out->rank != x->rank || out->dtype != XLA_FFI_DataType_S32)
        return UNFIT;
    long rows = elements(x->dims, x->rank - 1), n = x->dims[x->rank - 1];
    Threads threads = threads_of_program(call);
    threads.count = smaller(threads.count, threads_for(kind, n));
    int done = order(kind, x->data, out->data, rows, n, *descending != 0, perform, &threads);
    return done ? DONE : NO_MEMORY;
}

/* The number of the function that a call names, of arrays of n floats each, or of n doubles where they
   are wide; -1 if the call is none of these. */
static int64_t function_of(const XLA_FFI_CallFrame *call, long *n, int *wide)
{
    const int64_t *function = numbers_of(call, 1);
    if (!function)
        return -1;
    const XLA_FFI_Buffer *out = call->rets.args[0];
    if (out->dtype != XLA_FFI_DataType_F32 && out->dtype != XLA_FFI_DataType_F64)
        return -1;
    *n = elements(out->dims, out->rank);
    *wide = out->dtype == XLA_FFI_DataType_F64;
    for (int64_t i = 0; i < call->args.size; i++) {
        const XLA_FFI_Buffer *x = call->args.args[i];
        if (x->dtype != out->dtype || elements(x->dims, x->rank) != *n)
            return -1;
    }
    return *function;
}

static void *data_of(const void *buffer) { return ((const XLA_FFI_Buffer *)buffer)->data; }

/* XLA has the processor take subnormal numbers for zeros: let it compute with them, and give what is
   to be given back behind. */
static unsigned with_subnormals(void)
{
#ifdef __x86_64__
    unsigned before = _mm_getcsr();
    _mm_setcsr(before & ~0x8040u);
    return before;
#else
    return 0;
#endif
}

static void as_before(unsigned before)
{
#ifdef __x86_64__
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

#include "random.c"

#include "pooling.c"

#include "angles.c"
#include "special.c"

#include "pages.c"

/* Multiplications for which another thread is started: 20 us, in which one does a million. */
#define SHARE 4e6

static void *help_here(void *crew)
{
    help(crew);
    return NULL;
}

static int start_here(const Threads *threads, Crew *crew)
{
    pthread_t thread;
    (void)threads;
    if (pthread_create(&thread, NULL, help_here, crew))
        return 0;
    pthread_detach(thread);
    return 1;
}

/* Threads for which there are processors. */
static Threads own_threads(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t allowed;
    if (!sched_getaffinity(0, sizeof allowed, &allowed))
        count = CPU_COUNT(&allowed);
#endif
    return (Threads){larger(count, 1), start_here, NULL, NULL};
}

/* How a function of arrays of NumPy ended: what it takes are the buffers of some arguments, and all
   of them. */
typedef enum Outcome OfBuffers(const Py_buffer *buffers, PyObject *const *args);

#define MOST_BUFFERS 3

/* A function of so many arguments, of which those from `first` on are arrays that lie together in
   memory; so many of these are only read. wanted: what they are to be like. */
static PyObject *with_buffers(PyObject *const *args, Py_ssize_t n, OfBuffers *function,
                              const int counts[4], const char *wanted)
{
    int arguments = counts[0], first = counts[1], arrays = counts[2], read = counts[3], count = 0;
    if (n != arguments)
        return PyErr_Format(PyExc_TypeError, "%d arguments are wanted, not %zd", arguments, n);
    Py_buffer buffers[MOST_BUFFERS];
    for (; count < arrays; count++) {
        int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (count < read ? 0 : PyBUF_WRITABLE);
        if (PyObject_GetBuffer(args[first + count], &buffers[count], flags) < 0)
            break;
    }
    enum Outcome outcome = count == arrays ? function(buffers, args) : DONE;
    while (count)
        PyBuffer_Release(&buffers[--count]);
    if (PyErr_Occurred())
        return NULL;
    if (outcome == NO_MEMORY)
        return PyErr_NoMemory();
    return outcome == DONE ? Py_NewRef(Py_None) : PyErr_Format(PyExc_ValueError, "%s", wanted);
}

/* What the handlers do, for arrays of NumPy. */
static enum Outcome compute(const Py_buffer *views, PyObject *const *args)
{
    int64_t shapes[3][RANK], numbers[NUMBERS];
    int wide = !strcmp(views[2].format, "d");
    if (!PyTuple_Check(args[4]) || PyTuple_GET_SIZE(args[4]) != NUMBERS)
        return UNFIT;
    for (int k = 0; k < 3; k++) {
        if (views[k].ndim != RANK || strcmp(views[k].format, wide ? "d" : "f"))
            return UNFIT;
        for (int i = 0; i < RANK; i++)
            shapes[k][i] = views[k].shape[i];
    }
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(args[4], i));
    Call call = {PyObject_IsTrue(args[0]) ? derive : convolve,
                 wide,
                 {shapes[0], shapes[1], shapes[2]},
                 views[0].buf,
                 views[1].buf,
                 views[2].buf,
                 numbers};
    if (PyErr_Occurred())
        return UNFIT;
    Threads threads = own_threads();
    enum Outcome outcome;
    Py_BEGIN_ALLOW_THREADS
    outcome = make_call(&call, &threads, SHARE);
    Py_END_ALLOW_THREADS
    return outcome;
}

/* What kind of numbers an array of NumPy has; -1 for one that is not ordered. */
static int numbers_in(const Py_buffer *buffer)
{
    const char *kinds = "ilfd", *found = buffer->format[1] ? NULL : strchr(kinds, *buffer->format);
    if (*buffer->format == 'q' && !buffer->format[1])
        return INT64;
    if (!found || !*found || buffer->itemsize != (*found == 'i' || *found == 'f' ? 4 : 8))
        return -1;
    return (const int[]){INT32, INT64, FLOAT32, FLOAT64}[found - kinds];
}

/* Numbers for which another thread is started: it takes 20 us. */
#define NUMBERS_OF_THREAD (1 << 16)

static enum Outcome order_of(const Py_buffer *buffers, PyObject *const *args)
{
    const Py_buffer *x = buffers, *places = buffers + 1;
    int kind = numbers_in(x), descending = PyObject_IsTrue(args[2]), done;
    if (kind < 0 || x->ndim < 1 || numbers_in(places) != INT32 ||
        x->len / x->itemsize != places->len / places->itemsize)
        return UNFIT;
    long each = x->shape[x->ndim - 1], all = x->len / x->itemsize;
    Threads threads = own_threads();
    threads.count = smaller(threads.count, all / NUMBERS_OF_THREAD + 1);
    threads.count = smaller(threads.count, threads_for(kind, each));
    Py_BEGIN_ALLOW_THREADS
    done = order(kind, x->buf, places->buf, each ? all / each : 0, each, descending, perform,
                 &threads);
    Py_END_ALLOW_THREADS
    return done ? DONE : NO_MEMORY;
}

static enum Outcome largest_of(const Py_buffer *buffers, PyObject *const *args)
{
    const Py_buffer *x = buffers, *values = buffers + 1, *places = buffers + 2;
    int kind = numbers_in(x);
    (void)args;
    if (kind < 0 || numbers_in(values) != kind || x->ndim < 1 || numbers_in(places) != INT32 ||
        values->ndim != x->ndim || places->len / 4 != values->len / values->itemsize)
        return UNFIT;
    for (int i = 0; i < x->ndim - 1; i++)
        if (x->shape[i] != values->shape[i])
            return UNFIT;
    long each = x->shape[x->ndim - 1], k = values->shape[x->ndim - 1];
    if (k < 1 || k > each || k > MOST_KEPT)
        return UNFIT;
    Py_BEGIN_ALLOW_THREADS
    largest(kind, x->buf, values->buf, places->buf, x->len / x->itemsize / each, each, k);
    Py_END_ALLOW_THREADS
    return DONE;
}

#include "lu.c"
#include "systems.c"
#include "single.c"

/* Functions of arrays of NumPy: how many arguments they have, the first array among these, how many
   arrays there are and how many of them are only read; the arguments, and what they are to be like. */
#define METHODS(X)                                                                                 \
    X(eliminate, eliminate_all, (3, 0, 3, 0),                                                      \
      "(matrices, pivots, order): their LU decompositions, in their place.",                       \
      "not matrices, their pivots and the order of rows")                                          \
    X(largest, largest_of, (3, 0, 3, 1),                                                           \
      "(x, values, places): the largest numbers of each row, and where they stand.",               \
      "not rows of numbers, the largest and their places")                                         \
    X(of_each, of_each, (3, 1, 2, 1),                                                              \
      "(function, x, out): a function of each of some floats.",                                    \
      "not a function and floats of 32 or 64 bits")                                                \
    X(of_sets, of_sets, (3, 1, 2, 1),                                                              \
      "(function, arrays, out): a special function of pairs of floats, or of three.",              \
      "not a special function and floats of 32 or 64 bits")                                        \
    X(order, order_of, (3, 0, 2, 1),                                                               \
      "(x, places, descending): where the numbers of each row stand in order.",                    \
      "not numbers of 32 or 64 bits and places of int32")                                          \
    X(compute, compute, (5, 1, 3, 2),                                                              \
      "(derivative, x, other, out, numbers): a convolution, or its derivative by w.",              \
      "not a convolution of float32 or float64")                                                              \
    X(substitute, substitute_all, (4, 0, 2, 1),                                                    \
      "(matrices, x, lower, unit): solve triangular systems, in the place of x.",                  \
      "not square matrices and as many rows of one dtype")

#define LIST(...) {__VA_ARGS__}
#define METHOD(name, function, counts, does, wanted)                                               \
    static PyObject *name##_here(PyObject *module, PyObject *const *args, Py_ssize_t n)            \
    {                                                                                              \
        (void)module;                                                                              \
        return with_buffers(args, n, function, (const int[4])LIST counts, wanted);                 \
    }
METHODS(METHOD)

#define METHOD_ROW(name, function, counts, does, wanted)                                           \
    {#name, (PyCFunction)(void (*)(void))name##_here, METH_FASTCALL, #name does},
static PyMethodDef methods[] = {
    METHODS(METHOD_ROW){"kept_pages", kept_pages_here, METH_O,
                        "kept_pages(forget): the bytes kept for large programs."},
    {NULL, NULL, 0, NULL}};

/* What XLA calls: names of the capsules, what a call is to be like, and what there was no memory for. */
#define HANDLERS(X)                                                                                \
    X(ANGLES, angles, "a function is of one array or of two", "angles")                            \
    X(CONVOLUTION, convolution, "not a convolution", "a convolution")                              \
    X(DERIVATIVE, derivative, "not a convolution", "a convolution")                                \
    X(KEPT_PAGES, kept_pages, "arrays give one of them and room", "pages")                         \
    X(LARGE_PAGES, large_pages, "an array gives two", "pages")                                     \
    X(ORDER, order, "numbers give places", "an order")                                             \
    X(POOL, pool, "images, and perhaps cotangents, give a pool", "a pool")                         \
    X(SEARCH, search, "counters and keys and parameters give numbers", "a search")                 \
    X(SPECIAL, special, "a special function is of two arrays or of three", "functions")            \
    X(SYSTEMS, systems, "square matrices, and perhaps columns beside them, are wanted", "systems") \
    X(WORDS, words, "counters and keys give words", "words")

#define HANDLER(capsule, name, wanted, lacking)                                                    \
    static XLA_FFI_Error *handle_##name(XLA_FFI_CallFrame *call)                                   \
    {                                                                                              \
        if (asks_version(call))                                                                    \
            return NULL;                                                                           \
        return answer(call->api, do_##name(call), wanted, "no memory for " lacking);               \
    }
HANDLERS(HANDLER)

#define HANDLER_ROW(capsule, name, wanted, lacking) {#capsule, handle_##name},
static const struct {
    const char *name;
    XLA_FFI_Error *(*handle)(XLA_FFI_CallFrame *);
} handlers[] = {HANDLERS(HANDLER_ROW)};

/* Add what the Python side registers, and how many floats a vector of this processor has. */
static int fill(PyObject *module)
{
    const char *kind = "xla._CUSTOM_CALL_TARGET";
    if (PyModule_AddFunctions(module, methods) < 0 ||
        PyModule_AddIntConstant(module, "WIDTH", best_instructions(0)->width) < 0)
        return -1;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        PyObject *capsule = PyCapsule_New((void *)handlers[i].handle, kind, NULL);
        int failed = PyModule_AddObjectRef(module, handlers[i].name, capsule) < 0;
        Py_XDECREF(capsule);
        if (failed)
            return -1;
    }
    return 0;
}
#else
static int fill(PyObject *module) { return PyModule_AddIntConstant(module, "WIDTH", 0); }
#endif

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_kernels",
                                        .m_doc = "Convolutions, and what XLA calls.",
                                        .m_size = -1};

PyMODINIT_FUNC PyInit__kernels(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && fill(module) < 0)
        Py_CLEAR(module);
    return module;
}
