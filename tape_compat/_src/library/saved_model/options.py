"""Options of SavedModels."""

from __future__ import annotations

import enum
from typing import Any


class VariablePolicy(enum.Enum):
    """Which devices of variables are kept. It changes nothing here: there is one device.

    >>> import tape_compat as tf
    >>> tf.saved_model.experimental.VariablePolicy.NONE.value is None
    True
    """

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"

    @classmethod
    def _missing_(cls, value: object) -> VariablePolicy:
        for policy in cls:
            if str(value).lower() == policy.value:
                return policy
        raise ValueError(f"Received invalid VariablePolicy value: {value}.")


class SaveOptions:
    """How a SavedModel is written.

    Args:
      function_aliases: names for `tf.function`s, concrete functions or lists of these, a dict.
      experimental_custom_gradients: whether the derivatives of functions are written too (default
        True), so that a loaded function has them.
      extra_tags: tags of the graph beside "serve".
      namespace_whitelist, save_debug_info, experimental_debug_stripper, experimental_io_device,
        experimental_variable_policy, experimental_skip_saver, experimental_sharding_callback:
        without effect: there are no custom ops, no debug information, one device and one file of
        variables.
      experimental_image_format: False; TensorFlow has it switched off.
    Raises: TypeError for a `namespace_whitelist` that is no list; ValueError for one of anything
      but texts, for `experimental_image_format` and for an unknown policy.

    >>> import tape_compat as tf
    >>> tf.saved_model.SaveOptions(extra_tags=["train"]).extra_tags
    ['train']
    """

    def __init__(
        self,
        namespace_whitelist: Any = None,
        save_debug_info: bool = False,
        function_aliases: dict[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Any = None,
    ):
        if experimental_image_format:
            raise ValueError("The option `experimental_image_format` is disabled in OSS.")
        self.namespace_whitelist = _namespaces(namespace_whitelist)
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


def _namespaces(given: Any) -> list[str]:
    if not isinstance(given, (list, type(None))):
        raise TypeError(
            f"`namespace_whitelist` must be a list of strings. Got: {given} with type "
            f"{type(given)}."
        )
    for namespace in given or ():
        if not isinstance(namespace, str):
            raise ValueError(
                f"Whitelisted namespace must be a string. Got: {namespace} of type "
                f"{type(namespace)}."
            )
    return list(given or ())


class LoadOptions:
    """How a SavedModel is read.

    Args:
      allow_partial_checkpoint: whether Variables may have no value in the files; they are zeros.
      experimental_skip_checkpoint: whether no values are read; Variables are zeros.
      experimental_load_function_aliases: whether the object gets `function_aliases`, a dict of the
        functions that have another name by `SaveOptions`.
      experimental_io_device, experimental_variable_policy: without effect.

    >>> import tape_compat as tf
    >>> tf.saved_model.LoadOptions().allow_partial_checkpoint
    False
    """

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ):
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = VariablePolicy(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases
