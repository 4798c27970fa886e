/* Part of kernels.c, behind what takes buffers: functions of one number that NumPy lacks. */

static double (*const of_one_number[])(double) = {erf, erfc, lgamma};

/* of_each(function, x, out): the function of this number of each of an array of floats. */
static PyObject *of_each_here(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    if (n != 3)
        return PyErr_Format(PyExc_TypeError, "3 arguments are wanted, not %zd", n);
    long number = PyLong_AsLong(args[0]);
    if (PyErr_Occurred())
        return NULL;
    Py_buffer buffers[2];
    if (!buffers_of(args + 1, buffers, 2, 1))
        return NULL;
    const Py_buffer *x = buffers, *out = buffers + 1;
    int kind = numbers_in(x), count = sizeof of_one_number / sizeof *of_one_number;
    int fit = (kind == FLOAT32 || kind == FLOAT64) && numbers_in(out) == kind &&
              x->len == out->len && number >= 0 && number < count;
    if (fit) {
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
    }
    release_all(buffers, 2);
    if (!fit)
        return PyErr_Format(PyExc_ValueError, "not a function and floats of 32 or 64 bits");
    Py_RETURN_NONE;
}
