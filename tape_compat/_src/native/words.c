/* Random words, for both extension modules: Philox-4x32 in ten rounds. See ops/philox.py. */
#include <stdint.h>
#include <string.h>

/* Of a generator: its counter and key; it goes on for `length` blocks of four words at a time,
   which begin `apart` blocks after each other. */
typedef struct {
    uint64_t lower, upper, key, length, apart;
} Words;

enum { ROUNDS = 10 };
static const uint64_t multiplier[] = {0xD2511F53u, 0xCD9E8D57u};
static const uint64_t step[] = {0x9E3779B9u, 0xBB67AE85u};

#ifdef __GNUC__ /* and Clang */
/* Fills blocks from one after the other on: four words for each counter. Each lane of a vector has
   a word in its lower half; what is in the upper one does not matter. MULTIPLY: of lower halves. */
#define FILLING(NAME, TARGET, LANES, MULTIPLY)                                                     \
    typedef uint64_t NAME##_lanes __attribute__((vector_size(8 * LANES)));                         \
    TARGET static void NAME(uint32_t *out, uint64_t first, int64_t blocks, const Words *w)         \
    {                                                                                              \
        const NAME##_lanes none = {0}, by0 = none + multiplier[0], by1 = none + multiplier[1];     \
        uint64_t start = first / w->length * w->apart, within = first % w->length;                 \
        for (int64_t done = 0; done < blocks; done += LANES) {                                     \
            NAME##_lanes low, high;                                                                \
            for (int i = 0; i < LANES; i++) {                                                      \
                low[i] = w->lower + start + within;                                                \
                high[i] = w->upper + (low[i] < w->lower);                                          \
                if (++within == w->length) {                                                       \
                    within = 0;                                                                    \
                    start += w->apart;                                                             \
                }                                                                                  \
            }                                                                                      \
            NAME##_lanes a = low, b = low >> 32, c = high, d = high >> 32;                         \
            uint64_t key0 = w->key, key1 = w->key >> 32;                                           \
            for (int round = 0; round < ROUNDS; round++) {                                         \
                NAME##_lanes one = MULTIPLY(NAME##_lanes, a, by0);                                 \
                NAME##_lanes two = MULTIPLY(NAME##_lanes, c, by1);                                 \
                a = (two >> 32) ^ b ^ (none + key0);                                               \
                c = (one >> 32) ^ d ^ (none + key1);                                               \
                b = two;                                                                           \
                d = one;                                                                           \
                key0 += step[0];                                                                   \
                key1 += step[1];                                                                   \
            }                                                                                      \
            NAME##_lanes front = (a & UINT32_MAX) | b << 32, back = (c & UINT32_MAX) | d << 32;    \
            int lanes = blocks - done < LANES ? (int)(blocks - done) : LANES;                      \
            for (int i = 0; i < lanes; i++, out += 4) {                                            \
                uint64_t block[2] = {front[i], back[i]};                                           \
                memcpy(out, block, sizeof block);                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define PLAINLY(Lanes, x, y) ((x & UINT32_MAX) * y)
FILLING(fill_plainly, , 2, PLAINLY)

#ifdef __x86_64__
#include <immintrin.h>
#define BY_AVX2(Lanes, x, y) ((Lanes)_mm256_mul_epu32((__m256i)(x), (__m256i)(y)))
#define BY_AVX512(Lanes, x, y) ((Lanes)_mm512_mul_epu32((__m512i)(x), (__m512i)(y)))
FILLING(fill_by_avx2, __attribute__((target("avx2"))), 4, BY_AVX2)
FILLING(fill_by_avx512, __attribute__((target("avx512f"))), 8, BY_AVX512)
#endif

#else
static void fill_plainly(uint32_t *out, uint64_t first, int64_t blocks, const Words *w)
{
    for (int64_t i = 0; i < blocks; i++, out += 4) {
        uint64_t run = (first + i) / w->length, within = (first + i) % w->length;
        uint64_t low = w->lower + run * w->apart + within, high = w->upper + (low < w->lower);
        uint32_t a = (uint32_t)low, b = low >> 32, c = (uint32_t)high, d = high >> 32;
        uint32_t key0 = (uint32_t)w->key, key1 = w->key >> 32;
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t one = a * multiplier[0], two = c * multiplier[1];
            a = (uint32_t)(two >> 32) ^ b ^ key0;
            c = (uint32_t)(one >> 32) ^ d ^ key1;
            b = (uint32_t)two;
            d = (uint32_t)one;
            key0 += (uint32_t)step[0];
            key1 += (uint32_t)step[1];
        }
        const uint32_t block[] = {a, b, c, d};
        memcpy(out, block, sizeof block);
    }
}
#endif

static void fill_words(uint32_t *out, uint64_t first, int64_t blocks, const Words *w)
{
#if defined(__GNUC__) && defined(__x86_64__)
    if (blocks > 4 && __builtin_cpu_supports("avx512f")) {
        fill_by_avx512(out, first, blocks, w);
        return;
    }
    if (blocks > 1 && __builtin_cpu_supports("avx2")) {
        fill_by_avx2(out, first, blocks, w);
        return;
    }
#endif
    fill_plainly(out, first, blocks, w);
}
