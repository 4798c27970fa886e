/* What the host computes by itself. */

/* Subnormal numbers count as zero meanwhile, as they do in XLA and TensorFlow. */
#if defined(__SSE2__)
#include <xmmintrin.h>
#define SUBNORMALS 0x8040u
static unsigned flush_subnormals(unsigned on)
{
    unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~SUBNORMALS) | (on & SUBNORMALS));
    return before;
}
#elif defined(__aarch64__) && defined(__GNUC__)
#define SUBNORMALS (1ul << 24)
static unsigned long flush_subnormals(unsigned long on)
{
    unsigned long before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"((before & ~SUBNORMALS) | (on & SUBNORMALS)));
    return before;
}
#else
#define SUBNORMALS 0u
static unsigned flush_subnormals(unsigned on) { return on; }
#endif

/* flushed(function, arguments): what the function gives. */
static PyObject *native_flushed(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2 || !PyTuple_Check(args[1]))
        return refuse("flushed(function, arguments)");
    const unsigned long before = flush_subnormals(SUBNORMALS);
    PyObject *result = PyObject_Call(args[0], args[1], NULL);
    flush_subnormals(before);
    return result;
}

/* What each byte does to a CRC-32C, at eight distances from the end. */
static uint32_t crc_table[8][256];

static void fill_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t state = i;
        for (int bit = 0; bit < 8; bit++)
            state = state >> 1 ^ (state & 1 ? 0x82F63B78u : 0);
        crc_table[0][i] = state;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t before = crc_table[k - 1][i];
            crc_table[k][i] = crc_table[0][before & 255] ^ before >> 8;
        }
}

static uint32_t crc_of(const unsigned char *at, Py_ssize_t n)
{
    uint32_t state = 0xFFFFFFFFu;
    for (; n >= 8; n -= 8, at += 8) {
        uint32_t next = 0;
        for (int k = 0; k < 4; k++)
            next ^= crc_table[7 - k][(state >> 8 * k & 255) ^ at[k]] ^ crc_table[3 - k][at[4 + k]];
        state = next;
    }
    for (; n; n--, at++)
        state = crc_table[0][(state ^ *at) & 255] ^ state >> 8;
    return state ^ 0xFFFFFFFFu;
}

/* crc32c(data): the checksum of bytes, of which no thread keeps others from running. */
static PyObject *native_crc32c(PyObject *module, PyObject *data)
{
    Py_buffer view;
    uint32_t found;
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE))
        return NULL;
    if (!crc_table[0][1])
        fill_crc_table();
    Py_BEGIN_ALLOW_THREADS
    found = crc_of(view.buf, view.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    return PyLong_FromUnsignedLong(found);
}

