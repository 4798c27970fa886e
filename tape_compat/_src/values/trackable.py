"""The base classes of what a checkpoint can hold, and of functions that are recorded."""

from __future__ import annotations

from typing import Any, NamedTuple


class TrackableReference(NamedTuple):
    """A part of an object, and its name."""

    name: str
    ref: Any


class Trackable:
    """What a checkpoint can hold."""

    __slots__ = ()
    #: What a SavedModel calls its class.
    _object_identifier = "_generic_user_object"

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Let `trackable` be the part `name` of this object. Gives `trackable`.

        Raises: TypeError for what no checkpoint can hold; ValueError if there is another part with
          this name, unless `overwrite`.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type Trackable. "
                f"Got type {type(trackable)}."
            )
        noted = vars(self).setdefault("_self_tracked", {})
        if noted.get(name, trackable) is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with "
                "this name is already declared as a dependency. Names must be unique (or "
                "overwrite=True)."
            )
        noted[name] = trackable
        return trackable

    def _delete_tracking(self, name: str) -> None:
        """Let a part be none any more; the attribute stays."""
        held = vars(self)
        held.get("_self_tracked", {}).pop(name, None)
        held.get("_self_noted", set()).discard(name)

    @property
    def _self_unconditional_dependency_names(self) -> dict[str, Any]:
        """The parts that were noted by name."""
        return dict(vars(self).get("_self_tracked", {}))

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        """The parts that a checkpoint keeps."""
        return [TrackableReference(*pair) for pair in self._trackable_children().items()]

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        getter: Any = None,
        overwrite: bool = False,
        **options: Any,
    ) -> Any:
        """The variable that `getter` makes of the arguments, which is the part `name` from then on.

        Raises: as `_track_trackable`.
        """
        made = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **options)
        if not overwrite or isinstance(made, Trackable):
            self._track_trackable(made, name, overwrite)
            self._handle_deferred_dependencies(name, made)
        return made

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        """The part with a name; None if there is none."""
        parts = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return parts.get(name)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Give a part that is new what a checkpoint kept of it."""
        waiting = getattr(self, "__dict__", {}).get("_self_waiting")
        if waiting is not None:
            waiting.look_again(self)

    def _maybe_initialize_trackable(self) -> None:
        """Nothing is to be made ready."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The parts that a checkpoint keeps, by their names."""
        held = getattr(self, "__dict__", {})
        return dict(held.get("_self_tracked", {}))

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint keeps of the object itself, without its parts."""
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        """Take what a checkpoint kept."""
        raise NotImplementedError


class Recorded:
    """The base of functions that are recorded."""

    __slots__ = ()
