"""Extension types: fields, specs, functions, loops, datasets; functions of users for ops."""

import copy
import inspect
import pickle
from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy as np

from .harness import attempt, attempts, options

NEEDS = ("experimental.ExtensionType",)


def _masked(tf, base=None):
    class Masked(base or tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

        def filled(self, default):
            return tf.where(self.mask, self.values, default)

    Masked.__qualname__ = "Masked"
    return Masked


def _pairs(tf):
    class Pair(tf.experimental.ExtensionType):
        x: tf.Tensor
        n: int = 3

    Pair.__qualname__ = "Pair"
    return Pair


def _fields(value):
    held = {name: part for name, part in vars(value).items() if not name.startswith("_")}
    return {
        name: part.to_list() if hasattr(part, "to_list") else part for name, part in held.items()
    }


def _text(value):
    return repr(value).replace("EagerTensor", "Tensor")


def case_values(tf):
    Masked = _masked(tf)
    masked = Masked([1, 2, 3], mask=[True, False, True])
    other = Masked(values=[1, 2, 4], mask=[True, False, True])
    return {
        "fields": _fields(masked),
        "filled": masked.filled(0),
        "text": "Masked(values=<tf" in _text(masked),
        "equal": masked == Masked([1, 2, 3], [True, False, True]),
        "differs": masked != other,
        "other": masked == other,
        "sizes": (masked == Masked([1], [True]), masked != Masked([1], [True])),
        "none": (masked == 3, masked != 3),
        "flat": tf.nest.flatten(masked, expand_composites=True),
        "leaf": len(tf.nest.flatten(masked)),
        "tensor": tf.is_tensor(masked),
        "copies": [_fields(x) for x in (copy.copy(masked), copy.deepcopy(masked))],
        "identity": _fields(tf.identity(masked)),
        "stopped": _fields(tf.stop_gradient(masked)),
        "mapped": _fields(tf.nest.map_structure(lambda x: x[:2], masked, expand_composites=True)),
    }


def case_wrong_calls(tf):
    Masked = _masked(tf)
    masked = Masked([1], [True])
    return attempts(
        tf,
        {
            "missing": lambda tf: Masked([1]),
            "too_many": lambda tf: Masked([1], [2], [3]),
            "unexpected": lambda tf: Masked([1], [2], foo=3),
            "no_tensor": lambda tf: Masked(object(), [True]),
            "none": lambda tf: Masked(None, [True]),
            "uneven": lambda tf: Masked([[1], [2, 3]], [True]),
            "set": lambda tf: setattr(masked, "values", 3),
            "set_new": lambda tf: setattr(masked, "foo", 3),
            "delete": lambda tf: delattr(masked, "values"),
            "hash": lambda tf: hash(masked),
            "abstract": lambda tf: tf.experimental.ExtensionType(),
            "convert": lambda tf: tf.convert_to_tensor(masked),
            "op": lambda tf: tf.add(masked, 1),
            "operator": lambda tf: masked + 1,
            "reflected": lambda tf: tf.constant(1) + masked,
            "reduction": lambda tf: tf.reduce_sum(masked),
            "list": lambda tf: tf.concat([masked, masked], 0),
            "spec": lambda tf: Masked.Spec(3, 4),
            "spec_missing": lambda tf: Masked.Spec(tf.TensorSpec([])),
            "spec_set": lambda tf: setattr(masked._type_spec, "values", 1),
        },
    )


ANNOTATIONS = {
    "float": (lambda tf: float, [1.5, 1, True, np.float32(2), "a"]),
    "int": (lambda tf: int, [2, True, np.int32(3), 3.0]),
    "bool": (lambda tf: bool, [True, 1, np.bool_(True)]),
    "str": (lambda tf: str, ["a", b"a"]),
    "bytes": (lambda tf: bytes, [b"a", "a"]),
    "none": (lambda tf: None, [None, 1]),
    "tensor": (lambda tf: tf.Tensor, [1, np.ones(2), "a", [[1], [2, 3]], None]),
    "tuple": (lambda tf: tuple[int, str], [(1, "a"), [1, "a"], (1,), ("a", 1), 3]),
    "plain_tuple": (lambda tf: tuple[int, ...], [(1, 2), []]),
    "tensors": (lambda tf: tuple[tf.Tensor, ...], [[1, [2]], (), 3]),
    "mapping": (lambda tf: Mapping[str, tf.Tensor], [{"b": 1, "a": [2]}, {}, {1: 2}, 3]),
    "nested": (lambda tf: Mapping[int, tuple[int, ...]], [{2: [1]}, {2: 1}]),
    "union": (lambda tf: Union[int, str, None], [3, "a", None, 2.5]),
    "tensor_or_str": (lambda tf: Union[tf.Tensor, str], ["a", 1]),
    "str_or_tensor": (lambda tf: Union[str, tf.Tensor], ["a", 1]),
    "optional": (lambda tf: Optional[tf.Tensor], [None, 1]),  # noqa: UP045
    "shape": (lambda tf: tf.TensorShape, [[1, None], None, 3, "a"]),
    "dtype": (lambda tf: tf.DType, ["int8", np.float32, "q"]),
    "list": (lambda tf: list[int], [[1]]),
    "plain_list": (lambda tf: list, [[1]]),
    "object": (lambda tf: object, [1]),
    "any": (lambda tf: Any, [1]),
    "bare_tuple": (lambda tf: tuple, [()]),
    "variable": (lambda tf: tf.Module, [1]),
    "number": (lambda tf: 3, [1]),
}


def _plain(value):
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return value


def _annotated(annotation_of, values):
    def case(tf):
        def declare(tf):
            class Holder(tf.experimental.ExtensionType):
                x: annotation_of(tf)

            return Holder

        Holder = attempt(declare, tf)
        if not isinstance(Holder, type):
            return Holder
        # Keys are not compared as types of mappings: TensorFlow's class is its own.
        return [attempt(lambda value=value: _plain(Holder(value).x)) for value in values]

    return case


CASES = {f"annotation_{name}": _annotated(*row) for name, row in ANNOTATIONS.items()}


def case_defaults(tf):
    class Holder(tf.experimental.ExtensionType):
        x: tf.Tensor = [1.0, 2.0]
        n: int = 3
        names: tuple[str, ...] = ("a",)

    class Later(Holder):
        more: tf.Tensor
        n: str = "text"

    def wrong(tf):
        class Wrong(tf.experimental.ExtensionType):
            n: int = "a"

    def reserved(tf):
        class Wrong(tf.experimental.ExtensionType):
            self: int

    return {
        "defaults": _fields(Holder()),
        "some": _fields(Holder(n=5)),
        "inherited": _fields(Later(more=2)),
        "instance": isinstance(Later(more=2), Holder),
        "positional": attempt(lambda: Later([1.0], "t", ("b",), 4)),
        "wrong": attempt(wrong, tf),
        "reserved": attempt(reserved, tf),
    }


def case_constructors(tf):
    class Scaled(tf.experimental.ExtensionType):
        x: tf.Tensor
        scale: int

        def __init__(self, x, scale=2):
            self.x = tf.convert_to_tensor(x) * scale
            self.scale = scale

    class Forgets(tf.experimental.ExtensionType):
        x: tf.Tensor
        n: int = 5

        def __init__(self, x):
            self.x = x

    class Invents(tf.experimental.ExtensionType):
        x: tf.Tensor

        def __init__(self, x):
            self.x = x
            self.y = 3

    class Checked(tf.experimental.ExtensionType):
        x: tf.Tensor

        def __validate__(self):
            if self.x.shape.rank != 1:
                raise ValueError(f"rank 1, please, not {self.x.shape.rank}")

    return [
        attempt(lambda: _fields(Scaled(3))),
        attempt(lambda: _fields(Scaled(x=3, scale=5))),
        attempt(Forgets, 2),
        attempt(Invents, 2),
        attempt(lambda: _fields(Checked([2]))),
        attempt(Checked, 2),
    ]


def case_nested(tf):
    Pair = _pairs(tf)

    class Several(tf.experimental.ExtensionType):
        first: Pair
        rest: tuple[Pair, ...] = ()
        ragged: Union[tf.RaggedTensor, tf.Tensor] = 0

    several = Several(Pair(1.0), [Pair([1, 2]), Pair("a", n=4)], tf.ragged.constant([[1], [2, 3]]))
    flat = tf.nest.flatten(several, expand_composites=True)
    return {
        "flat": flat,
        "packed": tf.nest.pack_sequence_as(several, flat, expand_composites=True) == several,
        "texts": several.rest[1].x,
        "count": len(several._type_spec._component_specs),
        "wrong": attempt(Several, 3),
        "ragged": several.ragged.to_list(),
        "through": tf.function(lambda s: s.rest[0].x + s.rest[1].n)(several),
    }


def case_specs(tf):
    Masked = _masked(tf)
    spec = tf.type_spec_from_value(Masked([1, 2], [True, False]))
    wide = Masked.Spec(tf.TensorSpec([None], tf.int32), mask=tf.TensorSpec(None, tf.bool))
    longer = tf.type_spec_from_value(Masked([1, 2, 3], [True, False, True]))
    return {
        "values": spec.values,
        "mask": spec.mask,
        "text": repr(wide),
        "equal": (spec == Masked.Spec(spec.values, spec.mask), spec == wide),
        "hash": hash(spec) == hash(Masked.Spec(spec.values, spec.mask)),
        "compatible": [
            wide.is_compatible_with(x) for x in (spec, longer, Masked([1.0], [True]), 3)
        ],
        "general": repr(spec.most_specific_common_supertype([longer])),
        "subtype": (spec.is_subtype_of(wide), wide.is_subtype_of(spec)),
        "from_value": Masked.Spec.from_value(Masked([1], [True])).values,
        "class": spec.value_type is Masked,
        "base": isinstance(spec, tf.experimental.ExtensionTypeSpec),
        "abstract": attempt(lambda: tf.experimental.ExtensionTypeSpec(), words=1),
        "of_class": attempt(tf.type_spec_from_value, Masked),
        "of ranks": [
            repr(tf.type_spec_from_value(x)._with_tensor_ranks_only())
            for x in (
                tf.zeros([2, 3]),
                tf.ragged.constant([[[1, 2]], []], ragged_rank=1),
                tf.SparseTensor([[0, 1]], [1.0], [2, 3]),
                Masked([1, 2], [True, False]),
            )
        ]
        + [repr(tf.TensorSpec(None)._with_tensor_ranks_only())],
    }


def case_own_specs(tf):
    class Row(tf.experimental.ExtensionType):
        values: tf.Tensor

        class Spec:
            def __init__(self, size, dtype=tf.float32):
                self.values = tf.TensorSpec([size], dtype)

            @property
            def size(self):
                return self.values.shape[0]

    Row.Spec.__qualname__ = "Row.Spec"

    def wrong(tf):
        class Wrong(tf.experimental.ExtensionType):
            x: int

            class Spec(tf.TensorSpec):
                pass

    return {
        "same": Row([1.0, 2.0])._type_spec == Row.Spec(2),
        "size": Row([1.0, 2.0])._type_spec.size,
        "text": repr(Row.Spec(None)),
        "wrong": attempt(wrong, tf, words=0),
    }


def case_functions(tf):
    Masked = _masked(tf)
    traces = []

    @tf.function
    def doubled(masked):
        traces.append(1)
        return Masked(masked.values * 2, masked.mask)

    @tf.function(
        input_signature=[Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))]
    )
    def first(masked):
        return masked.filled(0.0)[0], masked

    found = [doubled(Masked([1, k], [True, False])) for k in range(3)]
    found.append(doubled(Masked([1, 2, 3], [True, False, True])))
    return {
        "found": [_fields(x) for x in found],
        "traces": len(traces),
        "first": first(Masked([5.0], [False]))[0],
        "second": _fields(first(Masked([5.0], [False]))[1]),
        "other": attempt(first, Masked([[5.0]], [[False]]), words=4),
    }