/* n unsigned numbers of 64 bits; -1 with an error set if one is none. */
static int unsigned_numbers(PyObject *const *args, int n, uint64_t *numbers)
{
    for (int i = 0; i < n; i++) {
        numbers[i] = PyLong_AsUnsignedLongLong(args[i]);
        if (numbers[i] == (uint64_t)-1 && PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* The buffers of an array that is written to and of one that is read; -1 with an error set. */
static int get_buffers(PyObject *const *args, Py_buffer *written, Py_buffer *read)
{
    if (PyObject_GetBuffer(args[0], written, PyBUF_WRITABLE))
        return -1;
    if (PyObject_GetBuffer(args[1], read, PyBUF_SIMPLE)) {
        PyBuffer_Release(written);
        return -1;
    }
    return 0;
}

/* fill(out, lower, upper, key, length, apart): words of a generator, into a buffer. */
static PyObject *native_fill(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    uint64_t numbers[5];
    Py_buffer view;
    if (n != 6)
        return refuse("fill(out, lower, upper, key, length, apart)");
    if (unsigned_numbers(args + 1, 5, numbers) ||
        PyObject_GetBuffer(args[0], &view, PyBUF_WRITABLE))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    const Words w = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    fill_words(view.buf, 0, view.len / 16, &w);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

/* What numbers of so many bytes are less than as unsigned ones, if they are inside an axis: negative
   ones are in the upper half of them. */
static uint64_t bound_of(uint64_t size, int bytes, int is_signed)
{
    const uint64_t half = bytes == 8 ? (uint64_t)1 << 63 : (uint64_t)1 << (is_signed ? 31 : 32);
    return size < half ? size : half;
}

/* Whether each of n numbers is less than the bound of its column. */
#define ALL_BELOW(type)                                                                            \
    static int all_below_##type(const type *x, Py_ssize_t n, const uint64_t *bounds, int columns)  \
    {                                                                                              \
        int outside = 0;                                                                           \
        if (columns == 1) {                                                                        \
            type most = 0;                                                                         \
            for (Py_ssize_t i = 0; i < n; i++)                                                     \
                most = x[i] > most ? x[i] : most;                                                  \
            return !n || most < bounds[0];                                                         \
        }                                                                                          \
        for (Py_ssize_t i = 0; i < n; i += columns)                                                \
            for (int k = 0; k < columns; k++)                                                      \
                outside |= x[i + k] >= bounds[k];                                                  \
        return !outside;                                                                           \
    }
ALL_BELOW(uint32_t)
ALL_BELOW(uint64_t)

/* Beyond so many bytes other threads run meanwhile. */
#define BYTES_AT_ONCE 65536

/* Whether the numbers of a buffer are inside axes of these sizes; -1 if Python is to see. */
static int buffer_within(const Py_buffer *view, PyObject *const *sizes, int columns)
{
    const int bytes = (int)view->itemsize;
    const char *format = view->format ? view->format : "";
    format += *format == '='; /* so does JAX say whose order of bytes it is */
    uint64_t bounds[MOST_INPUTS];
    int inside;
    if (!*format || format[1] || !strchr("iIlLqQ", *format) || (bytes != 4 && bytes != 8))
        return -1;
    if (columns > 1 && (!view->ndim || view->shape[view->ndim - 1] != columns))
        return -1;
    for (int i = 0; i < columns; i++) {
        int overflow = 0;
        long long size = PyLong_AsLongLongAndOverflow(sizes[i], &overflow);
        if (overflow || size < 0) {
            PyErr_Clear();
            return -1;
        }
        bounds[i] = bound_of(size, bytes, *format >= 'a');
    }
    const Py_ssize_t n = view->len / bytes;
    PyThreadState *save = view->len > BYTES_AT_ONCE ? PyEval_SaveThread() : NULL;
    inside = bytes == 4 ? all_below_uint32_t(view->buf, n, bounds, columns)
                        : all_below_uint64_t(view->buf, n, bounds, columns);
    if (save)
        PyEval_RestoreThread(save);
    return inside;
}

/* The same of an array, which may be elsewhere than in the memory of the host. */
static int array_within(PyObject *array, PyObject *const *sizes, Py_ssize_t columns)
{
    Py_buffer view;
    if (columns < 1 || columns > MOST_INPUTS)
        return -1;
    if (PyObject_GetBuffer(array, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)) {
        PyErr_Clear();
        return -1;
    }
    int inside = buffer_within(&view, sizes, (int)columns);
    PyBuffer_Release(&view);
    return inside;
}

/* within(array, sizes): see bounds.within. Arrays of other integers are Python's. */
static PyObject *native_within(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2 || !PyTuple_CheckExact(args[1]))
        return refuse("within(array, sizes)");
    int inside = array_within(args[0], ((PyTupleObject *)args[1])->ob_item,
                              PyTuple_GET_SIZE(args[1]));
    return inside < 0 ? PyObject_Vectorcall(python.within, args, 2, NULL) : PyBool_FromLong(inside);
}

/* Whether indices, as far as they are known, are rows of a tensor of numbers; 0 too where Python is
   to see. */
static int are_rows(PyObject *indices, PyObject *x)
{
    PyObject *aval = SLOT(x, Tensor._aval), *shape = SLOT(aval, Aval.shape);
    PyObject *array = SLOT(indices, Tensor._array);
    if (SLOT(aval, Aval.dtype) == python.string || !PyTuple_CheckExact(shape) ||
        !PyTuple_GET_SIZE(shape) || !PyLong_CheckExact(PyTuple_GET_ITEM(shape, 0)))
        return 0;
    return array == Py_None ||
           array_within(array, ((PyTupleObject *)shape)->ob_item, 1) > 0;
}

/* swap(order, words): numbers of 64 bits in random order, each of which changes places with one
   after it. */
static PyObject *native_swap(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    Py_buffer order, words;
    if (n != 2)
        return refuse("swap(order, words)");
    if (get_buffers(args, &order, &words))
        return NULL;
    Py_ssize_t count = order.len / 8, most = words.len / 4;
    int64_t *at = order.buf;
    const uint32_t *word = words.buf;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < count && i < most; i++) {
        Py_ssize_t place = i + word[i] % (uint64_t)(count - i);
        int64_t here = at[i];
        at[i] = at[place];
        at[place] = here;
    }
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&order);
    PyBuffer_Release(&words);
    Py_RETURN_NONE;
}

/* look_for(out, parameters, lower, upper, key, most): numbers of double precision, gamma
   distributed, or of Poisson's where there is a largest one. */
static PyObject *native_look_for(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    uint64_t numbers[3];
    double most = 0.0;
    Py_buffer out, parameters;
    if (n != 6)
        return refuse("look_for(out, parameters, lower, upper, key, most)");
    if (unsigned_numbers(args + 2, 3, numbers))
        return NULL;
    if (args[5] != Py_None && (most = PyFloat_AsDouble(args[5])) == -1.0 && PyErr_Occurred())
        return NULL;
    if (get_buffers(args, &out, &parameters))
        return NULL;
    Py_ssize_t kinds = parameters.len / 8, samples = kinds ? out.len / 8 / kinds : 0;
    const Search s = {parameters.buf, numbers, out.buf, samples, kinds, args[5] != Py_None, most};
    Py_BEGIN_ALLOW_THREADS
    look_for(&s, 0, (int64_t)kinds * samples);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&out);
    PyBuffer_Release(&parameters);
    Py_RETURN_NONE;
}

