"""`tf.raw_ops` and histograms."""

import numpy as np

from . import update_calls
from .derivatives import derivatives
from .harness import attempt, attempts, options

NEEDS = ("raw_ops",)
IMAGES = np.arange(24, dtype=np.float32).reshape(2, 4, 3, 1) ** 1.5
TURNED = np.float32([[1.0, 0.3, -1.6, 0.2, 1, 2.3, 0.05, 0.1], [0.8, -0.3, 1, 0.4, 0.9, 0, 0, 0]])


def case_unique(tf):
    raw = tf.raw_ops
    rows = [[3, 1], [3, 1], [0, 1]]
    return (
        list(raw.UniqueV2(x=[3, 1, 3], axis=[0])),
        list(raw.UniqueV2(x=rows, axis=[0])),
        list(raw.UniqueV2(x=tf.zeros([0]), axis=[0])),
        list(raw.UniqueV2(x=tf.zeros([2, 0]), axis=[0])),
        list(raw.UniqueWithCountsV2(x=tf.zeros([2, 0]), axis=[1])),
        list(raw.UniqueWithCountsV2(x=tf.transpose(rows), axis=[1], out_idx=tf.int64)),
        list(raw.UniqueWithCountsV2(x=["b", "a", "b"], axis=np.zeros([0], np.int32))),
        raw.UniqueV2(x=[3], axis=[0]).idx,
    )


def case_bucketize(tf):
    bucketize = tf.raw_ops.Bucketize
    return (
        bucketize(input=[-1.0, 0.0, 5.0, 10.0, np.nan, np.inf], boundaries=[0.0, 5.0]),
        bucketize(input=[[1, 2]], boundaries=[0.0, 2.0]),
        bucketize(input=np.float64([0.1]), boundaries=[0.1]),
    )


@options(atol=2e-3)
def case_projective(tf):
    def transformed(tf, images, interpolation, mode):
        return tf.raw_ops.ImageProjectiveTransformV3(
            images=images,
            transforms=TURNED,
            output_shape=[5, 4],
            fill_value=-1.0,
            interpolation=interpolation,
            fill_mode=mode,
        )

    return {
        f"{mode} {interpolation}": derivatives(
            tf, lambda tf, x, i=interpolation, m=mode: transformed(tf, x, i, m), [IMAGES], 1
        )
        for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
        for interpolation in ("NEAREST", "BILINEAR")
    }


def _normalized(tf, *inputs, **options):
    names = ("x", "scale", "offset", "mean", "variance")
    return tf.raw_ops.FusedBatchNormV3(**dict(zip(names, inputs, strict=True)), **options)


def _moments(tf):
    three = tf.constant([1.0, 2.0, 3.0])
    return [three, three - 2.0, three * 0.1, three * 0.5]


@options(atol=1e-4)
def case_batch_norm(tf):
    images = tf.reshape(tf.sin(tf.range(24.0) ** 2), [2, 2, 2, 3])
    found = {}
    for training in (True, False):
        for factor in (1.0, 0.25):
            inputs = [images, *_moments(tf)]
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                result = _normalized(
                    tf, *inputs, is_training=training, exponential_avg_factor=factor
                )
                loss = tf.reduce_sum(tf.sin(result.y)) + tf.reduce_sum(result.batch_mean)
            found[training, factor] = list(result[:3]), tape.gradient(loss, inputs)
    half = tf.cast(images, tf.float16)
    again = tf.raw_ops.FusedBatchNormV2(
        x=half, scale=[1.0] * 3, offset=[0.5] * 3, mean=[], variance=[], epsilon=0.01
    )
    return found, again.y.dtype == tf.float16, again.batch_variance, len(again)


@options(atol=1e-4)
def case_batch_norm_in_a_function(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, None, 2, 3])])
    def normalized(x):
        return tf.raw_ops.FusedBatchNormV2(
            x=x, scale=[1.0, 2.0, 3.0], offset=[0.0] * 3, mean=[], variance=[]
        )[:3]

    images = tf.reshape(tf.sin(tf.range(24.0) ** 2), [2, 2, 2, 3])
    return list(normalized(images)), list(normalized(images[:, :1]))


def case_batch_norm_errors(tf):
    x, moments = tf.ones([2, 2, 2, 3]), _moments(tf)
    two = tf.ones([2])
    return attempts(
        tf,
        {
            "rank": lambda tf: _normalized(tf, tf.ones([2, 3]), *moments),
            "dtype": lambda tf: _normalized(tf, tf.ones([2, 2, 2, 3], tf.float64), *moments),
            "scale": lambda tf: _normalized(tf, x, two, *moments[1:]),
            "offset": lambda tf: _normalized(tf, x, moments[0], two, *moments[2:]),
            "mean": lambda tf: _normalized(tf, x, *moments[:2], two, two, is_training=False),
            "ranks": lambda tf: _normalized(tf, x, tf.ones([3, 1]), *moments[1:]),
        },
        words=0,
    )


