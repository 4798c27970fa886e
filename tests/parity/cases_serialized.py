"""tf.io: compressed texts, sparse tensors as messages, and the options of SavedModels."""

import gzip
import tempfile
import zlib

import numpy as np

from .harness import attempt, attempts


def case_decode_compressed(tf):
    decode, whole = tf.io.decode_compressed, zlib.compress(b"abc" * 20)
    return [
        decode([zlib.compress(b"abc"), zlib.compress(b"")], "ZLIB"),
        decode(gzip.compress(b"abc", mtime=0), "GZIP"),
        decode([[b"abc"]]),
        decode(whole[:-6], "ZLIB"),
        decode(whole + b"zz", compression_type="ZLIB"),
        attempt(lambda: decode(b"abc", "ZLIB"), words=0),
        attempt(lambda: decode(b"abc", "GZIP"), words=0),
        attempt(lambda: decode(b"abc", "X"), words=0),
        attempt(lambda: decode(1), words=0),
    ]


def case_serialize_sparse(tf):
    sparse = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0], [2, 3])
    empty = tf.SparseTensor(np.zeros([0, 2], np.int64), tf.zeros([0]), [2, 3])
    return [
        tf.io.serialize_sparse(sparse),
        tf.io.serialize_sparse(tf.sparse.from_dense(["", "a"])),
        tf.io.serialize_many_sparse(sparse),
        tf.io.serialize_many_sparse(empty),
        attempt(lambda: tf.io.serialize_sparse([1]), words=0),
        attempt(lambda: tf.io.serialize_many_sparse(tf.sparse.from_dense([1.0])), words=0),
    ]


def case_deserialize_many_sparse(tf):
    sparse = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0], [2, 3])
    wide = tf.sparse.from_dense([[0.0, 0.0, 0.0, 5.0]])
    many, decode = tf.io.serialize_many_sparse(sparse), tf.io.deserialize_many_sparse
    both = tf.stack([tf.io.serialize_sparse(sparse), tf.io.serialize_sparse(wide)])
    return [
        decode(many, tf.float32),
        decode(both, tf.float32),
        decode(many, tf.float32, rank=2),
        decode([tf.io.serialize_sparse(tf.sparse.from_dense(["", "ab", "c"]))], tf.string),
        attempt(lambda: decode(many, tf.float32, rank=1), words=0),
        attempt(lambda: decode(many, tf.int32), words=0),
        attempt(lambda: decode([["a", "b", "c"]], tf.int32), words=0),
        attempt(lambda: decode(many[:, :2], tf.float32), words=0),
    ]


def _saved_with_alias(tf, functions):
    """Save a module, of whose function something has another name."""
    made = tf.Module()
    made.f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([2])], autograph=False)
    options = tf.saved_model.SaveOptions(function_aliases={"other": functions(made.f)})
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(made, folder, options=options)
        return tf.saved_model.contains_saved_model(folder)


def case_saved_model_options(tf):
    def options(**given):
        return lambda tf: [] if tf.saved_model.SaveOptions(**given) else None

    return attempts(
        tf,
        {
            "text": options(namespace_whitelist="A"),
            "numbers": options(namespace_whitelist=[3]),
            "images": options(experimental_image_format=True),
            "policy": options(experimental_variable_policy="x"),
            "upper": options(experimental_variable_policy="SAVE_VARIABLE_DEVICES"),
            "concrete": lambda tf: _saved_with_alias(tf, lambda f: f.get_concrete_function()),
            "listed": lambda tf: _saved_with_alias(tf, lambda f: [f.get_concrete_function()]),
            "number": lambda tf: _saved_with_alias(tf, lambda f: 3),
        },
    )
