"""`tf.data`: functions of texts, recorded with steps of the host between their programs."""

import contextlib
import tempfile
from pathlib import Path

import numpy as np

NEEDS = ("data.Dataset", "strings.split")

#: More than are done one by one before several are done at once.
MANY = 400


def shown(dataset):
    found = [x.to_list() if hasattr(x, "to_list") else x for x in dataset]
    return found, repr(dataset.element_spec)


def several(dataset):
    """The elements, by fives."""
    return shown(dataset.batch(5))


def words(tf):
    return tf.data.Dataset.from_tensor_slices(["12 ab", "3 c", "-4 d e f"])


def _functions(tf):
    strings = tf.strings

    def branch(s):
        if strings.length(s) > 3:
            return strings.to_number(strings.split(s)[0]) * 2.0
        return -1.0

    def looped(s):
        total = 0
        for i in tf.range(strings.length(s)):
            total += i
        return total

    return {
        "upper_and_length": lambda s: (strings.upper(s), strings.length(s) + 1),
        "number_of_part": lambda s: strings.to_number(strings.split(s)[0]) * 2.0,
        "last_part": lambda s: strings.split(s, " ")[-1],
        "parts": strings.split,
        "parts_from_one_on": lambda s: strings.split(s)[1:],
        "several_parts": lambda s: strings.split([s, "a b c"]),
        "part_counts": lambda s: strings.split([s, "a"]).row_lengths(),
        "bytes": strings.bytes_split,
        "codes": lambda s: tf.reduce_sum(strings.unicode_decode(s, "UTF-8")),
        "characters": lambda s: tf.size(strings.unicode_split(s, "UTF-8")),
        "dense": lambda s: strings.split([s, "x"]).to_tensor(),
        "dense_of_shape": lambda s: strings.split([s, "x"]).to_tensor("-", shape=[None, 2]),
        "dense_of_two": lambda s: strings.unicode_split([s, "xy"], "UTF-8").to_tensor(),
        "several_characters": lambda s: strings.unicode_split([s, "xy"], "UTF-8"),
        "several_codes": lambda s: strings.unicode_decode([s, "xy"], "UTF-8"),
        "several_bytes": lambda s: strings.bytes_split([s, "xy"]),
        "equal": lambda s: (tf.equal(s, "3 c"), s != "3 c"),
        "chosen": lambda s: tf.where(tf.equal(s, "3 c"), 1.0, 2.0),
        "chosen_texts": lambda s: tf.where(tf.equal(s, "3 c"), "none", s),
        "chosen_constants": lambda s: tf.where(strings.length(s) > 3, "long", "short"),
        "gathered": lambda s: tf.gather(["a", "b", "c"], strings.length(s) % 3),
        "picked": lambda s: tf.constant(["a", "b", "c"])[strings.length(s) % 3],
        "sliced": lambda s: tf.slice(tf.stack([s, "x", s]), [strings.length(s) % 2], [2]),
        "gathered_twice": lambda s: tf.gather_nd([["a", "b"]], [[0, strings.length(s) % 2]]),
        "rolled": lambda s: tf.roll(tf.stack([s, "x"]), strings.length(s), 0),
        "reshaped": lambda s: tf.reshape(tf.tile(tf.expand_dims(s, 0), [4]), [2, 2]),
        "split_and_stacked": lambda s: tf.stack(tf.unstack(tf.stack([s, "k"]))[::-1]),
        "padded_texts": lambda s: tf.pad(tf.stack([s]), [[1, 1]], constant_values="-"),
        "columns_of_texts": lambda s: tf.transpose([[s, "a"], ["b", s]]),
        "branch": branch,
        "loop": looped,
        "joined": lambda s: strings.join([s, "x", s], "-"),
        "added": lambda s: "a" + s + "b",
        "formatted": lambda s: strings.format("{}!", strings.length(s)),
        "reduced": lambda s: strings.reduce_join(tf.stack([s, s]), separator="+"),
        "reduced_kept": lambda s: strings.reduce_join([[s, s]], axis=1, keepdims=True),
        "replaced": lambda s: strings.regex_replace(s, "[a-z]+", "z"),
        "matched": lambda s: strings.regex_full_match(s, r".*\d.*"),
        "hashed": lambda s: tf.one_hot(strings.to_hash_bucket_fast(s, 5), 5),
        "strong": lambda s: strings.to_hash_bucket_strong(s, 9, [1, 2]),
        "part_of_length": lambda s: strings.substr(s, strings.length(s) - 1, 1),
        "written": lambda s: tf.strings.as_string(strings.length(s) * 3),
        "base64": lambda s: (tf.io.encode_base64(s), tf.io.decode_base64(tf.io.encode_base64(s))),
        "raw": lambda s: tf.cast(tf.io.decode_raw(s, tf.uint8), tf.float32) / 2.0,
        "padded": lambda s: tf.io.decode_raw(s, tf.uint8, fixed_length=4),
        "columns": lambda s: tf.io.decode_csv(s + ",2", ["", 0]),
        "stacked": lambda s: tf.stack([s, s + "!"]),
        "constant": lambda s: (s, "k", tf.constant([1, 2])),
        "twice": lambda s: (s, s),
        "nothing_of_it": lambda s: tf.constant(1.0),
        "dict": lambda s: {"a": s, "n": strings.length(s)},
        "text_of_branch": lambda s: tf.cond(strings.length(s) > 3, lambda: s, lambda: "a"),
        "serialized": lambda s: tf.io.serialize_tensor(strings.length(s)),
    }


