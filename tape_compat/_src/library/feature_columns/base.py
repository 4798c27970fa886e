"""The kinds of feature columns, and what holds their values and variables."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Mapping
from typing import Any

from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.shapes import TensorShape
from ...data.io.parsing import VarLenFeature
from ...ops.casting import cast
from ...ops.comparison import not_equal
from ...ops.gather_scatter import gather_nd
from ...ops.selection import where
from ...ops.shapes import expand_dims, shape
from ...ops.sparse_layout import reshape
from ...values.convert import convert
from ...values.tensor import Tensor

#: The classes of columns by their names, for configurations.
_CLASSES: dict[str, type] = {}
#: Fields that hold columns, or the names of features.
_COLUMNS = frozenset({"source_column", "categorical_column", "keys"})


class FeatureColumn:
    """What is made of one or more features.

    Subclasses are named tuples with a `name`, `parents`, `parse_example_spec` and
    `transform_feature`, which asks a FeatureTransformationCache for what it needs.
    """

    _fields: tuple[str, ...]

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        _CLASSES[cls.__name__] = cls

    @property
    def name(self) -> str:
        """What it is called: unique among the columns of a model."""
        raise NotImplementedError(f"{type(self).__name__}.name")

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """For `tf.io.parse_example`: the features that it needs."""
        raise NotImplementedError(f"{type(self).__name__}.parse_example_spec")

    @property
    def parents(self) -> list[Any]:
        """The columns and features that it is made of."""
        raise NotImplementedError(f"{type(self).__name__}.parents")

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Its value."""
        raise NotImplementedError(f"{type(self).__name__}.transform_feature")

    def create_state(self, state_manager: Any) -> None:
        """Make its variables: it has none."""

    def get_config(self) -> dict[str, Any]:
        """Its fields, in numbers, texts and structures of them."""
        return {name: _written(getattr(self, name)) for name in self._fields}

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None
    ) -> Any:
        """The column with a configuration. Raises: ValueError for other fields."""
        if set(config) != set(cls._fields):
            raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")
        known = (custom_objects, columns_by_name)
        return cls(**{name: _read(name, value, *known) for name, value in config.items()})


class OfFeature(FeatureColumn):
    """What is made of one feature, whose name is its first field `key`."""

    key: str
    dtype: Any

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.key

    @property
    def parents(self) -> list[Any]:
        """The name of the feature."""
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """One feature of any length."""
        return {self.key: VarLenFeature(self.dtype)}


class OfColumn(FeatureColumn):
    """What is made of another column, which is its first field."""

    _ENDING = ""

    @property
    def _source(self) -> Any:
        return getattr(self, self._fields[0])

    @property
    def name(self) -> str:
        """That of the other column, with an ending."""
        return f"{self._source.name}{self._ENDING}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the other column."""
        return self._source.parse_example_spec

    @property
    def parents(self) -> list[Any]:
        """The other column."""
        return [self._source]


class DenseColumn(FeatureColumn):
    """A column whose value is a dense tensor."""

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of the tensor without its rows."""
        raise NotImplementedError(f"{type(self).__name__}.variable_shape")

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """The tensor."""
        raise NotImplementedError(f"{type(self).__name__}.get_dense_tensor")


class SequenceDenseColumn(FeatureColumn):
    """A column whose value is a sequence of dense tensors."""

    #: What `get_sequence_dense_tensor` gives: the steps of all rows, and how many each has.
    TensorSequenceLengthPair = namedtuple(
        "TensorSequenceLengthPair", ("dense_tensor", "sequence_length")
    )

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The steps and their numbers, a TensorSequenceLengthPair."""
        raise NotImplementedError(f"{type(self).__name__}.get_sequence_dense_tensor")


class CategoricalColumn(FeatureColumn):
    """A column whose values are categories."""

    #: What `get_sparse_tensors` gives: the numbers of categories, and their weights or None.
    IdWeightPair = namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        raise NotImplementedError(f"{type(self).__name__}.num_buckets")

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The categories, an IdWeightPair."""
        return self.IdWeightPair(transformation_cache.get(self, state_manager), None)


class StateManager:
    """What holds the variables and tables of columns, for a layer.

    layer: has `add_weight`, and holds the variables. trainable: whether they may be.
    """

    def __init__(self, layer: Any, trainable: bool):
        self._layer, self._trainable = layer, trainable
        self._cols_to_vars_map: dict[Any, dict[str, Any]] = defaultdict(dict)
        self._resources: dict[Any, dict[str, Any]] = defaultdict(dict)

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Make a variable of a column. Raises: ValueError if it has one of that name."""
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable already exists.")
        made = self._layer.add_weight(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
        )
        self._layer._track_trackable(made, f"{feature_column.name}/{name}")
        self._cols_to_vars_map[feature_column][name] = made
        return made

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """A variable of a column. Raises: ValueError if there is none."""
        if name not in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._cols_to_vars_map[feature_column][name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Hold a table of a column."""
        self._resources[feature_column][name] = resource

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Whether there is a table of a column."""
        return name in self._resources[feature_column]

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """A table of a column. Raises: ValueError if there is none."""
        if not self.has_resource(feature_column, name):
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column][name]


