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

/* The words of one number that is looked for among others: blocks in turn, each of which gives two
   uniform numbers of [0, 1) or two normal ones. */
typedef struct {
    uint64_t lower, upper, key;
    double uniform[2], normal[2];
    int uniforms, normals;
} Numbers;

static void two_shares(Numbers *from, double share[2])
{
    uint32_t words[4];
    const Words w = {from->lower, from->upper, from->key, 1, 1};
    fill_words(words, 0, 1, &w);
    from->upper += !++from->lower;
    for (int i = 0; i < 2; i++) {
        uint64_t bits = 1023ull << 52 | (uint64_t)(words[2 * i] & 0xFFFFF) << 32 | words[2 * i + 1];
        memcpy(&share[i], &bits, 8);
        share[i] -= 1.0;
    }
}

static double next_uniform(Numbers *from)
{
    if (!from->uniforms) {
        two_shares(from, from->uniform);
        from->uniforms = 2;
    }
    return from->uniform[--from->uniforms];
}

static double next_normal(Numbers *from)
{
    if (!from->normals) {
        double share[2];
        two_shares(from, share);
        double radius = sqrt(-2.0 * log(share[0] > 1e-7 ? share[0] : 1e-7));
        double angle = 6.283185307179586 * share[1];
        from->normal[0] = sin(angle) * radius;
        from->normal[1] = cos(angle) * radius;
        from->normals = 2;
    }
    return from->normal[--from->normals];
}

/* See `philox_host.look_for`. */
static double gamma_number(Numbers *from, double alpha)
{
    if (alpha == 1.0)
        return -log1p(-next_uniform(from));
    double d = alpha + (alpha < 1.0 ? 2.0 / 3.0 : -1.0 / 3.0), c = 1.0 / 3.0 / sqrt(d);
    for (;;) {
        double x = next_normal(from), v = 1.0 + c * x;
        if (v <= 0.0)
            continue;
        v = v * v * v;
        double u = next_uniform(from);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x) ||
            log(u) < 0.5 * x * x + d * (1.0 - v + log(v)))
            return alpha < 1.0 ? d * v * pow(next_uniform(from), 1.0 / alpha) : d * v;
    }
}

static double poisson_number(Numbers *from, double rate, double most)
{
    if (!(rate < most))
        return rate >= most ? most : rate;
    if (rate < 10.0) {
        double product = 1.0, least = exp(-rate);
        for (double count = 0.0;; count += 1.0)
            if ((product *= next_uniform(from)) <= least)
                return count;
    }
    double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.1328 / (b - 3.4);
    for (;;) {
        double u = next_uniform(from) - 0.5, v = next_uniform(from), left = 0.5 - fabs(u);
        double count = floor((2.0 * a / left + b) * u + rate + 0.43);
        if (count > most)
            continue;
        if (left >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0))
            return count;
        if (count < 0.0 || (left < 0.013 && v > left))
            continue;
        if (log(v * inverse / (a / (left * left) + b)) <=
            -rate + count * log(rate) - lgamma(count + 1.0))
            return count;
    }
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
    const double *parameter = parameters.buf;
    double *found = out.buf;
    int poisson = args[5] != Py_None;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < kinds * samples; i++) {
        Numbers from = {.lower = numbers[0] + 256 * (uint64_t)i, .key = numbers[2]};
        from.upper = numbers[1] + (from.lower < numbers[0]);
        double at = parameter[i / samples];
        found[i % samples * kinds + i / samples] =
            poisson ? poisson_number(&from, at, most) : gamma_number(&from, at);
    }
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&out);
    PyBuffer_Release(&parameters);
    Py_RETURN_NONE;
}