def case_control_flow(tf):
    Pair = _pairs(tf)

    @tf.function
    def grown(pair, limit):
        while tf.reduce_sum(pair.x) < limit:
            pair = Pair(pair.x * 2.0)
        return pair

    @tf.function
    def chosen(pair):
        if tf.reduce_sum(pair.x) > 0:
            found = Pair(pair.x)
        else:
            found = Pair(-pair.x)
        return found

    loop = tf.while_loop(
        lambda i, pair: i < 3, lambda i, pair: (i + 1, Pair(pair.x + 1.0)), (0, Pair([1.0, 2.0]))
    )
    return {
        "grown": grown(Pair([1.0, 2.0]), 20.0).x,
        "chosen": [chosen(Pair([x])).x for x in (2.0, -3.0)],
        "loop": loop[1].x,
        "cond": tf.cond(tf.constant(True), lambda: Pair(1.0), lambda: Pair(2.0)).x,
        "other": attempt(
            tf.function(lambda c: tf.cond(c, lambda: Pair(1.0), lambda: 2.0)),
            tf.constant(True),
            words=0,
        ),
    }


def case_gradients(tf):
    Pair = _pairs(tf)
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        pair = Pair(x * 3.0)
        squared = tf.function(lambda pair: Pair(pair.x * pair.x))(pair)
        loss = tf.reduce_sum(squared.x)
    return {
        "gradient": tape.gradient(loss, x),
        "field": tape.gradient(loss, pair.x),
        "source": attempt(tape.gradient, loss, pair),
        "target": attempt(tape.gradient, squared, x),
    }