class FeatureTransformationCache:
    """The values of columns for some features, each made once.

    features: a dict from names to tensors; those of rank 1 get a second axis.
    """

    def __init__(self, features: Mapping[str, Any]):
        self._features = dict(features)
        self._values: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any, training: bool | None = None) -> Any:
        """The value of a column, or of a feature by its name.

        Raises: ValueError for a name that is no feature, or a scalar; TypeError for another key.
        """
        if key not in self._values:
            self._values[key] = self._made(key, state_manager)
        return self._values[key]

    def _made(self, key: Any, state_manager: Any) -> Any:
        if key in self._features:
            return self._feature(key)
        if isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        if not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        found = key.transform_feature(self, state_manager)
        if found is None:
            raise ValueError(f"Column {key.name} is not supported.")
        return found

    def _feature(self, key: Any) -> Any:
        value = as_tensor(self._features[key])
        if value.shape.rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {value}")
        if value.shape.rank != 1:
            return value
        if isinstance(value, SparseTensor):
            return reshape(value, [value.dense_shape[0], 1])
        return expand_dims(value, -1)


def as_tensor(value: Any) -> Any:
    """A tensor; a sparse one stays sparse."""
    return value if isinstance(value, SparseTensor) else convert(value)


def as_sparse(value: Any, ignored: Any = None) -> SparseTensor:
    """The elements of a tensor that are not `ignored`: not '' or -1 if that is None."""
    value = as_tensor(value)
    if isinstance(value, SparseTensor):
        return value
    if ignored is None:
        ignored = "" if value.dtype is dtypes.string else -1 if value.dtype.is_integer else 0
    places = where(not_equal(value, convert(ignored, value.dtype)))
    return SparseTensor(places, gather_nd(value, places), cast(shape(value), dtypes.int64))


def refuse_other_kinds(dtype: DType, what: str) -> None:
    """Raises: ValueError for a dtype that is neither of texts nor of integers."""
    if dtype is not dtypes.string and not dtype.is_integer:
        raise ValueError(f"{what} dtype must be string or integer. dtype: {dtype}.")


def refuse_mixed_kinds(key: str, dtype: DType, given: DType) -> None:
    """Raises: ValueError if a feature has texts where integers are wanted, or the reverse."""
    if dtype.is_integer != given.is_integer:
        raise ValueError(
            f"Column dtype and SparseTensors dtype must be compatible. key: {key}, column dtype: "
            f"{dtype}, tensor dtype: {given}"
        )
    refuse_other_kinds(given, f"column_name: {key} input_tensor")


def check_key(key: Any) -> None:
    """Raises: ValueError for the name of a feature that is no text."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


# -- configurations


def serialize_feature_column(fc: Any) -> Any:
    """A column as its class' name and its configuration; the name of a feature as it is.

    Raises: ValueError for another object.
    """
    if isinstance(fc, str):
        return fc
    if isinstance(fc, FeatureColumn):
        return {"class_name": type(fc).__name__, "config": fc.get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_feature_column(
    config: Any, custom_objects: Any = None, columns_by_name: Any = None
) -> Any:
    """The column that `serialize_feature_column` wrote; the known one of its class and name.

    Raises: ValueError for an unknown class.
    """
    if isinstance(config, str):
        return config
    name = config["class_name"]
    cls = {**_CLASSES, **(custom_objects or {})}.get(name)
    if cls is None:
        raise ValueError(f"Unknown feature_column_v2: {name}")
    made = cls.from_config(config["config"], custom_objects, columns_by_name)
    if columns_by_name is None:
        return made
    return columns_by_name.setdefault(f"{type(made).__name__}:{made.name}", made)


def _written(value: Any) -> Any:
    if isinstance(value, FeatureColumn):
        return serialize_feature_column(value)
    if isinstance(value, DType):
        return value.name
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, tuple) and any(isinstance(part, FeatureColumn) for part in value):
        return tuple(map(serialize_feature_column, value))
    return value.__name__ if callable(value) else value


def _read(field: str, value: Any, custom_objects: Any, columns_by_name: Any) -> Any:
    if field in _COLUMNS:
        parts = value if field == "keys" else [value]
        made = [deserialize_feature_column(x, custom_objects, columns_by_name) for x in parts]
        return tuple(made) if field == "keys" else made[0]
    if field == "dtype":
        return as_dtype(value)
    if field == "normalizer_fn" and isinstance(value, str):
        return _known(value, custom_objects or {})
    if field == "initializer" and isinstance(value, Mapping):
        cls = _known(value["class_name"], {**INITIALIZERS, **(custom_objects or {})})
        return cls.from_config(value["config"])
    return tuple(value) if isinstance(value, list) else value


def _known(name: str, objects: Mapping[str, Any]) -> Any:
    if name not in objects:
        raise ValueError(f"Unknown object: {name}")
    return objects[name]


#: Classes of initializers by their names.
INITIALIZERS: dict[str, Any] = {}
