/* The inner loop of convolutions for vectors of WIDTH floats. convolution.c includes this for each
   set of instructions: TARGET tells the compiler of them, a panel has up to MOST vectors. */
typedef float NAME(vector) __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

#define VECTOR(place) (*(NAME(vector) *)(place))
#define EACH(i, n) _Pragma("GCC unroll 8") for (int i = 0; i < (n); i++)

/* `out[r]` is, or with `add` gains, the sum over k of `x[row[r] + step[k]] * panel[k]`. `vectors` and
   `add` are constants where this is inlined, so that all of `sum` is in registers. */
static inline __attribute__((always_inline)) TARGET void
NAME(sums)(int vectors, int add, const float *x, const long *row, const long *step, long count,
           const float *panel, float *out, long pitch)
{
    NAME(vector) sum[TILE][MOST], factor[MOST];
    const float *from[TILE];
    EACH(r, TILE) {
        from[r] = x + row[r];
        EACH(v, vectors)
            sum[r][v] = add ? VECTOR(out + r * pitch + v * WIDTH) : (NAME(vector)){0};
    }
    for (long k = 0; k < count; k++, panel += vectors * WIDTH) {
        long offset = step[k];
        EACH(v, vectors) factor[v] = VECTOR(panel + v * WIDTH);
        EACH(r, TILE) EACH(v, vectors) sum[r][v] += from[r][offset] * factor[v];
    }
    EACH(r, TILE) EACH(v, vectors) VECTOR(out + r * pitch + v * WIDTH) = sum[r][v];
}

static TARGET void NAME(tile)(int vectors, int add, const float *x, const long *row,
                              const long *step, long count, const float *panel, float *out,
                              long pitch)
{
#define SUM_UP(n, add) NAME(sums)(n, add, x, row, step, count, panel, out, pitch)
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        add ? SUM_UP(n, 1) : SUM_UP(n, 0);                                                             \
        break;
    switch (vectors) {
        CASE(1)
        CASE(2)
#if MOST == 4
        CASE(3)
        CASE(4)
#endif
    }
}

static const Instructions NAME(instructions) = {WIDTH, MOST, NAME(tile)};

#undef CASE
#undef SUM_UP
#undef EACH
#undef VECTOR
#undef NAME
#undef WIDTH
#undef MOST
#undef TARGET
