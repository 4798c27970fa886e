"""Tables: made of tensors and files, looked up, changed."""

import os
import pathlib
import tempfile

from .harness import attempt

#: Expressions of L, `tf.lookup`, of files, and of functions that make a table.
PROGRAMS = [
    'mk().lookup(tf.constant(["a","z"]))',
    'mk()[tf.constant("a")]',
    'mk().lookup("a")',
    'mk().lookup(["b"])',
    "mk().lookup(tf.constant([1]))",
    'mk().lookup(tf.ragged.constant([["a"],["b","q"]]))',
    'mk().lookup(tf.SparseTensor([[0,0]],["b"],[1,2]))',
    "mk().size()",
    "sorted(mk().export()[0].numpy().tolist())",
    "(mk().key_dtype,mk().value_dtype,mk().default_value)",
    "ti().lookup(tf.constant([5,7],tf.int64))",
    "ti().lookup(tf.constant([5,7]))",
    'L.StaticHashTable(L.KeyValueTensorInitializer(["a","a"],[1,2]),0).lookup(tf.constant(["a"]))',
    'L.StaticHashTable(L.KeyValueTensorInitializer(["a","a"],[1,1]),0).lookup(tf.constant(["a"]))',
    'L.StaticHashTable(L.KeyValueTensorInitializer(["a","b"],[1]),0)',
    'L.StaticHashTable(L.KeyValueTensorInitializer(["a","b"],[1,2]),"x")',
    "L.StaticHashTable(L.KeyValueTensorInitializer([1,2],[1,2]),0).lookup(tf.constant([1]))",
    'L.KeyValueTensorInitializer(["a"],[1],value_dtype=tf.int64).value_dtype',
    "L.KeyValueTensorInitializer([1,2],[1,2],key_dtype=tf.int64,value_dtype=tf.int64).key_dtype",
    'L.StaticHashTable(L.TextFileInitializer(vocab,tf.string,L.TextFileIndex.WHOLE_LINE,tf.int64,L.TextFileIndex.LINE_NUMBER),-1).lookup(tf.constant(["c","x"]))',
    'L.StaticHashTable(L.TextFileInitializer(vocab,tf.int64,L.TextFileIndex.LINE_NUMBER,tf.string,L.TextFileIndex.WHOLE_LINE),"?").lookup(tf.constant([1,9],tf.int64))',
    'L.StaticHashTable(L.TextFileInitializer(kv,tf.string,0,tf.int64,1),-1).lookup(tf.constant(["b"]))',
    "L.StaticHashTable(L.TextFileInitializer(none,tf.string,0,tf.int64,1),-1)",
    'L.StaticHashTable(L.TextFileInitializer(tf.saved_model.Asset(vocab),tf.string,-2,tf.int64,-1),-1).lookup(tf.constant(["c"]))',
    'L.StaticHashTable(L.TextFileInitializer(pathlib.Path(vocab),tf.string,-2,tf.int64,-1),-1).lookup(tf.constant(["c"]))',
    "L.TextFileInitializer(5,tf.string,-2,tf.int64,-1)",
    "tf.strings.length(tf.io.read_file(tf.saved_model.Asset(vocab)))",
    'tf.strings.regex_replace(tf.stack([tf.saved_model.Asset(vocab),"b"]),".*/","")',
    "tf.convert_to_tensor(tf.saved_model.Asset(vocab),tf.float32).dtype",
    "L.StaticHashTable(L.TextFileInitializer(kv,tf.string,0,tf.int64,5),-1)",
    'L.StaticHashTable(L.TextFileInitializer(vocab,tf.string,-2,tf.int64,-1,value_index_offset=2),-1).lookup(tf.constant(["a"]))',
    "L.StaticHashTable(L.TextFileInitializer(vocab,tf.string,-2,tf.int64,-1,vocab_size=2),-1).size()",
    "L.StaticHashTable(L.TextFileInitializer(vocab,tf.string,-2,tf.int64,-1,vocab_size=5),-1).size()",
    "L.TextFileInitializer(vocab,tf.string,-2,tf.string,-1)",
    "L.TextFileInitializer(vocab,tf.string,-5,tf.int64,-1)",
    'L.StaticVocabularyTable(L.KeyValueTensorInitializer(["a","b"],tf.constant([0,1],tf.int64)),3).lookup(tf.constant(["a","q","zz","b"]))',
    'L.StaticVocabularyTable(L.KeyValueTensorInitializer(["a","b"],tf.constant([0,1],tf.int64)),3).size()',
    'L.StaticVocabularyTable(None,3).lookup(tf.constant(["a","q"]))',
    'L.StaticVocabularyTable(L.KeyValueTensorInitializer(["a","b"],tf.constant([0,1],tf.int64)),0)',
    'L.StaticVocabularyTable(L.KeyValueTensorInitializer(["a","b"],[0,1]),1)',
    "L.StaticVocabularyTable(L.KeyValueTensorInitializer(tf.constant([5,6],tf.int64),tf.constant([0,1],tf.int64)),2).lookup(tf.constant([5,77,6],tf.int64))",
    'L.StaticVocabularyTable(L.KeyValueTensorInitializer(["a","b"],tf.constant([0,1],tf.int64)),2).lookup(tf.ragged.constant([["a"],["c","b"]]))',
    'L.StaticVocabularyTable(L.KeyValueTensorInitializer(["a","b"],tf.constant([0,1],tf.int64)),1).lookup(tf.constant([1],tf.int64))',
    'mut().lookup(tf.constant(["a","q"]))',
    'mut().lookup(tf.constant(["a","q"]),dynamic_default_values=tf.constant([7,8],tf.int64))',
    "mut().size()",
    'mut().remove(tf.constant(["a"]))',
    '(lambda m:(m.remove(tf.constant(["a"])),m.size()))(mut())[1]',
    '(lambda m:(m.insert(tf.constant(["a"]),tf.constant([9],tf.int64)),m.lookup(tf.constant("a"))))(mut())[1]',  # noqa: E501
    'mut().insert(tf.constant(["a"]),tf.constant([1]))',
    'mut().insert(tf.constant(["a"]),[1])',
    "mut().insert(tf.constant([1]),[1])",
    'mut().insert(["a","b"],[1])',
    "mut().lookup(tf.constant([1]))",
    "sorted(mut().export()[0].numpy().tolist())",
    'mut()[tf.constant(["b"])]',
    "mv().lookup(tf.constant([2,5],tf.int64))",
    "mv().lookup(tf.constant([[2],[1]],tf.int64))",
    "mv().export()[1].shape",
    'L.experimental.MutableHashTable(tf.string,tf.int64,"x")',
    "den().lookup(tf.constant([1,5],tf.int64))",
    "den().size()",
    "den().insert(tf.constant([0],tf.int64),tf.constant([1],tf.int64))",
    "den().lookup(tf.constant([0],tf.int64))",
    "(lambda m:(m.erase(tf.constant([1],tf.int64)),m.size()))(den())[1]",
    "(lambda m:(m.remove(tf.constant([1],tf.int64)),m.lookup(tf.constant([1],tf.int64))))(den())[1]",  # noqa: E501
    "(lambda m:(m.insert_or_assign(tf.constant([1],tf.int64),tf.constant([5],tf.int64)),m.lookup(tf.constant([1],tf.int64))))(den())[1]",  # noqa: E501
    "den().export()[0].dtype",
    '(lambda m: tf.function(lambda x: m.lookup(x))(tf.constant(["a","b","c"])))(mk())',
    "(lambda m: tf.function(lambda x: m.lookup(x))(tf.constant([2,5],tf.int64)))(mv())",
    "isinstance(mk(),tf.Module)",
    "mk().name",
]


