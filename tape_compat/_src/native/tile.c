/* The inner loops of convolutions for vectors of WIDTH numbers. convolve.c includes this for each set
   of instructions: TARGET tells the compiler of them, a panel has up to MOST vectors. */
typedef NUMBER NAME(vector)
    __attribute__((vector_size(WIDTH * sizeof(NUMBER)), aligned(sizeof(NUMBER)), may_alias));

#define VECTOR(place) (*(NAME(vector) *)(place))
#define EACH(i, n) _Pragma("GCC unroll 9") for (int i = 0; i < (n); i++)

/* `out[r]` is, or with `add` gains, the sum over k of `x[row[r] + step[k]] * panel[k]`. `vectors` and
   `add` are constants where this is inlined, so that all of `sum` is in registers. */
static inline __attribute__((always_inline)) TARGET void
NAME(sums)(int vectors, int add, const NUMBER *x, const long *row, const long *step, long count,
           const NUMBER *panel, NUMBER *out, long pitch)
{
    NAME(vector) sum[TILE][MOST], factor[MOST];
    const NUMBER *from[TILE];
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

static TARGET void NAME(tile)(int vectors, int add, const void *x, const long *row,
                              const long *step, long count, const void *panel, void *out,
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

#undef CASE

/* The same for each of `channels` by itself: of x, panel and out, those at `channels` places side by
   side. There are at least WIDTH. `rows` and `add` are constants where this is inlined. */
static inline __attribute__((always_inline)) TARGET void
NAME(sums_of_channels)(int rows, int add, const NUMBER *x, const long *row, const long *step,
                       long count, const NUMBER *panel, NUMBER *out, long channels)
{
    for (long first = 0; first < channels; first += WIDTH) {
        long at = smaller(first, channels - WIDTH); /* the last vector has some channels again */
        NAME(vector) sum[LANES] = {{0}};
        const NUMBER *from = x + at, *factors = panel + at;
        for (long k = 0; k < count; k++, factors += channels) {
            NAME(vector) factor = VECTOR(factors);
            EACH(r, rows) sum[r] += VECTOR(from + row[r] + step[k]) * factor;
        }
        EACH(r, rows) {
            NUMBER *to = out + r * channels + at;
            for (long i = 0; add && i < first - at; i++)
                sum[r][i] = 0;
            if (add)
                sum[r] += VECTOR(to);
            VECTOR(to) = sum[r];
        }
    }
}

static TARGET void NAME(channels)(int rows, int add, const void *x, const long *row,
                                  const long *step, long count, const void *panel, void *out,
                                  long channels)
{
#define SUM_CHANNELS(n, add)                                                                       \
    NAME(sums_of_channels)(n, add, x, row, step, count, panel, out, channels)
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        add ? SUM_CHANNELS(n, 1) : SUM_CHANNELS(n, 0);                                             \
        break;
    switch (rows) {
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
        CASE(7)
        CASE(8)
        CASE(9)
    }
}

static const Instructions NAME(instructions) = {WIDTH, MOST, NAME(tile), NAME(channels)};

#undef CASE
#undef SUM_CHANNELS
#undef SUM_UP
#undef EACH
#undef VECTOR
#undef NAME
#undef WIDTH
#undef MOST
#undef TARGET
