"""`tf.compat.v1.data.experimental`: datasets that give iterators."""

from ...._src.interop.version1 import face as _face
from ...._src.library.version1.data import (
    Counter as Counter,
    CsvDataset as CsvDataset,
    RandomDataset as RandomDataset,
    SqlDataset as SqlDataset,
    choose_from_datasets as choose_from_datasets,
    make_batched_features_dataset as make_batched_features_dataset,
    make_csv_dataset as make_csv_dataset,
    ragged_tensor_structure as RaggedTensorStructure,
    sample_from_datasets as sample_from_datasets,
    sparse_tensor_structure as SparseTensorStructure,
    tensor_array_structure as TensorArrayStructure,
    tensor_structure as TensorStructure,
)

_face(__name__)