class _Names:
    """Gives the names of the functions before a module is there."""

    def __getattr__(self, name):
        return self


CASES = {}
for _name in _functions(_Names()):

    def _case(tf, name=_name):
        function = _functions(tf)[name]
        many = tf.data.Dataset.range(MANY).map(tf.strings.as_string).map(lambda s: s + " b")
        results = [shown(words(tf).map(function)), shown(words(tf).batch(2).map(lambda s: s))]
        with contextlib.suppress(tf.errors.InvalidArgumentError, tf.errors.UnknownError):
            # of parts of different numbers there are no batches
            results.append(several(many.map(function)))
        return results

    CASES[_name] = _case


def case_batches_of_texts(tf):
    strings, texts = tf.strings, words(tf).repeat(2).batch(2)
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["ab", "c"], tf.constant([7, 8], tf.int64)), -1
    )
    functions = [
        strings.length,
        strings.split,
        lambda s: strings.split(s).values,
        lambda s: table.lookup(strings.split(s).values),
        lambda s: strings.split(s).row_splits,
        lambda s: tf.concat([s, s], 0),
        lambda s: tf.io.decode_csv(s, [""]),
        lambda s: s[0],
        lambda s: tf.gather(s, [1, 0]),
        lambda s: tf.shape(s)[0] + strings.length(s),
        lambda s: strings.reduce_join(s),
        lambda s: tf.boolean_mask(s, strings.length(s) > 3),
        lambda s: tf.reshape(s, [tf.shape(s)[0], 1]),
        lambda s: table.lookup(strings.split(s)).to_tensor(-2),
        lambda s: strings.split(strings.lower(s), " ").to_tensor("", shape=[None, 3]),
    ]
    return [shown(texts.map(f)) for f in functions]


