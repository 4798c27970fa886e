/* Depthwise convolutions: each channel by itself. convolve.c includes this; all is cut as there.

   Channels lie side by side, so a vector is of several. Places are taken LANES at a time, or of the
   derivative by the kernel elements: each makes one sum, and all share what they are multiplied by. */

/* Places whose products are summed before the next elements: so much of both stays near. */
#define PLACES_OF_SUM 64

/* The kernel of a part, an element after the other. */
static void OF(kernel_of_channels)(const Plan *plan, const NUMBER *kernel, NUMBER *copy)
{
    const Convolution *c = &plan->of;
    for (long i = 0; i < plan->elements; i++)
        memcpy(copy + i * c->channels, kernel + element_of_kernel(c, i) * c->channels,
               c->channels * sizeof(NUMBER));
}

static void OF(convolve_channels)(const Plan *plan, const NUMBER *kernel, Block block,
                                  const NUMBER *frame, NUMBER *y)
{
    long channels = plan->of.channels;
    for (long i = 0; i < block.places; i += LANES)
        plan->cpu->channels((int)smaller(LANES, block.places - i), 0, frame, plan->place + i,
                            plan->element, plan->elements, kernel, y + i * channels, channels);
}

/* A task is `run` blocks, and has sums of its own. */
static void OF(derive_channels_task)(const Job *job, long number, float *memory)
{
    NUMBER *scratch = (NUMBER *)memory;
    const Plan *plan = job->plan;
    long channels = plan->of.channels, start = number * job->run;
    NUMBER *sums = (NUMBER *)job->out + number * plan->elements * channels;
    memset(sums, 0, plan->elements * channels * sizeof(NUMBER));
    for (long i = start; i < smaller(start + job->run, plan->blocks); i++) {
        Block block = OF(frame_block)(plan, job->x, i, scratch);
        const NUMBER *cotangents = (const NUMBER *)job->other + block.first * channels;
        for (long p = 0; p < block.places; p += PLACES_OF_SUM)
            for (long k = 0; k < plan->elements; k += LANES)
                plan->cpu->channels((int)smaller(LANES, plan->elements - k), 1, scratch,
                                    plan->element + k, plan->place + p,
                                    smaller(PLACES_OF_SUM, block.places - p),
                                    cotangents + p * channels, sums + k * channels, channels);
    }
}

/* The derivative by the kernel. Whether there was memory for it. */
static int OF(derive_channels)(const Convolution *c, const Instructions *cpu, const NUMBER *x,
                               const NUMBER *cotangents, NUMBER *derivative, Perform *perform,
                               void *threads)
{
    Plan plan;
    if (!make_plan(&plan, c, cpu))
        return 0;
    long size = plan.elements * c->channels, run = parts(plan.blocks, TASKS);
    Job job = {.task = OF(derive_channels_task), .plan = &plan, .x = x, .other = cotangents};
    job.run = run;
    job.tasks = parts(plan.blocks, run);
    job.scratch = FLOATS * frame_size(&plan);
    Memory *sums = take_memory(FOR_SUMS, FLOATS * job.tasks * size);
    job.out = sums ? sums->floats : NULL;
    int done = sums && perform(threads, &job);
    if (done) {
        const NUMBER *all = job.out;
        memcpy(derivative, all, size * sizeof(NUMBER));
        for (long t = 1; t < job.tasks; t++)
            for (long i = 0; i < size; i++)
                derivative[i] += all[t * size + i];
    }
    give_memory(FOR_SUMS, sums);
    forget_plan(&plan);
    return done;
}
