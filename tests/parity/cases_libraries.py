"""What libraries on top of TensorFlow use of it: initializers of TensorFlow 1, types of traces,
specs of values that are no tensors, messages, graphs that tell shapes."""

import abc
import contextlib
import itertools
import time
import typing

from .harness import attempt, attempts

NEEDS = ("compat", "types", "function")

_LIBRARIES = itertools.count()

_KINDS = (
    "zeros ones constant random_uniform random_normal truncated_normal variance_scaling orthogonal "
    "glorot_uniform glorot_normal"
).split()


def case_values_of_initializers(tf):
    found = {}
    for kind in _KINDS:
        make = getattr(tf.compat.v1, f"{kind}_initializer")
        tf.random.set_seed(3)
        initializer = make()
        found[kind] = [initializer([3, 2]), initializer([2, 3], dtype=tf.float64)]
        again = make.from_config(initializer.get_config())
        found[kind] += [again([2, 2]).shape, initializer.get_config()]
    tf.random.set_seed(3)
    scaled = tf.compat.v1.variance_scaling_initializer
    found["modes"] = [
        scaled(2.0, mode, distribution, seed=5)([3, 4, 2])
        for mode in ("fan_in", "fan_out", "fan_avg")
        for distribution in ("normal", "uniform", "untruncated_normal")
    ]
    found["fans"] = [scaled(seed=1)(shape) for shape in ([], [3], [2, 2, 2, 2])]
    found["identity"] = tf.compat.v1.initializers.identity(2.0)([2, 3])
    found["list"] = tf.compat.v1.constant_initializer([1, 2, 3, 4])([2, 2])
    return found


def case_errors_of_initializers(tf):
    programs = {
        "orthogonal": lambda v1: v1.orthogonal_initializer()([3]),
        "identity": lambda v1: v1.initializers.identity()([3]),
        "scale": lambda v1: v1.variance_scaling_initializer(scale=-1.0),
        "mode": lambda v1: v1.variance_scaling_initializer(mode="fan"),
        "distribution": lambda v1: v1.variance_scaling_initializer(distribution="other"),
        "integers": lambda v1: v1.random_normal_initializer(dtype="int32"),
        "truncated": lambda v1: v1.truncated_normal_initializer(dtype="int32"),
        "shape": lambda v1: v1.constant_initializer([1, 2], verify_shape=True)([3]),
    }
    return attempts(tf.compat.v1, programs)


def _typed(tf):
    class Kind(tf.types.experimental.TraceType):
        def __init__(self, value, tensors=()):
            self.value, self.tensors = value, tensors

        def is_subtype_of(self, other):
            return self == other

        def most_specific_common_supertype(self, others):
            return self if all(self == other for other in others) else None

        def placeholder_value(self, placeholder_context=None):
            return self.value

        def __eq__(self, other):
            return type(other) is Kind and type(other.value) is type(self.value)

        def __hash__(self):
            return hash(type(self.value))

    class Fruit:
        def __init__(self, taste):
            self.taste = taste

        def __tf_tracing_type__(self, context):
            return Kind(self)

    class Apple(Fruit):
        pass

    return Kind, Fruit, Apple


def case_types_of_traces(tf):
    _, Fruit, Apple = _typed(tf)
    traces = []

    @tf.function
    def taste(fruit, *others):
        traces.append(type(fruit).__name__)
        return tf.constant(fruit.taste) + len(others)

    found = [taste(Fruit(1)), taste(Fruit(2)), taste(Apple(3)), taste(Fruit(4), Apple(5))]
    found += [taste(Fruit(6), Apple(7)), isinstance(Fruit(1), tf.types.experimental.TraceType)]
    protocol = tf.types.experimental.SupportsTracingProtocol
    return found, traces, isinstance(Fruit(1), protocol), isinstance(3, protocol)


def case_types_of_traces_must_be_whole(tf):
    class Half(tf.types.experimental.TraceType):
        pass

    return attempts(tf, {"half": lambda _: Half()}, words=6)


