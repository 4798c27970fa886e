/* Convolutions of float32 images [n, height, width, channels] on the CPU, and their derivative by
   the kernel [h, w, channels, features].

   Both are a product of matrices: of the windows, a row a place and a column an element of the
   window, by the kernel; and of its transpose by the cotangents. The matrix is never written. What
   stands in it at (place, element) is found in the padded image at the sum of two offsets: where the
   window begins, and where the element is in it. Goto and van de Geijn, "Anatomy of high-performance
   matrix multiplication", 2008, is what the rest follows.

   The work is cut into tasks by shapes alone, and each sum is taken in one order: the result does
   not depend on how many threads there are, nor on which does what. */
#include <stdlib.h>
#include <string.h>

/* Rows of a tile: with four vectors each, and four of the panel, they fill 32 registers; with two
   each, 16. */
#define TILE 6

/* How much of a sum is taken before the next tile: so much of a panel stays near the processor. */
#define DEPTH 256

/* Of the places that a task does at a time, and of the floats that it pads for them, unless one row
   of places is more. */
#define PLACES 256
#define FRAME 65536

/* Tasks that there are to be, if the shapes allow it. */
#define TASKS 16

/* Of the derivative by the kernel: elements of the windows below which it is not cut along them, and
   the floats that all tasks together may have for their sums if more than one adds to the same. */
#define ELEMENTS 96
#define SUMS (1 << 19)

typedef struct {
    int width, most; /* floats of a vector, vectors of a panel */
    void (*tile)(int vectors, int add, const float *x, const long *row, const long *step,
                 long count, const float *panel, float *out, long pitch);
} Instructions;

#define TARGET
#define WIDTH 4
#define MOST 2
#define NAME(name) plain_##name
#include "tile.c"

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 8
#define MOST 2
#define NAME(name) avx2_##name
#include "tile.c"

#define TARGET __attribute__((target("avx512f")))
#define WIDTH 16
#define MOST 4
#define NAME(name) avx512_##name
#include "tile.c"
#endif

/* What this processor does best. */
static const Instructions *best_instructions(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return &avx512_instructions;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2_instructions;
#endif
    return &plain_instructions;
}

/* A convolution. Pairs are of the first and the second axis of an image. low: the padding before it,
   negative where that much of it is cut off. flipped: the kernel is that of the convolution which
   this transposes, [h, w, features, channels], and is read backwards. */
typedef struct {
    long batch, channels, features;
    long size[2], places[2], window[2], stride[2], dilation[2], low[2];
    int flipped;
} Convolution;

/* How it is cut: a block is `images` images, or `lines` rows of places of one. frame: the rows and
   columns of a padded image that a block needs. place: where the window at each place of a block
   begins; element: where in it each element is; both have a tile's rows more than there are. */
typedef struct {
    Convolution of;
    const Instructions *cpu;
    long images, lines, stripes, blocks, frame[2], elements, panel, panels;
    long *place, *element;
} Plan;

static long smaller(long a, long b) { return a < b ? a : b; }
static long larger(long a, long b) { return a > b ? a : b; }
static long parts(long whole, long part) { return (whole + part - 1) / part; }

static void *floats(long n)
{
    return aligned_alloc(64, parts(larger(n, 1), 16) * 64);
}

static long extent(const Convolution *c, int axis, long places)
{
    return (places - 1) * c->stride[axis] + (c->window[axis] - 1) * c->dilation[axis] + 1;
}

static void forget_plan(Plan *plan)
{
    free(plan->place);
    free(plan->element);
}

