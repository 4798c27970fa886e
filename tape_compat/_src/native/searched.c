/* Numbers that are looked for among others, for both extension modules: gamma distributed ones, and
   Poisson's. Comes after words.c. See `philox_host.look_for`. */
#include <math.h>

/* Blocks that are made at once: as many as a vector of AVX2 has lanes. */
enum { BLOCKS_AT_ONCE = 4 };

/* The words of one number that is looked for among others: blocks in turn, each of which gives two
   uniform numbers of [0, 1) or two normal ones. blocks: how many of those made are not used yet. */
typedef struct {
    uint64_t lower, upper, key;
    uint32_t words[4 * BLOCKS_AT_ONCE];
    double uniform[2], normal[2];
    int blocks, uniforms, normals;
} Numbers;

static void two_shares(Numbers *from, double share[2])
{
    if (!from->blocks) {
        const Words w = {from->lower, from->upper, from->key, 1, 1};
        fill_words(from->words, 0, BLOCKS_AT_ONCE, &w);
        from->blocks = BLOCKS_AT_ONCE;
        from->lower += BLOCKS_AT_ONCE;
        from->upper += from->lower < BLOCKS_AT_ONCE;
    }
    const uint32_t *words = from->words + 4 * (BLOCKS_AT_ONCE - from->blocks--);
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

#ifdef _WIN32
#define LOG_GAMMA(x, sign) lgamma(x)
#else /* which has the sign apart: several threads ask */
#define LOG_GAMMA(x, sign) lgamma_r(x, sign)
#endif

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
    int sign;
    (void)sign;
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
            -rate + count * log(rate) - LOG_GAMMA(count + 1.0, &sign))
            return count;
    }
}

/* What is looked for: [samples, kinds], a column for each parameter; Poisson's numbers if there is a
   largest one. The counter and the key are those that all of it begins with. */
typedef struct {
    const double *parameters;
    const uint64_t *generator;
    double *out;
    int64_t samples, kinds;
    int poisson;
    double most;
} Search;

/* Those from `first` on, to `end`, in the order of their blocks. */
static void look_for(const Search *s, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        Numbers from = {.lower = s->generator[0] + 256 * (uint64_t)i, .key = s->generator[2]};
        from.upper = s->generator[1] + (from.lower < s->generator[0]);
        double at = s->parameters[i / s->samples];
        s->out[i % s->samples * s->kinds + i / s->samples] =
            s->poisson ? poisson_number(&from, at, s->most) : gamma_number(&from, at);
    }
}
