"""`tf.train.TrackableView` and `tf.train.CheckpointView`: the graphs of objects, to look at."""

from __future__ import annotations

import logging
import weakref
from collections import deque
from typing import Any

from ..core.errors import NotFoundError
from ..values.trackable import Trackable
from .graph import GRAPH_KEY, Graph, parsed
from .reader import CheckpointReader, load_checkpoint
from .saving import view_of
from .tracking import children

_LOG = logging.getLogger("tape_compat")


class TrackableView:
    """An object and its parts, as a checkpoint sees them.

    Args: `root`: the object, or a weak reference to it; none but weak ones are kept.

    >>> import tape_compat as tf
    >>> module = tf.Module()
    >>> module.v = tf.Variable(3)
    >>> view = tf.train.TrackableView(module)
    >>> list(view.children(module)), len(view.descendants())
    (['v'], 2)
    """

    def __init__(self, root: Any):
        self._root = root if isinstance(root, weakref.ref) else weakref.ref(root)

    @classmethod
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The parts of an object by their names."""
        if isinstance(obj, Trackable):
            return obj._trackable_children(save_type, **kwargs)
        return children(obj)

    @property
    def root(self) -> Any:
        """The object."""
        found = self._root()
        assert found is not None
        return found

    def descendants(self) -> list[Any]:
        """The object and what is reached from it, nearest first."""
        return view_of(self.root, parts_of=self.children).objects


def object_graph(reader: CheckpointReader, path: Any) -> Graph:
    """The graph of objects of a checkpoint. Raises ValueError if it has none."""
    try:
        return parsed(reader.get_tensor(GRAPH_KEY))
    except NotFoundError:
        raise ValueError(
            f'The specified checkpoint "{path}" does not appear to be object-based (saved with '
            f'TF2) since it is missing the key "{GRAPH_KEY}". Likely it was created with the TF1 '
            "name-based saver and does not contain an object dependency graph."
        ) from None


class CheckpointView:
    """The objects of a checkpoint, as numbers; 0 is the one that was saved.

    Args: `save_path`: the checkpoint.
    Raises: NotFoundError if there is none; ValueError if it has names only.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable(3)).write(folder + "/a")
    ...     view = tf.train.CheckpointView(path)
    >>> view.children(0), view.descendants()
    ({'v': 1}, [0, 1])
    """

    def __init__(self, save_path: Any):
        self._graph = object_graph(load_checkpoint(save_path), save_path)

    def children(self, node_id: int) -> dict[str, int]:
        """The parts of an object by their names."""
        return dict(self._graph.nodes[node_id].children)

    def descendants(self) -> list[int]:
        """All objects that are reached by names, nearest first."""
        found, ahead = [0], deque([0])
        while ahead:
            for child in self._graph.nodes[ahead.popleft()].children.values():
                if child not in found:
                    found.append(child)
                    ahead.append(child)
        return found

    def match(self, obj: Any) -> dict[int, Any]:
        """The objects that `restore` would match with those of `obj`, by their numbers.

        Raises: ValueError if `obj` is nothing that a checkpoint holds.
        """
        if not isinstance(obj, Trackable):
            raise ValueError(f"Expected a Trackable, got {obj} of type {type(obj)}.")
        found: dict[int, Any] = {0: obj}
        ahead = deque([0])
        while ahead:
            number = ahead.popleft()
            parts = children(found[number])
            for name, child in self._graph.nodes[number].children.items():
                if child == 0 or name not in parts:
                    continue
                if child not in found:
                    found[child] = parts[name]
                    ahead.append(child)
                elif found[child] is not parts[name]:
                    _LOG.warning(
                        "Inconsistent references when matching the checkpoint into this object "
                        "graph. The referenced objects are: (%s and %s).",
                        found[child],
                        parts[name],
                    )
        return found

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """What `match` gives; the numbers that it leaves out; the objects that it leaves out."""
        found = self.match(obj)
        matched = {id(value) for value in found.values()}
        only_here = [number for number in self.descendants() if number not in found]
        only_there = [value for value in view_of(obj).objects if id(value) not in matched]
        return found, only_here, only_there
