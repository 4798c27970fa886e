"""The third mode: a case as it is, recorded by one `tf.function`, must give what it gives eagerly.

Its variables are made outside, as those of a function are; its tensors come out of the function. A
case that looks at a value while it is recorded says nothing here.
"""

import warnings
from collections.abc import Callable
from typing import Any

from tape_compat._src.values.capture import lifted

from .harness import Case, Raised, describe, raised

#: Files whose cases make functions themselves, or whose values are read as they go.
OWN_FUNCTIONS = (
    "cases_autograph",
    "cases_checkpoints",
    "cases_control_flow",
    "cases_data",
    "cases_distributions",
    "cases_extension_types",
    "cases_function_",
    "cases_lookup",
    "cases_optimizers",
    "cases_random",
    "cases_summary",
)

#: Words of errors that say that a value was looked at.
_LOOKED = (
    "out of scope",
    "symbolic",
    "Symbolic",
    "is being recorded",
    "eager execution is enabled",
    "only be used in eager mode",
)

_TEXT = "what a symbolic tensor says of itself"
_BY_GRADIENT = "eager forward mode goes by the ops, that of functions by the gradient function"
_RECORDED = "a function with a gradient of its own is recorded once with that, and looked at then"

_DERIVED = "variables are made outside, so `tf.Variable` is no class to derive from"

_CHECKED = "a check that fails raises where the function is called"

_EAGER = "does something else in eager code, in TensorFlow too"

#: Cases that differ in a function, and why.
DIFFERENCES: dict[str, str] = {
    "boxes/jpeg": "what is decoded in a function has sizes that only the call tells",
    "creation/filled_with_one_number_in_a_list": _EAGER,
    "creation/shapes_not_known": _EAGER,
    "custom/custom_backward_called_once_each": _RECORDED,
    "custom/custom_gradient_of_objects": "a text is known only when Python runs",
    "custom/custom_outside_tape": _RECORDED,
    "forward/custom_gradient": _BY_GRADIENT,
    "forward/custom_gradient_of_None": _RECORDED,
    "forward/custom_gradients_in_functions": _BY_GRADIENT,
    "forward/custom_gradient_of_two": _RECORDED,
    "forward/custom_gradient_of_wrong_dtypes": _RECORDED,
    "forward/custom_gradient_that_fails": _RECORDED,
    "forward/custom_gradient_that_works": _RECORDED,
    "forward/dead_primals_tangents": "what is recorded is alive until the function is recorded",
    "image/resize_to_a_vector_of_unknown_length": "a constant that does not fit is refused at once",
    "jacobian/batch_without_pfor_nonpersistent": _EAGER,
    "jacobian/without_pfor_nonpersistent": _EAGER,
    "libraries/classes_of_variables_and_interfaces": _DERIVED,
    "libraries/classes_that_pass_for_variables": _DERIVED,
    "libraries/values_of_initializers": "draws in a function have generators of their own",
    "libraries/variables_that_are_composed": _DERIVED,
    "libraries/variables_that_libraries_make_of_tensors": _DERIVED,
    "libraries/variables_with_names_of_their_own": _DERIVED,
    "ragged_texts/as_text": "a function prints when it is called, not while it is recorded",
    "linear_operator/assertions": _CHECKED,
    "ragged/tf.debugging.assert_equal(r,_r)": _EAGER,
    "ragged/tf.debugging.assert_less(r,_r_+_1)": _EAGER,
    "ragged/tf.debugging.assert_near(f,_f_+_1)": _TEXT,
    "math/unravel_index": _CHECKED,
    "parse_features/all_kinds_in_a_function": "its values are read as they come",
    "queues/what_does_not_fit": "its Python runs at each call, and is told so first",
    "raw/batch_norm_errors": "dtypes are refused by TypeErrors in functions, in TensorFlow too",
    "raw/errors": "dtypes are refused by TypeErrors in functions, in TensorFlow too",
    "raw/parallel_stack_outside_of_a_function": _EAGER,
    "raw/updates_refused": "dtypes are refused by TypeErrors in functions, in TensorFlow too",
    "serialized/saved_model_options": "a SavedModel is not written in a function",
    "tensor/debugging": "a check of constants that fails raises where the function is called",
    "tensor/near_without_tolerance": _CHECKED,
    "tensor/texts_of_failed_assertions": _CHECKED,
    "tensor/executing_eagerly": "it is asked where it runs",
    "tensor/text_of_long": _TEXT,
    "tensor/text_of_scalar_third": _TEXT,
    "testing/collections_begin_anew": _EAGER,
    "testing/lists_of_several_lengths_and_arrays_of_one_number": _EAGER,
    "variable/assign_without_reading": _EAGER,
    "variable/count_up_to": "a limit that is reached raises where the function is called",
    "variable/count_up_to_in_a_function": "a limit that is reached raises where it is called",
    "variable/text": _TEXT,
    "version1/graphs_of_eager_code_and_of_functions": "it is asked where it runs",
    "version1_functions/arrays": "a number that a branch returns is a tensor",
    "version1_functions/assertions": _CHECKED,
    "version1_functions/get_variable": "variables are made at the first call of a function only",
    "version1_functions/initializers": "draws in a function have generators of their own",
    "version1_functions/numbers": _CHECKED,
    "version1_functions/seeds": _EAGER,
    "version1_losses/collections": _EAGER,
    "version1_losses/pairwise": _EAGER,
    "version1_train/checkpoints": "a checkpoint is not written in a function",
    "version1_train/files_of_checkpoints": "a checkpoint is not written in a function",
    "version1_train/variables_of_a_checkpoint": "a checkpoint is not written in a function",
    "version1_train/decays": _EAGER,
    "version1_train/saver": "a checkpoint is not written in a function",
    "windows_nn/images_smaller_than_windows": _EAGER,
}