def case_datasets(tf):
    Pair = _pairs(tf)
    dataset = tf.data.Dataset.range(3).map(lambda i: Pair(tf.stack([i, i * 2])))
    return {
        "tensors": [x.x for x in tf.data.Dataset.from_tensors(Pair([1, 2]))],
        "map": [x.x for x in dataset],
        "again": list(dataset.map(lambda pair: tf.reduce_sum(pair.x) + pair.n)),
        "filter": [x.x for x in dataset.filter(lambda pair: pair.x[0] > 0)],
        "spec": repr(dataset.element_spec).partition(".")[2].partition("(")[0],
        "zip": [(i, x.x) for i, x in dataset.enumerate()],
        "repeat": len(list(dataset.shuffle(2, seed=1).repeat(2).prefetch(1))),
    }


def _points(tf):
    class Point(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        y: tf.Tensor
        n: int = 2

    Point.__qualname__ = "Point"
    return Point


def case_batches(tf):
    tf.random.set_seed(5)
    Point = _points(tf)
    points = Point([[1, 2], [3, 4], [5, 6]], [1.0, 2.0, 3.0])
    dataset = tf.data.Dataset.from_tensor_slices(points)
    batches = dataset.batch(2)
    generated = tf.data.Dataset.from_generator(
        lambda: iter([Point([1, 2], 3.0)]), output_signature=dataset.element_spec
    )
    reduced = dataset.reduce(0, lambda total, point: total + tf.reduce_sum(point.x) + point.n)
    return {
        "slices": [_fields(x) for x in dataset],
        "size": dataset.cardinality(),
        "batches": [_fields(x) for x in batches],
        "spec": repr(dataset.element_spec),
        "batch_spec": repr(batches.element_spec),
        "unbatch": [_fields(x) for x in batches.unbatch()],
        "rebatch": [_fields(x) for x in batches.rebatch(3)],
        "map": list(batches.map(lambda point: point.x + point.n)),
        "made": [_fields(x) for x in dataset.map(lambda p: Point(p.x, p.y + 1.0)).batch(3)],
        "generated": [_fields(x) for x in generated],
        "reduced": reduced,
        "beside": [(_fields(p), i) for i, p in dataset.enumerate().batch(3)],
        "shuffled": [x.y for x in dataset.shuffle(3, seed=3).batch(3)],
        "spec_batch": repr(dataset.element_spec._batch(4)),
        "spec_unbatch": repr(batches.element_spec._unbatch()),
    }


def case_maps(tf):
    Point = _points(tf)
    points = Point([[1, 2], [3, 4], [5, 6]], [1.0, 2.0, 3.0])
    spec = Point.Spec(tf.TensorSpec([2], tf.int32), tf.TensorSpec([]), 2)
    return {
        "to_tensor": tf.map_fn(lambda p: tf.reduce_sum(p.x), points, fn_output_signature=tf.int32),
        "to_same": _fields(tf.map_fn(lambda p: Point(p.x * 2, p.y), points)),
        "from_tensor": _fields(
            tf.map_fn(lambda i: Point([i, i], 1.0), tf.constant([1, 2]), fn_output_signature=spec)
        ),
        "with_others": tf.map_fn(
            lambda pair: pair[0].y * pair[1],
            (points, tf.constant([1.0, 2.0, 3.0])),
            fn_output_signature=tf.float32,
        ),
        "in_function": tf.function(
            lambda p: tf.map_fn(lambda q: q.x + q.n, p, fn_output_signature=tf.int32)
        )(points),
        "vectorized": _fields(tf.vectorized_map(lambda p: Point(p.x * 2, p.y), points)),
        "vectorized_tensor": tf.vectorized_map(lambda p: tf.reduce_sum(p.x), points),
        "other": attempt(lambda: tf.map_fn(lambda p: Point(p.x, p.y, 3), points), words=0),
    }


def case_ragged_fields(tf):
    class Words(tf.experimental.BatchableExtensionType):
        tokens: tf.RaggedTensor
        size: tf.Tensor

        class Spec:
            pass

    Words.__qualname__ = "Words"
    words = Words(tf.ragged.constant([[1], [2, 3], []]), [1, 2, 0])
    dataset = tf.data.Dataset.from_tensor_slices(
        Words(tf.ragged.constant([[[1], [2, 3]], [[4]]]), [2, 1])
    )
    return {
        "through": _fields(tf.function(lambda w: w)(words)),
        "slices": [_fields(x) for x in dataset],
        "batches": [_fields(x) for x in dataset.batch(2)],
    }


def case_encoders(tf):
    class Encoder(tf.experimental.ExtensionTypeBatchEncoder):
        """A batch of networks: their work is ragged, their bandwidth too."""

        def batch(self, spec, batch_size):
            if spec.work._shape.rank == 1:
                shape = [batch_size, None]
            else:
                shape = [batch_size, *spec.work.shape]
            return Network.Spec(tf.RaggedTensorSpec(shape, tf.int32))

        def unbatch(self, spec):
            return Network.Spec(tf.TensorSpec([None], tf.int32))

        def encode(self, spec, value, minimum_rank=0):
            if minimum_rank and isinstance(value.work, tf.RaggedTensor):
                return [value.work]
            return [value.work]

        def decode(self, spec, encoded):
            return Network(encoded[0])

        def encoding_specs(self, spec):
            if isinstance(spec.work, tf.TensorSpec):
                return [tf.RaggedTensorSpec(spec.work.shape, tf.int32, ragged_rank=0)]
            return [spec.work]

    class Network(tf.experimental.BatchableExtensionType):
        work: Union[tf.RaggedTensor, tf.Tensor]

        __batch_encoder__ = Encoder()

    networks = Network(tf.ragged.constant([[1], [2, 3], [4, 5, 6]]))
    dataset = tf.data.Dataset.from_tensor_slices(networks)
    return [_fields(x) for x in dataset]


def _dispatching(tf, *decorated):
    """Undo what decorators did."""
    for function in decorated:
        tf.experimental.unregister_dispatch_for(function)


def case_elementwise(tf):
    Masked = _masked(tf)

    @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
    def unary(api_func, x):
        return Masked(api_func(x.values), x.mask)

    @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)
    def binary(api_func, x, y):
        return Masked(api_func(x.values, y.values), x.mask & y.mask)

    @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, tf.Tensor)
    def with_tensor(api_func, x, y):
        return Masked(api_func(x.values, y), x.mask)

    @tf.experimental.dispatch_for_binary_elementwise_apis(tf.Tensor, Masked)
    def of_tensor(api_func, x, y):
        return Masked(api_func(x, y.values), y.mask)

    @tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
    def asserts(api_func, x, y):
        return api_func(x.filled(0.0), y.filled(0.0))

    m = Masked([1.0, -2.0, 3.0], [True, False, True])
    n = Masked([4.0, 5.0, 6.0], [True, True, False])
    t = tf.constant(2.0)
    programs = {
        "abs": lambda tf: tf.abs(m),
        "relu": lambda tf: tf.nn.relu(m),
        "named": lambda tf: tf.math.sin(m, name="q"),
        "by_name": lambda tf: tf.math.sin(x=m),
        "cast": lambda tf: tf.cast(m, tf.int32),
        "saturate_cast": lambda tf: tf.saturate_cast(m, tf.int32),
        "ones_like": lambda tf: tf.ones_like(m),
        "zeros_like": lambda tf: tf.zeros_like(m, dtype=tf.int32),
        "round": lambda tf: tf.round(m),
        "clip": lambda tf: tf.clip_by_value(m, 0.0, 1.0),
        "leaky_relu": lambda tf: tf.nn.leaky_relu(m, alpha=0.1),
        "elu": lambda tf: tf.nn.elu(m),
        "gelu": lambda tf: tf.nn.gelu(m),
        "is_nan": lambda tf: tf.math.is_nan(m),
        "as_string": lambda tf: tf.strings.as_string(m),
        "check_numerics": lambda tf: tf.debugging.check_numerics(m, "no"),
        "brightness": lambda tf: tf.image.adjust_brightness(m, 0.5),
        "sigmoid": lambda tf: tf.math.sigmoid(m),
        "log_softmax": lambda tf: tf.nn.log_softmax(m),
        "add": lambda tf: tf.add(m, n),
        "multiply": lambda tf: tf.multiply(m, n, name="a"),
        "by_names": lambda tf: tf.subtract(x=m, y=n),
        "maximum": lambda tf: tf.maximum(m, n),
        "equal": lambda tf: tf.equal(m, n),
        "less": lambda tf: tf.less(m, n),
        "pow": lambda tf: tf.pow(m, n),
        "divide": lambda tf: tf.divide(m, n),
        "floordiv": lambda tf: tf.math.floordiv(m, n),
        "atan2": lambda tf: tf.atan2(m, n),
        "xlogy": lambda tf: tf.math.xlogy(n, n),
        "cross_entropy": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(m, n),
        "tensor": lambda tf: tf.add(m, t),
        "of_tensor": lambda tf: tf.add(t, m),
        "times": lambda tf: t * m,
        "power": lambda tf: t**m,
        "assert": lambda tf: tf.debugging.assert_less(m, Masked([9.0, 9.0, 9.0], [True] * 3)),
        "assert_fails": lambda tf: tf.debugging.assert_less(m, n),
        "number": lambda tf: tf.add(m, 1.0),
        "dropout": lambda tf: tf.nn.dropout(m, 0.5),
        "size": lambda tf: tf.size(m),
        "softmax": lambda tf: tf.nn.softmax(m),
        "twice": lambda tf: tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(abs),
    }
    found = {}
    for name, program in programs.items():
        value = attempt(program, tf)
        found[name] = _fields(value) if isinstance(value, Masked) else value
    _dispatching(tf, unary, binary, with_tensor, of_tensor)
    found["after"] = attempt(tf.abs, m)
    found["again"] = attempt(tf.experimental.unregister_dispatch_for, unary, words=1)
    return found


