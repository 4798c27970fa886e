"""Event files: what is written, record for record, for the same calls."""

import os
import re
import tempfile

import numpy as np

from .harness import attempt

NEEDS = ("summary.write",)


def events(tf, folder):
    """The records of the files of a folder, each without its time, by the endings of the names."""
    found = {}
    for name in sorted(os.listdir(folder)):
        records = tf.data.TFRecordDataset(os.path.join(folder, name)).as_numpy_iterator()
        found[re.sub(r".*\.\d+\.\d+", "", name)] = [record[9:] for record in records]
    return found


def written(tf, program, *args, **settings):
    """What a program writes, and what it gives."""
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder, **settings)
        with writer.as_default():
            result = program(*args)
        writer.close()
        return result, events(tf, folder)


def case_dtypes(tf):
    values = {
        "float": np.float32([1, np.nan]),
        "half": np.float16(0.5),
        "double": [[1.5]],
        "int8": np.int8([[-1], [2]]),
        "uint64": np.uint64(2**63),
        "bool": [True, False],
        "complex": np.complex64(1 + 2j),
        "text": [["a", "bc"]],
        "empty": np.zeros([0, 2], np.int64),
        "no text": np.zeros([0], "S1"),
        "bfloat16": tf.constant([1.0, 3.0], tf.bfloat16),
    }

    def program():
        for step, (name, value) in enumerate(values.items()):
            tf.summary.write(name, value, step=step)

    return written(tf, program)


def case_steps(tf):
    def program():
        count = tf.Variable(7, dtype=tf.int64)
        write = tf.summary.write
        results = [
            write("a", 1.0, step=0),
            write("b", 1.0, step=-1),
            write("c", 1.0, step=2**40),
            write("d", 1.0, step=count),
            write("e", 1.0, step=tf.constant(3, tf.int64)),
            write("f", 1.0, step=np.int32(4)),
            attempt(write, "g", 1.0, step=[1, 2]),
            attempt(write, "g", 1.0, step="a"),
            attempt(write, "g", 1.0, step=1.5),
            attempt(write, "g", 1.0, step=tf.constant(3)),
            attempt(write, "g", 1.0),
        ]
        tf.summary.experimental.set_step(count)
        results.append(write("h", 1.0))
        count.assign_add(1)
        results += [write("i", 1.0), tf.summary.experimental.get_step()]
        tf.summary.experimental.set_step(None)
        return results

    return written(tf, program)


def case_metadata(tf):
    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "mine"
    metadata.plugin_data.content = b"\x00\xff"
    other = tf.compat.v1.SummaryMetadata(display_name="a", summary_description="b")

    def program():
        tf.summary.write("a", 1, step=1, metadata=metadata)
        tf.summary.write("a", 1, step=1, metadata=other)
        tf.summary.write("a", 1, step=1, metadata=other.SerializeToString())
        tf.summary.write("a", 1, step=1, metadata=b"")
        return attempt(tf.summary.write, "a", 1, step=1, metadata=3)

    return written(tf, program)


def case_scopes(tf):
    scope = tf.summary.experimental.summary_scope

    def program():
        results = []
        for name in ("x", "a b/c!", "", "!", "a/"):
            with scope(name, "kind") as found:
                results.append(found)
            with tf.name_scope("out"), scope(name, "kind") as found:
                results.append(found)
        return results

    return program()


def case_record_if(tf):
    count = tf.Variable(0, dtype=tf.int64)
    called = []

    def value():
        called.append(int(count))
        return tf.constant(1)

    def program():
        results = []
        for condition in (True, False, lambda: count % 2 == 0, tf.constant(False), None):
            with tf.summary.record_if(condition):
                for _ in range(3):
                    results.append(tf.summary.write("a", value, step=count))
                    results.append(tf.summary.should_record_summaries())
                    count.assign_add(1)
        return results, called

    return written(tf, program), tf.summary.should_record_summaries()


def case_no_writer(tf):
    return (
        tf.summary.write("a", 1.0),
        attempt(tf.summary.write, "a", 1.0, step=[1, 2]),
        tf.summary.write("a", lambda: 1 / 0, step=1),
        tf.summary.experimental.write_raw_pb(b"", step=1),
        tf.summary.flush(),
        attempt(tf.summary.flush, 3),
        attempt(tf.summary.create_file_writer, None),
        attempt(tf.summary.create_file_writer, 3),
        attempt(tf.summary.create_file_writer, "/proc/none/here"),
        attempt(tf.summary.SummaryWriter().flush),
        attempt(tf.summary.graph, 3),
        attempt(tf.summary.trace_export, "a", step=1),
    )


def case_raw(tf):
    summary = tf.compat.v1.Summary()
    summary.value.add(tag="a", simple_value=0.5)
    histogram = summary.value.add(tag="b").histo
    histogram.min, histogram.max, histogram.num = -1.0, 2.5, 3
    histogram.bucket_limit.extend([0.0, 1.0])
    histogram.bucket.extend([1, 2])
    image = tf.compat.v1.Summary.Image(height=1, width=2, encoded_image_string=b"x")
    summary.value.add(tag="c", image=image)
    data = summary.SerializeToString()

    def program():
        raw = tf.summary.experimental.write_raw_pb
        return (
            raw(data, step=1),
            raw(tf.constant([data, data]), step=2),
            attempt(raw, data),
            attempt(raw, 3, step=1),
        )

    return data, written(tf, program)


