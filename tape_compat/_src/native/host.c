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
