"""Collections of TensorFlow 1: lists by name, which each graph has its own of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...core.state import LOCAL
from ...function.graph import chosen, collections_of, forget_outside
from ...function.grouping import renew_default_graph


class GraphKeys:
    """Names of collections."""

    GLOBAL_VARIABLES = VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


#: What else is forgotten with the collections of eager code.
_ON_RESET: list[Callable[[], None]] = []


def on_reset(function: Callable[[], None]) -> None:
    """Let `reset_default_graph` call a function."""
    _ON_RESET.append(function)


def reset_default_graph() -> None:
    """Forget the collections of eager code, and which names have been used."""
    forget_outside()
    renew_default_graph()
    for function in _ON_RESET:
        function()


def get_collection_ref(key: Any) -> list[Any]:
    """The list itself of a collection of the graph that is recorded, or of eager code.

    >>> import tape_compat as tf
    >>> tf.compat.v1.get_collection_ref("mine").append(3)
    >>> tf.compat.v1.get_collection("mine")
    [3]
    >>> tf.compat.v1.get_collection_ref("mine").clear()
    """
    return collections_of(LOCAL.state.capture).setdefault(key, [])


def add_to_collection(name: Any, value: Any) -> None:
    """Append a value to a collection of the graph that is recorded, or of eager code."""
    get_collection_ref(name).append(value)


def add_to_collections(names: Any, value: Any) -> None:
    """Append a value to several collections, named by one name or several."""
    several = isinstance(names, Iterable) and not isinstance(names, str)
    for name in dict.fromkeys(names if several else (names,)):
        add_to_collection(name, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """A new list of what is in a collection; with a `scope`, of what has a name that it matches."""
    return chosen(collections_of(LOCAL.state.capture).get(key, ()), scope)
