/* What convolutions do with numbers of one kind, NUMBER: convolution.c includes this for each. The names
   of one kind are OF(name). */
#define FLOATS ((long)(sizeof(NUMBER) / sizeof(float)))

#define TARGET
#define WIDTH (4 / FLOATS)
#define MOST 2
#define NAME(name) OF(plain_##name)
#include "tile.c"

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH (8 / FLOATS)
#define MOST 2
#define NAME(name) OF(avx2_##name)
#include "tile.c"

#define TARGET __attribute__((target("avx512f")))
#define WIDTH (16 / FLOATS)
#define MOST 4
#define NAME(name) OF(avx512_##name)
#include "tile.c"
#endif

/* A row of an image as a row of its frame. */
static void OF(pad_row)(const Convolution *c, const NUMBER *row, NUMBER *frame, long columns)
{
    long begin = smaller(larger(c->low[2], 0), columns);
    long end = larger(smaller(c->low[2] + c->size[2], columns), begin);
    size_t pixel = c->channels * sizeof(NUMBER);
    memset(frame, 0, begin * pixel);
    if (end > begin)
        memcpy(frame + begin * c->channels, row + (begin - c->low[2]) * c->channels,
               (end - begin) * pixel);
    memset(frame + end * c->channels, 0, (columns - end) * pixel);
}

/* What a slice needs of an image, from a line of places on. Gives the end of what is written. */
static NUMBER *OF(frame_slice)(const Plan *plan, const NUMBER *x, long slice, long line, NUMBER *frame)
{
    const Convolution *c = &plan->of;
    long columns = plan->frame[1], width = columns * c->channels;
    long n = slice / c->places[0], first = slice % c->places[0] * c->stride[0] - c->low[0];
    for (long d = 0; d < c->window[0]; d++)
        for (long j = 0; j < plan->frame[0]; j++, frame += width) {
            long sheet = first + d * c->dilation[0], row = line * c->stride[1] + j - c->low[1];
            if (sheet < 0 || sheet >= c->size[0] || row < 0 || row >= c->size[1]) {
                memset(frame, 0, width * sizeof(NUMBER));
                continue;
            }
            long at = ((n * c->size[0] + sheet) * c->size[1] + row) * c->size[2];
            OF(pad_row)(c, x + at * c->channels, frame, columns);
        }
    return frame;
}

/* Write the padded part of `x` that a block needs. */
static Block OF(frame_block)(const Plan *plan, const NUMBER *x, long number, NUMBER *frame)
{
    const Convolution *c = &plan->of;
    long slice = number / plan->stripes * plan->slices, line = number % plan->stripes * plan->lines;
    long slices = smaller(plan->slices, plan->all_slices - slice);
    long lines = smaller(plan->lines, c->places[1] - line);
    for (long i = 0; i < slices; i++)
        frame = OF(frame_slice)(plan, x, slice + i, line, frame);
    return (Block){(slice * c->places[1] + line) * c->places[2], slices * lines * c->places[2]};
}

/* Write some rows of places, which are apart: what stands in `from`, or zeros if that is NULL. */
static void OF(spread_rows)(const Convolution *c, const NUMBER *from, long first, long rows, NUMBER *y)
{
    size_t size = c->features * sizeof(NUMBER);
    for (long row = first; row < first + rows; row++) {
        long slice = row / c->places[1], n = slice / c->places[0];
        NUMBER *image = y + n * product(c->all_places) * c->features;
        for (long j = 0; j < c->places[2]; j++) {
            long at[] = {slice % c->places[0], row % c->places[1], j};
            NUMBER *to = image + position(c->place, c->all_places, at) * c->features;
            if (!from)
                memset(to, 0, size);
            else
                memcpy(to, from + ((row - first) * c->places[2] + j) * c->features, size);
        }
    }
}

/* The columns of a panel, of a matrix of features, as full vectors. */
static void OF(copy_panel)(const Plan *plan, Panel panel, const NUMBER *from, long rows, NUMBER *to)
{
    for (long i = 0; i < rows; i++, to += panel.width) {
        memcpy(to, from + i * plan->of.features + panel.first, panel.columns * sizeof(NUMBER));
        memset(to + panel.columns, 0, (panel.width - panel.columns) * sizeof(NUMBER));
    }
}

/* The columns of a panel, of the transpose of a matrix [features of a group, channels]: so many rows of
   it at a time that what is written stays near. */
static void OF(transpose_panel)(const Plan *plan, Panel panel, const NUMBER *from, NUMBER *to)
{
    long channels = plan->of.channels, step = 64;
    from += (panel.first - panel.group * plan->own) * channels + panel.group * plan->each;
    if (panel.columns < panel.width)
        memset(to, 0, plan->each * panel.width * sizeof(NUMBER));
    for (long k = 0; k < plan->each; k += step)
        for (long j = 0; j < panel.columns; j++) {
            const NUMBER *row = from + j * channels + k;
            NUMBER *column = to + k * panel.width + j;
            if (k + step <= plan->each)
                for (long i = 0; i < step; i++)
                    column[i * panel.width] = row[i];
            else
                for (long i = 0; i < plan->each - k; i++)
                    column[i * panel.width] = row[i];
        }
}