/* Whether there was memory for it. There is at least one place. */
static int make_plan(Plan *plan, const Convolution *c, const Instructions *cpu)
{
    *plan = (Plan){.of = *c, .cpu = cpu};
    plan->frame[1] = extent(c, 1, c->places[1]);
    long line = plan->frame[1] * c->channels, window = extent(c, 0, 1);
    long fit = (FRAME / line - window) / c->stride[0] + 1;
    long lines = larger(smaller(PLACES / c->places[1], fit), 1);
    plan->stripes = parts(c->places[0], lines);
    plan->lines = parts(c->places[0], plan->stripes);
    plan->frame[0] = extent(c, 0, plan->lines);
    plan->images = 1;
    if (plan->stripes == 1) {
        fit = smaller(PLACES / (c->places[0] * c->places[1]), FRAME / (plan->frame[0] * line));
        plan->images = larger(smaller(fit, c->batch / TASKS), 1);
    }
    plan->blocks = parts(c->batch, plan->images) * plan->stripes;
    plan->elements = c->window[0] * c->window[1] * c->channels;
    plan->panel = smaller(cpu->most, parts(c->features, cpu->width)) * cpu->width;
    plan->panels = parts(c->features, plan->panel);

    long places = plan->images * plan->lines * c->places[1];
    plan->place = calloc(places + TILE, sizeof(long));
    plan->element = calloc(plan->elements + TILE, sizeof(long));
    if (!plan->place || !plan->element) {
        forget_plan(plan);
        return 0;
    }
    long *place = plan->place, *element = plan->element;
    for (long n = 0; n < plan->images; n++)
        for (long i = 0; i < plan->lines; i++)
            for (long j = 0; j < c->places[1]; j++)
                *place++ = (n * plan->frame[0] + i * c->stride[0]) * line +
                           j * c->stride[1] * c->channels;
    for (long i = 0; i < c->window[0]; i++)
        for (long j = 0; j < c->window[1]; j++)
            for (long k = 0; k < c->channels; k++)
                *element++ = i * c->dilation[0] * line + j * c->dilation[1] * c->channels + k;
    return 1;
}

static long frame_floats(const Plan *plan)
{
    return plan->images * plan->frame[0] * plan->frame[1] * plan->of.channels;
}

/* A row of an image as a row of its frame. */
static void pad_row(const Convolution *c, const float *row, float *frame, long columns)
{
    long begin = smaller(larger(c->low[1], 0), columns);
    long end = larger(smaller(c->low[1] + c->size[1], columns), begin);
    size_t pixel = c->channels * sizeof(float);
    memset(frame, 0, begin * pixel);
    if (end > begin)
        memcpy(frame + begin * c->channels, row + (begin - c->low[1]) * c->channels,
               (end - begin) * pixel);
    memset(frame + end * c->channels, 0, (columns - end) * pixel);
}

/* A block: where its places begin among all, and how many they are. */
typedef struct {
    long first, places;
} Block;

/* Write the padded part of `x` that a block needs. */
static Block frame_block(const Plan *plan, const float *x, long number, float *frame)
{
    const Convolution *c = &plan->of;
    long n = number / plan->stripes * plan->images, line = number % plan->stripes * plan->lines;
    long images = smaller(plan->images, c->batch - n);
    long lines = smaller(plan->lines, c->places[0] - line);
    long columns = plan->frame[1], width = columns * c->channels;
    for (long i = 0; i < images; i++)
        for (long j = 0; j < plan->frame[0]; j++, frame += width) {
            long row = line * c->stride[0] + j - c->low[0];
            if (row < 0 || row >= c->size[0])
                memset(frame, 0, width * sizeof(float));
            else
                pad_row(c, x + ((n + i) * c->size[0] + row) * c->size[1] * c->channels, frame,
                        columns);
        }
    return (Block){(n * c->places[0] + line) * c->places[1], images * lines * c->places[1]};
}

/* How many vectors the columns of a panel take. */
static int vectors_of(const Plan *plan, long panel)
{
    long columns = smaller(plan->panel, plan->of.features - panel * plan->panel);
    return (int)parts(columns, plan->cpu->width);
}

/* Columns of a matrix of `features`, from `first` on, as a panel of full vectors. */
static void copy_panel(const Plan *plan, const float *from, long first, long rows, float *panel)
{
    long columns = smaller(plan->panel, plan->of.features - first);
    long full = parts(columns, plan->cpu->width) * plan->cpu->width;
    for (long i = 0; i < rows; i++, panel += full) {
        memcpy(panel, from + i * plan->of.features + first, columns * sizeof(float));
        memset(panel + columns, 0, (full - columns) * sizeof(float));
    }
}

