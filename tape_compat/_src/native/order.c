/* Part of kernels.c, behind Job and Memory: the order of rows of numbers, by their digits (radix sort;
   Knuth, The Art of Computer Programming, volume 3, 5.2.5). Equal numbers keep their order; NaN is
   more than all others, -0 equals 0. */

#define DIGIT 8
#define BUCKETS (1 << DIGIT)

/* Numbers up to which it is quicker to insert them one by one. */
#define FEW_NUMBERS 40

enum Numbers { INT32, INT64, FLOAT32, FLOAT64 };

/* Rows of `n` numbers; a task does `each` of them. */
typedef struct {
    Job job; /* first: a task finds the rest behind it */
    enum Numbers kind;
    const void *numbers;
    int32_t *places;
    long rows, n, each;
    int descending;
} Order;

static int is_wide(enum Numbers kind) { return kind == INT64 || kind == FLOAT64; }

/* A number of 32 bits as one without sign that is ordered alike. Of floats, the subnormal ones are 0,
   as XLA has them. */
static uint32_t key32(const Order *o, uint32_t bits)
{
    const uint32_t sign = UINT32_C(1) << 31, least = UINT32_C(1) << 23, infinite = 255 * least;
    uint32_t size = bits & ~sign;
    if (o->kind == INT32)
        bits ^= sign;
    else if (size > infinite)
        bits = UINT32_MAX;
    else
        bits = size < least ? sign : bits > sign ? ~bits : bits ^ sign;
    return o->descending ? ~bits : bits;
}

static uint64_t key64(const Order *o, uint64_t bits)
{
    const uint64_t sign = UINT64_C(1) << 63, least = UINT64_C(1) << 52, infinite = 2047 * least;
    uint64_t size = bits & ~sign;
    if (o->kind == INT64)
        bits ^= sign;
    else if (size > infinite)
        bits = UINT64_MAX;
    else
        bits = size < least ? sign : bits > sign ? ~bits : bits ^ sign;
    return o->descending ? ~bits : bits;
}

/* Where each digit goes: from how often it comes to where the first of it stands. Whether they are
   not all alike. */
static int positions(uint32_t *counts, long n)
{
    uint32_t sum = 0;
    for (int d = 0; d < BUCKETS; d++) {
        uint32_t count = counts[d];
        if (count == n)
            return 0;
        counts[d] = sum;
        sum += count;
    }
    return 1;
}

