/* Part of kernels.c, behind lu.c: decompositions and triangular systems of batches, for XLA's programs. LAPACK's, as jaxlib 0.10 calls it, share a batch among XLA's threads and wait for the parts
   in one of these: as many at a time as there are threads wait for ever. */

/* The lower triangle L with L L^H = a in the place of a, of which the lower triangle is read; NaN if there is
   none. Column by column, which is kept, conjugate, as the row above the diagonal: there it lies together. */
#define DECOMPOSE(NAME, TYPE, REAL, CONJUGATE)                                                     \
    static void NAME(void *matrix, long n)                                                         \
    {                                                                                              \
        TYPE *a = matrix;                                                                          \
        for (long j = 0; j < n; j++) {                                                             \
            double pivot = REAL(a[j * n + j]);                                                     \
            if (!(pivot > 0)) {                                                                    \
                for (long i = 0; i < n * n; i++)                                                   \
                    a[i] = NAN;                                                                    \
                return;                                                                            \
            }                                                                                      \
            TYPE *row = a + j * n;                                                                 \
            row[j] = sqrt(pivot);                                                                  \
            for (long i = j + 1; i < n; i++)                                                       \
                row[i] = CONJUGATE(a[i * n + j] /= row[j]);                                        \
            for (long i = j + 1; i < n; i++) {                                                     \
                TYPE factor = a[i * n + j], *below = a + i * n;                                    \
                for (long k = j + 1; k <= i; k++)                                                  \
                    below[k] -= factor * row[k];                                                   \
            }                                                                                      \
        }                                                                                          \
        for (long j = 0; j < n; j++)                                                               \
            for (long i = j + 1; i < n; i++)                                                       \
                a[j * n + i] = 0;                                                                  \
    }

DECOMPOSE(decompose_float, float, , )
DECOMPOSE(decompose_double, double, , )
DECOMPOSE(decompose_complex_float, float complex, creal, conjf)
DECOMPOSE(decompose_complex_double, double complex, creal, conj)

static void (*const decompose[])(void *, long) = {decompose_float, decompose_double,
                                                  decompose_complex_float, decompose_complex_double};

/* Matrices, and what stands beside them, whose columns are 0 for decompositions. In `out` there is what the
   work begins with. pivots, order: for factors of lower and upper triangles. */
typedef struct {
    Job job; /* first: a task finds the rest behind it */
    int kind, lower, unit;
    long n, columns, count, each, item;
    const char *matrices;
    char *out;
    int32_t *pivots, *order;
} Systems;

static void systems_task(const Job *task, long number, float *scratch)
{
    const Systems *s = (const Systems *)task;
    long last = smaller((number + 1) * s->each, s->count), size = s->n * s->n * s->item;
    (void)scratch;
    for (long i = number * s->each; i < last; i++)
        if (s->columns)
            substitute[s->kind](s->matrices + i * size, s->out + i * s->n * s->columns * s->item, s->n,
                                s->columns, s->lower, s->unit);
        else if (s->pivots)
            eliminate[s->kind](s->out + i * size, s->pivots + i * s->n, s->order + i * s->n, s->n, s->n);
        else
            decompose[s->kind](s->out + i * size, s->n);
}

/* Multiplications that are worth a task. */
#define WORK_OF_TASK 1e5

/* What a call is to have besides arrays. */
enum { SYSTEMS_LOWER, SYSTEMS_UNIT, SYSTEMS_NUMBERS };

static int kind_of_matrices(int dtype)
{
    const int dtypes[] = {XLA_FFI_DataType_F32, XLA_FFI_DataType_F64, XLA_FFI_DataType_C64,
                          XLA_FFI_DataType_C128};
    int kind = 0;
    while (kind < 4 && dtypes[kind] != dtype)
        kind++;
    return kind;
}

/* A result beside matrices [..., n, n]: integers [..., n]. NULL if it is none. */
static int32_t *rows_beside(const XLA_FFI_Buffer *a, const XLA_FFI_Buffer *rows)
{
    if (rows->dtype != XLA_FFI_DataType_S32 || rows->rank != a->rank - 1)
        return NULL;
    for (int64_t i = 0; i < rows->rank; i++)
        if (rows->dims[i] != a->dims[i])
            return NULL;
    return rows->data;
}

/* The decompositions of matrices [..., n, n], or of such and [..., n, k] the solutions of the systems; with two
   further results the factors of lower and upper triangles. */
static enum Outcome do_systems(const XLA_FFI_CallFrame *call)
{
    const int64_t *numbers = numbers_beside(call, SYSTEMS_NUMBERS);
    int64_t count = call->args.size;
    int factors = call->rets.size == 3 && count == 1;
    if (!numbers || count > 2 || (call->rets.size != 1 && !factors))
        return UNFIT;
    const XLA_FFI_Buffer *a = call->args.args[0], *x = call->args.args[count - 1];
    const XLA_FFI_Buffer *out = call->rets.args[0];
    int kind = kind_of_matrices(a->dtype);
    if (kind == 4 || x->dtype != a->dtype || out->dtype != a->dtype || a->rank < 2 ||
        x->rank != a->rank || !same_shape(x, out))
        return UNFIT;
    for (int64_t i = 0; i < a->rank - 1; i++)
        if (a->dims[i] != x->dims[i])
            return UNFIT;
    long n = a->dims[a->rank - 1], columns = x->dims[a->rank - 1];
    if (a->dims[a->rank - 2] != n)
        return UNFIT;
    Systems s = {.kind = kind, .lower = numbers[SYSTEMS_LOWER] != 0, .n = n};
    s.unit = numbers[SYSTEMS_UNIT] != 0;
    s.item = (const long[]){4, 8, 8, 16}[kind];
    s.columns = count == 2 ? columns : 0;
    s.count = elements(a->dims, a->rank - 2);
    s.matrices = a->data;
    s.out = out->data;
    if (factors) {
        s.pivots = rows_beside(a, call->rets.args[1]);
        s.order = rows_beside(a, call->rets.args[2]);
        if (!s.pivots || !s.order)
            return UNFIT;
    }
    long all = s.count * n * columns;
    if (all == 0)
        return DONE;
    memcpy(s.out, x->data, all * s.item);
    double work = (double)n * n * columns / 2 + 1;
    s.each = larger((long)(WORK_OF_TASK / work), 1);
    s.job = (Job){.task = systems_task, .tasks = parts(s.count, s.each)};
    Threads threads = threads_of_program(call);
    return perform(&threads, &s.job) ? DONE : NO_MEMORY;
}