def case_dispatch(tf):
    Masked = _masked(tf)
    m = Masked([1.0, -2.0, 3.0], [True, False, True])
    n = Masked([4.0, 5.0, 6.0], [True, True, False])

    @tf.experimental.dispatch_for_api(tf.reduce_sum)
    def total(input_tensor: Masked, axis=None, keepdims=False, name=None):
        return tf.reduce_sum(input_tensor.filled(0.0), axis, keepdims)

    @tf.experimental.dispatch_for_api(tf.concat, {"values": list[Masked]})
    def joined(values, axis, name="concat"):
        return Masked(
            tf.concat([x.values for x in values], axis), tf.concat([x.mask for x in values], axis)
        )

    @tf.experimental.dispatch_for_api(tf.expand_dims, {0: Masked})
    def expanded(input, axis, name=None):
        return Masked(tf.expand_dims(input.values, axis), tf.expand_dims(input.mask, axis))

    @tf.experimental.dispatch_for_api(tf.matmul)
    def product(
        a: Masked,
        b: Union[Masked, tf.Tensor],
        transpose_a=False,
        transpose_b=False,
        adjoint_a=False,
        adjoint_b=False,
        a_is_sparse=False,
        b_is_sparse=False,
        output_type=None,
        grad_a=False,
        grad_b=False,
        name=None,
    ):
        return "product", type(b).__name__ == "Masked"

    @tf.experimental.dispatch_for_api(tf.reduce_max, {"input_tensor": Masked})
    def declines(input_tensor, axis=None, keepdims=False, name=None):
        return NotImplemented

    @tf.experimental.dispatch_for_api(tf.reduce_min, {"input_tensor": Masked})
    def raises(input_tensor, axis=None, keepdims=False, name=None):
        raise RuntimeError("of the user")

    @tf.experimental.dispatch_for_api(tf.image.resize, {"images": Masked})
    def resized(*args, **kwargs):
        return len(args), sorted(kwargs)

    programs = {
        "sum": lambda tf: tf.reduce_sum(m),
        "sum_by_name": lambda tf: tf.math.reduce_sum(input_tensor=m, axis=0, keepdims=True),
        "sum_of_tensor": lambda tf: tf.reduce_sum([1.0, 2.0]),
        "concat": lambda tf: tf.concat([m, n], 0),
        "concat_tuple": lambda tf: tf.concat((m, n), axis=0),
        "concat_mixed": lambda tf: tf.concat([m, tf.constant([1.0])], 0),
        "concat_plain": lambda tf: tf.concat([[1.0], [2.0]], 0),
        "expand_dims": lambda tf: tf.expand_dims(m, 0),
        "matmul": lambda tf: tf.matmul(m, n),
        "matmul_tensor": lambda tf: tf.matmul(m, tf.constant([1.0])),
        "matmul_array": lambda tf: tf.matmul(m, np.ones([2, 2])),
        "matmul_left": lambda tf: tf.matmul(tf.ones([2, 2]), m),
        "declines": lambda tf: tf.reduce_max(m),
        "raises": lambda tf: tf.reduce_min(m),
        "resize": lambda tf: tf.image.resize(m, size=[3, 3]),
        "in_function": lambda tf: tf.function(lambda m: tf.reduce_sum(m))(m),
        "within_dataset": lambda tf: list(
            tf.data.Dataset.from_tensors(m).map(lambda m: tf.reduce_sum(m))
        ),
    }
    found = {}
    for name, program in programs.items():
        value = attempt(program, tf)
        found[name] = _fields(value) if isinstance(value, Masked) else value
    _dispatching(tf, total, joined, expanded, product, declines, raises, resized)
    found["after"] = attempt(tf.reduce_sum, m)
    return found


