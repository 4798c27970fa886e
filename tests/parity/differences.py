"""Cases where we part from TensorFlow on purpose: id to reason. Each is expected to differ."""

_WRONG = "TensorFlow's own derivative is wrong where an element is zero; ours is the true one"
_ONE_ROW = "TensorFlow cannot vectorise one row at a time; we can, and it bounds the memory"

_ITERATED = "a symbolic tensor whose length is known can be iterated over"

_PYTHON_RUNS = "shapes are not known beforehand, so the function runs its Python, with values"

_ANY_RANK = "a tensor of unknown rank is recorded for each shape"

_RECORDED_ERROR = "an InvalidArgumentError, as in eager code, that is a ValueError as well"

_SINGULAR = "a compiled program cannot raise on a value: a singular matrix gives inf or NaN"

DIFFERENCES: dict[str, str] = {
    "control_flow/array_returned": "a TensorArray that a function returns is one",
    "control_flow/cond_mismatches": "a TypeError for every structure; TensorFlow asserts for one",
    "custom/recompute_grad_twice_and_an_op": "works; TensorFlow raises NotImplementedError",
    "forward/wrong_tangent_shape": "refused at once; TensorFlow fails later or not at all",
    "function_autograph/autograph_off_loop": _ITERATED,
    "function_autograph/builtins_of_tensors": _ITERATED,
    "function_autograph/for_else": _ITERATED,
    "function_autograph/for_enumerate_a_tensor": _ITERATED,
    "function_autograph/for_unpacks_rows": _ITERATED,
    "function_autograph/for_zip_tensors": _ITERATED,
    "function_shapes/body_reshape_by_shape": "works; TensorFlow refuses to turn the shape around",
    "function_shapes/body_reshape_n_by_minus_one": "the size that is left is known",
    "function_shapes/rank_any_rank": _ANY_RANK,
    "function_shapes/set_shape": _ANY_RANK,
    "function_state/numpy_function": _PYTHON_RUNS,
    "function_state/numpy_function_wrong_dtype": _PYTHON_RUNS,
    "function_autograph/while_dtype_changes": _RECORDED_ERROR,
    "function_gradients/reverse_over_forward": "works; TensorFlow finds no connection",
    "function_compiled/gradient_outside": "nothing needs to refuse it",
    "function_state/failed_assert_keeps_earlier_effects": "a call that fails changes nothing",
    "function_tracing/concrete_inputs_and_outputs": "inputs are those of the arguments",
    "function_tracing/copies": "a copy of a function has records of its own",
    "function_tracing/error_at_run_time": "an index out of range gives zeros, as on a GPU",
    "function_tracing/input_signature_of_any_rank": _ANY_RANK,
    "function_tracing/inside_function_in_an_init_scope": "outside is outside",
    "function_tracing/instance_with_slots": "works; TensorFlow must hold the instance weakly",
    "function_tracing/names_of_ops": "the `name` of an op has no effect",
    "function_tracing/reduce_retracing_rank": _ANY_RANK,
    "function_tracing/symbol_as_a_sequence": _ITERATED,
    "function_tracing/symbol_as_an_index": "a NeedsValue, a TypeError too",
    "function_tracing/unpack_a_symbol": _ITERATED,
    "jacobian/batch_parallel_iterations": _ONE_ROW,
    "jacobian/one_parallel_iteration": _ONE_ROW,
    "linalg/inv_singular": _SINGULAR,
    "linalg/solve_singular": _SINGULAR,
    "operators/index_mixed_int_tensors": "index tensors of two integer dtypes are taken together",
    "slices/second_order_target_is_slices": "a target of IndexedSlices works; TensorFlow trips",
    "slices/variable_two_targets": "the order in which slices are joined means nothing",
    "watch/watch_between_uses_of_a_gradient": "each derivative is one op, with all its inputs",
    "linalg/det_singular": "the gradient of det needs no inverse here, so it exists",
    "math/cumprod_zero": _WRONG,
    "math/reduce_prod_no_axes": "over no axes it is the identity, whose gradient is constant",
    "math/reduce_prod_zero": _WRONG,
}