def case_histograms(tf):
    values = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
    return (
        tf.histogram_fixed_width(values, [0.0, 5.0], nbins=5),
        tf.histogram_fixed_width([[1, 2, 3]], [0, 5], nbins=4, dtype=tf.int64),
        tf.histogram_fixed_width_bins([values], [0.0, 5.0], nbins=5),
        tf.histogram_fixed_width_bins([1.0], [5.0, 0.0]),
    )


def case_errors(tf):
    raw = tf.raw_ops
    image = tf.ones([1, 4, 4, 1])

    def transformed(transforms, shape=(4, 4)):
        return raw.ImageProjectiveTransformV3(
            images=image,
            transforms=transforms,
            output_shape=list(shape),
            fill_value=0.0,
            interpolation="NEAREST",
        )

    return attempts(
        tf,
        {
            "positional": lambda tf: raw.Bucketize([1.0], [2.0]),
            "keyword": lambda tf: raw.Bucketize(inpu=[1.0]),
            "descend": lambda tf: raw.Bucketize(input=[1.0], boundaries=[3.0, 2.0]),
            "dtype": lambda tf: raw.Bucketize(input=tf.constant([1], tf.uint8), boundaries=[3.0]),
            "no axis": lambda tf: raw.UniqueV2(x=[[3, 1]], axis=[]),
            "axis": lambda tf: raw.UniqueV2(x=[3, 1], axis=[2]),
            "transform": lambda tf: transformed([1.0]),
            "transforms": lambda tf: transformed(tf.ones([2, 8])),
            "shape": lambda tf: transformed(tf.ones([1, 8]), [4]),
            "range": lambda tf: tf.histogram_fixed_width([1.0], [5.0, 0.0]),
            "range of 3": lambda tf: tf.histogram_fixed_width([1.0], [5.0, 0.0, 1.0]),
            "no bins": lambda tf: tf.histogram_fixed_width([1], [0, 5], nbins=0),
            "of half": lambda tf: tf.histogram_fixed_width(
                tf.constant([1.0], tf.float16), [0.0, 5.0]
            ),
            "to int16": lambda tf: tf.histogram_fixed_width([1.0], [0.0, 5.0], dtype=tf.int16),
        },
        words=4,
    )


def case_kernels_in_tf_itself(tf):
    images = tf.reshape(tf.sin(tf.range(32.0)), [1, 4, 4, 2])
    filters = tf.reshape(tf.cos(tf.range(24.0)), [2, 2, 2, 3])
    volumes = tf.reshape(tf.sin(tf.range(27.0)), [1, 3, 3, 3, 1])
    top = tf.approx_top_k([[1.0, 3.0, 2.0], [0.0, -1.0, 5.0]], 2)
    return (
        tf.conv(images, filters, [1, 2, 1, 1], "SAME", dilations=[1, 1, 1, 1]),
        tf.conv(images, filters, [1, 1, 1, 1], "EXPLICIT", [0, 0, 1, 0, 0, 1, 0, 0]),
        tf.conv(volumes, tf.ones([2, 2, 2, 1, 1]), [1] * 5, "VALID"),
        list(top),
        tf.realdiv([1.0, 3.0], [2.0, 0.0]),
    )


def case_a_convolution_of_other_channels(tf):
    return tf.conv(tf.ones([1, 4, 4, 4]), tf.ones([1, 1, 2, 4]), [1] * 4, "VALID")


def case_rows_that_are_filled(tf):
    rows, values = tf.constant([0, 2, 2], tf.int64), tf.Variable([1.0, 2.0, 3.0])
    default = tf.Variable(9.0)
    with tf.GradientTape() as tape:
        found = tf.ragged_fill_empty_rows(rows, values, tf.constant(4, tf.int64), default)
        total = tf.reduce_sum(found.output_values * [1.0, 2.0, 3.0, 4.0, 5.0])
    back = tf.ragged_fill_empty_rows_grad(found.reverse_index_map, [1.0, 2.0, 3.0, 4.0, 5.0])
    return list(found), list(back), tape.gradient(total, [values, default])


def case_fingerprints(tf):
    numbers = tf.constant([[1.5, 2.0], [0.0, -1.0]])
    texts = tf.constant([["a", "bc"], ["", "d"]])
    return (
        [tf.fingerprint(x) for x in (numbers, tf.cast(numbers, tf.int8), texts, texts[0])],
        tf.function(lambda x: tf.fingerprint(x))(texts),
        tf.fingerprint(tf.zeros([2, 0])),
    )


def case_fingerprint_of_a_number(tf):
    return tf.fingerprint(1.0)


def case_parallel_stack(tf):
    stacked = tf.function(lambda x: tf.parallel_stack([x, x + 1.0]))(tf.constant([1.0, 2.0]))
    return stacked


def case_parallel_stack_outside_of_a_function(tf):
    return tf.parallel_stack([1.0, 2.0])