def case_wrong_dispatch(tf):
    Masked = _masked(tf)

    def _register(api, *signatures, function=None):
        def target(input_tensor, axis=None, keepdims=False, name=None):
            return 1

        tf.experimental.dispatch_for_api(api, *signatures)(function or target)

    def annotated(input_tensor: Masked, axes=None, name=None):
        return 1

    def several(tf):
        def one(input_tensor, axis=None, keepdims=False, name=None):
            return 1

        def other(input_tensor, axis=None, keepdims=False, name=None):
            return 2

        for target in (one, other):
            _register(tf.reduce_max, {"input_tensor": Masked}, function=target)
        try:
            return tf.reduce_max(Masked([1.0], [True]))
        finally:
            _dispatching(tf, one, other)

    def plain(tf):
        def target(input_tensor, axis=None, keepdims=False, name=None):
            return 1

        _register(tf.reduce_max, {"keepdims": bool}, function=target)
        try:
            return tf.reduce_max([1.0, 2.0], keepdims=True)
        finally:
            _dispatching(tf, target)

    return attempts(
        tf,
        {
            "names": lambda tf: _register(tf.reduce_mean, function=annotated),
            "no_annotation": lambda tf: _register(tf.reduce_mean),
            "unknown": lambda tf: _register(tf.reduce_mean, {"inp": Masked}),
            "kind": lambda tf: _register(tf.reduce_mean, {"input_tensor": tuple[Masked, ...]}),
            "builtin": lambda tf: _register(len, {"x": Masked}),
            "class": lambda tf: _register(tf.Variable, {"x": Masked}),
            "map_fn": lambda tf: _register(tf.map_fn, {"x": Masked}),
            "elementwise": lambda tf: tf.experimental.dispatch_for_unary_elementwise_apis(3)(abs),
            "several": several,
            "plain": plain,
        },
        words=1,
    )


