/* Convolutions of images [n, depth, height, width, channels] of float32 or float64 on the CPU, and their
   derivative by the kernel [d, h, w, channels, features]. Images of fewer axes have first ones of size 1.
   How they are cut is here, and what is done with the numbers in convolve.c.

   Both are a product of matrices: of the windows, a row a place and a column an element of the
   window, by the kernel; and of its transpose by the cotangents. The matrix is never written. What
   stands in it at (place, element) is found in the padded image at the sum of two offsets: where the
   window begins, and where the element is in it. Goto and van de Geijn, "Anatomy of high-performance
   matrix multiplication", 2008, is what the rest follows.

   The work is cut into tasks by shapes alone, and each sum is taken in one order: the result does
   not depend on how many threads there are, nor on which does what. */
#include <stdlib.h>
#include <string.h>

/* Channels: rows of sums that are taken at once, a vector each. */
#define LANES 9

/* Rows of a tile: with four vectors each, and four of the panel, they fill 32 registers; with two
   each, 16. */
#define TILE 6

/* How much of a sum is taken before the next tile: so much of a panel stays near the processor. */
#define DEPTH 256

/* Of the places that a task does at a time, and of the numbers that it pads for them, unless one row
   of places is more. */
#define PLACES 256
#define FRAME 65536

/* Tasks that there are to be, if the shapes allow it. */
#define TASKS 16

/* Numbers of a kernel that threads share in copying. */
#define LARGE_KERNEL (1 << 16)

/* Of the derivative by the kernel: elements of the windows below which it is not cut along them, and
   the numbers that all tasks together may have for their sums if more than one adds to the same. */
#define ELEMENTS 96
#define SUMS (1 << 19)

/* What a set of instructions has for numbers of one kind: how many of them a vector has, how many vectors
   a panel, and the loops of tile.c. */
typedef struct {
    int width, most;
    void (*tile)(int vectors, int add, const void *x, const long *row, const long *step, long count,
                 const void *panel, void *out, long pitch);
    void (*channels)(int rows, int add, const void *x, const long *row, const long *step, long count,
                     const void *panel, void *out, long channels);
} Instructions;

static long smaller(long a, long b) { return a < b ? a : b; }
static long larger(long a, long b) { return a > b ? a : b; }
static long parts(long whole, long part) { return (whole + part - 1) / part; }

/* Of some things in a row, those that take part. */
typedef struct {
    long first, step;
} Every;

#define AXES 3

/* A convolution. Arrays are of the axes of an image. low: the padding before it, negative where that much
   of it is cut off. apart: how far the pixels of an image are from each other, with zeros between
   them; if that is more than 1, the stride is 1. flipped: the kernel is read backwards, and is, unless
   depthwise, that of the convolution which this transposes, [..., features of a group, channels].
   groups: so many parts of the channels give parts of the features, each by itself. depthwise: each
   channel by itself with a kernel [..., channels].

   Where pixels are apart this is a part of it: the places of one remainder, at which the same
   elements of the windows meet pixels. places and window are what the part has. */
typedef struct {
    long batch, channels, features, groups;
    long size[AXES], places[AXES], window[AXES], stride[AXES], dilation[AXES], low[AXES], apart[AXES];
    int flipped, depthwise;
    long all_places[AXES], all_window[AXES];
    Every place[AXES], element[AXES];
} Convolution;

/* The part of a convolution with the places of a remainder. Whether there are any. */
static int remainder_of(const Convolution *c, int axis, long remainder, Convolution *part)
{
    long apart = c->apart[axis], dilation = c->dilation[axis], first = 0, step = 1;
    long begin = remainder - c->low[axis];
    part->all_places[axis] = c->places[axis];
    part->all_window[axis] = c->window[axis];
    part->place[axis] = (Every){remainder, apart};
    part->places[axis] = parts(larger(c->places[axis] - remainder, 0), apart);
    while (first < c->window[axis] && (begin + first * dilation) % apart)
        first++;
    while (step * dilation % apart)
        step++;
    part->element[axis] = (Every){first, step};
    part->window[axis] = parts(c->window[axis] - first, step);
    part->dilation[axis] = step * dilation / apart;
    part->low[axis] = -(begin + first * dilation) / apart;
    return part->places[axis] > 0;
}

/* Where what takes part at these places of the axes is in the whole array. */
static long position(const Every *every, const long *all, const long *at)
{
    long found = 0;
    for (int i = 0; i < AXES; i++)
        found = found * all[i] + every[i].first + at[i] * every[i].step;
    return found;
}

