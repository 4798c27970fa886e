/* Convolutions of float32 images [n, depth, height, width, channels] on the CPU, and their derivative
   by the kernel [d, h, w, channels, features]. Images of fewer axes have first ones of size 1.

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

/* Of the places that a task does at a time, and of the floats that it pads for them, unless one row
   of places is more. */
#define PLACES 256
#define FRAME 65536

/* Tasks that there are to be, if the shapes allow it. */
#define TASKS 16

/* Floats of a kernel that threads share in copying. */
#define LARGE_KERNEL (1 << 16)

/* Of the derivative by the kernel: elements of the windows below which it is not cut along them, and
   the floats that all tasks together may have for their sums if more than one adds to the same. */
#define ELEMENTS 96
#define SUMS (1 << 19)

typedef struct {
    int width, most; /* floats of a vector, vectors of a panel */
    void (*tile)(int vectors, int add, const float *x, const long *row, const long *step,
                 long count, const float *panel, float *out, long pitch);
    void (*channels)(int rows, int add, const float *x, const long *row, const long *step,
                     long count, const float *panel, float *out, long channels);
} Instructions;

static long smaller(long a, long b) { return a < b ? a : b; }
static long larger(long a, long b) { return a > b ? a : b; }
static long parts(long whole, long part) { return (whole + part - 1) / part; }

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

    long places = plan->slices * plan->lines * c->places[2];
    plan->place = calloc(places + TILE, sizeof(long));
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

/* The floats of a block's frame, so that what is behind it begins as it does. */
static long frame_floats(const Plan *plan)
{
    long pixels = plan->slices * plan->of.window[0] * plan->frame[0] * plan->frame[1];
    return parts(pixels * plan->of.channels, 16) * 16;
}

/* A row of an image as a row of its frame. */
static void pad_row(const Convolution *c, const float *row, float *frame, long columns)
{
    long begin = smaller(larger(c->low[2], 0), columns);
    long end = larger(smaller(c->low[2] + c->size[2], columns), begin);
    size_t pixel = c->channels * sizeof(float);
    memset(frame, 0, begin * pixel);
    if (end > begin)
        memcpy(frame + begin * c->channels, row + (begin - c->low[2]) * c->channels,
               (end - begin) * pixel);
    memset(frame + end * c->channels, 0, (columns - end) * pixel);
}

/* What a slice needs of an image, from a line of places on. Gives the end of what is written. */
static float *frame_slice(const Plan *plan, const float *x, long slice, long line, float *frame)
{
    const Convolution *c = &plan->of;
    long columns = plan->frame[1], width = columns * c->channels;
    long n = slice / c->places[0], first = slice % c->places[0] * c->stride[0] - c->low[0];
    for (long d = 0; d < c->window[0]; d++)
        for (long j = 0; j < plan->frame[0]; j++, frame += width) {
            long sheet = first + d * c->dilation[0], row = line * c->stride[1] + j - c->low[1];
            if (sheet < 0 || sheet >= c->size[0] || row < 0 || row >= c->size[1]) {
                memset(frame, 0, width * sizeof(float));
                continue;
            }
            long at = ((n * c->size[0] + sheet) * c->size[1] + row) * c->size[2];
            pad_row(c, x + at * c->channels, frame, columns);
        }
    return frame;
}

/* A block: where its places begin among all, and how many they are. */
typedef struct {
    long first, places;
} Block;

/* Write the padded part of `x` that a block needs. */
static Block frame_block(const Plan *plan, const float *x, long number, float *frame)
{
    const Convolution *c = &plan->of;
    long slice = number / plan->stripes * plan->slices, line = number % plan->stripes * plan->lines;
    long slices = smaller(plan->slices, plan->all_slices - slice);
    long lines = smaller(plan->lines, c->places[1] - line);
    for (long i = 0; i < slices; i++)
        frame = frame_slice(plan, x, slice + i, line, frame);
    return (Block){(slice * c->places[1] + line) * c->places[2], slices * lines * c->places[2]};
}