class Looked(Exception):
    """The case looked at a value."""


class _Variables(type):
    """Stands for `tf.Variable`, and makes variables outside of the function."""

    tf: Any

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        given = [lifted(x) if isinstance(x, cls.tf.Tensor) else x for x in args]
        with cls.tf.init_scope():
            return cls.tf.Variable(*given, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.tf.Variable)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.tf.Variable, name)


class Module:
    """The module with the stand-in for `tf.Variable`."""

    def __init__(self, tf: Any):
        self._tf = tf
        self.Variable = _Variables("Variable", (), {"tf": tf})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tf, name)


def applies(case: Case) -> bool:
    return not case.file.startswith(OWN_FUNCTIONS)


def outcome(case: Case, tf: Any) -> Any:
    """What the case gives inside a function. Raises `Looked` if it looks at a value."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = describe(tf, _recorded(case, tf))
    except Looked:
        raise
    except Exception as error:
        found = raised(error)
    if _looked(found):
        raise Looked
    return found


def _recorded(case: Case, tf: Any) -> Any:
    shapes: list[Any] = []

    @tf.function(autograph=False)
    def body() -> list[Any]:
        tensors: list[Any] = []
        shapes.append(_replace(tf, case.run(Module(tf)), lambda x: _kept(tensors, x)))
        if tf.executing_eagerly():  # what cannot be recorded is run at each call
            raise Looked
        return tensors

    tensors = body()
    return _replace(tf, shapes[-1], lambda x: tensors[x.place] if isinstance(x, _Place) else x)


class _Place:
    def __init__(self, place: int):
        self.place = place


def _kept(tensors: list[Any], x: Any) -> _Place:
    tensors.append(x)
    return _Place(len(tensors) - 1)


def _replace(tf: Any, value: Any, change: Callable[[Any], Any]) -> Any:
    """A nest with something else for its tensors and places."""

    def inner(x: Any) -> Any:
        return _replace(tf, x, change)

    if isinstance(value, dict):
        return type(value)((k, inner(x)) for k, x in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(inner, value))
    if isinstance(value, list | tuple):
        return type(value)(map(inner, value))
    if isinstance(value, tf.IndexedSlices):
        return tf.IndexedSlices(*map(inner, (value.values, value.indices, value.dense_shape)))
    is_tensor = tf.is_tensor(value) and not isinstance(value, tf.Variable)
    return change(value) if is_tensor or isinstance(value, _Place) else value


def _looked(found: Any) -> bool:
    if isinstance(found, dict):
        return any(map(_looked, found.values()))
    return isinstance(found, Raised) and any(word in found.message for word in _LOOKED)
