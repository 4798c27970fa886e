"""The names of `tape_compat` itself that are imported when they are first used.

They are from modules that nothing else of the package needs at its import: a third of it, most of
which a program never reads. The face imports them for type checkers, and a test compares the two.
"""

from __future__ import annotations

#: The names of a module below `_src`; `op=name` for one that has another name in its module.
_NAMES = {
    "function.gradients": "AggregationMethod gradients hessians",
    "autodiff.recompute": "recompute_grad",
    "data.io.tensors": "make_ndarray make_tensor_proto",
    "data.optional": "OptionalSpec",
    "function.control_flow": "case cond switch_case while_loop",
    "function.functional_ops": "foldl foldr map_fn scan",
    "function.python_calls": "numpy_function py_function",
    "function.vectorized_map": "vectorized_map",
    "interop.functional": "functional",
    "interop.own_gradients": "RegisterGradient no_gradient",
    "library.config": "get_logger",
    "library.critical_section": "CriticalSection",
    "library.initializers": (
        "Constant=constant_initializer Ones=ones_initializer Zeros=zeros_initializer "
        "RandomNormal=random_normal_initializer RandomUniform=random_uniform_initializer"
    ),
    "library.machine": "timestamp",
    "library.saved_model.import_graph": "import_graph_def",
    "ops.blocks": (
        "batch_to_space required_space_to_batch_paddings space_to_batch "
        "space_to_batch=space_to_batch_nd"
    ),
    "ops.clipping": "clip_by_global_norm clip_by_norm clip_by_value",
    "ops.decompositions": "eig eigvals sqrtm=matrix_square_root",
    "ops.edit_distances": "edit_distance",
    "ops.fingerprints": "fingerprint",
    "ops.histograms": "histogram_fixed_width histogram_fixed_width_bins",
    "ops.images.patches": "extract_volume_patches",
    "ops.index_shuffle": "random_index_shuffle",
    "ops.norms": "norm",
    "ops.ordering": "argsort reverse reverse_sequence roll searchsorted sort",
    "ops.plain_kernels": (
        "approx_top_k conv parallel_stack ragged_fill_empty_rows ragged_fill_empty_rows_grad "
        "realdiv"
    ),
    "ops.printing": "print",
    "ops.strings": "as_string",
    "standin.install": "install_as_tensorflow",
}

#: Where a name is from: its module below `_src`, and its name there.
LATER: dict[str, tuple[str, str]] = {
    listed.rpartition("=")[2]: (module, listed.partition("=")[0])
    for module, names in _NAMES.items()
    for listed in names.split()
}