/* An element of the window, for all panels. */
static void OF(panels_task)(const Job *job, long element, float *memory)
{
    const Plan *plan = job->plan;
    const Convolution *c = &plan->of;
    const NUMBER *from = job->x;
    from += element_of_kernel(c, element) * plan->each * c->features;
    for (long p = 0; p < plan->panels; p++) {
        Panel panel = panel_of(plan, p);
        NUMBER *to = job->out;
        to += p * plan->elements * plan->panel + element * plan->each * panel.width;
        if (c->flipped)
            OF(transpose_panel)(plan, panel, from, to);
        else
            OF(copy_panel)(plan, panel, from, plan->each, to);
    }
    (void)memory;
}

/* The kernel as panels, one after the other. Whether there was memory for it. */
static int OF(kernel_panels)(const Plan *plan, const void *kernel, void *panels, Perform *perform,
                             void *threads)
{
    Job job = {.task = OF(panels_task), .plan = plan, .x = kernel, .out = panels};
    job.tasks = product(plan->of.window);
    if (plan->elements * plan->of.features >= LARGE_KERNEL)
        return perform(threads, &job);
    for (long i = 0; i < job.tasks; i++)
        OF(panels_task)(&job, i, NULL);
    return 1;
}

/* The convolution at the places of a block. own: room for a panel at so many places and a tile more: tiles
   that are not full are summed up there, and what is wanted of them copied. */
static void OF(convolve_block)(const Plan *plan, const NUMBER *panels, Block block,
                               const NUMBER *frame, NUMBER *own, NUMBER *y)
{
    const long features = plan->of.features;
    for (long p = 0; p < plan->panels; p++, panels += plan->elements * plan->panel) {
        Panel panel = panel_of(plan, p);
        const NUMBER *x = frame + panel.group * plan->each;
        long full = panel.columns == panel.width ? block.places / TILE * TILE : 0;
        NUMBER *out = y + panel.first;
        for (long k = 0; k < plan->elements; k += DEPTH) {
            const NUMBER *factors = panels + k * panel.width;
            const long *row = plan->place, *step = plan->element + k;
            long count = smaller(DEPTH, plan->elements - k), i = 0;
            for (; i < full; i += TILE)
                plan->cpu->tile(panel.vectors, k > 0, x, row + i, step, count, factors,
                                out + i * features, features);
            for (; i < block.places; i += TILE)
                plan->cpu->tile(panel.vectors, k > 0, x, row + i, step, count, factors,
                                own + i * panel.width, panel.width);
        }
        for (long i = full; i < block.places; i++)
            memcpy(out + i * features, own + i * panel.width, panel.columns * sizeof(NUMBER));
    }
}

#include "depthwise.c"

static void OF(convolve_task)(const Job *job, long number, float *memory)
{
    NUMBER *scratch = (NUMBER *)memory;
    const Plan *plan = job->plan;
    const Convolution *c = &plan->of;
    Block block = OF(frame_block)(plan, job->x, number, scratch);
    NUMBER *own = scratch + frame_size(plan), *y = (NUMBER *)job->out + block.first * c->features;
    if (is_spread(c))
        y = own + (block_places(plan) + TILE) * plan->panel;
    if (c->depthwise)
        OF(convolve_channels)(plan, job->other, block, scratch, y);
    else
        OF(convolve_block)(plan, job->other, block, scratch, own, y);
    if (is_spread(c))
        OF(spread_rows)(c, y, block.first / c->places[2], block.places / c->places[2], job->out);
}

/* Whether there was memory for it. */
static int OF(convolve_part)(const Convolution *c, const Instructions *cpu, const NUMBER *x,
                             const NUMBER *kernel, NUMBER *y, Perform *perform, void *threads)
{
    Plan plan;
    if (!make_plan(&plan, c, cpu))
        return 0;
    Memory *panels = take_memory(FOR_PANELS, FLOATS * plan.elements * plan.panels * plan.panel);
    int done = 0;
    if (panels) {
        done = 1;
        if (c->depthwise)
            OF(kernel_of_channels)(&plan, kernel, (NUMBER *)panels->floats);
        else
            done = OF(kernel_panels)(&plan, kernel, panels->floats, perform, threads);
        long scratch = frame_size(&plan) + (block_places(&plan) + TILE) * plan.panel;
        if (is_spread(c))
            scratch += block_places(&plan) * c->features;
        Job job = {.task = OF(convolve_task), .plan = &plan, .x = x, .out = y};
        job.other = panels->floats;
        job.tasks = plan.blocks;
        job.scratch = FLOATS * scratch;
        done = done && perform(threads, &job);
    }
    give_memory(FOR_PANELS, panels);
    forget_plan(&plan);
    return done;
}

