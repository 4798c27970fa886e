/* The extension module `_kernels`: what XLA calls in its programs on the CPU: for convolutions, and for
   large pages. It is empty where the compiler is not GCC or Clang. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if defined(__GNUC__) && !defined(_WIN32)
#include <sched.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "convolution.c"
#include "xla.h"

/* The threads of a program, as its handlers are given them. */
typedef struct {
    const XLA_FFI_Api *api;
    XLA_FFI_ExecutionContext *context;
} Threads;

/* A job under way. Threads of XLA come when they are free, perhaps when all is done: the last one to
   leave frees this. What is behind `job` may be gone then, but is read only by who has a task. */
typedef struct {
    const Job *job;
    long tasks, scratch;
    long next, done, thread, present; /* atomic */
    float *memory;
} Crew;

static void take_tasks(Crew *crew)
{
    float *scratch = NULL;
    for (;;) {
        long number = __atomic_fetch_add(&crew->next, 1, __ATOMIC_ACQ_REL);
        if (number >= crew->tasks)
            return;
        if (!scratch)
            scratch = crew->memory +
                      __atomic_fetch_add(&crew->thread, 1, __ATOMIC_ACQ_REL) * crew->scratch;
        crew->job->task(crew->job, number, scratch);
        __atomic_fetch_add(&crew->done, 1, __ATOMIC_ACQ_REL);
    }
}

