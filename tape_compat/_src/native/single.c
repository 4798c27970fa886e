/* Part of kernels.c, behind what takes buffers: functions that NumPy lacks, of its arrays. */

/* exp(-|x|) times the modified Bessel function of order 0 or 1: from 30 on by the powers of 1 / x, below
   by those of x. DLMF 10.25.2, 10.40.1. */
static double bessel(double x, int order)
{
    double size = fabs(x), term = 1, sum = 1;
    if (size >= 30) {
        for (int k = 1; k < 40 && fabs(term) > 0x1p-56; k++) {
            term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * size);
            sum += term;
        }
        sum /= sqrt(2 * 3.141592653589793 * size);
    } else {
        for (int k = 1; term > sum * 0x1p-56; k++) {
            term *= size / 2 * (size / 2) / (k * (double)(k + order));
            sum += term;
        }
        sum *= exp(-size) * (order ? size / 2 : 1);
    }
    return order && x < 0 ? -sum : sum;
}

static double bessel_i0e(double x) { return bessel(x, 0); }
static double bessel_i1e(double x) { return bessel(x, 1); }

static double (*const of_one_number[])(double) = {erf, erfc, lgamma, bessel_i0e, bessel_i1e};

/* The function of this number of each of an array of floats. */
static enum Outcome of_each(const Py_buffer *buffers, PyObject *const *args)
{
    const Py_buffer *x = buffers, *out = buffers + 1;
    long number = PyLong_AsLong(args[0]), count = sizeof of_one_number / sizeof *of_one_number;
    int kind = numbers_in(x);
    if ((kind != FLOAT32 && kind != FLOAT64) || numbers_in(out) != kind || x->len != out->len ||
        number < 0 || number >= count)
        return UNFIT;
    double (*function)(double) = of_one_number[number];
    const float *from = x->buf;
    float *to = out->buf;
    Py_BEGIN_ALLOW_THREADS
    if (kind == FLOAT32)
        for (long i = 0, end = x->len / 4; i < end; i++)
            to[i] = (float)function(from[i]);
    else
        for (long i = 0, end = x->len / 8; i < end; i++)
            ((double *)to)[i] = function(((const double *)from)[i]);
    Py_END_ALLOW_THREADS
    return DONE;
}

/* A special function of pairs, or of three: of arrays that lie one behind the other. */
static enum Outcome of_sets(const Py_buffer *buffers, PyObject *const *args)
{
    const Py_buffer *x = buffers, *out = buffers + 1;
    int64_t number = PyLong_AsLongLong(args[0]);
    int kind = numbers_in(x), arrays = x->ndim ? (int)x->shape[0] : 0;
    if ((kind != FLOAT32 && kind != FLOAT64) || numbers_in(out) != kind || x->len != arrays * out->len)
        return UNFIT;
    Specials s = {.n = out->len / out->itemsize, .wide = kind == FLOAT64, .out = out->buf};
    s.x = x->buf;
    s.y = (const char *)x->buf + out->len;
    s.z = arrays == 3 ? (const char *)x->buf + 2 * out->len : NULL;
    if (!prepare(&s, number, arrays))
        return UNFIT;
    Py_BEGIN_ALLOW_THREADS
    for (long i = 0; i < s.job.tasks; i++)
        special_task(&s.job, i, NULL);
    Py_END_ALLOW_THREADS
    return DONE;
}
