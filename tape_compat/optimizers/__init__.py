"""Optimizers that step as Keras 3's do, and learning-rate schedules.

>>> import tape_compat as tf
>>> v = tf.Variable([3.0, -2.0])
>>> optimizer = tf.optimizers.SGD(learning_rate=0.25)
>>> for _ in range(3):
...     with tf.GradientTape() as tape:
...         loss = tf.reduce_sum(v * v)
...     _ = optimizer.apply_gradients([(tape.gradient(loss, v), v)])
>>> v.numpy().tolist()
[0.375, -0.25]
"""

from .._src.interop.names import face as _face
from .._src.library.optimizers.base import Optimizer as Optimizer
from .._src.library.optimizers.by_name import (
    deserialize as deserialize,
    get as get,
    serialize as serialize,
)
from .._src.library.optimizers.methods import (
    SGD as SGD,
    Adagrad as Adagrad,
    Adam as Adam,
    RMSprop as RMSprop,
)
from .._src.library.optimizers.more_methods import (
    Adadelta as Adadelta,
    Adamax as Adamax,
    AdamW as AdamW,
    Ftrl as Ftrl,
    Lamb as Lamb,
    Lion as Lion,
    Nadam as Nadam,
)
from . import schedules as schedules

_face(__name__)