def case_specs_of_nothing_and_of_variables(tf):
    nothing = tf.NoneTensorSpec()
    v = tf.Variable([1.0, 2.0], trainable=False)
    kind = tf.type_spec_from_value(v)
    return [
        repr(nothing),
        nothing == tf.NoneTensorSpec(),
        nothing.is_compatible_with(None),
        repr(tf.data.Dataset.from_tensors((None, 1)).element_spec),
        repr(tf.type_spec_from_value(None)),
        tf.nest.flatten((nothing, kind), expand_composites=True) == [kind],
        tf.function(lambda x, y: (x, y + 1.0), input_signature=[nothing, tf.TensorSpec(())])(
            None, 2.0
        ),
        attempts(tf, {"no spec": lambda tf: tf.type_spec_from_value(int)}),
        [repr(kind), kind.shape, kind.dtype, kind.trainable],
        kind == tf.type_spec_from_value(tf.Variable([3.0, 4.0], trainable=False)),
        kind == tf.type_spec_from_value(tf.Variable([3.0, 4.0])),
        kind.is_compatible_with(tf.Variable([1.0, 1.0], trainable=False)),
        kind.is_compatible_with(tf.constant([1.0, 1.0])),
    ]


def case_names_in_graphs(tf):
    with tf.Graph().as_default() as graph:
        found = [graph.unique_name("a"), graph.unique_name("a", mark_as_used=False)]
        found += [graph.unique_name("a"), graph.unique_name("a"), graph.unique_name("A")]
        with tf.name_scope("outer"):
            found += [graph.unique_name("a"), graph.unique_name("b")]
    return found


def case_graphs_that_tell_shapes_twice(tf):
    graph, found = tf.Graph(), []
    for _ in range(2):
        with graph.as_default():
            x = tf.ones([2, 3]) @ tf.ones([3, 4])
            found.append(x.shape)
    return found


def case_levels_of_messages(tf):
    logging = tf.compat.v1.logging
    before, found = logging.get_verbosity(), []
    for level in (logging.DEBUG, logging.INFO, logging.WARN, logging.ERROR, logging.FATAL):
        logging.set_verbosity(level)
        found.append(logging.get_verbosity())
    logging.set_verbosity(before)
    return found


def case_operators_that_classes_take_over(tf):
    names = tf.Tensor.OVERLOADABLE_OPERATORS
    return sorted(names - {"__div__", "__rdiv__"})


def case_variables_that_libraries_make_of_tensors(tf):
    class Held(tf.Variable):
        def __init__(self, tensor):
            self.tensor = tensor

        shape = property(lambda self: self.tensor.shape)
        dtype = property(lambda self: self.tensor.dtype)

        def value(self):
            return self.tensor

    tf.register_tensor_conversion_function(
        Held, lambda value, dtype=None, name=None, as_ref=False: value.tensor
    )
    held, other = Held(tf.constant([1.0, 2.0])), Held(tf.constant([3.0, 5.0]))
    with tf.GradientTape() as tape:
        tape.watch(held.tensor)
        y = tf.reduce_sum(tf.square(held) * other + held)
    return {
        "gradient": tape.gradient(y, held.tensor),
        "converted": tf.convert_to_tensor(held),
        "stacked": tf.stack([held, tf.constant([0.0, 1.0])]),
        "function": tf.function(lambda: held + tf.cast(other, tf.float32))(),
        "sorted": len(sorted([held.ref(), other.ref(), tf.Variable(1.0).ref()])),
    }


def case_what_libraries_have_as_tensors(tf):
    class Deferred:
        is_tensor_like = True

    tf.register_tensor_conversion_function(
        Deferred, lambda value, dtype=None, name=None, as_ref=False: tf.constant([1.5, 2.5])
    )
    x = Deferred()
    return tf.is_tensor(x), tf.is_tensor(object()), tf.cast(x, tf.int32), tf.identity(x) * x


def case_functions_under_custom_gradient(tf):
    def cube(x):
        return x**3, lambda upstream: upstream * 7.0

    decorated = tf.custom_gradient(cube)
    return decorated.__original_wrapped__ is cube, decorated.__wrapped__ is cube


def case_types_of_what_ops_take(tf):
    like = tf.types.experimental.TensorLike
    return float in typing.get_args(None | like)


def case_classes_of_variables_and_interfaces(tf):
    class Interface(abc.ABC):
        @property
        @abc.abstractmethod
        def limits(self):
            """What it is between."""

    class Of(type(tf.Variable), type(Interface)):
        pass

    class Parameter(tf.Variable, Interface, metaclass=Of):
        pass

    class Abstract(Interface, metaclass=type(tf.Variable)):
        pass

    found = [isinstance(tf.constant(1.0), tf.Variable), isinstance(tf.Variable(1.0), Interface)]
    return found, issubclass(Parameter, tf.Variable), attempt(Abstract, words=3)


def case_unique_names_in_eager_code(tf):
    graph, name = tf.compat.v1.get_default_graph(), f"table_{time.time_ns()}"
    return [graph.unique_name(name).removeprefix(name) for _ in range(3)]


