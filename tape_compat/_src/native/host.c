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
