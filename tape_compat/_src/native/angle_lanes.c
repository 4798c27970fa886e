/* Sine and its like for vectors of WIDTH doubles. angles.c includes this for each set of instructions:
   TARGET tells the compiler of them, ROOT is the square root of a vector, FMA a product and a sum that
   are rounded once. */
typedef double NAME(vector) __attribute__((vector_size(8 * WIDTH)));
typedef int64_t NAME(mask) __attribute__((vector_size(8 * WIDTH)));
typedef float NAME(short) __attribute__((vector_size(4 * WIDTH)));
typedef int32_t NAME(short_mask) __attribute__((vector_size(4 * WIDTH)));

#define INLINE static inline __attribute__((always_inline)) TARGET
#define ALL(number) ((NAME(vector)){0} + (number))
#define IF(yes, one, other)                                                                        \
    ((NAME(vector))(((yes) & (NAME(mask))(one)) | (~(yes) & (NAME(mask))(other))))
#define SIGN ((NAME(mask)){0} + INT64_MIN)
#define SIZE(x) ((NAME(vector))((NAME(mask))(x) & ~SIGN))
#define SIGN_OF(x) ((NAME(mask))(x) & SIGN)
#define SIGNED(x, sign) ((NAME(vector))((NAME(mask))(x) ^ (sign)))

/* The polynomial of z. `n` is a constant where this is inlined. */
INLINE NAME(vector) NAME(polynomial)(const double *coefficients, int n, NAME(vector) z)
{
    NAME(vector) sum = ALL(coefficients[n - 1]);
#pragma GCC unroll 16
    for (int i = n - 2; i >= 0; i--)
        sum = sum * z + coefficients[i];
    return sum;
}

/* An angle as one up to pi / 4 and the number of its quarter: sine and cosine of the former. */
INLINE NAME(mask) NAME(turned)(NAME(vector) x, NAME(vector) *sine, NAME(vector) *cosine)
{
    NAME(vector) quarter = x * (1 / HALF_PI) + TO_INTEGER, whole = quarter - TO_INTEGER;
    NAME(vector) angle = (x - whole * SHORT_HALF_PI) - whole * REST_OF_HALF_PI, z = angle * angle;
    *sine = angle + angle * z * NAME(polynomial)(SINE, LENGTH(SINE), z);
    *cosine = 1 + z * NAME(polynomial)(COSINE, LENGTH(COSINE), z);
    return (NAME(mask))quarter;
}

/* The sine, or with ahead of 1 the cosine. */
INLINE NAME(vector) NAME(sine)(NAME(vector) x, int ahead)
{
    NAME(vector) sine, cosine;
    NAME(mask) quarter = NAME(turned)(x, &sine, &cosine) + ahead;
    return SIGNED(IF(-(quarter & 1), cosine, sine), (quarter & 2) << 62);
}

INLINE NAME(vector) NAME(tangent)(NAME(vector) x)
{
    NAME(vector) sine, cosine;
    NAME(mask) odd = -(NAME(turned)(x, &sine, &cosine) & 1);
    return IF(odd, -cosine, sine) / IF(odd, sine, cosine);
}

/* The angle of a sine, or of a cosine. */
INLINE NAME(vector) NAME(arcsine)(NAME(vector) x, int of_cosine)
{
    NAME(vector) size = SIZE(x), rest = (1 - size) * 0.5;
    NAME(mask) large = size > 0.5;
    NAME(vector) z = IF(large, rest, size * size), sine = IF(large, ROOT(rest), size);
    NAME(vector) angle = sine + sine * z * NAME(polynomial)(ARCSINE, LENGTH(ARCSINE), z);
    if (!of_cosine)
        return SIGNED(IF(large, HALF_PI - 2 * angle, angle), SIGN_OF(x));
    NAME(vector) far = IF(x < 0, 2 * HALF_PI - 2 * angle, 2 * angle);
    return IF(large, far, HALF_PI - SIGNED(angle, SIGN_OF(x)));
}

/* The angle of a point: that of the smaller coordinate by the larger one, or what is left of pi / 4 to
   it, and so many times pi / 4. */