static int is_spread(const Convolution *c) { return product(c->apart) > 1; }

/* Write some rows of places, which are apart: what stands in `from`, or zeros if that is NULL. */
static void spread_rows(const Convolution *c, const float *from, long first, long rows, float *y)
{
    size_t size = c->features * sizeof(float);
    for (long row = first; row < first + rows; row++) {
        long slice = row / c->places[1], n = slice / c->places[0];
        float *image = y + n * product(c->all_places) * c->features;
        for (long j = 0; j < c->places[2]; j++) {
            long at[] = {slice % c->places[0], row % c->places[1], j};
            float *to = image + position(c->place, c->all_places, at) * c->features;
            if (!from)
                memset(to, 0, size);
            else
                memcpy(to, from + ((row - first) * c->places[2] + j) * c->features, size);
        }
    }
}

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

/* The columns of a panel, of a matrix of features, as full vectors. */
static void copy_panel(const Plan *plan, Panel panel, const float *from, long rows, float *to)
{
    for (long i = 0; i < rows; i++, to += panel.width) {
        memcpy(to, from + i * plan->of.features + panel.first, panel.columns * sizeof(float));
        memset(to + panel.columns, 0, (panel.width - panel.columns) * sizeof(float));
    }
}

/* Where an element of the window of a part is in the kernel. */
static long element_of_kernel(const Convolution *c, long element)
{
    long row = element / c->window[2];
    long at[] = {row / c->window[1], row % c->window[1], element % c->window[2]};
    long found = position(c->element, c->all_window, at);
    return c->flipped ? product(c->all_window) - 1 - found : found;
}

/* The columns of a panel, of the transpose of a matrix [features of a group, channels]: so many rows of
   it at a time that what is written stays near. */
