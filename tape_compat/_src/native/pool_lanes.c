/* The inner loops of pools for vectors of WIDTH channels. pooling.c includes this for each set of
   instructions and kind of numbers: FLOAT, and INT of the same size; TARGET tells the compiler. */
typedef FLOAT NAME(vector)
    __attribute__((vector_size(WIDTH * sizeof(FLOAT)), aligned(sizeof(FLOAT)), may_alias));
typedef INT NAME(mask) __attribute__((vector_size(WIDTH * sizeof(INT))));

#define VECTOR(place) (*(NAME(vector) *)(place))
#define CHOICE(yes, one, other) (((yes) & (one)) | (~(yes) & (other)))
#define CHOSEN(yes, one, other)                                                                    \
    ((NAME(vector))CHOICE(yes, (NAME(mask))(one), (NAME(mask))(other)))

/* The largest of a window, NaN if there is one among them. number: which element it is, as XLA's form
   of the derivative has it: a row goes to the first of its largest before its first NaN, and so do
   rows. Those of padding do not count. */
static inline __attribute__((always_inline)) TARGET NAME(vector)
NAME(largest)(const Pool *p, const Window *w, const FLOAT *x, NAME(mask) *number)
{
    NAME(vector) all = {0};
    INT element = 0;
    for (long i = 0; i < w->count[0]; i++)
        for (long j = 0; j < w->count[1]; j++) {
            const FLOAT *from = x + (i * p->size[1] + j) * p->size[2] * p->channels;
            NAME(vector) best = VECTOR(from);
            NAME(mask) at = (NAME(mask)){0} + element++;
            for (long k = 1; k < w->count[2]; k++, element++) {
                NAME(vector) next = VECTOR(from += p->channels);
                if (number)
                    at = CHOICE(next > best, (NAME(mask)){0} + element, at);
                best = CHOSEN((best >= next) | (best != best), best, next);
            }
            if (i + j == 0) {
                all = best;
                if (number)
                    *number = at;
                continue;
            }
            if (number)
                *number = CHOICE(best > all, at, *number);
            all = CHOSEN((all >= best) | (all != all), all, best);
        }
    return all;
}

/* Write the largest of a window of each channel. There are at least WIDTH. */
static TARGET void NAME(reduce)(const Pool *p, const Window *w, const void *images, void *made)
{
    const FLOAT *x = (const FLOAT *)images + w->first * p->channels;
    FLOAT *y = (FLOAT *)made + w->place * p->channels;
    for (long first = 0; first < p->channels; first += WIDTH) {
        long at = smaller(first, p->channels - WIDTH); /* the last vector has some channels again */
        VECTOR(y + at) = NAME(largest)(p, w, x + at, NULL);
    }
}

/* Add the cotangent of a window to that of its largest element, of those within bounds. */
static TARGET void NAME(give)(const Pool *p, const Window *w, const void *images,
                              const void *cotangents, void *derivative)
{
    const FLOAT *x = (const FLOAT *)images + w->first * p->channels;
    const FLOAT *dy = (const FLOAT *)cotangents + w->place * p->channels;
    FLOAT *dx = (FLOAT *)derivative + w->first * p->channels;
    for (long first = 0; first < p->channels; first += WIDTH) {
        long at = smaller(first, p->channels - WIDTH);
        NAME(mask) number = {0};
        NAME(vector) best = NAME(largest)(p, w, x + at, p->first ? &number : NULL);
        NAME(vector) share = VECTOR(dy + at);
        for (long i = 0; i < first - at; i++)
            share[i] = 0;
        for (long i = w->begin[0]; i < w->end[0]; i++)
            for (long j = w->begin[1]; j < w->end[1]; j++) {
                INT element = (INT)((i * w->count[1] + j) * w->count[2] + w->begin[2]);
                long offset = ((i * p->size[1] + j) * p->size[2] + w->begin[2]) * p->channels + at;
                for (long k = w->begin[2]; k < w->end[2]; k++, offset += p->channels) {
                    NAME(mask) taken = number == (NAME(mask)){0} + element++;
                    if (!p->first)
                        taken = VECTOR(x + offset) == best;
                    VECTOR(dx + offset) += (NAME(vector))(taken & (NAME(mask))share);
                }
            }
    }
}

static const Lanes NAME(lanes) = {WIDTH, NAME(reduce), NAME(give)};

#undef VECTOR
#undef CHOICE
#undef CHOSEN
#undef FLOAT
#undef INT
#undef NAME
#undef WIDTH
#undef TARGET
