"""tf.nest. Expected values are TensorFlow 2.21's."""

import collections
import dataclasses
import types

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.values.nest import flatten_with_tuple_paths

nest = tf.nest
Point = collections.namedtuple("Point", "a b")
Other = collections.namedtuple("Other", "a b")


class SubPoint(Point):
    pass


class MyList(list):
    pass


class MyTuple(tuple):
    pass


class MyDict(dict):
    pass


class Attrs:
    """What a class made with the library attrs looks like."""

    __attrs_attrs__ = (types.SimpleNamespace(name="x"), types.SimpleNamespace(name="y"))

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)


@dataclasses.dataclass
class Plain:
    a: object


@dataclasses.dataclass
class Tagged:
    a: object
    tag: str
    b: object

    def __tf_flatten__(self):
        return (self.tag,), (self.a, self.b)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(components[0], metadata[0], components[1])


class Numbers(collections.abc.Sequence):
    def __init__(self, items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __eq__(self, other):
        return self.items == other.items


class Table(collections.abc.Mapping):
    def __init__(self, pairs):
        self.items_ = dict(pairs)

    def __len__(self):
        return len(self.items_)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)


STRUCTURES = [
    ([1, [2, (3,)], {"b": 5, "a": 4}], [1, 2, 3, 4, 5]),
    ((), []),
    ({}, []),
    (Point(1, [2]), [1, 2]),
    (SubPoint(1, 2), [1, 2]),
    (collections.OrderedDict([("b", 2), ("a", 1)]), [1, 2]),
    (collections.defaultdict(int, {"b": 2, "a": 1}), [1, 2]),
    ({(1, 2): 2, (0, 1): 1}, [1, 2]),
    (Attrs(1, [2]), [1, 2]),
    (Tagged(1, "t", [2, 3]), [1, 2, 3]),
    (Numbers([1, 2]), [1, 2]),
    (Table({"b": 2, "a": 1}), [1, 2]),
    (collections.deque([1, 2]), [1, 2]),
    (MyList([1, 2]), [1, 2]),
    (MyTuple([1, 2]), [1, 2]),
    (MyDict(b=2, a=1), [1, 2]),
]
LEAVES = [1, None, "abc", b"abc", {1, 2}, Plain(1), tf.TensorShape([1, 2]), tf.TensorSpec([1])]


def ids(value):
    return type(value).__name__


@pytest.mark.parametrize("structure, leaves", STRUCTURES, ids=ids)
def test_there_and_back(structure, leaves):
    assert nest.is_nested(structure)
    assert nest.flatten(structure) == leaves
    again = nest.pack_sequence_as(structure, leaves)
    assert type(again) is type(structure)
    assert again == structure
    doubled = nest.map_structure(lambda x: 2 * x, structure)
    assert type(doubled) is type(structure)
    assert nest.flatten(doubled) == [2 * leaf for leaf in leaves]
    nest.assert_same_structure(structure, doubled)


@pytest.mark.parametrize("leaf", LEAVES, ids=ids)
def test_leaves(leaf):
    assert not nest.is_nested(leaf)
    assert nest.flatten(leaf) == [leaf]
    assert nest.pack_sequence_as(leaf, [7]) == 7
    assert nest.map_structure(lambda x: (x, x), leaf) == (leaf, leaf)


def test_tensors_and_arrays_are_leaves():
    for leaf in (tf.constant([1, 2]), tf.Variable([1.0]), np.ones(2)):
        assert not nest.is_nested(leaf)
        for expand_composites in (False, True):
            (found,) = nest.flatten(leaf, expand_composites=expand_composites)
            assert found is leaf


def test_views_and_ranges_become_lists():
    assert nest.flatten({"b": 1, "a": 2}.keys()) == ["b", "a"]
    assert nest.flatten({"b": 1, "a": 2}.items()) == ["b", 1, "a", 2]
    assert nest.map_structure(lambda x: x + 1, range(3)) == [1, 2, 3]
    assert nest.map_structure(lambda x: x + 1, {"b": 1}.values()) == [2]


def test_mappings_keep_their_order_and_class():
    ordered = nest.map_structure(lambda x: x, collections.OrderedDict([("b", 1), ("a", 2)]))
    assert list(ordered.items()) == [("b", 1), ("a", 2)]
    default = nest.map_structure(lambda x: x, collections.defaultdict(list, a=1))
    assert default.default_factory is list
    with pytest.raises(TypeError, match="Error creating an object of type <class 'mappingproxy'>"):
        nest.map_structure(lambda x: x, types.MappingProxyType({"a": 1}))


def test_keys_must_sort():
    with pytest.raises(TypeError, match="not supported between instances"):
        nest.flatten({"a": 1, 2: 3})


def test_indexed_slices():
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]))
    assert nest.flatten(slices) == [slices]
    values, indices = nest.flatten(slices, expand_composites=True)
    assert (values.numpy().tolist(), indices.numpy().tolist()) == ([[1.0]], [2])
    shaped = tf.IndexedSlices(values, indices, tf.constant([5, 1]))
    assert len(nest.flatten([shaped], expand_composites=True)) == 3
    again = nest.map_structure(tf.identity, shaped, expand_composites=True)
    assert isinstance(again, tf.IndexedSlices)
    assert again.dense_shape.numpy().tolist() == [5, 1]
    nest.assert_same_structure(slices, 1)
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.assert_same_structure(slices, values, expand_composites=True)