static void transpose_panel(const Plan *plan, Panel panel, const float *from, float *to)
{
    long channels = plan->of.channels, step = 64;
    from += (panel.first - panel.group * plan->own) * channels + panel.group * plan->each;
    if (panel.columns < panel.width)
        memset(to, 0, plan->each * panel.width * sizeof(float));
    for (long k = 0; k < plan->each; k += step)
        for (long j = 0; j < panel.columns; j++) {
            const float *row = from + j * channels + k;
            float *column = to + k * panel.width + j;
            if (k + step <= plan->each)
                for (long i = 0; i < step; i++)
                    column[i * panel.width] = row[i];
            else
                for (long i = 0; i < plan->each - k; i++)
                    column[i * panel.width] = row[i];
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
    long shares, tiles, run; /* of the derivative: see below */
} Job;

/* Does all tasks of a job; whether there was memory for them. */
typedef int Perform(void *threads, const Job *job);

/* An element of the window, for all panels. */
static void panels_task(const Job *job, long element, float *scratch)
{
    const Plan *plan = job->plan;
    const Convolution *c = &plan->of;
    const float *from = job->x + element_of_kernel(c, element) * plan->each * c->features;
    for (long p = 0; p < plan->panels; p++) {
        Panel panel = panel_of(plan, p);
        float *to = job->out + p * plan->elements * plan->panel + element * plan->each * panel.width;
        if (c->flipped)
            transpose_panel(plan, panel, from, to);
        else
            copy_panel(plan, panel, from, plan->each, to);
    }
    (void)scratch;
}

/* The kernel as panels, one after the other. Whether there was memory for it. */
static int kernel_panels(const Plan *plan, const float *kernel, float *panels, Perform *perform,
                         void *threads)
{
    Job job = {.task = panels_task, .plan = plan, .x = kernel, .out = panels};
    job.tasks = product(plan->of.window);
    if (plan->elements * plan->of.features >= LARGE_KERNEL)
        return perform(threads, &job);
    for (long i = 0; i < job.tasks; i++)
        panels_task(&job, i, NULL);
    return 1;
}

/* What a tile gives that is not full: its sums are taken apart, and those that are wanted copied. */
static void part_of_tile(const Plan *plan, Panel panel, int add, const float *x, const long *row,
                         const long *step, long count, const float *factors, float *out, long rows)
{
    float sums[TILE * 64] __attribute__((aligned(64)));
    long width = panel.width, pitch = plan->of.features;
    if (add)
        for (long r = 0; r < TILE; r++)
            for (long j = 0; j < width; j++)
                sums[r * width + j] = r < rows && j < panel.columns ? out[r * pitch + j] : 0;
    plan->cpu->tile(panel.vectors, add, x, row, step, count, factors, sums, width);
    for (long r = 0; r < rows; r++)
        memcpy(out + r * pitch, sums + r * width, panel.columns * sizeof(float));
}

/* The convolution at the places of a block. */
static void convolve_block(const Plan *plan, const float *panels, Block block, const float *frame,
                           float *y)
{
    const long features = plan->of.features;
    for (long p = 0; p < plan->panels; p++, panels += plan->elements * plan->panel) {
        Panel panel = panel_of(plan, p);
        const float *x = frame + panel.group * plan->each;
        for (long k = 0; k < plan->elements; k += DEPTH) {
            const float *factors = panels + k * panel.width;
            long count = smaller(DEPTH, plan->elements - k);
            for (long i = 0; i < block.places; i += TILE) {
                float *out = y + i * features + panel.first;
                const long *row = plan->place + i, *step = plan->element + k;
                if (i + TILE <= block.places && panel.columns == panel.width)
                    plan->cpu->tile(panel.vectors, k > 0, x, row, step, count, factors, out,
                                    features);
                else
                    part_of_tile(plan, panel, k > 0, x, row, step, count, factors, out,
                                 smaller(TILE, block.places - i));
            }
        }
    }
}

#include "depthwise.c"

static void convolve_task(const Job *job, long number, float *scratch)
{
    const Plan *plan = job->plan;
    const Convolution *c = &plan->of;
    Block block = frame_block(plan, job->x, number, scratch);
    float *y = job->out + block.first * c->features;
    if (is_spread(c))
        y = scratch + frame_floats(plan);
    if (c->depthwise)
        convolve_channels(plan, job->other, block, scratch, y);
    else
        convolve_block(plan, job->other, block, scratch, y);
    if (is_spread(c))
        spread_rows(c, y, block.first / c->places[2], block.places / c->places[2], job->out);
}

/* Whether there was memory for it. */
static int convolve_part(const Convolution *c, const Instructions *cpu, const float *x,
                         const float *kernel, float *y, Perform *perform, void *threads)
{
    Plan plan;
    if (!make_plan(&plan, c, cpu))
        return 0;
    Memory *panels = take_memory(FOR_PANELS, plan.elements * plan.panels * plan.panel);
    int done = 0;
    if (panels) {
        done = 1;
        if (c->depthwise)
            kernel_of_channels(&plan, kernel, panels->floats);
        else
            done = kernel_panels(&plan, kernel, panels->floats, perform, threads);
        long scratch = frame_floats(&plan);
        if (is_spread(c))
            scratch += plan.slices * plan.lines * c->places[2] * c->features;
        Job job = {convolve_task, plan.blocks, scratch, &plan, x, panels->floats, y, 0, 0, 0};
        done = done && perform(threads, &job);
    }
    give_memory(FOR_PANELS, panels);
    forget_plan(&plan);
    return done;
}

/* Whether there was memory for it. There is at least one place. */
static int convolve(const Convolution *c, const Instructions *cpu, const float *x,
                    const float *kernel, float *y, Perform *perform, void *threads)
{
    int done = 1;
    for (long number = 0; number < product(c->apart) && done; number++) {
        Convolution part = *c;
        int any = 1;
        for (long axis = AXES - 1, rest = number; axis >= 0; rest /= c->apart[axis--])
            any = remainder_of(c, axis, rest % c->apart[axis], &part) && any;
        if (any && product(part.window) == 0)
            spread_rows(&part, NULL, 0, part.batch * part.places[0] * part.places[1], y);
        else if (any)
            done = convolve_part(&part, cpu, x, kernel, y, perform, threads);
    }
    return done;
}

/* The derivative by the kernel. A task is one of `shares` shares of `tiles` tiles of elements, and one
   of the runs of `run` blocks. It sums over the places of its blocks; the sums of runs are added at
   the end. */
static void derive_task(const Job *job, long number, float *scratch)
{
    const Plan *plan = job->plan;
    long share = number % job->shares, start = number / job->shares * job->run;
    long tile = share * job->tiles, end = smaller(tile + job->tiles, parts(plan->elements, TILE));
    long each = TILE * plan->panel, size = job->tiles * plan->panels * each;
    float *sums = job->out + number * size, *copy = scratch + frame_floats(plan);
    memset(sums, 0, size * sizeof(float));
    for (long i = start; i < smaller(start + job->run, plan->blocks); i++) {
        Block block = frame_block(plan, job->x, i, scratch);
        const float *cotangents = job->other + block.first * plan->of.features;
        for (long p = 0; p < plan->panels; p++) {
            Panel panel = panel_of(plan, p);
            int as_it_is = panel.columns == plan->of.features && panel.width == panel.columns;
            if (!as_it_is)
                copy_panel(plan, panel, cotangents, block.places, copy);
            const float *factors = as_it_is ? cotangents : copy;
            float *out = sums + p * job->tiles * each;
            for (long t = tile; t < end; t++, out += each)
                plan->cpu->tile(panel.vectors, 1, scratch + panel.group * plan->each,
                                plan->element + t * TILE, plan->place, block.places, factors, out,
                                panel.width);
        }
    }
}

/* Add what the tasks summed, run by run. */
static void add_runs(const Job *job, float *derivative)
{
    const Plan *plan = job->plan;
    long runs = job->tasks / job->shares;
    long each = TILE * plan->panel, size = job->tiles * plan->panels * each;
    for (long k = 0; k < plan->elements; k++)
        for (long p = 0; p < plan->panels; p++) {
            Panel panel = panel_of(plan, p);
            long tile = k / TILE;
            const float *from = job->out + tile / job->tiles * size +
                                (p * job->tiles + tile % job->tiles) * each +
                                k % TILE * panel.width;
            float *to = derivative + k * plan->of.features + panel.first;
            memcpy(to, from, panel.columns * sizeof(float));
            for (long r = 1; r < runs; r++)
                for (long j = 0; j < panel.columns; j++)
                    to[j] += from[r * job->shares * size + j];
        }
}

/* Whether there was memory for it. */
static int derive(const Convolution *c, const Instructions *cpu, const float *x,
                  const float *cotangents, float *derivative, Perform *perform, void *threads)
{
    if (c->depthwise)
        return derive_channels(c, cpu, x, cotangents, derivative, perform, threads);
    Plan plan;
    if (!make_plan(&plan, c, cpu))
        return 0;
    long tiles = parts(plan.elements, TILE), size = plan.elements * c->features;
    long runs = larger(smaller(smaller(SUMS / size, TASKS), plan.blocks), 1);
    long shares = larger(smaller(parts(TASKS, runs), plan.elements / ELEMENTS), 1);
    Job job = {.task = derive_task, .plan = &plan, .x = x, .other = cotangents};
    job.run = parts(plan.blocks, runs);
    job.tiles = parts(tiles, shares);
    job.shares = parts(tiles, job.tiles);
    job.tasks = parts(plan.blocks, job.run) * job.shares;
    long places = plan.slices * plan.lines * c->places[2];
    job.scratch = frame_floats(&plan) + places * plan.panel;
    Memory *sums = take_memory(FOR_SUMS, job.tasks * job.tiles * plan.panels * TILE * plan.panel);
    job.out = sums ? sums->floats : NULL;
    int done = sums && perform(threads, &job);
    if (done)
        add_runs(&job, derivative);
    give_memory(FOR_SUMS, sums);
    forget_plan(&plan);
    return done;
}
