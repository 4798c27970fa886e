/* Pixels between pixels. */

enum { IMAGES, FOUND, ABOVE, BELOW, DOWN, LEFT, RIGHT, ACROSS, RESAMPLED };

/* A row of an image between its pixels `left` and `right`; quicker where it is known how many
   channels there are. */
#define BETWEEN(Kind)                                                                              \
    static inline void each_##Kind(const Kind *from, float *to, const int32_t *left,               \
                                   const int32_t *right, const float *across, Py_ssize_t width,    \
                                   Py_ssize_t channels)                                            \
    {                                                                                              \
        for (Py_ssize_t j = 0; j < width; j++, to += channels) {                                   \
            const Kind *one = from + left[j] * channels, *other = from + right[j] * channels;      \
            const float share = across[j];                                                         \
            for (Py_ssize_t k = 0; k < channels; k++) {                                            \
                const float first = (float)one[k];                                                 \
                to[k] = first + ((float)other[k] - first) * share;                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void between_##Kind(const Kind *from, float *to, const int32_t *left,                   \
                               const int32_t *right, const float *across, Py_ssize_t width,        \
                               Py_ssize_t channels)                                                \
    {                                                                                              \
        if (channels == 3)                                                                         \
            each_##Kind(from, to, left, right, across, width, 3);                                  \
        else if (channels == 1)                                                                    \
            each_##Kind(from, to, left, right, across, width, 1);                                  \
        else                                                                                       \
            each_##Kind(from, to, left, right, across, width, channels);                           \
    }
typedef uint8_t byte;
BETWEEN(byte)
BETWEEN(float)

/* One image. `rows`: room for two resampled rows, of which `places` are. */
static void resample_image(const char *image, float *found, const Py_buffer *views, float *rows)
{
    const Py_ssize_t *old = views[IMAGES].shape, *new = views[FOUND].shape;
    const Py_ssize_t width = new[2], channels = old[3], size = width * channels;
    const Py_ssize_t stride = old[2] * channels * views[IMAGES].itemsize;
    const int32_t *wanted[2] = {views[ABOVE].buf, views[BELOW].buf};
    const int32_t *left = views[LEFT].buf, *right = views[RIGHT].buf;
    const float *down = views[DOWN].buf, *across = views[ACROSS].buf;
    Py_ssize_t places[2] = {-1, -1};
    float *made[2] = {rows, rows + size};
    for (Py_ssize_t i = 0; i < new[1]; i++, found += size) {
        if (wanted[0][i] == places[1]) { /* the row below is the next one above */
            float *row = made[0];
            made[0] = made[1], made[1] = row;
            places[1] = places[0], places[0] = wanted[0][i];
        }
        for (int k = 0; k < 2; k++) {
            if (places[k] == wanted[k][i])
                continue;
            places[k] = wanted[k][i];
            if (k && places[1] == places[0])
                memcpy(made[1], made[0], size * sizeof(float));
            else if (views[IMAGES].itemsize == 1)
                between_byte((const byte *)(image + places[k] * stride), made[k], left, right,
                             across, width, channels);
            else
                between_float((const float *)(image + places[k] * stride), made[k], left, right,
                              across, width, channels);
        }
        const float *first = made[0], *second = made[1], share = down[i];
        for (Py_ssize_t j = 0; j < size; j++)
            found[j] = first[j] + (second[j] - first[j]) * share;
    }
}

static int all_below(const Py_buffer *places, Py_ssize_t end)
{
    const int32_t *at = places->buf;
    for (Py_ssize_t i = 0; i < places->shape[0]; i++)
        if (at[i] < 0 || at[i] >= end)
            return 0;
    return 1;
}

/* Whether the arrays fit together, and lie inside each other. */
static int can_resample(const Py_buffer *views)
{
    const Py_buffer *images = &views[IMAGES], *found = &views[FOUND];
    if (images->ndim != 4 || found->ndim != 4 || found->itemsize != 4 ||
        (images->itemsize != 1 && images->itemsize != 4) || images->shape[0] != found->shape[0] ||
        images->shape[3] != found->shape[3])
        return 0;
    for (int i = ABOVE; i < RESAMPLED; i++)
        if (views[i].ndim != 1 || views[i].itemsize != 4 ||
            views[i].shape[0] != found->shape[i < LEFT ? 1 : 2])
            return 0;
    return all_below(&views[ABOVE], images->shape[1]) &&
           all_below(&views[BELOW], images->shape[1]) &&
           all_below(&views[LEFT], images->shape[2]) && all_below(&views[RIGHT], images->shape[2]);
}

/* resample(images, found, above, below, down, left, right, across) */
static PyObject *native_resample(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    Py_buffer views[RESAMPLED];
    PyObject *result = NULL;
    int count = 0;
    if (n != RESAMPLED)
        return refuse("resample(images, found, above, below, down, left, right, across)");
    for (; count < RESAMPLED; count++)
        if (PyObject_GetBuffer(args[count], &views[count],
                               count == FOUND ? PyBUF_CONTIG : PyBUF_CONTIG_RO))
            goto end;
    if (!can_resample(views)) {
        PyErr_SetString(PyExc_ValueError, "resample: arrays that do not fit together");
        goto end;
    }
    const Py_ssize_t *old = views[IMAGES].shape, *new = views[FOUND].shape;
    float *rows = PyMem_RawMalloc(2 * new[2] * new[3] * sizeof(float) + 1);
    if (!rows) {
        PyErr_NoMemory();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < old[0]; i++)
        resample_image((char *)views[IMAGES].buf + i * (views[IMAGES].len / old[0]),
                       (float *)views[FOUND].buf + i * new[1] * new[2] * new[3], views, rows);
    Py_END_ALLOW_THREADS
    PyMem_RawFree(rows);
    result = Py_NewRef(Py_None);
end:
    while (count--)
        PyBuffer_Release(&views[count]);
    return result;
}
