/* LU decompositions and triangular systems of small matrices, for the interpreter. */

#include <complex.h>

/* Rows are changed for that with the largest number below the diagonal, of complex ones by the sum of
   the sizes of their parts, as LAPACK does; a number that is none counts as the largest. */
#define ELIMINATE(NAME, TYPE, SIZE)                                                                \
    static void NAME(void *matrix, int32_t *pivots, int32_t *order, long m, long n)                \
    {                                                                                              \
        TYPE *a = matrix;                                                                          \
        for (long i = 0; i < m; i++)                                                               \
            order[i] = (int32_t)i;                                                                 \
        for (long i = 0; i < m && i < n; i++) {                                                    \
            long at = i;                                                                           \
            double most = SIZE(a[i * n + i]);                                                      \
            for (long r = i + 1; r < m && most == most; r++) {                                     \
                double size = SIZE(a[r * n + i]);                                                  \
                if (size > most || size != size) {                                                 \
                    most = size;                                                                   \
                    at = r;                                                                        \
                }                                                                                  \
            }                                                                                      \
            pivots[i] = (int32_t)at;                                                               \
            int32_t row = order[i];                                                                \
            order[i] = order[at];                                                                  \
            order[at] = row;                                                                       \
            for (long c = 0; c < n && at != i; c++) {                                              \
                TYPE number = a[i * n + c];                                                        \
                a[i * n + c] = a[at * n + c];                                                      \
                a[at * n + c] = number;                                                            \
            }                                                                                      \
            TYPE pivot = a[i * n + i] == 0 ? 1 : a[i * n + i];                                     \
            for (long r = i + 1; r < m; r++) {                                                     \
                TYPE factor = a[r * n + i] /= pivot;                                               \
                for (long c = i + 1; c < n; c++)                                                   \
                    a[r * n + c] -= factor * a[i * n + c];                                         \
            }                                                                                      \
        }                                                                                          \
    }
#define SIZE_OF_PARTS(x) ((double)fabs(creal(x)) + fabs(cimag(x)))

ELIMINATE(eliminate_float, float, fabs)
ELIMINATE(eliminate_double, double, fabs)
ELIMINATE(eliminate_complex_float, float complex, SIZE_OF_PARTS)
ELIMINATE(eliminate_complex_double, double complex, SIZE_OF_PARTS)

/* Which of the dtypes that have a function here; 4 is none. */
static int kind_of(const Py_buffer *numbers)
{
    const char *kinds[] = {"f", "d", "Zf", "Zd"};
    int kind = 0;
    while (kind < 4 && strcmp(numbers->format, kinds[kind]))
        kind++;
    return kind;
}

static void (*const eliminate[])(void *, int32_t *, int32_t *, long, long) = {
    eliminate_float, eliminate_double, eliminate_complex_float, eliminate_complex_double};

static enum Outcome eliminate_all(const Py_buffer *buffers, PyObject *const *args)
{
    const Py_buffer *a = buffers, *pivots = buffers + 1, *order = buffers + 2;
    int kind = kind_of(a);
    (void)args;
    if (kind == 4 || a->ndim != 3 || pivots->ndim != 2 || order->ndim != 2 ||
        numbers_in(pivots) != INT32 || numbers_in(order) != INT32)
        return UNFIT;
    long count = a->shape[0], rows = a->shape[1], columns = a->shape[2];
    long least = smaller(rows, columns);
    if (pivots->shape[0] != count || order->shape[0] != count || pivots->shape[1] != least ||
        order->shape[1] != rows)
        return UNFIT;
    Py_BEGIN_ALLOW_THREADS
    for (long i = 0; i < count; i++)
        eliminate[kind]((char *)a->buf + i * rows * columns * a->itemsize,
                        (int32_t *)pivots->buf + i * least, (int32_t *)order->buf + i * rows, rows,
                        columns);
    Py_END_ALLOW_THREADS
    return DONE;
}

/* The x of a x = b in the place of b, row by row from the first, or from the last if a is upper. */
#define SUBSTITUTE(NAME, TYPE)                                                                     \
    static void NAME(const void *matrix, void *in_place, long n, long columns, int lower, int unit) \
    {                                                                                              \
        const TYPE *a = matrix;                                                                    \
        TYPE *x = in_place;                                                                        \
        for (long step = 0; step < n; step++) {                                                    \
            long i = lower ? step : n - 1 - step;                                                  \
            TYPE *row = x + i * columns;                                                           \
            for (long j = lower ? 0 : i + 1; j < (lower ? i : n); j++) {                           \
                TYPE factor = a[i * n + j];                                                        \
                const TYPE *known = x + j * columns;                                               \
                for (long c = 0; c < columns; c++)                                                 \
                    row[c] -= factor * known[c];                                                   \
            }                                                                                      \
            for (long c = 0; c < columns && !unit; c++)                                            \
                row[c] /= a[i * n + i];                                                            \
        }                                                                                          \
    }

SUBSTITUTE(substitute_float, float)
SUBSTITUTE(substitute_double, double)
SUBSTITUTE(substitute_complex_float, float complex)
SUBSTITUTE(substitute_complex_double, double complex)

static void (*const substitute[])(const void *, void *, long, long, int, int) = {
    substitute_float, substitute_double, substitute_complex_float, substitute_complex_double};

static enum Outcome substitute_all(const Py_buffer *buffers, PyObject *const *args)
{
    const Py_buffer *a = buffers, *x = buffers + 1;
    int lower = PyObject_IsTrue(args[2]), unit = PyObject_IsTrue(args[3]), kind = kind_of(a);
    if (lower < 0 || unit < 0 || kind == 4 || kind_of(x) != kind || a->ndim != 3 || x->ndim != 3 ||
        a->shape[0] != x->shape[0] || a->shape[1] != a->shape[2] || a->shape[1] != x->shape[1])
        return UNFIT;
    long size = a->shape[1], columns = x->shape[2];
    Py_BEGIN_ALLOW_THREADS
    for (long i = 0; i < a->shape[0]; i++)
        substitute[kind]((char *)a->buf + i * size * size * a->itemsize,
                         (char *)x->buf + i * size * columns * x->itemsize, size, columns, lower,
                         unit);
    Py_END_ALLOW_THREADS
    return DONE;
}
