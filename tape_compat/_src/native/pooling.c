/* Part of kernels.c, behind convolution.c: the largest of each window of images [n, depth, height,
   width, channels], and the derivative. Images of fewer axes have first ones of size 1.

   A task makes some images, or a part of one along its first axis that is longer than 1: of the
   derivative, windows at the border of two parts are compared for each. So no two tasks write to the
   same place, and each sum is taken in the order of the windows. */

typedef struct {
    long batch, channels, size[AXES], places[AXES], window[AXES], stride[AXES], low[AXES];
    int first; /* of equal ones the first takes the whole cotangent; otherwise each does */
} Pool;

/* What of a window is not padding: where in the batch it begins and how much it is of each axis; its
   place among all; and from where to where its elements take cotangents in this task. */
typedef struct {
    long first, count[AXES], place, begin[AXES], end[AXES];
} Window;

typedef struct {
    int width;
    void (*reduce)(const Pool *p, const Window *w, const void *images, void *made);
    void (*give)(const Pool *p, const Window *w, const void *images, const void *cotangents,
                 void *derivative);
} Lanes;

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2")))
#define WIDTH 8
#define FLOAT float
#define INT int32_t
#define NAME(name) avx2_single_##name
#include "pool_lanes.c"

#define TARGET __attribute__((target("avx2")))
#define WIDTH 4
#define FLOAT double
#define INT int64_t
#define NAME(name) avx2_double_##name
#include "pool_lanes.c"

#define TARGET __attribute__((target("avx512f,avx512dq")))
#define WIDTH 16
#define FLOAT float
#define INT int32_t
#define NAME(name) avx512_single_##name
#include "pool_lanes.c"

#define TARGET __attribute__((target("avx512f,avx512dq")))
#define WIDTH 8
#define FLOAT double
#define INT int64_t
#define NAME(name) avx512_double_##name
#include "pool_lanes.c"
#endif

/* The widest of this processor that so many channels fill; NULL if none. */
static const Lanes *lanes_for(long channels, int wide)
{
#ifdef __x86_64__
    const Lanes *more = wide ? &avx512_double_lanes : &avx512_single_lanes;
    const Lanes *less = wide ? &avx2_double_lanes : &avx2_single_lanes;
    if (__builtin_cpu_supports("avx512dq") && more->width <= channels)
        return more;
    if (__builtin_cpu_supports("avx2") && less->width <= channels)
        return less;
#endif
    (void)channels, (void)wide;
    return NULL;
}

/* One of the two. `cut` is the axis along which images are cut, each into `pieces` of `length`; a task
   is `each` pieces. */
typedef struct {
    Job job; /* first: a task finds the rest behind it */
    const Pool *pool;
    const Lanes *lanes;
    const void *images, *cotangents;
    void *out;
    size_t item;
    int cut;
    long pieces, length, each;
} Pooling;

/* What of a window at some place of an axis is not padding. */
static void meet(const Pool *p, int axis, long place, long begin, long end, long *first, Window *w)
{
    long start = place * p->stride[axis] - p->low[axis];
    *first = larger(start, 0);
    w->count[axis] = larger(smaller(start + p->window[axis], p->size[axis]) - *first, 0);
    w->begin[axis] = larger(begin - *first, 0);
    w->end[axis] = smaller(end - *first, w->count[axis]);
}

/* Write -infinity where there is nothing but padding. */
static void write_lowest(const Pooling *job, long place)
{
    for (long i = 0; i < job->pool->channels; i++)
        if (job->item == sizeof(float))
            ((float *)job->out)[place * job->pool->channels + i] = -__builtin_inff();
        else
            ((double *)job->out)[place * job->pool->channels + i] = -__builtin_inf();
}

/* Along the axis that is cut, write zeros to what a window is the first to give to. */
static void clear_to(const Pooling *job, long image, int axis, long end, long *cleared)
{
    const Pool *p = job->pool;
    if (!job->cotangents || axis != job->cut || end <= *cleared)
        return;
    size_t row = product(p->size) / p->size[axis] * p->channels * job->item;
    memset((char *)job->out + (image * p->size[axis] + *cleared) * row, 0, (end - *cleared) * row);
    *cleared = end;
}

/* All windows of an image at places from `low` to `high`; elements from `begin` to `end` are given to. */
static void do_windows(const Pooling *job, long image, const long *low, const long *high,
                       const long *begin, const long *end)
{
    const Pool *p = job->pool;
    long i, j, k, at[AXES], cleared = begin[job->cut];
    Window w;
    for (i = low[0]; i < high[0]; i++) {
        meet(p, 0, i, begin[0], end[0], &at[0], &w);
        clear_to(job, image, 0, at[0] + w.end[0], &cleared);
        for (j = low[1]; j < high[1]; j++) {
            meet(p, 1, j, begin[1], end[1], &at[1], &w);
            clear_to(job, image, 1, at[1] + w.end[1], &cleared);
            for (k = low[2]; k < high[2]; k++) {
                meet(p, 2, k, begin[2], end[2], &at[2], &w);
                clear_to(job, image, 2, at[2] + w.end[2], &cleared);
                w.place = ((image * p->places[0] + i) * p->places[1] + j) * p->places[2] + k;
                w.first = ((image * p->size[0] + at[0]) * p->size[1] + at[1]) * p->size[2] + at[2];
                int empty = product(w.count) == 0;
                if (job->cotangents && !empty)
                    job->lanes->give(p, &w, job->images, job->cotangents, job->out);
                else if (!job->cotangents && !empty)
                    job->lanes->reduce(p, &w, job->images, job->out);
                else if (!job->cotangents)
                    write_lowest(job, w.place);
            }
        }
    }
    clear_to(job, image, job->cut, end[job->cut], &cleared);
}