static void leave(Crew *crew)
{
    if (__atomic_sub_fetch(&crew->present, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free(crew->memory);
    free(crew);
}

static void help(void *data)
{
    take_tasks(data);
    leave(data);
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

/* This thread takes tasks until all are taken, and then waits for those only that others are at: it
   is never held up by threads that do not come. */
static int perform(void *data, const Job *job)
{
    Threads *threads = data;
    const XLA_FFI_Api *api = threads->api;
    int64_t count = 1;
    XLA_FFI_ThreadPool_NumThreads_Args ask = {sizeof ask, NULL, threads->context, &count};
    if (!fine(api, api->XLA_FFI_ThreadPool_NumThreads(&ask)))
        count = 1;
    long helpers = larger(smaller(count, job->tasks) - 1, 0);
    Crew *crew = malloc(sizeof(Crew));
    if (!crew)
        return 0;
    long scratch = parts(job->scratch, 16) * 16;
    *crew = (Crew){job, job->tasks, scratch, 0, 0, 0, 1, floats((helpers + 1) * scratch)};
    if (!crew->memory) {
        leave(crew);
        return 0;
    }
    for (long i = 0; i < helpers; i++) {
        __atomic_fetch_add(&crew->present, 1, __ATOMIC_ACQ_REL);
        XLA_FFI_ThreadPool_Schedule_Args args = {sizeof args, NULL, threads->context, help, crew};
        if (!fine(api, api->XLA_FFI_ThreadPool_Schedule(&args)))
            leave(crew);
    }
    take_tasks(crew);
    while (__atomic_load_n(&crew->done, __ATOMIC_ACQUIRE) < job->tasks)
        sched_yield();
    leave(crew);
    return 1;
}

static XLA_FFI_Error *refuse(const XLA_FFI_Api *api, int code, const char *message)
{
    XLA_FFI_Error_Create_Args args = {sizeof args, NULL, message, code};
    return api->XLA_FFI_Error_Create(&args);
}

/* What a call is to have besides arrays: two numbers each, as in Convolution, then whether it is
   flipped. */
enum { STRIDE = 0, DILATION = 2, LOW = 4, FLIPPED = 6, NUMBERS = 7 };

/* Arrays of images, of what is made at their places, and of kernels. */
typedef struct {
    const XLA_FFI_Buffer *images, *made, *kernel;
} Arrays;

static int is_array(const XLA_FFI_Buffer *array)
{
    return array->dtype == XLA_FFI_DataType_F32 && array->rank == 4;
}

/* The convolution that a call is of; whether its arrays and numbers fit. */
static int described(const XLA_FFI_CallFrame *call, Arrays arrays, Convolution *c)
{
    if (!is_array(arrays.images) || !is_array(arrays.made) || !is_array(arrays.kernel) ||
        call->attrs.size != 1 || call->attrs.types[0] != XLA_FFI_AttrType_ARRAY)
        return 0;
    const XLA_FFI_Array *given = call->attrs.attrs[0];
    if (given->dtype != XLA_FFI_DataType_S64 || given->size != NUMBERS)
        return 0;
    const int64_t *x = arrays.images->dims, *y = arrays.made->dims, *k = arrays.kernel->dims;
    const int64_t *numbers = given->data;
    *c = (Convolution){.batch = x[0], .channels = x[3], .features = y[3]};
    c->flipped = numbers[FLIPPED] != 0;
    for (int i = 0; i < 2; i++) {
        c->size[i] = x[1 + i];
        c->places[i] = y[1 + i];
        c->window[i] = k[i];
        c->stride[i] = numbers[STRIDE + i];
        c->dilation[i] = numbers[DILATION + i];
        c->low[i] = numbers[LOW + i];
        if (c->stride[i] < 1 || c->dilation[i] < 1)
            return 0;
    }
    return y[0] == x[0] && k[2 + c->flipped] == x[3] && k[3 - c->flipped] == y[3];
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

typedef int Compute(const Convolution *, const Instructions *, const float *, const float *,
                    float *, Perform *, void *);

static XLA_FFI_Error *handle(XLA_FFI_CallFrame *call, Compute *compute)
{
    if (asks_version(call))
        return NULL;
    Convolution c;
    Arrays arrays = {0};
    const XLA_FFI_Buffer *x, *other, *out;
    if (call->args.size != 2 || call->rets.size != 1)
        return refuse(call->api, XLA_FFI_Error_Code_INVALID_ARGUMENT, "two arrays give one");
    x = call->args.args[0];
    other = call->args.args[1];
    out = call->rets.args[0];
    arrays = compute == convolve ? (Arrays){x, out, other} : (Arrays){x, other, out};
    if (!described(call, arrays, &c))
        return refuse(call->api, XLA_FFI_Error_Code_INVALID_ARGUMENT, "not a convolution");
    size_t size = sizeof(float), work = c.channels;
    for (int i = 0; i < 4; i++) {
        size *= out->dims[i];
        work *= arrays.made->dims[i];
    }
    if (size == 0)
        return NULL;
    if (work * c.window[0] * c.window[1] == 0) {
        memset(out->data, 0, size);
        return NULL;
    }
    Threads threads = {call->api, call->ctx};
    if (compute(&c, best_instructions(), x->data, other->data, out->data, perform, &threads))
        return NULL;
    return refuse(call->api, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED,
                  "no memory for a convolution");
}

static XLA_FFI_Error *handle_convolution(XLA_FFI_CallFrame *call) { return handle(call, convolve); }

static XLA_FFI_Error *handle_derivative(XLA_FFI_CallFrame *call) { return handle(call, derive); }

/* Gives what it takes, which is the same memory, and ask for large pages in what it gives beside. */
static XLA_FFI_Error *handle_large_pages(XLA_FFI_CallFrame *call)
{
    if (asks_version(call))
        return NULL;
    if (call->rets.size != 2)
        return refuse(call->api, XLA_FFI_Error_Code_INVALID_ARGUMENT, "an array gives two");
#ifdef MADV_HUGEPAGE
    const XLA_FFI_Buffer *room = call->rets.args[1];
    const uintptr_t large = 1 << 21, first = (uintptr_t)room->data;
    uintptr_t begin = (first + large - 1) / large * large;
    uintptr_t end = (first + (size_t)room->dims[0]) / large * large;
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
    return NULL;
}

/* Add what the Python side registers, and how many floats a vector of this processor has. */
static int fill(PyObject *module)
{
    const char *name = "xla._CUSTOM_CALL_TARGET";
    PyObject *convolution = PyCapsule_New((void *)handle_convolution, name, NULL);
    PyObject *derivative = PyCapsule_New((void *)handle_derivative, name, NULL);
    PyObject *large_pages = PyCapsule_New((void *)handle_large_pages, name, NULL);
    int failed = PyModule_AddObjectRef(module, "CONVOLUTION", convolution) < 0 ||
                 PyModule_AddObjectRef(module, "LARGE_PAGES", large_pages) < 0 ||
                 PyModule_AddObjectRef(module, "DERIVATIVE", derivative) < 0 ||
                 PyModule_AddIntConstant(module, "WIDTH", best_instructions()->width) < 0;
    Py_XDECREF(convolution);
    Py_XDECREF(derivative);
    Py_XDECREF(large_pages);
    return failed ? -1 : 0;
}
#else
static int fill(PyObject *module) { return PyModule_AddIntConstant(module, "WIDTH", 0); }
#endif

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_kernels",
                                        .m_doc = "What XLA calls in its programs on the CPU.",
                                        .m_size = -1};

PyMODINIT_FUNC PyInit__kernels(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && fill(module) < 0)
        Py_CLEAR(module);
    return module;
}