@pytest.mark.parametrize(
    "structure, flat, error, message",
    [
        ([1, 2], [1], ValueError, "Structure had 2 atoms, but flat_sequence had 1 items"),
        ([1, 2], [1, 2, 3], ValueError, "Could not pack sequence. Structure had 2 atoms"),
        (1, [5, 6], ValueError, "The target structure is of type `<class 'int'>`"),
        (1, [], ValueError, "The target structure is of type `<class 'int'>`"),
        ([1], 5, TypeError, "Attempted to pack value:\n"),
        ([1], "a", TypeError, "Attempted to pack value:\n"),
        ([1], np.array([1]), TypeError, "incompatible type `<class 'numpy.ndarray'>`"),
        ([1], {"a": 1}, TypeError, "Attempted to pack value:\n"),
    ],
)
def test_what_cannot_be_packed(structure, flat, error, message):
    with pytest.raises(error, match=message):
        nest.pack_sequence_as(structure, flat)


def test_packing_leaves_structures_inside_alone():
    assert nest.pack_sequence_as([1, [2]], ([3], (4, 5))) == [[3], [(4, 5)]]


def test_map_over_several():
    assert nest.map_structure(lambda x, y: x + y, {"a": 1, "b": [2]}, {"b": [20], "a": 10}) == {
        "a": 11,
        "b": [22],
    }
    assert nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4), check_types=False) == [4, 6]
    assert nest.map_structure(lambda x, y: x + y, Tagged(1, "t", 2), Tagged(3, "u", 4)) == Tagged(
        4, "t", 6
    )
    assert nest.map_structure(lambda x, y: x + y, [], []) == []


def test_map_refuses():
    with pytest.raises(TypeError, match="func must be callable, got: 1"):
        nest.map_structure(1, [1])
    with pytest.raises(ValueError, match="Must provide at least one structure"):
        nest.map_structure(abs)
    with pytest.raises(ValueError, match=r"Only valid keyword arguments are .* not: `foo`"):
        nest.map_structure(abs, [1], foo=1)
    with pytest.raises(TypeError, match="don't have the same nested structure"):
        nest.map_structure(lambda x, y: x, [1, 2], (3, 4))
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.map_structure(lambda x, y: x, [1, 2], [3])


@pytest.mark.parametrize(
    "x, y",
    [
        ([1, 2], [3, None]),
        (1, "a"),
        ({"a": 1}, collections.OrderedDict(a=1)),
        ({"a": 1}, Table({"a": 1})),
        ([1], MyList([1])),
        (Point(1, 2), collections.namedtuple("Point", "a b")(3, 4)),
        (Tagged(1, "t", 2), Tagged(1, "u", 2)),
    ],
    ids=ids,
)
def test_same_structure(x, y):
    nest.assert_same_structure(x, y)
    nest.assert_same_structure(y, x)


@pytest.mark.parametrize(
    "x, y",
    [
        ([1, 2], [3]),
        (1, [1]),
        ([1, [2, 3]], [1, 2]),
        ([[1], 2], [1, [2]]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": [1, 2]}, {"a": [1]}),
    ],
    ids=ids,
)
def test_other_form(x, y):
    for one, two in ((x, y), (y, x)):
        with pytest.raises(ValueError, match=r"^The two structures don't have the same nested"):
            nest.assert_same_structure(one, two)


@pytest.mark.parametrize(
    "x, y",
    [
        ([1, 2], (3, 4)),
        ([], ()),
        ({}, []),
        ((1,), MyTuple([1])),
        (Point(1, 2), Other(1, 2)),
        (Point(1, 2), (1, 2)),
        (Point(1, 2), SubPoint(1, 2)),
        ([1], Numbers([1])),
        (Attrs(1, 2), [1, 2]),
        ({"a": [1]}, {"a": (1,)}),
        ([1, [2]], [1, {"a": 2}]),
    ],
    ids=ids,
)
def test_other_types(x, y):
    for one, two in ((x, y), (y, x)):
        with pytest.raises(TypeError, match=r"^The two structures don't have the same nested"):
            nest.assert_same_structure(one, two)
        nest.assert_same_structure(one, two, check_types=False)


def test_the_error_names_the_place_and_shows_no_leaves():
    with pytest.raises(ValueError) as caught:
        nest.assert_same_structure({"a": [1, "secret"]}, {"a": [1, [2, 3]]})
    text = str(caught.value)
    assert "`structure['a'][1]`" in text
    assert "{'a': [., [., .]]}" in text
    assert "secret" not in text


def test_paths():
    pairs = flatten_with_tuple_paths({"b": Point(1, [2]), "a": Attrs(3, 4), "c": ()})
    assert pairs == [
        (("a", "x"), 3),
        (("a", "y"), 4),
        (("b", "a"), 1),
        (("b", "b", 0), 2),
    ]