static void pool_task(const Job *task, long number, float *scratch)
{
    const Pooling *job = (const Pooling *)task;
    const Pool *p = job->pool;
    int cut = job->cut;
    long last = smaller((number + 1) * job->each, p->batch * job->pieces);
    (void)scratch;
    for (long piece = number * job->each; piece < last; piece++) {
        long image = piece / job->pieces, from = piece % job->pieces * job->length;
        long low[AXES] = {0}, begin[AXES] = {0}, high[AXES], end[AXES];
        memcpy(high, p->places, sizeof high);
        memcpy(end, p->size, sizeof end);
        if (!job->cotangents) {
            low[cut] = from;
            high[cut] = smaller(from + job->length, p->places[cut]);
        } else {
            begin[cut] = from;
            end[cut] = smaller(from + job->length, p->size[cut]);
            long before = from + p->low[cut] - p->window[cut];
            low[cut] = before < 0 ? 0 : before / p->stride[cut] + 1;
            high[cut] = smaller((end[cut] - 1 + p->low[cut]) / p->stride[cut] + 1, p->places[cut]);
        }
        do_windows(job, image, low, high, begin, end);
    }
}

/* Floats that are worth a task. */
#define FLOATS_OF_TASK (1 << 14)

/* Writes the largest of each window to `out`, or, if there are cotangents, the derivative. The images
   are not empty. Whether there was memory for it. */
static int pool(const Pool *p, int wide, const void *images, const void *cotangents, void *out,
                Perform *perform, void *threads)
{
    Pooling job = {.pool = p, .images = images, .cotangents = cotangents, .out = out};
    job.lanes = lanes_for(p->channels, wide);
    job.item = wide ? sizeof(double) : sizeof(float);
    while (job.cut < AXES - 1 && p->size[job.cut] == 1)
        job.cut++;
    long all = cotangents ? p->size[job.cut] : p->places[job.cut];
    long floats = product(p->size) * p->channels;
    long pieces = smaller(parts(TASKS, p->batch), floats / FLOATS_OF_TASK);
    pieces = smaller(pieces, all / (4 * p->window[job.cut]));
    job.length = parts(all, larger(pieces, 1));
    job.pieces = parts(all, job.length);
    job.each = larger(FLOATS_OF_TASK * job.pieces / floats, 1);
    job.job = (Job){.task = pool_task, .tasks = parts(p->batch * job.pieces, job.each)};
    return perform(threads, &job.job);
}

/* What a call is to have besides arrays: for each axis, as in Pool, and whether the first takes all. */
enum { POOL_WINDOW = 0, POOL_STRIDE = AXES, POOL_LOW = 2 * AXES, POOL_FIRST = 3 * AXES, POOL_NUMBERS };

/* The pool of such arrays; whether they and the numbers fit. Axes before those of a batch are counted
   to it. */
static int pool_described(const XLA_FFI_Buffer *images, const XLA_FFI_Buffer *made,
                          const int64_t *numbers, Pool *p)
{
    long lead = images->rank - RANK;
    if (lead < 0 || made->rank != images->rank)
        return 0;
    const int64_t *x = images->dims + lead, *y = made->dims + lead;
    *p = (Pool){.batch = x[0], .channels = x[RANK - 1], .first = numbers[POOL_FIRST] != 0};
    for (long i = 0; i <= lead; i++)
        if (images->dims[i] != made->dims[i])
            return 0;
    for (long i = 0; i < lead; i++)
        p->batch *= images->dims[i];
    for (int i = 0; i < AXES; i++) {
        p->size[i] = x[1 + i];
        p->places[i] = y[1 + i];
        p->window[i] = numbers[POOL_WINDOW + i];
        p->stride[i] = numbers[POOL_STRIDE + i];
        p->low[i] = numbers[POOL_LOW + i];
        if (p->window[i] < 1 || p->stride[i] < 1 || p->low[i] < 0)
            return 0;
    }
    return y[RANK - 1] == x[RANK - 1];
}

static int same_shape(const XLA_FFI_Buffer *one, const XLA_FFI_Buffer *other)
{
    return one->rank == other->rank &&
           !memcmp(one->dims, other->dims, one->rank * sizeof *one->dims);
}

/* The largest of the windows of images, or of images and cotangents the derivative. */
static enum Outcome do_pool(const XLA_FFI_CallFrame *call)
{
    const int64_t *numbers = numbers_of(call, POOL_NUMBERS);
    int64_t count = call->args.size;
    if (!numbers || count > 2)
        return UNFIT;
    const XLA_FFI_Buffer *x = call->args.args[0], *out = call->rets.args[0];
    const XLA_FFI_Buffer *made = count == 2 ? call->args.args[1] : out;
    int wide = x->dtype == XLA_FFI_DataType_F64;
    Pool p;
    if ((!wide && x->dtype != XLA_FFI_DataType_F32) || made->dtype != x->dtype ||
        out->dtype != x->dtype || !pool_described(x, made, numbers, &p) ||
        (count == 2 && !same_shape(out, x)) || p.batch * product(p.size) == 0 ||
        !lanes_for(p.channels, wide))
        return UNFIT;
    Threads threads = threads_of_program(call);
    const void *cotangents = count == 2 ? made->data : NULL;
    int done = pool(&p, wide, x->data, cotangents, out->data, perform, &threads);
    return done ? DONE : NO_MEMORY;
}