/* The kernel as panels, one after the other. */
static void kernel_panels(const Plan *plan, const float *kernel, float *panels)
{
    const Convolution *c = &plan->of;
    for (long p = 0; p < plan->panels; p++, panels += plan->elements * plan->panel) {
        if (!c->flipped) {
            copy_panel(plan, kernel, p * plan->panel, plan->elements, panels);
            continue;
        }
        long first = p * plan->panel, columns = smaller(plan->panel, c->features - first);
        long full = vectors_of(plan, p) * plan->cpu->width;
        for (long i = 0; i < plan->elements; i++) {
            long at = plan->elements / c->channels - 1 - i / c->channels;
            const float *from = kernel + at * c->features * c->channels + i % c->channels;
            for (long j = 0; j < full; j++)
                panels[i * full + j] = j < columns ? from[(first + j) * c->channels] : 0;
        }
    }
}

/* What a tile gives that is not full: its sums are taken apart, and those that are wanted copied. */
static void part_of_tile(const Plan *plan, int vectors, int add, const float *x, const long *row,
                         const long *step, long count, const float *panel, float *out, long rows,
                         long columns)
{
    float sums[TILE * 64] __attribute__((aligned(64)));
    long width = vectors * plan->cpu->width, pitch = plan->of.features;
    if (add)
        for (long r = 0; r < TILE; r++)
            for (long j = 0; j < width; j++)
                sums[r * width + j] = r < rows && j < columns ? out[r * pitch + j] : 0;
    plan->cpu->tile(vectors, add, x, row, step, count, panel, sums, width);
    for (long r = 0; r < rows; r++)
        memcpy(out + r * pitch, sums + r * width, columns * sizeof(float));
}

/* The convolution at the places of a block. */
static void convolve_block(const Plan *plan, const float *x, const float *panels, float *y,
                           long number, float *frame)
{
    const long features = plan->of.features;
    Block block = frame_block(plan, x, number, frame);
    y += block.first * features;
    for (long p = 0; p < plan->panels; p++, panels += plan->elements * plan->panel) {
        int vectors = vectors_of(plan, p);
        long width = vectors * plan->cpu->width, first = p * plan->panel;
        for (long k = 0; k < plan->elements; k += DEPTH) {
            const float *panel = panels + k * width;
            long count = smaller(DEPTH, plan->elements - k);
            for (long i = 0; i < block.places; i += TILE) {
                float *out = y + i * features + first;
                const long *row = plan->place + i, *step = plan->element + k;
                if (i + TILE <= block.places && first + width <= features)
                    plan->cpu->tile(vectors, k > 0, frame, row, step, count, panel, out, features);
                else
                    part_of_tile(plan, vectors, k > 0, frame, row, step, count, panel, out,
                                 smaller(TILE, block.places - i), smaller(width, features - first));
            }
        }
    }
}

/* Tasks that threads take in turn, each with so many floats of scratch memory of its own. What the
   tasks read and write: `other` is the kernel in panels or the cotangents, `out` the output or for
   each task what it sums. */
typedef struct Job {
    void (*task)(const struct Job *job, long number, float *scratch);
    long tasks, scratch;
    const Plan *plan;
    const float *x, *other;
    float *out;
    long groups, tiles, run; /* of the derivative: see below */
} Job;

/* Does all tasks of a job; whether there was memory for them. */
typedef int Perform(void *threads, const Job *job);

static void convolve_task(const Job *job, long number, float *scratch)
{
    convolve_block(job->plan, job->x, job->other, job->out, number, scratch);
}

/* Whether there was memory for it. */
static int convolve(const Convolution *c, const Instructions *cpu, const float *x,
                    const float *kernel, float *y, Perform *perform, void *threads)
{
    Plan plan;
    if (!make_plan(&plan, c, cpu))
        return 0;
    float *panels = floats(plan.elements * plan.panels * plan.panel);
    int done = 0;
    if (panels) {
        kernel_panels(&plan, kernel, panels);
        Job job = {convolve_task, plan.blocks, frame_floats(&plan), &plan, x, panels, y, 0, 0, 0};
        done = perform(threads, &job);
    }
    free(panels);
    forget_plan(&plan);
    return done;
}

