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
static XLA_FFI_Error *handle_words(XLA_FFI_CallFrame *call)
{
    if (asks_version(call))
        return NULL;
    const char *wanted = "counters and keys give words";
    if (call->args.size != 1 || call->rets.size != 1 || call->attrs.size != 1 ||
        call->attrs.types[0] != XLA_FFI_AttrType_ARRAY)
        return refuse(call->api, XLA_FFI_Error_Code_INVALID_ARGUMENT, wanted);
    const XLA_FFI_Buffer *x = call->args.args[0], *out = call->rets.args[0];
    const XLA_FFI_Array *numbers = call->attrs.attrs[0];
    if (x->dtype != XLA_FFI_DataType_U64 || out->dtype != XLA_FFI_DataType_U32 || x->rank < 1 ||
        out->rank != x->rank + 2 || x->dims[x->rank - 1] != 3 || out->dims[out->rank - 1] != 4 ||
        numbers->dtype != XLA_FFI_DataType_S64 || numbers->size != 2)
        return refuse(call->api, XLA_FFI_Error_Code_INVALID_ARGUMENT, wanted);
    const int64_t *length = numbers->data, blocks = out->dims[out->rank - 3] * length[0];
    int64_t generators = elements(x->dims, x->rank - 1);
    Threads threads = threads_of_program(call);
    for (int64_t g = 0; g < generators && blocks > 0; g++) {
        const uint64_t *from = (const uint64_t *)x->data + 3 * g;
        Filling f = {.words = {from[0], from[1], from[2], length[0], length[1]}, .blocks = blocks};
        f.out = (uint32_t *)out->data + 4 * blocks * g;
        f.job = (Job){.task = fill_task, .tasks = parts(blocks, BLOCKS_OF_TASK)};
        if (!perform(&threads, &f.job))
            return refuse(call->api, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "no memory for words");
    }
    return NULL;
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
static XLA_FFI_Error *handle_search(XLA_FFI_CallFrame *call)
{
    if (asks_version(call))
        return NULL;
    const char *wanted = "counters and keys and parameters give numbers";
    if (call->args.size != 2 || call->rets.size != 1 || call->attrs.size != 1 ||
        call->attrs.types[0] != XLA_FFI_AttrType_ARRAY)
        return refuse(call->api, XLA_FFI_Error_Code_INVALID_ARGUMENT, wanted);
    const XLA_FFI_Buffer *x = call->args.args[0], *at = call->args.args[1];
    const XLA_FFI_Buffer *out = call->rets.args[0];
    const XLA_FFI_Array *numbers = call->attrs.attrs[0];
    if (x->dtype != XLA_FFI_DataType_U64 || at->dtype != XLA_FFI_DataType_F64 ||
        out->dtype != XLA_FFI_DataType_F64 || x->rank < 1 || at->rank != x->rank ||
        out->rank != x->rank + 1 || x->dims[x->rank - 1] != 3 ||
        at->dims[at->rank - 1] != out->dims[out->rank - 1] ||
        numbers->dtype != XLA_FFI_DataType_S64 || numbers->size != 2)
        return refuse(call->api, XLA_FFI_Error_Code_INVALID_ARGUMENT, wanted);
    const int64_t *given = numbers->data;
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
            return refuse(call->api, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "no memory for a search");
    }
    return NULL;
}