@options(words=3)
def case_names(tf):
    name = f"parity.Named{tf.__name__}"

    class Named(tf.experimental.ExtensionType):
        __name__ = name + str(id(tf.function(abs)))
        x: tf.Tensor

    def again():
        class Again(tf.experimental.ExtensionType):
            __name__ = vars(Named)["__name__"]
            x: tf.Tensor

    error = attempt(again, words=1)
    return error, Named(1).x, tf.experimental.extension_type.as_dict(Named(2))


class Pickled:
    """Where the classes of the next case are found."""


def case_pickle(tf):
    class Kept(tf.experimental.ExtensionType):
        x: tf.Tensor
        names: Mapping[str, int]

    Kept.__module__, Kept.__qualname__ = __name__, "Pickled.Kept"
    Pickled.Kept = Kept  # type: ignore[attr-defined]
    kept = Kept([1, 2], {"b": 1})
    found = pickle.loads(pickle.dumps(kept))
    return found.x, dict(found.names), found == kept


def case_reserved_fields(tf):
    def made(field):
        names = {"__annotations__": {field: int}, "__module__": __name__}
        kind = type(tf.experimental.ExtensionType)
        return getattr(kind("Some", (tf.experimental.ExtensionType,), names)(3), field)

    fields = ("_tf_extension_type_x", "_tf_extension_type", "Spec", "_type_spec", "_tf", "x")
    return [attempt(lambda field=field: made(field)) for field in fields]


def case_specs_of_slices_and_names(tf):
    slices = tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 1]))
    sized = tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 1]), tf.constant([5, 3]))
    specs = [tf.type_spec_from_value(each) for each in (slices, sized)]
    wide = tf.IndexedSlicesSpec([None, 4], tf.float32, tf.int32)
    named, plain = tf.TensorSpec([1], name="a"), tf.TensorSpec([1])
    pairs = [(a, b) for a in (named, plain) for b in (named, plain)]
    return (
        list(map(repr, specs)),
        wide.is_compatible_with(slices),
        [a.is_subtype_of(b) for a, b in pairs],
    )


def case_signatures(tf):
    class Own(tf.experimental.ExtensionType):
        x: tf.Tensor
        size: int = 3

    class Made(tf.experimental.ExtensionType):
        x: tf.Tensor

        def __init__(self, first, *, second=1):
            self.x = first + second

    return [
        [
            (p.name, p.kind.name, p.default is p.empty)
            for p in inspect.signature(kind).parameters.values()
        ]
        for kind in (Own, Own.__init__, Own.Spec, Made)
    ]
