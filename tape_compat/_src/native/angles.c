/* Part of kernels.c, behind its threads: sine and its like of numbers, where XLA calls the C library for
   each. Those of float32 are computed in double precision and rounded once.

   A polynomial is of the square of a number, from the lowest power on; it interpolates at the zeros of
   a Chebyshev polynomial: (f(x) / x - 1) / x^2 for odd functions, (f(x) - 1) / x^2 for the cosine. */
#include <math.h>

enum Function { SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2 };

/* Of angles up to pi / 4: to 36 and 32 bits. */
static const double SINE[] = {
    -0x1.555555545c0f8p-3, 0x1.11110dea5e8cp-7, -0x1.a013a11619d1bp-13, 0x1.6dbbee1f24647p-19,
};
static const double COSINE[] = {
    -0x1.fffffffaa6f9bp-2, 0x1.55554cae0fa7ep-5, -0x1.6c0dff970d462p-10, 0x1.9a6c494416c15p-16,
};

/* Up to tan(pi / 8): to 38 bits. */
static const double ARCTANGENT[] = {
    -0x1.5555555502143p-2, 0x1.9999982584f2cp-3, -0x1.2491c086412ap-3, 0x1.c6f68625dbd4fp-4,
    -0x1.71d3b3bbacacep-4, 0x1.24430309baep-4, -0x1.4b3753086f75cp-5,
};

/* Up to 1 / 2: to 34 bits. */
static const double ARCSINE[] = {
    0x1.5555555c0171dp-3, 0x1.33331ecf8b70bp-4, 0x1.6dc0f007c13e8p-5, 0x1.efedf83ab6506p-6,
    0x1.82db23768c84fp-6, 0x1.5a80a068e3ee2p-7, 0x1.fb7ca379d49c6p-6,
};

/* The same for doubles, to 55 bits and more; (cos(x) - 1 + x^2 / 2) / x^4 for the cosine. */
static const double WIDE_SINE[] = {
    -0x1.5555555555555p-3, 0x1.111111111111p-7,   -0x1.a01a01a01992fp-13, 0x1.71de3a545f836p-19,
    -0x1.ae645410e937bp-26, 0x1.61217d9252c03p-33, -0x1.ab16f5caa198ap-41,
};
static const double WIDE_COSINE[] = {
    0x1.5555555555555p-5,   -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16,
    -0x1.27e4fa16cc2d1p-22, 0x1.1eeb67d026ec6p-29,  -0x1.907cd8ff5ede7p-37,
};
static const double WIDE_ARCTANGENT[] = {
    -0x1.5555555555555p-2, 0x1.9999999999997p-3,  -0x1.24924924920a3p-3, 0x1.c71c71c6dd2d8p-4,
    -0x1.745d173542f7ap-4, 0x1.3b13aea53b18fp-4,  -0x1.1110ce80547d7p-4, 0x1.e1d8ddf459f4dp-5,
    -0x1.aebcad6415c5dp-5, 0x1.829a09d7f37d9p-5,  -0x1.5030c28013686p-5, 0x1.f5ba271a2a8e8p-6,
    -0x1.c7a6bc6dde7fap-7,
};
static const double WIDE_ARCSINE[] = {
    0x1.5555555555556p-3, 0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6,
    0x1.6e8bb1c8209a2p-6, 0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7,
    0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b2p-8, 0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7,
    0x1.d72b2bc8155f8p-6,
};

/* pi / 2, and as a sum: of 25 bits, whose product with numbers below 2^28 is exact, and the rest. */
static const double HALF_PI = 0x1.921fb54442d18p0;
static const double SHORT_HALF_PI = 0x1.921fb5p0, REST_OF_HALF_PI = 0x1.110b4611a6263p-26;

/* Angles from here on are left to the C library: with 2^28 quarters the first part would not be exact. */
static const float FARTHEST = 4e8f;

/* What HALF_PI leaves of pi / 2, and what that leaves. */
static const double REST_OF_PI_2 = 0x1.1a62633145c07p-54, LAST_OF_PI_2 = -0x1.f1976b7ed8fbcp-110;