/* The derivative by the kernel. A task is one of `groups` groups of `tiles` tiles of elements, and one
   of the runs of `run` blocks. It sums over the places of its blocks; the sums of runs are added at
   the end. */
static void derive_task(const Job *job, long number, float *scratch)
{
    const Plan *plan = job->plan;
    long group = number % job->groups, start = number / job->groups * job->run;
    long tile = group * job->tiles, end = smaller(tile + job->tiles, parts(plan->elements, TILE));
    long each = TILE * plan->panel, size = job->tiles * plan->panels * each;
    float *sums = job->out + number * size, *copy = scratch + parts(frame_floats(plan), 16) * 16;
    memset(sums, 0, size * sizeof(float));
    for (long i = start; i < smaller(start + job->run, plan->blocks); i++) {
        Block block = frame_block(plan, job->x, i, scratch);
        const float *cotangents = job->other + block.first * plan->of.features;
        for (long p = 0; p < plan->panels; p++) {
            int vectors = vectors_of(plan, p);
            int as_it_is = vectors * plan->cpu->width == plan->of.features;
            if (!as_it_is)
                copy_panel(plan, cotangents, p * plan->panel, block.places, copy);
            const float *panel = as_it_is ? cotangents : copy;
            float *out = sums + p * job->tiles * each;
            for (long t = tile; t < end; t++, out += each)
                plan->cpu->tile(vectors, 1, scratch, plan->element + t * TILE, plan->place,
                                block.places, panel, out, vectors * plan->cpu->width);
        }
    }
}

/* Add what the tasks summed, run by run. */
static void add_runs(const Job *job, float *derivative)
{
    const Plan *plan = job->plan;
    long features = plan->of.features, runs = job->tasks / job->groups;
    long each = TILE * plan->panel, size = job->tiles * plan->panels * each;
    for (long k = 0; k < plan->elements; k++)
        for (long p = 0; p < plan->panels; p++) {
            long tile = k / TILE, first = p * plan->panel;
            long columns = smaller(plan->panel, features - first);
            long width = vectors_of(plan, p) * plan->cpu->width;
            const float *from = job->out + tile / job->tiles * size +
                                (p * job->tiles + tile % job->tiles) * each + k % TILE * width;
            float *to = derivative + k * features + first;
            memcpy(to, from, columns * sizeof(float));
            for (long r = 1; r < runs; r++)
                for (long j = 0; j < columns; j++)
                    to[j] += from[r * job->groups * size + j];
        }
}

/* Whether there was memory for it. */
static int derive(const Convolution *c, const Instructions *cpu, const float *x,
                  const float *cotangents, float *derivative, Perform *perform, void *threads)
{
    Plan plan;
    if (!make_plan(&plan, c, cpu))
        return 0;
    long tiles = parts(plan.elements, TILE), size = plan.elements * c->features;
    long runs = larger(smaller(smaller(SUMS / size, TASKS), plan.blocks), 1);
    long groups = larger(smaller(parts(TASKS, runs), plan.elements / ELEMENTS), 1);
    Job job = {.task = derive_task, .plan = &plan, .x = x, .other = cotangents};
    job.run = parts(plan.blocks, runs);
    job.tiles = parts(tiles, groups);
    job.groups = parts(tiles, job.tiles);
    job.tasks = parts(plan.blocks, job.run) * job.groups;
    long places = plan.images * plan.lines * c->places[1];
    job.scratch = parts(frame_floats(&plan), 16) * 16 + places * plan.panel;
    job.out = floats(job.tasks * job.tiles * plan.panels * TILE * plan.panel);
    int done = job.out && perform(threads, &job);
    if (done)
        add_runs(&job, derivative);
    free(job.out);
    forget_plan(&plan);
    return done;
}