def _updated(tf, vectors, compiled):
    """What variables hold after two calls of each op that changes them by their handles."""
    shape = [2] if vectors else [3, 2]
    found = {}
    for name, cells, given in update_calls.calls(vectors):
        for more in filter(None, ({"name": None}, update_calls.ATTRIBUTES.get(name))):
            held = [
                tf.Variable(
                    np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape) / (i + 2)
                )
                for i in range(len(cells))
            ]
            arguments = {key: tf.constant(value) for key, value in given.items()}
            arguments |= {key: each.handle for key, each in zip(cells, held)} | more

            def step(name=name, arguments=arguments):
                getattr(tf.raw_ops, name)(**arguments)

            run = tf.function(step) if compiled else step
            with tf.GradientTape() as tape:
                y = held[0] * 2.0
            run()
            run()
            found[" ".join((name, *more))] = held, tape.gradient(y, held[0])
    return found


@options(rtol=2e-5)
def case_updates(tf):
    return _updated(tf, True, False)


@options(rtol=2e-5)
def case_updates_of_rows(tf):
    return _updated(tf, False, False)


@options(rtol=2e-5)
def case_updates_in_functions(tf):
    return _updated(tf, True, True), _updated(tf, False, True)


def case_updates_refused(tf):
    v, slot, other = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 1.0]), tf.Variable([1.0])

    def moved(tf, var=v, accum=slot, lr=0.1, grad=(1.0, 2.0), momentum=0.9):
        return tf.raw_ops.ResourceApplyMomentum(
            var=var.handle, accum=accum.handle, lr=lr, grad=grad, momentum=momentum
        )

    def added(tf, indices=(0,), updates=(1.0,), dtype=np.float32):
        return tf.raw_ops.ResourceScatterAdd(
            resource=v.handle, indices=list(indices), updates=np.array(updates, dtype)
        )

    return attempts(
        tf,
        {
            "gradient": lambda tf: moved(tf, grad=[1.0]),
            "slot": lambda tf: moved(tf, accum=other),
            "rate": lambda tf: moved(tf, lr=[0.1]),
            "dtype": lambda tf: moved(tf, grad=np.float64([1.0, 2.0]), lr=tf.constant(0.1)),
            "row": lambda tf: added(tf, indices=[2]),
            "value": lambda tf: tf.raw_ops.AssignVariableOp(resource=v, value=v),
            "fine": moved,
        },
        words=6,
    ), v


def case_glimpses(tf):
    """Of TensorFlow 1: around their points, whatever these are in."""
    x = np.arange(50.0, dtype=np.float32).reshape(1, 5, 5, 2)

    def found(centered, normalized, offset):
        return tf.raw_ops.ExtractGlimpse(
            input=x, size=[2, 3], offsets=[offset], centered=centered, normalized=normalized
        )

    points = {
        (False, False): [2.0, 3.0],
        (False, True): [0.5, 0.6],
        (True, False): [1.0, -1.0],
        (True, True): [0.2, 0.1],
    }
    return {str(key): found(*key, offset) for key, offset in points.items()}


def case_diagonals_of_version_2(tf):
    """Several diagonals are packed at the left, and nothing says so; those of version 3 are not."""
    raw, square = tf.raw_ops, np.arange(16.0, dtype=np.float32).reshape(4, 4)
    rows = np.float32([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]])
    zeros, sizes = np.zeros([3, 3], np.float32), {"num_rows": 3, "num_cols": 3}
    return [
        raw.MatrixDiagPartV2(input=square, k=[-1, 1], padding_value=0.0),
        raw.MatrixDiagPartV3(input=square, k=[-1, 1], padding_value=0.0),
        raw.MatrixDiagV2(diagonal=rows, k=[0, 1], padding_value=0.0, **sizes),
        raw.MatrixSetDiagV2(input=zeros, diagonal=rows, k=[0, 1]),
    ]


def case_gradient_kernels_of_roots_keep_zeros(tf):
    y = tf.constant([np.inf, -np.inf, np.nan, 0.0, 2.0])
    kernels = [
        getattr(tf.raw_ops, f"{name}Grad") for name in ("Sqrt", "Rsqrt", "Inv", "Reciprocal")
    ]
    return [[f(y=y, dy=tf.fill([5], dy)) for f in kernels] for dy in (0.0, 1.0, -2.0)]


def case_gradients_that_are_prevented(tf):
    x = tf.constant([1.0, 2.0])
    prevent = tf.raw_ops.PreventGradient
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = prevent(input=x * 2.0, message="a reason")
        beside = x * 3.0 + tf.stop_gradient(y)
        of_none = prevent(input=tf.constant(1.0)) * x

    @tf.function
    def recorded(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = prevent(input=x, message="another")
        return tape.gradient(y, x)

    found = attempts(
        tf,
        {
            "by it": lambda tf: tape.gradient(y, x),
            "in part": lambda tf: tape.gradient(beside + y, x),
            "beside": lambda tf: tape.gradient(beside, x),
            "of a constant": lambda tf: tape.gradient(of_none, x),
        },
    )
    return y, found, prevent(input=["a"]), attempt(recorded, x, words=0)