/* Whether there was memory for it. There is at least one place. */
static int OF(convolve)(const Convolution *c, const Instructions *cpu, const void *x,
                        const void *kernel, void *y, Perform *perform, void *threads)
{
    int done = 1;
    for (long number = 0; number < product(c->apart) && done; number++) {
        Convolution part = *c;
        int any = 1;
        for (long axis = AXES - 1, rest = number; axis >= 0; rest /= c->apart[axis--])
            any = remainder_of(c, axis, rest % c->apart[axis], &part) && any;
        if (any && product(part.window) == 0)
            OF(spread_rows)(&part, NULL, 0, part.batch * part.places[0] * part.places[1], y);
        else if (any)
            done = OF(convolve_part)(&part, cpu, x, kernel, y, perform, threads);
    }
    return done;
}

/* The derivative by the kernel. A task is one of `shares` shares of `tiles` tiles of elements, and one
   of the runs of `run` blocks. It sums over the places of its blocks; the sums of runs are added at
   the end. */
static void OF(derive_task)(const Job *job, long number, float *memory)
{
    NUMBER *scratch = (NUMBER *)memory;
    const Plan *plan = job->plan;
    long share = number % job->shares, start = number / job->shares * job->run;
    long tile = share * job->tiles, end = smaller(tile + job->tiles, parts(plan->elements, TILE));
    long each = TILE * plan->panel, size = job->tiles * plan->panels * each;
    NUMBER *sums = (NUMBER *)job->out + number * size, *copy = scratch + frame_size(plan);
    memset(sums, 0, size * sizeof(NUMBER));
    for (long i = start; i < smaller(start + job->run, plan->blocks); i++) {
        Block block = OF(frame_block)(plan, job->x, i, scratch);
        const NUMBER *cotangents = (const NUMBER *)job->other + block.first * plan->of.features;
        for (long p = 0; p < plan->panels; p++) {
            Panel panel = panel_of(plan, p);
            int as_it_is = panel.columns == plan->of.features && panel.width == panel.columns;
            if (!as_it_is)
                OF(copy_panel)(plan, panel, cotangents, block.places, copy);
            const NUMBER *factors = as_it_is ? cotangents : copy;
            NUMBER *out = sums + p * job->tiles * each;
            for (long t = tile; t < end; t++, out += each)
                plan->cpu->tile(panel.vectors, 1, scratch + panel.group * plan->each,
                                plan->element + t * TILE, plan->place, block.places, factors, out,
                                panel.width);
        }
    }
}

/* Add what the tasks summed, run by run. */
static void OF(add_runs)(const Job *job, NUMBER *derivative)
{
    const Plan *plan = job->plan;
    long runs = job->tasks / job->shares;
    long each = TILE * plan->panel, size = job->tiles * plan->panels * each;
    for (long k = 0; k < plan->elements; k++)
        for (long p = 0; p < plan->panels; p++) {
            Panel panel = panel_of(plan, p);
            long tile = k / TILE;
            const NUMBER *from = (NUMBER *)job->out + tile / job->tiles * size +
                                (p * job->tiles + tile % job->tiles) * each +
                                k % TILE * panel.width;
            NUMBER *to = derivative + k * plan->of.features + panel.first;
            memcpy(to, from, panel.columns * sizeof(NUMBER));
            for (long r = 1; r < runs; r++)
                for (long j = 0; j < panel.columns; j++)
                    to[j] += from[r * job->shares * size + j];
        }
}

/* Whether there was memory for it. */
static int OF(derive)(const Convolution *c, const Instructions *cpu, const void *x,
                      const void *cotangents, void *derivative, Perform *perform, void *threads)
{
    if (c->depthwise)
        return OF(derive_channels)(c, cpu, x, cotangents, derivative, perform, threads);
    Plan plan;
    if (!make_plan(&plan, c, cpu))
        return 0;
    long tiles = parts(plan.elements, TILE), size = plan.elements * c->features;
    long runs = larger(smaller(smaller(SUMS / size, TASKS), plan.blocks), 1);
    long shares = larger(smaller(parts(TASKS, runs), plan.elements / ELEMENTS), 1);
    Job job = {.task = OF(derive_task), .plan = &plan, .x = x, .other = cotangents};
    job.run = parts(plan.blocks, runs);
    job.tiles = parts(tiles, shares);
    job.shares = parts(tiles, job.tiles);
    job.tasks = parts(plan.blocks, job.run) * job.shares;
    job.scratch = FLOATS * (frame_size(&plan) + block_places(&plan) * plan.panel);
    size = job.tasks * job.tiles * plan.panels * TILE * plan.panel;
    Memory *sums = take_memory(FOR_SUMS, FLOATS * size);
    job.out = sums ? sums->floats : NULL;
    int done = sums && perform(threads, &job);
    if (done)
        OF(add_runs)(&job, derivative);
    give_memory(FOR_SUMS, sums);
    forget_plan(&plan);
    return done;
}

#undef FLOATS
#undef OF
#undef NUMBER