def parts(x):
    if isinstance(x, (list, tuple)):
        return [parts(y) for y in x]
    if hasattr(x, "dense_shape"):
        return x.indices, x.values, x.dense_shape
    return (parts(x.values), x.row_splits) if hasattr(x, "row_splits") else x


def _names(tf, folder):
    L = tf.lookup
    int64 = tf.int64
    vocab, kv = (os.path.join(folder, name) for name in ("vocab.txt", "kv.txt"))
    with open(vocab, "w") as file:
        file.write("a\nb\nc\n")
    with open(kv, "w") as file:
        file.write("a\t10\nb\t20\n")

    def mk():
        init = L.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], int64))
        return L.StaticHashTable(init, -1)

    def ti():
        init = L.KeyValueTensorInitializer(tf.constant([5, 6], int64), ["x", "y"])
        return L.StaticHashTable(init, "?")

    def mut():
        table = L.experimental.MutableHashTable(tf.string, int64, -1)
        table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], int64))
        return table

    def mv():
        table = L.experimental.MutableHashTable(int64, tf.float32, [0.0, 0.0])
        table.insert(tf.constant([1, 2], int64), [[1.0, 2.0], [3.0, 4.0]])
        return table

    def den():
        table = L.experimental.DenseHashTable(int64, int64, -1, empty_key=0, deleted_key=-2)
        table.insert(tf.constant([1, 2], int64), tf.constant([10, 20], int64))
        return table

    names = {"tf": tf, "L": L, "pathlib": pathlib, "vocab": vocab, "kv": kv, "none": "/none.txt"}
    return names | {"mk": mk, "ti": ti, "mut": mut, "mv": mv, "den": den}


def _case(program):
    def run(tf):
        with tempfile.TemporaryDirectory() as folder:
            return attempt(lambda: parts(eval(program, _names(tf, folder))), words=3)

    return run


CASES = {program: _case(program) for program in PROGRAMS}


