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
