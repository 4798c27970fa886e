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
    sample_from_datasets as sample_from_datasets,
)

_face(__name__)