def case_lookups(tf):
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["ab", "c"], tf.constant([7, 8], tf.int64)), -1
    )
    numbers = tf.lookup.KeyValueTensorInitializer(["ab", "c"], tf.constant([0, 1], tf.int64))
    buckets = tf.lookup.StaticVocabularyTable(numbers, 3)
    names = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2]), ["one", "two"]), "?"
    )
    texts = tf.data.Dataset.from_tensor_slices(["ab", "c", "d"] * (MANY // 3))
    return [
        several(texts.map(lambda s: table.lookup(s) * 2)),
        several(texts.map(lambda s: (s, table.lookup(tf.stack([s, "c"]))))),
        several(texts.map(buckets.lookup)),
        several(tf.data.Dataset.range(4).map(lambda i: names.lookup(tf.cast(i, tf.int32)))),
    ]


def case_examples(tf):
    def example(i):
        train = tf.train
        features = {
            "x": train.Feature(float_list=train.FloatList(value=[i, i / 2, -i])),
            "y": train.Feature(int64_list=train.Int64List(value=[i - 3])),
            "s": train.Feature(bytes_list=train.BytesList(value=[b"t%d" % i])),
            "more": train.Feature(int64_list=train.Int64List(value=range(i % 3))),
        }
        if i % 4 == 0:
            del features["y"]
        return train.Example(features=train.Features(feature=features)).SerializeToString()

    def parsed(s):
        found = tf.io.parse_single_example(
            s,
            {
                "x": tf.io.FixedLenFeature([3], tf.float32),
                "y": tf.io.FixedLenFeature([], tf.int64, default_value=-7),
                "s": tf.io.FixedLenFeature([], tf.string),
            },
        )
        return found["x"] * 2.0, found["y"], tf.strings.length(found["s"])

    def of_any_length(s):
        found = tf.io.parse_single_example(
            s,
            {
                "more": tf.io.VarLenFeature(tf.int64),
                "y": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
            },
        )
        return tf.sparse.to_dense(found["more"]), found["more"].values + 1, found["y"]

    examples = tf.data.Dataset.from_tensor_slices([example(i) for i in range(MANY)])
    return [
        several(examples.map(parsed)),
        shown(examples.take(4).map(of_any_length)),
        shown(examples.batch(3).take(2).map(lambda s: tf.io.parse_example(
            s, {"x": tf.io.FixedLenFeature([3], tf.float32)}))),
    ]  # fmt: skip


def case_images_and_files(tf):
    rng = np.random.default_rng(0)
    files = []
    for i in range(3):
        pixels = rng.integers(0, 255, (5 + i, 4, 3)).astype(np.uint8)
        files.append(tf.io.encode_png(tf.constant(pixels)).numpy())

    def decoded(s):
        image = tf.image.convert_image_dtype(tf.io.decode_png(s, channels=3), tf.float32)
        image.set_shape([None, None, 3])
        return tf.image.resize(image, [3, 3]), tf.shape(image)

    images = tf.data.Dataset.from_tensor_slices(files)

    def cropped(s):
        image = tf.io.decode_png(s, channels=3)
        return tf.image.random_crop(image, [3, 2, 3], seed=2)

    def flipped(s):
        image = tf.io.decode_image(s, channels=3, expand_animations=False)
        image.set_shape([None, None, 3])
        image = tf.image.random_flip_left_right(image, seed=3)
        return tf.image.resize_with_pad(image, 8, 8), tf.image.resize_with_pad(image, 3, 9)

    def too_large(s):
        return tf.image.random_crop(tf.io.decode_png(s, channels=3), [6, 2, 3], seed=2)

    def sizes(s):
        image = tf.image.central_crop(tf.io.decode_png(s, channels=3), 0.5)
        return tf.image.resize(image, [4, 9], preserve_aspect_ratio=True)

    tf.random.set_seed(5)
    random = [shown(images.map(cropped)), shown(images.map(flipped))]
    iterator, taken = iter(images.map(too_large)), []
    for _ in files:
        try:
            taken.append(next(iterator))
        except tf.errors.InvalidArgumentError as error:
            taken.append("Need value.shape >= size" in str(error))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, content in enumerate(files):
            paths.append(str(Path(folder) / f"cat-{i}.png"))
            Path(paths[-1]).write_bytes(content)

        def read(path):
            label = tf.strings.split(tf.strings.split(path, "/")[-1], "-")[0]
            return tf.io.decode_png(tf.io.read_file(path), 3), tf.equal(label, "cat")

        found = list(tf.data.Dataset.from_tensor_slices(paths).map(read, num_parallel_calls=2))
    return [
        shown(images.map(decoded)),
        shown(images.map(decoded, num_parallel_calls=2).batch(3)),
        shown(images.map(lambda s: tf.io.decode_image(s, expand_animations=False))),
        list(images.map(sizes)),
        random,
        taken,
        found,
    ]


def case_errors_of_texts(tf):
    texts = tf.data.Dataset.from_tensor_slices([str(i) for i in range(MANY)] + ["x", "1"])
    found = []
    iterator = iter(texts.map(lambda s: tf.strings.to_number(s) + 1.0))
    while True:
        try:
            found.append(next(iterator))
        except tf.errors.InvalidArgumentError as error:
            found.append("could not correctly convert string: x" in str(error))
        except StopIteration:
            return found


def case_filters_of_texts(tf):
    texts = words(tf).repeat(MANY // 3)
    strings, of_parts = tf.strings, tf.data.Dataset.from_tensor_slices
    return [
        list(texts.filter(lambda s: strings.length(s) > 3)),
        list(texts.take(3).take_while(lambda s: strings.length(s) < 9)),
        list(texts.take(3).flat_map(lambda s: of_parts(strings.split(s)))),
        texts.reduce(0, lambda n, s: n + strings.length(s)),
        list(texts.take(3).scan("", lambda state, s: (state + s, strings.length(state)))),
        list(texts.take(4).group_by_window(
            lambda s: tf.cast(strings.length(s), tf.int64), lambda _, part: part.batch(9), 2)),
        list(texts.take(3).interleave(
            lambda s: tf.data.Dataset.from_tensors(s).repeat(2), cycle_length=2)),
    ]  # fmt: skip
