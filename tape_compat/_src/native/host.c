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

/* Four random words for each of a few counters and one key: Philox-4x32, in ten rounds. See
   ops/philox.py. */
#define LANES 8
static void hash_lanes(uint32_t words[4][LANES], uint64_t key)
{
    uint32_t key0 = (uint32_t)key, key1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < LANES; i++) {
            uint64_t first = (uint64_t)words[0][i] * 0xD2511F53u;
            uint64_t second = (uint64_t)words[2][i] * 0xCD9E8D57u;
            words[0][i] = (uint32_t)(second >> 32) ^ words[1][i] ^ key0;
            words[1][i] = (uint32_t)second;
            words[2][i] = (uint32_t)(first >> 32) ^ words[3][i] ^ key1;
            words[3][i] = (uint32_t)first;
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

static void fill_words(uint32_t *out, Py_ssize_t blocks, uint64_t lower, uint64_t upper,
                       uint64_t key, uint64_t length, uint64_t apart)
{
    uint32_t words[4][LANES];
    uint64_t start = 0, within = 0;
    for (Py_ssize_t done = 0; done < blocks; done += LANES) {
        int lanes = blocks - done < LANES ? (int)(blocks - done) : LANES;
        for (int i = 0; i < LANES; i++) {
            uint64_t low = lower + start + within, high = upper + (low < lower);
            words[0][i] = (uint32_t)low;
            words[1][i] = (uint32_t)(low >> 32);
            words[2][i] = (uint32_t)high;
            words[3][i] = (uint32_t)(high >> 32);
            if (++within == length) {
                within = 0;
                start += apart;
            }
        }
        hash_lanes(words, key);
        for (int i = 0; i < lanes; i++)
            for (int k = 0; k < 4; k++)
                *out++ = words[k][i];
    }
}

/* fill(out, lower, upper, key, length, apart): words of a generator, into a buffer. */
static PyObject *native_fill(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    uint64_t numbers[5];
    Py_buffer view;
    if (n != 6)
        return refuse("fill(out, lower, upper, key, length, apart)");
    for (int i = 0; i < 5; i++) {
        numbers[i] = PyLong_AsUnsignedLongLong(args[i + 1]);
        if (numbers[i] == (uint64_t)-1 && PyErr_Occurred())
            return NULL;
    }
    if (PyObject_GetBuffer(args[0], &view, PyBUF_WRITABLE))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    fill_words(view.buf, view.len / 16, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
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
    if (PyObject_GetBuffer(args[0], &order, PyBUF_WRITABLE))
        return NULL;
    if (PyObject_GetBuffer(args[1], &words, PyBUF_SIMPLE)) {
        PyBuffer_Release(&order);
        return NULL;
    }
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
