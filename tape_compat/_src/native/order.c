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

/* Numbers as ones without sign that are ordered alike. Of floats, whose fraction has so many bits, the
   subnormal ones are 0, as XLA has them. */
#define KEYS(NAME, TYPE, FRACTION, INTEGER)                                                        \
    static TYPE NAME(const Order *o, TYPE bits)                                                    \
    {                                                                                              \
        const TYPE sign = (TYPE)1 << (8 * sizeof(TYPE) - 1), least = (TYPE)1 << FRACTION;          \
        TYPE size = bits & ~sign;                                                                  \
        if (o->kind == INTEGER)                                                                    \
            bits ^= sign;                                                                          \
        else if (size > sign - least) /* infinite */                                               \
            bits = ~(TYPE)0;                                                                       \
        else                                                                                       \
            bits = size < least ? sign : bits > sign ? ~bits : bits ^ sign;                        \
        return o->descending ? ~bits : bits;                                                       \
    }

KEYS(key32, uint32_t, 23, INT32)
KEYS(key64, uint64_t, 52, INT64)

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

/* A key of 32 bits with its place behind it; and one of 64 bits beside it. */
typedef uint64_t Short;
typedef struct {
    uint64_t key;
    int64_t place;
} Wide;

/* The places of a row in order: numbers become entries, which have a key and a place. */
#define ORDERING(NAME, NUMBER, ENTRY, MADE, KEY, PLACE)                                            \
    static void NAME(const Order *o, const NUMBER *row, int32_t *places, ENTRY *entries)           \
    {                                                                                              \
        enum { DIGITS = 8 * sizeof(NUMBER) / DIGIT };                                              \
        uint32_t counts[DIGITS][BUCKETS] = {{0}};                                                  \
        long n = o->n;                                                                             \
        ENTRY *other = entries + n;                                                                \
        for (long i = 0; i < n; i++)                                                               \
            entries[i] = MADE(row[i], i);                                                          \
        if (n <= FEW_NUMBERS) {                                                                    \
            for (long i = 1; i < n; i++) {                                                         \
                ENTRY entry = entries[i];                                                          \
                long j = i;                                                                        \
                for (; j > 0 && KEY(entries[j - 1]) > KEY(entry); j--)                             \
                    entries[j] = entries[j - 1];                                                   \
                entries[j] = entry;                                                                \
            }                                                                                      \
        } else {                                                                                   \
            for (long i = 0; i < n; i++)                                                           \
                for (int d = 0; d < DIGITS; d++)                                                   \
                    counts[d][KEY(entries[i]) >> (DIGIT * d) & (BUCKETS - 1)]++;                   \
            for (int d = 0; d < DIGITS; d++) {                                                     \
                if (!positions(counts[d], n))                                                      \
                    continue;                                                                      \
                for (long i = 0; i < n; i++) {                                                     \
                    int digit = KEY(entries[i]) >> (DIGIT * d) & (BUCKETS - 1);                    \
                    other[counts[d][digit]++] = entries[i];                                        \
                }                                                                                  \
                ENTRY *sorted = other;                                                             \
                other = entries;                                                                   \
                entries = sorted;                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (long i = 0; i < n; i++)                                                               \
            places[i] = (int32_t)PLACE(entries[i]);                                                \
    }

#define SHORT(number, i) (Short) key32(o, number) << 32 | (uint32_t)(i)
#define SHORT_KEY(entry) ((entry) >> 32)
#define SHORT_PLACE(entry) (uint32_t)(entry)
ORDERING(order_short, uint32_t, Short, SHORT, SHORT_KEY, SHORT_PLACE)

#define WIDE(number, i) (Wide){key64(o, number), i}
#define WIDE_KEY(entry) (entry).key
#define WIDE_PLACE(entry) (entry).place
ORDERING(order_wide, uint64_t, Wide, WIDE, WIDE_KEY, WIDE_PLACE)

static void order_task(const Job *job, long number, float *scratch)
{
    const Order *o = (const Order *)job;
    long end = smaller((number + 1) * o->each, o->rows);
    for (long row = number * o->each; row < end; row++) {
        int32_t *places = o->places + row * o->n;
        if (is_wide(o->kind))
            order_wide(o, (const uint64_t *)o->numbers + row * o->n, places, (Wide *)scratch);
        else
            order_short(o, (const uint32_t *)o->numbers + row * o->n, places,
                        (Short *)scratch);
    }
}

/* Numbers that are worth a task. */
#define NUMBERS_OF_TASK (1 << 14)

/* Bytes of memory that threads take to order long rows, in all. */
#define MOST_MEMORY (1L << 28)

static long bytes_of_row(enum Numbers kind, long n)
{
    return 2 * n * (is_wide(kind) ? sizeof(Wide) : sizeof(Short));
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
