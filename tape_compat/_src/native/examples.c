/* Serialized examples: messages of protocol buffers, as data/io/wire.py reads them. */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum { TEXTS = 1, FLOATS = 2, INTEGERS = 3 };

/* A part of a message, and how far it was read. */
typedef struct {
    const unsigned char *at, *end;
} Message;

typedef struct {
    uint64_t number;
    int kind;
    uint64_t value; /* of a VARINT */
    Message held;   /* of the others */
} Field;

static int malformed(const char *why)
{
    PyErr_SetString(PyExc_ValueError, why);
    return -1;
}

static int read_varint(Message *from, uint64_t *number)
{
    *number = 0;
    for (int shift = 0; from->at < from->end; shift += 7) {
        uint64_t byte = *from->at++;
        if (shift > 63)
            return malformed("an integer has more than 64 bits");
        *number |= (byte & 127) << shift;
        if (byte < 128)
            return 0;
    }
    return malformed("the message ends within a field");
}

/* The next field: 1, 0 at the end, -1 with an error set. */
static int next_field(Message *from, Field *field)
{
    uint64_t key, size = 8;
    if (from->at == from->end)
        return 0;
    if (read_varint(from, &key))
        return -1;
    field->number = key >> 3;
    field->kind = (int)(key & 7);
    if (field->kind == VARINT)
        return read_varint(from, &field->value) ? -1 : 1;
    if (field->kind == FIXED32)
        size = 4;
    else if (field->kind == BYTES && read_varint(from, &size))
        return -1;
    else if (field->kind != BYTES && field->kind != FIXED64)
        return malformed("there is no such kind of fields");
    if (!field->number || size > (uint64_t)(from->end - from->at))
        return malformed("a field ends after the message");
    field->held = (Message){from->at, from->at + size};
    from->at += size;
    return 1;
}

/* The next field of these numbers, of a kind other than VARINT; the others are passed over. */
static int next_part(Message *from, uint64_t first, uint64_t last, Field *field)
{
    int found;
    while ((found = next_field(from, field)) > 0 &&
           (field->number < first || field->number > last))
        ;
    if (found > 0 && field->kind == VARINT)
        return malformed("an integer stands where a message is wanted");
    return found;
}

static PyObject *texts_in(Message list)
{
    PyObject *out = PyList_New(0);
    Field field;
    int found;
    while (out && (found = next_part(&list, 1, 1, &field)) != 0) {
        PyObject *text = found < 0 ? NULL
                                   : PyBytes_FromStringAndSize((const char *)field.held.at,
                                                               field.held.end - field.held.at);
        if (!text || PyList_Append(out, text))
            Py_CLEAR(out);
        Py_XDECREF(text);
    }
    return out;
}

/* Floats as they stand, side by side. */
static PyObject *floats_in(Message list)
{
    PyObject *out = PyBytes_FromStringAndSize(NULL, list.end - list.at);
    char *to = out ? PyBytes_AS_STRING(out) : NULL;
    Field field;
    int found;
    while (out && (found = next_part(&list, 1, 1, &field)) != 0) {
        size_t size = found < 0 ? 0 : (size_t)(field.held.end - field.held.at);
        if (found > 0 && size % 4)
            found = malformed("floats of 4 bytes each do not fill a field");
        if (found < 0) {
            Py_CLEAR(out);
            break;
        }
        memcpy(to, field.held.at, size);
        to += size;
    }
    if (out)
        _PyBytes_Resize(&out, to - PyBytes_AS_STRING(out));
    return out;
}

/* Integers of 8 bytes each, side by side. */
static PyObject *integers_in(Message list)
{
    /* each takes one byte or more of the message */
    PyObject *out = PyBytes_FromStringAndSize(NULL, 8 * (list.end - list.at));
    char *to = out ? PyBytes_AS_STRING(out) : NULL;
    Field field;
    int found;
    while (out && (found = next_field(&list, &field)) != 0) {
        if (found > 0 && field.number != 1)
            continue;
        if (found > 0 && field.kind == VARINT) {
            memcpy(to, &field.value, 8);
            to += 8;
            continue;
        }
        if (found > 0 && field.kind != BYTES)
            found = malformed("integers are of another kind");
        while (found > 0 && field.held.at < field.held.end) {
            if (read_varint(&field.held, &field.value)) {
                found = -1;
                break;
            }
            memcpy(to, &field.value, 8);
            to += 8;
        }
        if (found < 0) {
            Py_CLEAR(out);
            break;
        }
    }
    if (out)
        _PyBytes_Resize(&out, to - PyBytes_AS_STRING(out));
    return out;
}

/* (kind, values) of a feature. */
static PyObject *values_in(Message feature)
{
    PyObject *values = Py_NewRef(empty);
    uint64_t kind = 0;
    Field field;
    int found;
    while (values && (found = next_part(&feature, TEXTS, INTEGERS, &field)) != 0) {
        kind = field.number;
        Py_XSETREF(values, found < 0         ? NULL
                           : kind == TEXTS  ? texts_in(field.held)
                           : kind == FLOATS ? floats_in(field.held)
                                            : integers_in(field.held));
    }
    return values ? Py_BuildValue("(KN)", (unsigned long long)kind, values) : NULL;
}

/* Put the feature of an entry under its name. */
static int add_entry(PyObject *out, Message entry)
{
    Message name = {entry.at, entry.at};
    PyObject *values = Py_BuildValue("(iO)", 0, empty);
    Field field;
    int found;
    while (values && (found = next_part(&entry, 1, 2, &field)) != 0) {
        if (found < 0)
            Py_CLEAR(values);
        else if (field.number == 1)
            name = field.held;
        else
            Py_XSETREF(values, values_in(field.held));
    }
    PyObject *key = values ? PyUnicode_DecodeUTF8((const char *)name.at, name.end - name.at, NULL)
                           : NULL;
    int failed = !key || PyDict_SetItem(out, key, values);
    DROP(key, values);
    return failed ? -1 : 0;
}

/* features_of(message): the features of an example by name, each (kind, values): a list of bytes,
   or the bytes of floats or of integers of 64 bits. */
static PyObject *native_features_of(PyObject *module, PyObject *message)
{
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(message, &data, &size))
        return NULL;
    Message example = {(unsigned char *)data, (unsigned char *)data + size};
    PyObject *out = PyDict_New();
    Field features, entry;
    int found, inner;
    while (out && (found = next_part(&example, 1, 1, &features)) != 0) {
        while (found > 0 && (inner = next_part(&features.held, 1, 1, &entry)) != 0)
            found = inner < 0 || add_entry(out, entry.held) ? -1 : 1;
        if (found < 0)
            Py_CLEAR(out);
    }
    return out;
}