def case_function(tf):
    init = tf.lookup.KeyValueTensorInitializer(
        tf.constant([5, 3, 9], tf.int64), tf.constant([1.0, 2.0, 3.0])
    )
    table = tf.lookup.StaticHashTable(init, -1.0)
    look_up = tf.function(lambda x: table.lookup(x * 3))
    return [look_up(tf.constant(x, tf.int64)) for x in ([[1, 2, 3]], [[3, 3, 0]])]


def case_functions_of_tables_that_change(tf):
    """Recorded, each thing that is done with a table in its turn."""
    kinds = tf.int64, tf.float32
    words = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    pairs = tf.lookup.experimental.DenseHashTable(*kinds, [0.0, 0.0], empty_key=-1, deleted_key=-2)
    runs = []

    @tf.function
    def count(x, keys):
        runs.append(0)
        before = words.lookup(x)
        words.insert(x, before + 1)
        words.insert(tf.constant(["known"]), tf.constant([7], tf.int64))
        words.remove(tf.constant(["gone"]))
        for i in tf.range(2):
            pairs.insert(
                keys + tf.cast(i, tf.int64), tf.cast(tf.stack([keys, keys], 1), tf.float32)
            )
        if words.size() > 3:
            words.remove(x[:1])
        rest = words.lookup(x, before * 0 - 5)
        return before, rest, words.size(), tf.reduce_sum(words.export()[1]), pairs.lookup(keys + 1)

    steps = (["a", "gone"], [1, 2]), (["b", "a", "known"], [2, 3, 4]), (["c"], [8])
    found = [count(tf.constant(x), tf.constant(keys, tf.int64)) for x, keys in steps]
    fails = lambda: count(tf.constant(["a"]), tf.constant([-1], tf.int64))
    return [found, len(runs) < 5, attempt(fails, words=0), words.size(), pairs.size()]


def case_what_tables_refuse(tf):
    lookup = tf.lookup
    known = lookup.KeyValueTensorInitializer

    def vocabulary(keys, dtype=None):
        values = tf.range(len(keys), dtype=tf.int64)
        init = known(keys, values) if len(keys) else None
        return lookup.StaticVocabularyTable(init, 3, lookup_key_dtype=dtype).key_dtype

    def dense(buckets):
        return lookup.experimental.DenseHashTable(
            tf.int64, tf.int64, -1, empty_key=-2, deleted_key=-3, initial_num_buckets=buckets
        ).size()

    long = tf.constant([10, 20], tf.int64)
    functions = [
        lambda: vocabulary(tf.constant([10, 20])),
        lambda: vocabulary(tf.constant([1.5])),
        lambda: vocabulary(["a"], tf.int64),
        lambda: vocabulary(long, tf.string),
        lambda: vocabulary(long, tf.int32),
        lambda: vocabulary([], tf.int64),
        lambda: lookup.TextFileInitializer("", tf.string, 0, tf.int64, 1),
        *[lambda n=n: dense(n) for n in (None, 3, 4, 6, 0)],
    ]
    return [attempt(function) for function in functions]


def case_keys_that_are_vectors(tf):
    kind, whole = tf.lookup.experimental.DenseHashTable, tf.int64

    def numbers(x):
        return tf.constant(x, whole)

    table = kind(whole, tf.float32, [-1.0, -2.0], [-1, -1], [-2, -2], initial_num_buckets=4)
    table.insert(numbers([[0, 1], [1, 2], [1, 3]]), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    table.insert(numbers([[0, 1]]), [[7.0, 8.0]])
    table.erase(numbers([[1, 2], [9, 9]]))
    texts = kind(tf.string, whole, -1, ["", ""], ["x", "x"])
    texts.insert([["a", "b"], ["c", "d"], ["", "d"]], numbers([1, 2, 3]))

    @tf.function
    def counted(key):
        texts.insert(key, texts.lookup(key) + 1)
        return texts.lookup(key), texts.size()

    refused = [
        lambda: kind(whole, whole, -1, [-1, -1], -2) and None,
        lambda: kind(whole, whole, -1, [-1, -1], [-1, -1]) and None,
        lambda: kind(whole, whole, -1, [[-1, -1]], [[-2, -2]]) and None,
        lambda: table.lookup(numbers([1])),
        lambda: table.lookup(numbers([[1, 2, 3]])),
        lambda: table.insert(numbers([[-1, -1]]), [[1.0, 1.0]]),
        lambda: table.erase(numbers([[-2, -2]])),
        lambda: table.insert(numbers([[1, 2]]), [1.0, 2.0]),
    ]
    return (
        table.lookup(numbers([[[0, 1]], [[1, 2]], [[1, 3]]])),
        table[numbers([[1, 3]])],
        table.size(),
        texts.lookup([["a", "b"], ["", "d"], ["b", "a"]]),
        counted(tf.constant([["a", "b"], ["e", "f"]])),
        [attempt(each) for each in refused],
    )