/* A step's function on what is in its slots; more than MOST_INPUTS of them in memory of their own. */
static PyObject *call_step(PyObject *function, PyObject *values, PyObject *inputs)
{
    PyObject *few[MOST_INPUTS], **given = few, *found = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(inputs), taken = 0;
    if (n > MOST_INPUTS && !(given = PyMem_Malloc(n * sizeof *given)))
        return PyErr_NoMemory();
    for (; taken < n; taken++) {
        Py_ssize_t slot = PyLong_AsSsize_t(PyTuple_GET_ITEM(inputs, taken));
        if (slot < 0 || slot >= PyList_GET_SIZE(values)) {
            PyErr_SetString(PyExc_IndexError, "a step reads a slot that is not there");
            break;
        }
        given[taken] = Py_NewRef(PyList_GET_ITEM(values, slot));
    }
    if (taken == n)
        found = PyObject_Vectorcall(function, given, n, NULL);
    while (taken)
        Py_DECREF(given[--taken]);
    if (given != few)
        PyMem_Free(given);
    return found;
}

/* Puts what a step gave into its slots, and None into those of what nobody reads any more. */
static int put_step(PyObject *values, PyObject *found, PyObject *output, PyObject *outputs,
                    PyObject *done)
{
    if (output != Py_None) {
        if (PyList_SetItem(values, PyLong_AsSsize_t(output), Py_NewRef(found)))
            return -1;
    } else {
        PyObject *several = PySequence_Fast(found, "a step with several outputs gives a sequence");
        if (!several)
            return -1;
        Py_ssize_t n = PySequence_Fast_GET_SIZE(several);
        for (Py_ssize_t i = 0; i < n && i < PyTuple_GET_SIZE(outputs); i++) {
            PyObject *value = Py_NewRef(PySequence_Fast_GET_ITEM(several, i));
            if (PyList_SetItem(values, PyLong_AsSsize_t(PyTuple_GET_ITEM(outputs, i)), value)) {
                Py_DECREF(several);
                return -1;
            }
        }
        Py_DECREF(several);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(done); i++)
        if (PyList_SetItem(values, PyLong_AsSsize_t(PyTuple_GET_ITEM(done, i)), Py_NewRef(Py_None)))
            return -1;
    return 0;
}

/* take_steps(values, steps): what the slots hold after the steps of a plan. */
static PyObject *native_take_steps(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2 || !PyList_CheckExact(args[0]) || !PyList_CheckExact(args[1]))
        return refuse("take_steps(values, steps)");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[1]); i++) {
        PyObject *step = PyList_GET_ITEM(args[1], i);
        if (!PyTuple_Check(step) || PyTuple_GET_SIZE(step) != 5)
            return refuse("take_steps(values, steps)");
        PyObject **parts = ((PyTupleObject *)step)->ob_item;
        if (!PyTuple_Check(parts[1]) || !PyTuple_Check(parts[3]) || !PyTuple_Check(parts[4]))
            return refuse("take_steps(values, steps)");
        PyObject *found = call_step(parts[0], args[0], parts[1]);
        if (!found)
            return NULL;
        int failed = put_step(args[0], found, parts[2], parts[3], parts[4]);
        Py_DECREF(found);
        if (failed)
            return NULL;
    }
    return Py_NewRef(args[0]);
}
