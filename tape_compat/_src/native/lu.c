/* LU decompositions and triangular systems of small matrices, for the interpreter. */

#include <complex.h>

/* Rows are changed for that with the largest number below the diagonal, of complex ones by the sum of
   the sizes of their parts, as LAPACK does; a number that is none counts as the largest. */
#define ELIMINATE(NAME, TYPE, SIZE)                                                                \
    static void NAME(TYPE *a, int32_t *pivots, int32_t *order, long m, long n)                     \
    {                                                                                              \
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

/* eliminate(matrices, pivots, order) */
static PyObject *eliminate_here(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 3)
        return PyErr_Format(PyExc_TypeError, "3 arguments are wanted, not %zd", n);
    Py_buffer buffers[3];
    if (!buffers_of(args, buffers, 3, 0))
        return NULL;
    const Py_buffer *a = buffers, *pivots = buffers + 1, *order = buffers + 2;
    int kind = kind_of(a);
    int fit = kind < 4 && a->ndim == 3 && pivots->ndim == 2 && order->ndim == 2 &&
              numbers_in(pivots) == INT32 && numbers_in(order) == INT32;
    long count = fit ? a->shape[0] : 0, rows = fit ? a->shape[1] : 0, columns = fit ? a->shape[2] : 0;
    fit = fit && pivots->shape[0] == count && order->shape[0] == count &&
          pivots->shape[1] == smaller(rows, columns) && order->shape[1] == rows;
    if (fit) {
        Py_BEGIN_ALLOW_THREADS
        for (long i = 0; i < count; i++) {
            void *matrix = (char *)a->buf + i * rows * columns * a->itemsize;
            int32_t *swapped = (int32_t *)pivots->buf + i * smaller(rows, columns);
            int32_t *places = (int32_t *)order->buf + i * rows;
            if (kind == 0)
                eliminate_float(matrix, swapped, places, rows, columns);
            else if (kind == 1)
                eliminate_double(matrix, swapped, places, rows, columns);
            else if (kind == 2)
                eliminate_complex_float(matrix, swapped, places, rows, columns);
            else
                eliminate_complex_double(matrix, swapped, places, rows, columns);
        }
        Py_END_ALLOW_THREADS
    }
    release_all(buffers, 3);
    if (!fit)
        return PyErr_Format(PyExc_ValueError, "not matrices, their pivots and the order of rows");
    Py_RETURN_NONE;
}

/* The x of a x = b in the place of b, row by row from the first, or from the last if a is upper. */
#define SUBSTITUTE(NAME, TYPE)                                                                     \
    static void NAME(const TYPE *a, TYPE *x, long n, long columns, int lower, int unit)            \
    {                                                                                              \
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

/* substitute(matrices, x, lower, unit) */
static PyObject *substitute_here(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 4)
        return PyErr_Format(PyExc_TypeError, "4 arguments are wanted, not %zd", n);
    int lower = PyObject_IsTrue(args[2]), unit = PyObject_IsTrue(args[3]);
    Py_buffer buffers[2];
    if (lower < 0 || unit < 0 || !buffers_of(args, buffers, 2, 1))
        return NULL;
    const Py_buffer *a = buffers, *x = buffers + 1;
    int kind = kind_of(a);
    int fit = kind < 4 && kind_of(x) == kind && a->ndim == 3 && x->ndim == 3 &&
              a->shape[0] == x->shape[0] && a->shape[1] == a->shape[2] &&
              a->shape[1] == x->shape[1];
    if (fit) {
        long size = a->shape[1], columns = x->shape[2];
        Py_BEGIN_ALLOW_THREADS
        for (long i = 0; i < a->shape[0]; i++) {
            const void *matrix = (char *)a->buf + i * size * size * a->itemsize;
            void *rows = (char *)x->buf + i * size * columns * x->itemsize;
            if (kind == 0)
                substitute_float(matrix, rows, size, columns, lower, unit);
            else if (kind == 1)
                substitute_double(matrix, rows, size, columns, lower, unit);
            else if (kind == 2)
                substitute_complex_float(matrix, rows, size, columns, lower, unit);
            else
                substitute_complex_double(matrix, rows, size, columns, lower, unit);
        }
        Py_END_ALLOW_THREADS
    }
    release_all(buffers, 2);
    if (!fit)
        return PyErr_Format(PyExc_ValueError, "not square matrices and as many rows of one dtype");
    Py_RETURN_NONE;
}