def case_methods_that_libraries_forget(tf):
    class Model:
        @tf.function
        def doubled(self, x):
            return x * 2.0

    model, function = Model(), vars(Model)["doubled"]
    found = [model.doubled(tf.constant(1.0)), len(function._descriptor_cache)]
    function._descriptor_cache.clear()
    return found, len(function._descriptor_cache), model.doubled(tf.constant(3.0))


def case_functions_that_libraries_begin_anew(tf):
    factor, recorded = [2.0], []

    @tf.function(autograph=False)
    def scaled(x):
        recorded.append(x.dtype.name)
        return x * factor[0]

    found = [scaled(tf.constant(1.0)), scaled(tf.constant(3.0))]
    factor[0] = 5.0
    found.append(scaled(tf.constant(1.0)))
    for name in ("_concrete_variable_creation_fn", "_created_variables"):
        setattr(scaled, name, None)
    with contextlib.suppress(AttributeError):
        scaled._variable_creation_config.function_cache.clear()
    return found, scaled(tf.constant(1.0)), recorded


def case_classes_that_pass_for_variables(tf):
    class Parameter(tf.Variable):
        __hash__ = object.__hash__
        __eq__ = object.__eq__

        def __init__(self, parts):
            self.parts = parts

        def value(self):
            return tf.add_n(self.parts)

    recorded = []

    @tf.function(autograph=False)
    def shifted(parameter, x):
        recorded.append(type(parameter).__name__)
        return parameter.value() + x

    one, other = Parameter([tf.constant(1.0)] * 2), Parameter([tf.constant(4.0)])
    return [shifted(one, 1.0), shifted(other, 1.0), shifted(one, 1.0)], recorded


def case_values_that_stay(tf):
    found = [tf.guarantee_const([1, 2]), tf.guarantee_const("a")]
    return found, tf.function(tf.guarantee_const)(tf.constant(1.5))


def case_variables_with_names_of_their_own(tf):
    class Named(type(tf.Variable(1.0))):
        def __init__(self, name, value):
            self._name = name
            super().__init__(value, name=name)

        _shared_name = name = property(lambda self: self._name)

    v = Named("limit", 2.5)
    return v.name, v.assign_add(1.0), tf.Variable(1.0, name="plain").name, v * 2.0


def case_variables_that_are_composed(tf):
    class Composed(tf.Variable):
        def __init__(self, of):
            found = attempt(super().__init__, words=0)  # as libraries do that catch it
            self.of, self.refused = of, found

        dtype = property(lambda self: self.of.dtype)
        shape = property(lambda self: self.of.shape)

        def value(self):
            return self.of * 2.0

    tf.register_tensor_conversion_function(
        Composed, lambda value, dtype=None, name=None, as_ref=False: value.value()
    )
    of = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        composed = Composed(of)
        y = tf.sin(tf.convert_to_tensor(composed))
    return y, tape.gradient(y, of), composed.refused


def case_gradients_of_ops_that_libraries_bring(tf):
    gradient, v1 = (lambda op, given: given), tf.compat.v1
    place = f"Library{next(_LIBRARIES)}>"  # the names are kept
    note = tf.RegisterGradient(f"{place}A")
    found = [note(gradient) is gradient, tf.no_gradient(f"{place}B")]
    found += [v1.NotDifferentiable(f"{place}C"), v1.RegisterGradient is tf.RegisterGradient]

    def twice(tf):
        note(gradient)

    programs = {
        "twice": twice,
        "two kinds": lambda tf: tf.RegisterGradient(f"{place}C")(gradient),
        "not after": lambda tf: tf.no_gradient(f"{place}A"),
        "number": lambda tf: tf.RegisterGradient(3),
        "none": lambda tf: tf.no_gradient(None),
    }
    return found, attempts(tf, programs, words=5)


def case_functions_called_first_where_nothing_is_converted(tf):
    """Each function is new, for it is recorded in its first call."""
    left = tf.autograph.experimental.do_not_convert
    x = tf.constant([1, 2])

    def positive(m):
        if tf.reduce_sum(m) > 0:
            m = m * 2
        return m

    def new():
        return tf.function(lambda m: tf.map_fn(positive, positive(m)))

    def outer(y):
        return positive(left(lambda z: new()(z))(y))

    found = [left(new())(x), tf.function(left(new()))(x), tf.function(outer)(x)]
    found += [
        tf.function(left(lambda y: new()(y)), autograph=autograph)(x) for autograph in (False, True)
    ]
    programs = {
        "as it is": lambda tf: left(tf.function(positive, autograph=False))(x),
        "called by it": lambda tf: tf.function(left(lambda y: positive(y)))(x),
    }
    return found, attempts(tf, programs, words=5)
