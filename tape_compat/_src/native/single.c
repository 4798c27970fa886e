/* Part of kernels.c, behind what takes buffers: functions of one number that NumPy lacks. */

static double (*const of_one_number[])(double) = {erf, erfc, lgamma};

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
