"""`tf.data.Options`: wishes about how pipelines run."""

from __future__ import annotations

import enum
from typing import Any


class _Debugging:
    """Whether pipelines made from now on run one element after the other, as Python."""

    on = False


DEBUGGING = _Debugging()


def enable_debug_mode() -> None:
    """Have the functions of pipelines that are made from now on run as Python for each element, one
    after the other and without threads, so that a debugger stops in them.

    >>> import tape_compat as tf
    >>> tf.data.experimental.enable_debug_mode()  # doctest: +SKIP
    """
    DEBUGGING.on = True


class AutoShardPolicy(enum.IntEnum):
    """How elements are divided among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What to do with state outside of the pipeline when it is serialized."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow looks for numbers of threads and sizes of buffers."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class _Group:
    """Settings with names that are known; another name is refused. One has those that were asked
    for or set; the others have their defaults."""

    _settings: dict[str, Any] = {}
    #: The classes of those that are neither bools nor groups.
    _kinds: dict[str, type] = {}
    _frozen = False

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._settings})

    def __getattr__(self, name: str) -> Any:
        if name not in self._settings:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        default = self._settings[name]
        found = default() if _is_group(default) else default
        object.__setattr__(self, name, found)
        return frozen(found) if self._frozen and _is_group(default) else found

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._settings:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}: it has "
                f"{', '.join(sorted(self._settings))}."
            )
        if self._frozen:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no "
                "effect. Use `tf.data.Dataset.with_options(options)` to set or update dataset "
                "options."
            )
        default = self._settings[name]
        kind = default if _is_group(default) else self._kinds.get(name, bool)
        if not isinstance(value, kind):
            raise TypeError(
                f'Property "{name}" must be of type {kind}, got: {value} (type: {type(value)})'
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(
            getattr(self, name) == getattr(other, name) for name in self._settings
        )

    __hash__ = None  # type: ignore[assignment]  # they can change

    def _merged(self, other: Any) -> Any:
        """These settings, with those of `other` that are not its defaults."""
        found = type(self)()
        for name in (name for name in self._settings if name in vars(self) | vars(other)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, _Group):
                chosen = mine._merged(theirs)
            else:
                chosen = mine if theirs == self._settings[name] else theirs
            object.__setattr__(found, name, chosen)
        return found


def frozen(group: Any) -> Any:
    """The settings themselves, which nobody may change from now on."""
    for value in vars(group).values():
        if isinstance(value, _Group):
            frozen(value)
    object.__setattr__(group, "_frozen", True)
    return group


def _is_group(default: Any) -> bool:
    return isinstance(default, type) and issubclass(default, _Group)


class AutotuneOptions(_Group):
    """How sizes of buffers and numbers of threads are found."""

    _settings = {
        "enabled": None,
        "cpu_budget": None,
        "ram_budget": None,
        "autotune_algorithm": None,
        "initial_parallelism": None,
        "min_parallelism": None,
    }
    _kinds = {
        **dict.fromkeys(
            ("cpu_budget", "ram_budget", "initial_parallelism", "min_parallelism"), int
        ),
        "autotune_algorithm": AutotuneAlgorithm,
    }


class DistributeOptions(_Group):
    """How elements are divided among workers."""

    _settings = {"auto_shard_policy": AutoShardPolicy.AUTO, "num_devices": None}
    _kinds = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}


class OptimizationOptions(_Group):
    """Which rewrites of its graphs TensorFlow is to do. Here nothing is rewritten."""

    _settings = {
        "apply_default_optimizations": None,
        "filter_fusion": None,
        "filter_parallelization": None,
        "inject_prefetch": None,
        "map_and_batch_fusion": None,
        "map_and_filter_fusion": None,
        "map_fusion": None,
        "map_parallelization": None,
        "noop_elimination": None,
        "parallel_batch": None,
        "seq_interleave_prefetch": None,
        "shuffle_and_repeat_fusion": None,
    }


class ServiceOptions(_Group):
    """Of TensorFlow's service for data, which is not here."""

    _settings = {"pinned": None}


class ThreadingOptions(_Group):
    """How many threads are used."""

    _settings = {"max_intra_op_parallelism": None, "private_threadpool_size": None}
    _kinds = dict.fromkeys(_settings, int)


class Options(_Group):
    """Settings of a dataset: `dataset.with_options(options)`.

    They never change which elements there are. Elements come in the same order whatever
    `deterministic` says.

    >>> import tape_compat as tf
    >>> options = tf.data.Options()
    >>> options.threading.private_threadpool_size = 4
    >>> tf.data.Dataset.range(3).with_options(options).options().threading.private_threadpool_size
    4
    """

    _settings = {
        "autotune": AutotuneOptions,
        "dataset_name": None,
        "deterministic": None,
        "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": None,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "experimental_slack": None,
        "experimental_symbolic_checkpoint": None,
        "experimental_warm_start": None,
        "framework_type": None,
        "threading": ThreadingOptions,
    }
    _kinds = {
        "dataset_name": str,
        "experimental_external_state_policy": ExternalStatePolicy,
        "framework_type": list,
    }

    @property
    def experimental_deterministic(self) -> Any:
        """The old name of `deterministic`."""
        return self.deterministic  # type: ignore[attr-defined]

    @property
    def experimental_threading(self) -> Any:
        """The old name of `threading`."""
        return self.threading  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any) -> None:
        old = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}
        super().__setattr__(old.get(name, name), value)

    def merge(self, options: Options) -> Options:
        """These settings, with those of `options` that are set there.

        Raises: TypeError for something else.
        """
        if type(options) is not type(self):
            raise TypeError(
                f"Could not merge incompatible options of type {type(options)} and {type(self)}."
            )
        return self._merged(options)