static long product(const long *sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/* How it is cut: a slice is what is made of one image at one place of its first axis; a block is
   `slices` slices, or `lines` rows of places of one. frame: the rows and columns that a block needs of
   a padded image, for each element of the window along the first axis. each, own: the channels and
   features of a group. place: where the window at each place of a block begins; element: where in it
   each element is, of the first group, or depthwise the first channel; both have a tile's rows more
   than there are. */
typedef struct {
    Convolution of;
    const Instructions *cpu;
    long all_slices, slices, lines, stripes, blocks, frame[2], each, own, elements, panel, panels;
    long *place, *element;
} Plan;

/* Memory that calls use while they run. What one has done with is kept for the next: a large block
   from the system takes longer to become memory than what is done with it. */
enum { FOR_PANELS, FOR_SUMS, FOR_SCRATCH, PURPOSES };

/* Floats above which it is not kept. */
#define KEPT (1 << 22)

typedef struct {
    long size;
    float floats[] __attribute__((aligned(64)));
} Memory;

static Memory *kept[PURPOSES]; /* atomic */

static Memory *take_memory(int purpose, long n)
{
    Memory *found = __atomic_exchange_n(&kept[purpose], NULL, __ATOMIC_ACQ_REL);
    if (found && found->size >= n)
        return found;
    free(found);
    n = parts(larger(n, 1), 16) * 16;
    found = aligned_alloc(64, sizeof(Memory) + n * sizeof(float));
    if (found)
        found->size = n;
    return found;
}

static void give_memory(int purpose, Memory *memory)
{
    if (memory && memory->size <= KEPT)
        memory = __atomic_exchange_n(&kept[purpose], memory, __ATOMIC_ACQ_REL);
    free(memory);
}

static long extent(const Convolution *c, int axis, long places)
{
    return (places - 1) * c->stride[axis] + (c->window[axis] - 1) * c->dilation[axis] + 1;
}

/* The places of a block, unless it is the last. */
static long block_places(const Plan *plan)
{
    return plan->slices * plan->lines * plan->of.places[2];
}

static void forget_plan(Plan *plan)
{
    free(plan->place);
    free(plan->element);
}

/* Whether there was memory for it. There is at least one place. */
static int make_plan(Plan *plan, const Convolution *c, const Instructions *cpu)
{
    *plan = (Plan){.of = *c, .cpu = cpu, .slices = 1};
    plan->all_slices = c->batch * c->places[0];
    plan->frame[1] = extent(c, 2, c->places[2]);
    long line = plan->frame[1] * c->channels, window = extent(c, 1, 1);
    long fit = (FRAME / (line * c->window[0]) - window) / c->stride[1] + 1;
    long lines = larger(smaller(PLACES / c->places[2], fit), 1);
    plan->stripes = parts(c->places[1], lines);
    plan->lines = parts(c->places[1], plan->stripes);
    plan->frame[0] = extent(c, 1, plan->lines);
    long sheet = plan->frame[0] * line;
    if (plan->stripes == 1) {
        fit = smaller(PLACES / (c->places[1] * c->places[2]), FRAME / (c->window[0] * sheet));
        plan->slices = larger(smaller(fit, plan->all_slices / TASKS), 1);
    }
    plan->blocks = parts(plan->all_slices, plan->slices) * plan->stripes;
    plan->each = c->depthwise ? 1 : c->channels / c->groups;
    plan->own = c->features / c->groups;
    plan->elements = product(c->window) * plan->each;
    plan->panel = smaller(cpu->most, parts(plan->own, cpu->width)) * cpu->width;
    plan->panels = c->groups * parts(plan->own, plan->panel);

    plan->place = calloc(block_places(plan) + TILE, sizeof(long));
    plan->element = calloc(plan->elements + TILE, sizeof(long));
    if (!plan->place || !plan->element) {
        forget_plan(plan);
        return 0;
    }
    long *place = plan->place, *element = plan->element;
    for (long n = 0; n < plan->slices; n++)
        for (long i = 0; i < plan->lines; i++)
            for (long j = 0; j < c->places[2]; j++)
                *place++ = n * c->window[0] * sheet + i * c->stride[1] * line +
                           j * c->stride[2] * c->channels;
    for (long d = 0; d < c->window[0]; d++)
        for (long i = 0; i < c->window[1]; i++)
            for (long j = 0; j < c->window[2]; j++)
                for (long k = 0; k < plan->each; k++)
                    *element++ = d * sheet + i * c->dilation[1] * line +
                                 j * c->dilation[2] * c->channels + k;
    return 1;
}

/* The numbers of a block's frame, so that what is behind it begins as it does. */
static long frame_size(const Plan *plan)
{
    long pixels = plan->slices * plan->of.window[0] * plan->frame[0] * plan->frame[1];
    return parts(pixels * plan->of.channels, 16) * 16;
}

/* A block: where its places begin among all, and how many they are. */
typedef struct {
    long first, places;
} Block;

static int is_spread(const Convolution *c) { return product(c->apart) > 1; }

/* Features that are made at once: which group they are of, the first and how many they are, and the
   vectors that they take. */
typedef struct {
    long group, first, columns, width;
    int vectors;
} Panel;

static Panel panel_of(const Plan *plan, long number)
{
    long of_group = plan->panels / plan->of.groups, group = number / of_group;
    long begin = number % of_group * plan->panel;
    long columns = smaller(plan->panel, plan->own - begin);
    int vectors = (int)parts(columns, plan->cpu->width);
    return (Panel){group, group * plan->own + begin, columns, vectors * plan->cpu->width, vectors};
}

/* Where an element of the window of a part is in the kernel. */
static long element_of_kernel(const Convolution *c, long element)
{
    long row = element / c->window[2];
    long at[] = {row / c->window[1], row % c->window[1], element % c->window[2]};
    long found = position(c->element, c->all_window, at);
    return c->flipped ? product(c->all_window) - 1 - found : found;
}

/* Tasks that threads take in turn, each with so many floats of scratch memory of its own. What the
   tasks read and write: `other` is the kernel in panels or the cotangents, `out` the output or for
   each task what it sums. */
typedef struct Job {
    void (*task)(const struct Job *job, long number, float *scratch);
    long tasks, scratch;
    const Plan *plan;
    const void *x, *other;
    void *out;
    long shares, tiles, run; /* of the derivative: see below */
} Job;

/* Does all tasks of a job; whether there was memory for them. */
typedef int Perform(void *threads, const Job *job);

#define NUMBER float
#define OF(name) single_##name
#include "convolve.c"

#define NUMBER double
#define OF(name) double_##name
#include "convolve.c"

/* What this processor does best with floats, or with doubles. */
static const Instructions *best_instructions(int wide)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return wide ? &double_avx512_instructions : &single_avx512_instructions;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return wide ? &double_avx2_instructions : &single_avx2_instructions;
#endif
    return wide ? &double_plain_instructions : &single_plain_instructions;
}