INLINE NAME(vector) NAME(arctangent)(NAME(vector) y, NAME(vector) x)
{
    NAME(vector) up = SIZE(y), along = SIZE(x);
    NAME(mask) steep = up > along;
    NAME(vector) larger = IF(steep, up, along), smaller = IF(steep, along, up);
    NAME(mask) equal = smaller == larger;
    NAME(mask) far = (smaller > larger * TAN_OF_HALF) | (equal & (larger > 0));
    NAME(vector) above = IF(equal, ALL(0), IF(far, smaller - larger, smaller));
    NAME(vector) below = IF(larger == 0, ALL(1), IF(far, smaller + larger, larger));
    NAME(vector) slope = above / below, z = slope * slope;
    NAME(vector) angle = slope + slope * z * NAME(polynomial)(ARCTANGENT, LENGTH(ARCTANGENT), z);
    NAME(vector) eighths = IF(far, ALL(1), ALL(0));
    eighths = IF(steep, 2 - eighths, eighths);
    angle = SIGNED(angle, steep & SIGN);
    NAME(mask) back = SIGN_OF(x) >> 63;
    eighths = IF(back, 4 - eighths, eighths);
    angle = SIGNED(angle, back & SIGN);
    return SIGNED(eighths * (HALF_PI / 2) + angle, SIGN_OF(y));
}

/* What `function` gives of float32, or of pairs of them. It is a constant where this is inlined. */
INLINE NAME(short) NAME(found)(enum Function function, NAME(short) x, NAME(short) other)
{
    NAME(vector) wide = __builtin_convertvector(x, NAME(vector)), found;
    NAME(vector) beside = __builtin_convertvector(other, NAME(vector));
    if (function == SIN || function == COS)
        found = NAME(sine)(wide, function == COS);
    else if (function == TAN)
        found = NAME(tangent)(wide);
    else if (function == ASIN || function == ACOS)
        found = NAME(arcsine)(wide, function == ACOS);
    else
        found = NAME(arctangent)(wide, function == ATAN2 ? beside : ALL(1));
    NAME(short) made = __builtin_convertvector(found, NAME(short));
    if (function == COS || function == ACOS || function == ATAN2)
        return made;
    NAME(short_mask) bits = (NAME(short_mask))x, little = (bits & INT32_MAX) < LITTLE;
    return (NAME(short))((little & bits) | (~little & (NAME(short_mask))made));
}

/* What `found` gives of each number, a vector of them at a time. */
#define EACH(name, TYPE, VECTOR, found)                                                            \
    INLINE void NAME(name)(enum Function function, const TYPE *x, const TYPE *y, TYPE *out,        \
                           long n)                                                                 \
    {                                                                                              \
        VECTOR from = {0}, other = {0}, made;                                                      \
        long i = 0;                                                                                \
        for (; i + WIDTH <= n; i += WIDTH) {                                                       \
            memcpy(&from, x + i, sizeof from);                                                     \
            if (function == ATAN2)                                                                 \
                memcpy(&other, y + i, sizeof other);                                               \
            made = NAME(found)(function, from, other);                                             \
            memcpy(out + i, &made, sizeof made);                                                   \
        }                                                                                          \
        memcpy(&from, x + i, (n - i) * sizeof(TYPE));                                              \
        if (function == ATAN2)                                                                     \
            memcpy(&other, y + i, (n - i) * sizeof(TYPE));                                         \
        made = NAME(found)(function, from, other);                                                 \
        memcpy(out + i, &made, (n - i) * sizeof(TYPE));                                            \
    }
EACH(each, float, NAME(short), found)

#include "wide_angle_lanes.c"

static TARGET void NAME(angles)(enum Function function, int wide, const void *x, const void *y,
                                void *out, long n)
{
#define CASE(name)                                                                                 \
    case name:                                                                                     \
        if (wide)                                                                                  \
            NAME(wide_each)(name, x, y, out, n);                                                   \
        else                                                                                       \
            NAME(each)(name, x, y, out, n);                                                        \
        break;
    switch (function) {
        CASE(SIN)
        CASE(COS)
        CASE(TAN)
        CASE(ASIN)
        CASE(ACOS)
        CASE(ATAN)
        CASE(ATAN2)
    }
#undef CASE
}

#undef INLINE
#undef EACH
#undef ALL
#undef IF
#undef SIGN
#undef SIZE
#undef SIGN_OF
#undef SIGNED
#undef TARGET
#undef WIDTH
#undef ROOT
#undef FMA
#undef NAME
