"""Composites as libraries make them: of their own classes and specs."""

import tape_compat as tf
from tape_compat._src.values.composite import CompositeTensor


class Scaled(CompositeTensor):
    """A number and what it is multiplied by; converts what it is made of."""

    def __init__(self, x, factor):
        self.x, self.factor = tf.convert_to_tensor(x), factor

    @property
    def _type_spec(self):
        return ScaledSpec(tf.TensorSpec(self.x.shape, self.x.dtype), self.factor)

    def value(self):
        return self.x * self.factor


class ScaledSpec(tf.TypeSpec):
    value_type = property(lambda self: Scaled)

    def __init__(self, spec, factor):
        self.parts = {"x": spec}, factor

    @property
    def _component_specs(self):
        return self.parts[0]

    def _to_components(self, value):
        return {"x": value.x}

    def _from_components(self, components):
        return Scaled(components["x"], self.parts[1])

    def _serialize(self):
        return self.parts

    def __key(self):
        return type(self), self._TypeSpec__make_cmp_key(self.parts)

    def __eq__(self, other):
        return type(other) is type(self) and self.__key() == other.__key()

    def __hash__(self):
        return hash(self.__key())

    def is_compatible_with(self, other):
        return self._TypeSpec__is_compatible(self.parts, other.parts)


def test_a_function_takes_and_gives_composites():
    traces = []

    @tf.function
    def doubled(scaled, x):
        traces.append(1)
        return Scaled(scaled.x * 2.0, scaled.factor), scaled.value() + x

    for x in (1.0, 2.0):
        twice, total = doubled(Scaled(x, 3), tf.constant(0.5))
        assert (twice.value().numpy(), total.numpy()) == (6 * x, 3 * x + 0.5)
    assert len(traces) == 1
    assert doubled(Scaled([1.0, 2.0], 3), tf.constant(0.5))[1].numpy().tolist() == [3.5, 6.5]
    assert doubled(Scaled([1.0, 2.0, 3.0], 3), tf.constant(0.5))[1].shape == [3]
    concrete = doubled.get_concrete_function(Scaled(1.0, 3), tf.TensorSpec([]))
    given = concrete.structured_input_signature[0][0]
    assert given == Scaled(5.0, 3)._type_spec and "Scaled" in repr(given)


def test_specs_compare_by_what_they_are_made_of():
    specs = [Scaled(x, 2)._type_spec for x in (1.0, 2.0, [1.0])]
    assert specs[0] == specs[1] != specs[2]
    assert specs[0].is_compatible_with(specs[1]) and not specs[0].is_compatible_with(specs[2])


class ScaledModule(tf.Module, Scaled):
    """A composite that is a Module as well, as TensorFlow Probability's parameters are."""

    def __init__(self, x, factor):
        tf.Module.__init__(self)
        self.x, self.factor = x, factor

    @property
    def _type_spec(self):
        return ScaledSpec(tf.TensorSpec(self.x.shape, self.x.dtype), self.factor)


def test_variables_of_composites_come_before_those_of_submodules():
    module, part = tf.Module(), tf.Module()
    part.y, module.a = tf.Variable(1.0, name="y"), part
    module.b = ScaledModule(tf.Variable(2.0, name="x"), 3)
    assert [v.name for v in module.trainable_variables] == ["x:0", "y:0"]
    assert module.variables == module.trainable_variables


def test_a_function_takes_linear_operators_in_composites():
    operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])

    class Held(CompositeTensor):
        def __init__(self, operator):
            self.operator, self.rows = operator, operator.shape[0]

        @property
        def _type_spec(self):
            return HeldSpec(self.operator._type_spec)

    class HeldSpec(ScaledSpec):
        value_type = property(lambda self: Held)

        def __init__(self, spec):
            self.parts = {"x": spec}, None

        def _to_components(self, value):
            return {"x": value.operator}

        def _from_components(self, components):
            return Held(components["x"])

    multiplied = tf.function(lambda held, x: held.operator.matvec(x) * held.rows)
    assert multiplied(Held(operator), tf.constant([1.0, 1.0])).numpy().tolist() == [2.0, 4.0]


class Row(Scaled):
    """One that asks for the shape of what it is made of."""

    def __init__(self, x, factor):
        super().__init__(x, factor)
        assert len(self.x.shape) == 1

    @property
    def _type_spec(self):
        return RowSpec(tf.TensorSpec(self.x.shape, self.x.dtype), self.factor)


class RowSpec(ScaledSpec):
    value_type = property(lambda self: Row)

    def _from_components(self, components):
        return Row(components["x"], self.parts[1])


def test_a_loop_in_eager_code_makes_composites_of_tensors_only():
    i, row = tf.while_loop(
        lambda i, row: i < 3, lambda i, row: (i + 1, Row(row.x * 2.0, 3)), (0, Row([1.0, 2.0], 3))
    )
    assert int(i) == 3 and row.value().numpy().tolist() == [24.0, 48.0]
