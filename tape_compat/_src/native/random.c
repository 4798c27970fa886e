/* Part of kernels.c, behind searched.c: random words and numbers. */
/* The blocks of one generator; a task fills some. */
typedef struct {
    Job job; /* first: a task finds the rest behind it */
    Words words;
    uint32_t *out;
    int64_t blocks;
} Filling;

/* Blocks that are worth a task. */
#define BLOCKS_OF_TASK (1 << 12)

static void fill_task(const Job *job, long number, float *scratch)
{
    const Filling *f = (const Filling *)job;
    int64_t first = (int64_t)number * BLOCKS_OF_TASK;
    (void)scratch;
    fill_words(f->out + 4 * first, first, smaller(f->blocks - first, BLOCKS_OF_TASK), &f->words);
}

/* Random words: of each three numbers of 64 bits, counter and key, those of a generator. Numbers tell
   how many blocks there are at a time, and how far apart they begin. */
static enum Outcome do_words(const XLA_FFI_CallFrame *call)
{
    const int64_t *length = numbers_of(call, 2);
    if (!length || call->args.size != 1)
        return UNFIT;
    const XLA_FFI_Buffer *x = call->args.args[0], *out = call->rets.args[0];
    if (x->dtype != XLA_FFI_DataType_U64 || out->dtype != XLA_FFI_DataType_U32 || x->rank < 1 ||
        out->rank != x->rank + 2 || x->dims[x->rank - 1] != 3 || out->dims[out->rank - 1] != 4)
        return UNFIT;
    const int64_t blocks = out->dims[out->rank - 3] * length[0];
    int64_t generators = elements(x->dims, x->rank - 1);
    Threads threads = threads_of_program(call);
    for (int64_t g = 0; g < generators && blocks > 0; g++) {
        const uint64_t *from = (const uint64_t *)x->data + 3 * g;
        Filling f = {.words = {from[0], from[1], from[2], length[0], length[1]}, .blocks = blocks};
        f.out = (uint32_t *)out->data + 4 * blocks * g;
        f.job = (Job){.task = fill_task, .tasks = parts(blocks, BLOCKS_OF_TASK)};
        if (!perform(&threads, &f.job))
            return NO_MEMORY;
    }
    return DONE;
}

/* Numbers of a search that are worth a task. */
#define NUMBERS_OF_SEARCH (1 << 9)

/* A search; a task does some of it. */
typedef struct {
    Job job; /* first: a task finds the rest behind it */
    Search search;
} Searching;

static void search_task(const Job *job, long number, float *scratch)
{
    const Search *s = &((const Searching *)job)->search;
    int64_t first = (int64_t)number * NUMBERS_OF_SEARCH, end = s->samples * s->kinds;
    (void)scratch;
    look_for(s, first, end - first < NUMBERS_OF_SEARCH ? end : first + NUMBERS_OF_SEARCH);
}

/* Gamma distributed numbers, and Poisson's: of each three numbers of 64 bits, counter and key, those
   of a generator, and of its parameters. Numbers tell whether they are Poisson's, and the bits of the
   largest one. */
static enum Outcome do_search(const XLA_FFI_CallFrame *call)
{
    const int64_t *given = numbers_of(call, 2);
    if (!given || call->args.size != 2)
        return UNFIT;
    const XLA_FFI_Buffer *x = call->args.args[0], *at = call->args.args[1];
    const XLA_FFI_Buffer *out = call->rets.args[0];
    if (x->dtype != XLA_FFI_DataType_U64 || at->dtype != XLA_FFI_DataType_F64 ||
        out->dtype != XLA_FFI_DataType_F64 || x->rank < 1 || at->rank != x->rank ||
        out->rank != x->rank + 1 || x->dims[x->rank - 1] != 3 ||
        at->dims[at->rank - 1] != out->dims[out->rank - 1])
        return UNFIT;
    Searching s = {.search = {.samples = out->dims[out->rank - 2],
                              .kinds = out->dims[out->rank - 1],
                              .poisson = given[0] != 0}};
    memcpy(&s.search.most, given + 1, 8);
    int64_t count = s.search.samples * s.search.kinds;
    int64_t generators = elements(x->dims, x->rank - 1);
    Threads threads = threads_of_program(call);
    for (int64_t g = 0; g < generators && count > 0; g++) {
        s.search.generator = (const uint64_t *)x->data + 3 * g;
        s.search.parameters = (const double *)at->data + s.search.kinds * g;
        s.search.out = (double *)out->data + count * g;
        s.job = (Job){.task = search_task, .tasks = parts(count, NUMBERS_OF_SEARCH)};
        if (!perform(&threads, &s.job))
            return NO_MEMORY;
    }
    return DONE;
}