/* The same for doubles, and what is smaller than this is its own sine. */
static const double WIDE_FARTHEST = 0x1p27, WIDE_LITTLE = 0x1p-27;

/* tan(pi / 8) */
static const double TAN_OF_HALF = 0x1.a827999fcef32p-2;

/* The bits of 2^-12: what is smaller is its own sine. */
static const int32_t LITTLE = 0x39800000;

/* Added to a double, it leaves the nearest integer in the lowest bits. */
static const double TO_INTEGER = 0x1.8p52;

#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 4
#define ROOT(x) ((angle_avx2_vector)_mm256_sqrt_pd((__m256d)(x)))
#define FMA(x, y, z)                                                                               \
    ((angle_avx2_vector)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#define NAME(name) angle_avx2_##name
#include "angle_lanes.c"

#define TARGET __attribute__((target("avx512f,avx512dq")))
#define WIDTH 8
#define ROOT(x) ((angle_avx512_vector)_mm512_sqrt_pd((__m512d)(x)))
#define FMA(x, y, z)                                                                               \
    ((angle_avx512_vector)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z)))
#define NAME(name) angle_avx512_##name
#include "angle_lanes.c"
#endif

typedef struct {
    Job job; /* first: a task finds the rest behind it */
    enum Function function;
    int wide; /* of doubles */
    const char *x, *y;
    char *out;
    long n;
} Angles;

/* Numbers that a task does: they stay in the cache. */
#define NUMBERS_OF_ANGLES 4096

/* Angles too far for vectors, by the C library. */
#define FAR_ANGLES(NAME, TYPE, SIZE, FROM, ...)                                                    \
    static void NAME(enum Function function, const TYPE *x, TYPE *out, long n)                     \
    {                                                                                              \
        TYPE (*const by_library[])(TYPE) = {__VA_ARGS__};                                          \
        for (long i = 0; i < n; i++)                                                               \
            if (SIZE(x[i]) >= FROM)                                                                \
                out[i] = by_library[function](x[i]);                                               \
    }
FAR_ANGLES(far_angles, float, fabsf, FARTHEST, sinf, cosf, tanf)
FAR_ANGLES(far_wide_angles, double, fabs, WIDE_FARTHEST, sin, cos, tan)

static void angles_task(const Job *job, long number, float *scratch)
{
    const Angles *a = (const Angles *)job;
    long first = number * NUMBERS_OF_ANGLES, n = smaller(a->n - first, NUMBERS_OF_ANGLES);
    long bytes = first * (long)(a->wide ? sizeof(double) : sizeof(float));
    const void *x = a->x + bytes, *y = a->y ? a->y + bytes : NULL;
    void *out = a->out + bytes;
    (void)scratch;
    unsigned kept = with_subnormals();
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512dq"))
        angle_avx512_angles(a->function, a->wide, x, y, out, n);
    else
        angle_avx2_angles(a->function, a->wide, x, y, out, n);
#endif
    as_before(kept);
    if (a->function <= TAN && a->wide)
        far_wide_angles(a->function, x, out, n);
    else if (a->function <= TAN)
        far_angles(a->function, x, out, n);
}

/* One function of each number, or of two; a number tells which. */
static enum Outcome do_angles(const XLA_FFI_CallFrame *call)
{
    Angles a = {0};
    int64_t number = function_of(call, &a.n, &a.wide);
    if (number < SIN || number > ATAN2 || call->args.size != (number == ATAN2 ? 2 : 1))
        return UNFIT;
    a.function = (enum Function)number;
    a.x = data_of(call->args.args[0]);
    a.y = number == ATAN2 ? data_of(call->args.args[1]) : NULL;
    a.out = data_of(call->rets.args[0]);
    a.job = (Job){.task = angles_task, .tasks = parts(a.n, NUMBERS_OF_ANGLES)};
    Threads threads = threads_of_program(call);
    return perform(&threads, &a.job) ? DONE : NO_MEMORY;
}