/* Keys of 32 bits, each with its place behind it: there are no two alike. */
static void order_short(const Order *o, const uint32_t *row, int32_t *places, uint64_t *keys)
{
    enum { DIGITS = 32 / DIGIT };
    uint32_t counts[DIGITS][BUCKETS] = {{0}};
    long n = o->n;
    uint64_t *other = keys + n;
    for (long i = 0; i < n; i++)
        keys[i] = (uint64_t)key32(o, row[i]) << 32 | (uint32_t)i;
    if (n <= FEW_NUMBERS) {
        for (long i = 1; i < n; i++) {
            uint64_t key = keys[i];
            long j = i;
            for (; j > 0 && keys[j - 1] > key; j--)
                keys[j] = keys[j - 1];
            keys[j] = key;
        }
    } else {
        for (long i = 0; i < n; i++)
            for (int d = 0; d < DIGITS; d++)
                counts[d][keys[i] >> (32 + DIGIT * d) & (BUCKETS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            if (!positions(counts[d], n))
                continue;
            for (long i = 0; i < n; i++)
                other[counts[d][keys[i] >> (32 + DIGIT * d) & (BUCKETS - 1)]++] = keys[i];
            uint64_t *sorted = other;
            other = keys;
            keys = sorted;
        }
    }
    for (long i = 0; i < n; i++)
        places[i] = (int32_t)(uint32_t)keys[i];
}

typedef struct {
    uint64_t key;
    int64_t place;
} Placed;

static void order_wide(const Order *o, const uint64_t *row, int32_t *places, Placed *keys)
{
    enum { DIGITS = 64 / DIGIT };
    uint32_t counts[DIGITS][BUCKETS] = {{0}};
    long n = o->n;
    Placed *other = keys + n;
    for (long i = 0; i < n; i++)
        keys[i] = (Placed){key64(o, row[i]), i};
    if (n <= FEW_NUMBERS) {
        for (long i = 1; i < n; i++) {
            Placed key = keys[i];
            long j = i;
            for (; j > 0 && keys[j - 1].key > key.key; j--)
                keys[j] = keys[j - 1];
            keys[j] = key;
        }
    } else {
        for (long i = 0; i < n; i++)
            for (int d = 0; d < DIGITS; d++)
                counts[d][keys[i].key >> (DIGIT * d) & (BUCKETS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            if (!positions(counts[d], n))
                continue;
            for (long i = 0; i < n; i++)
                other[counts[d][keys[i].key >> (DIGIT * d) & (BUCKETS - 1)]++] = keys[i];
            Placed *sorted = other;
            other = keys;
            keys = sorted;
        }
    }
    for (long i = 0; i < n; i++)
        places[i] = (int32_t)keys[i].place;
}

static void order_task(const Job *job, long number, float *scratch)
{
    const Order *o = (const Order *)job;
    long end = smaller((number + 1) * o->each, o->rows);
    for (long row = number * o->each; row < end; row++) {
        int32_t *places = o->places + row * o->n;
        if (is_wide(o->kind))
            order_wide(o, (const uint64_t *)o->numbers + row * o->n, places, (Placed *)scratch);
        else
            order_short(o, (const uint32_t *)o->numbers + row * o->n, places,
                        (uint64_t *)scratch);
    }
}

/* Numbers that are worth a task. */
#define NUMBERS_OF_TASK (1 << 14)

/* Bytes of memory that threads take to order long rows, in all. */
#define MOST_MEMORY (1L << 28)

static long bytes_of_row(enum Numbers kind, long n)
{
    return 2 * n * (is_wide(kind) ? sizeof(Placed) : sizeof(uint64_t));
}

/* So many threads may order rows of so many numbers at once. */
static long threads_for(enum Numbers kind, long n)
{
    return larger(MOST_MEMORY / larger(bytes_of_row(kind, n), 1), 1);
}

/* Writes the order of each row to `places`; whether there was memory for it. */
static int order(enum Numbers kind, const void *numbers, int32_t *places, long rows, long n,
                 int descending, Perform *perform, void *threads)
{
    if (rows == 0 || n == 0)
        return 1;
    Order o = {.kind = kind, .numbers = numbers, .places = places, .rows = rows, .n = n};
    o.descending = descending;
    o.each = larger(NUMBERS_OF_TASK / n, 1);
    long scratch = bytes_of_row(kind, n) / sizeof(float);
    o.job = (Job){.task = order_task, .tasks = parts(rows, o.each), .scratch = scratch};
    return perform(threads, &o.job);
}

/* So many of the largest numbers are kept in order while the others are looked at. */
#define MOST_KEPT 64

/* A number as one with a sign that is ordered as its bits are: -NaN, ..., -0, 0, ..., NaN. */
static int64_t key_of_bits(enum Numbers kind, const void *row, long i)
{
    int64_t bits = is_wide(kind) ? ((const int64_t *)row)[i] : ((const int32_t *)row)[i];
    if ((kind == FLOAT32 || kind == FLOAT64) && bits < 0)
        bits ^= is_wide(kind) ? INT64_MAX : INT32_MAX;
    return bits;
}

/* Writes the `k` largest numbers of each row, and their places; of equal ones the first come first. */
static void largest(enum Numbers kind, const void *numbers, void *values, int32_t *places,
                    long rows, long n, long k)
{
    size_t each = is_wide(kind) ? 8 : 4;
    for (long r = 0; r < rows; r++, places += k) {
        const char *row = (const char *)numbers + r * n * each;
        int64_t keys[MOST_KEPT];
        long kept = 0;
        for (long i = 0; i < n; i++) {
            int64_t key = key_of_bits(kind, row, i);
            if (kept == k && key <= keys[k - 1])
                continue;
            long j = kept < k ? kept++ : k - 1;
            for (; j > 0 && keys[j - 1] < key; j--) {
                keys[j] = keys[j - 1];
                places[j] = places[j - 1];
            }
            keys[j] = key;
            places[j] = (int32_t)i;
        }
        for (long j = 0; j < k; j++)
            memcpy((char *)values + (r * k + j) * each, row + places[j] * each, each);
    }
}
