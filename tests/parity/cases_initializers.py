"""Initializers: functions from a shape to the first value of a variable."""

from .harness import attempt

NEEDS = ("zeros_initializer",)

#: Expressions of the module.
PROGRAMS = [
    "tf.zeros_initializer()([2, 3])",
    "tf.zeros_initializer()(shape=[2], dtype=tf.bool)",
    "tf.zeros_initializer()([2], tf.string)",
    "tf.ones_initializer()([], 'int64')",
    "tf.ones_initializer()([4], partition_shape=[2], partition_offset=[2])",
    "tf.ones_initializer()([4], other=1)",
    "tf.ones_initializer().get_config()",
    "tf.constant_initializer()([2])",
    "tf.constant_initializer(2.5)([2, 2])",
    "tf.constant_initializer([1, 2, 3, 4])([2, 2], tf.float32)",
    "tf.constant_initializer([1, 2, 3])([2, 2])",
    "tf.constant_initializer('a')([2])",
    "tf.constant_initializer(tf.constant(1))",
    "tf.constant_initializer(1)([2], partition_shape=[1])",
    "tf.constant_initializer(1, support_partition=True)([2], partition_shape=[1])",
    "tf.constant_initializer([1, 2]).get_config()",
    "tf.random_normal_initializer().get_config()",
    "tf.random_normal_initializer(1.0, 2.0, seed=3)([2, 3]).shape",
    "tf.random_normal_initializer(1.0, 0.0)([3], tf.float64)",
    "tf.random_normal_initializer()([2], tf.int32)",
    "tf.random_normal_initializer(seed=3)([4], partition_shape=[2]).shape",
    "tf.random_uniform_initializer().get_config()",
    "tf.random_uniform_initializer(3, 4, seed=1)([2], tf.int32)",
    "tf.random_uniform_initializer(3, 4)([2], tf.int64)",
    "tf.random_uniform_initializer(1.0, 1.0)([2])",
    "tf.random_uniform_initializer()([2], tf.complex64)",
    "tf.random_uniform_initializer.from_config({'minval': 1, 'maxval': 1, 'seed': None})([2])",
    "tf.Variable(tf.ones_initializer()([2], dtype=tf.float16))",
]


def case_initializers(tf):
    return {text: attempt(lambda text=text: eval(text, {"tf": tf})) for text in PROGRAMS}


def case_a_seed_repeats(tf):
    made = [tf.random_normal_initializer(seed=3), tf.random_uniform_initializer(seed=3)]
    return [bool(tf.reduce_all(each([5]) == each([5]))) for each in made]