def case_writers(tf):
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        first = tf.summary.create_file_writer(one, filename_suffix=".a")
        second = tf.summary.create_file_writer(two + "/below", filename_suffix="")
        steps = []
        with first.as_default(step=10):
            tf.summary.write("a", 1)
            with second.as_default(step=20):
                tf.summary.write("b", 2)
                steps.append(tf.summary.experimental.get_step())
            with tf.summary.create_noop_writer().as_default(step=30) as nothing:
                tf.summary.write("c", 3)
                steps.append((nothing, tf.summary.experimental.get_step()))
            with second.as_default():
                tf.summary.write("d", 4)
        steps.append(tf.summary.experimental.get_step())
        first.init(), first.flush(), first.close(), first.close(), first.flush()
        closed = [attempt(call, words=1) for call in (first.as_default, first.init)]
        return steps, closed, events(tf, one), events(tf, two + "/below")


def case_queue(tf):
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder, max_queue=2)
        sizes = []
        manager = writer.as_default(step=0)
        manager.__enter__()
        for _ in range(7):
            tf.summary.write("a", 1)
            sizes.append(len(next(iter(events(tf, folder).values()))))
        manager.__exit__(None, None, None)
        sizes.append(len(next(iter(events(tf, folder).values()))))
        return sizes


def case_in_functions(tf):
    traced = []
    count = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def step(x):
        traced.append(1)
        y = x * 2.0
        tf.summary.write("y", y, step=count)
        with tf.summary.record_if(lambda: tf.equal(count % 2, 0)):
            tf.summary.write("even", lambda: y + 1.0, step=count)
        count.assign_add(1)
        tf.summary.write("text", ["a"], step=count)
        if tf.reduce_sum(x) > 3.0:
            tf.summary.write("large", x, step=count)
        for i in tf.range(2):
            tf.summary.write("turn", i, step=tf.cast(i, tf.int64))
        return tf.summary.write("last", 1, step=5)

    def program():
        return [step(tf.constant([1.0, x])) for x in (1.0, 2.0, 3.0)], traced

    return written(tf, program)


def case_writer_in_a_function(tf):
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder)

        @tf.function
        def step(x, i):
            with tf.name_scope("in"), writer.as_default(step=i):
                with tf.summary.experimental.summary_scope("x") as (tag, _):
                    tf.summary.write(tag, x)
                tf.summary.write("bare", x)
            tf.summary.write("left out", x, step=i)

        with tf.name_scope("out"):
            for i in range(3):
                step(tf.constant(1.0), tf.constant(i, tf.int64))
        return events(tf, folder)


def case_under_a_tape(tf):
    def program():
        x = tf.Variable(3.0)

        @tf.function
        def f():
            tf.summary.write("inside", x, step=1)
            return x * x

        with tf.GradientTape() as tape:
            y = f()
            tf.summary.write("y", y, step=1)
        gradient = tape.gradient(y, x)
        tf.summary.write("gradient", gradient, step=1)
        return gradient

    return written(tf, program)


def case_tensor_protos(tf):
    values = [1, 1.5, [1.0, 2.0], True, "a", ["a", "b"], np.float64(2), np.uint8([1]), np.int64(-1)]
    values += [np.complex64(1j), np.float16(0.5), np.zeros([0, 2], np.float32), np.uint32(7)]
    protos = [tf.make_tensor_proto(value) for value in values]
    return (
        [proto.SerializeToString() for proto in protos],
        [tf.make_ndarray(proto) for proto in protos],
        [str(proto) for proto in protos[:4]],
        str(tf.make_tensor_proto([2.7182818, 0.5])),
        tf.make_tensor_proto([1, 2, 3, 4], dtype=tf.float32, shape=[2, 2]).SerializeToString(),
        tf.make_tensor_proto(1.0, shape=[2, 2], allow_broadcast=True).SerializeToString(),
        attempt(tf.make_tensor_proto, [1, 2], shape=[3]),
        attempt(tf.make_tensor_proto, [1, 2], shape=[2, 1], verify_shape=True),
    )


def case_iterator(tf):
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder)
        with writer.as_default():
            tf.summary.write("a", [1.5, 2.0], step=3)
        path = os.path.join(folder, os.listdir(folder)[0])
        first, second = tf.compat.v1.train.summary_iterator(path)
        value = second.summary.value[0]
        return (
            (first.file_version, first.step, first.WhichOneof("what"), first.HasField("summary")),
            first.source_metadata.writer,
            (second.step, second.WhichOneof("what"), 0 < first.wall_time <= second.wall_time),
            (value.tag, value.WhichOneof("value"), value.HasField("metadata")),
            tf.make_ndarray(value.tensor),
        )


def case_tensors_as_messages_of_fewer_elements(tf):
    """The last element stands for those that are left out."""
    made, several = tf.make_tensor_proto, np.float16([1.5, 2])
    given = [(1, [2, 2]), (1.5, [3]), ("a", [2]), ([1, 2], [4]), (True, [2]), (1j, [2]), (3, [0])]
    given += [(several, [2, 1]), (np.int8(3), [2]), ([True, False, True], [3]), ([1j, 2], [2])]
    protos = [made(value, shape=shape) for value, shape in given]
    return (
        [tf.make_ndarray(each) for each in protos],
        [each.SerializeToString() for each in protos],
        [
            attempt(made, [1, 2, 3], shape=[2]),
            attempt(made, [1, 2], shape=[4], allow_broadcast=True),
            attempt(made, [[3]], shape=[2], allow_broadcast=True),
        ],
    )
