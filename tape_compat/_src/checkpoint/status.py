"""What a restored checkpoint says of how far it matched."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NoReturn

from .graph import Graph
from .restoring import Restoration
from .saving import View, has_values, slots_of

_LOG = logging.getLogger("tape_compat")
_NOTHING = "No checkpoint specified (save_path=None); nothing is being restored."


class Unrestored:
    """Warns of values that no object took, when it is certain that none will."""

    def __init__(self, restoration: Restoration):
        self._graph, self._objects = restoration.graph, restoration.objects
        self._unused = restoration.unused
        self.expected = False

    def __del__(self) -> None:
        if self.expected:
            return
        graph = self._graph
        left = [i for i, node in enumerate(graph.nodes) if node.values and i not in self._objects]
        if not left and not self._unused:
            return
        _LOG.warning(
            "Detecting that an object or model or tf.train.Checkpoint is being deleted with "
            "unrestored values. See the following logs for the specific values in question. To "
            "silence these warnings, use `status.expect_partial()`."
        )
        for number in left:
            _LOG.warning(
                "Value in checkpoint could not be found in the restored object: %s",
                graph.names[number],
            )
        for number, names in self._unused.items():
            _LOG.warning(
                "An attribute in the restored object could not be found in the checkpoint. "
                "Object: %s, attribute: %s",
                graph.names[number],
                names,
            )


class CheckpointLoadStatus:
    """How far a checkpoint matched the objects it was restored to, and those that came later.

    Values are restored when they can be; no method needs to be called.
    """

    def __init__(
        self, restoration: Restoration, view: Callable[[], View], root: Any, skip_slots: bool
    ):
        self._restoration, self._view, self._root = restoration, view, root
        self._skip_slots = skip_slots

    @property
    def _graph(self) -> Graph:
        return self._restoration.graph

    def _unmatched(self) -> list[Any]:
        """The objects with values that the checkpoint has not."""
        view = self._view()
        objects = list(view.objects)
        if not self._skip_slots:
            objects += [slot for *_, slot in slots_of(view)]
        bound = {id(value) for value in self._restoration.objects.values()}
        return [value for value in objects if has_values(value) and id(value) not in bound]

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises AssertionError unless all values were taken and all objects have theirs."""
        self.assert_existing_objects_matched()
        slots = {slot.slot for node in self._graph.nodes for slot in node.slots}
        for number, node in enumerate(self._graph.nodes):
            if not node.values or (self._skip_slots and number in slots):
                continue
            if number not in self._restoration.objects:
                raise AssertionError(
                    f"Unresolved object in checkpoint {self._graph.names[number]}: {node}"
                )
        if self._restoration.slots and not self._skip_slots:
            raise AssertionError(f"Unresolved slot restorations: {self._restoration.slots}")
        if self._restoration.unused:
            lines = [
                f"{self._graph.names[number]} ({self._restoration.objects[number]}): {names}"
                for number, names in self._restoration.unused.items()
            ]
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but "
                "were not restored):\n" + "\n".join(lines)
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises AssertionError unless all objects that are there now have values of it."""
        unmatched = self._unmatched()
        if unmatched:
            shown = unmatched[:10]
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed "
                "values, likely due to changes in the Python program. Showing "
                f"{len(shown)} of {len(unmatched)} unmatched objects: {shown}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises AssertionError if nothing matched but the root."""
        if len(self._restoration.objects) > 1:
            return self
        unmatched = self._unmatched()
        if unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means "
                "that the checkpoint does not match the Python program. The following objects have "
                f"no matching checkpointed value: {unmatched}"
            )
        raise AssertionError(
            f"Nothing to load. No dependencies have been added to {self._root} yet."
        )

    def run_restore_ops(self, session: Any = None) -> None:
        """Nothing: values have been restored."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing: values have been restored."""

    def expect_partial(self) -> CheckpointLoadStatus:
        """Do not warn of values that no object took."""
        self._restoration.unrestored.expected = True
        return self


class InitializationOnlyStatus:
    """What `restore(None)` gives: there was no checkpoint."""

    def assert_consumed(self) -> NoReturn:
        """Raises AssertionError."""
        raise AssertionError(_NOTHING)

    def assert_existing_objects_matched(self) -> NoReturn:
        """Raises AssertionError."""
        raise AssertionError(_NOTHING)

    def assert_nontrivial_match(self) -> NoReturn:
        """Raises AssertionError."""
        raise AssertionError(_NOTHING)

    def run_restore_ops(self, session: Any = None) -> NoReturn:
        """Raises AssertionError."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to "
            "Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing: variables are initialized when they are made."""

    def expect_partial(self) -> InitializationOnlyStatus:
        """The status itself."""
        return self


class NameBasedSaverStatus:
    """How far a checkpoint of names, as TensorFlow 1 writes them, matched.

    Args:
      unmatched: variables whose names it has not, with these.
      optional: names that may be missing.
    """

    def __init__(self, unmatched: list[tuple[Any, str]], optional: tuple[str, ...] = ()):
        self._unmatched = [pair for pair in unmatched if pair[1] not in optional]

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Raises AssertionError unless all variables were found by their names."""
        if self._unmatched:
            lines = "".join(f"\n    {value}: {[name]}" for value, name in self._unmatched)
            raise AssertionError(f"Some objects had attributes which were not restored: {lines}")
        return self

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Any = None) -> None:
        """Nothing: values have been restored."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing: values have been restored."""

    def expect_partial(self) -> NameBasedSaverStatus:
        """The status itself."""
        return self
