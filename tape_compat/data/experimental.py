"""`tf.data.experimental`: further datasets and settings."""

from .._src.data.functional import (
    SHARD_HINT as SHARD_HINT,
    Counter as Counter,
    RandomDataset as RandomDataset,
    assert_cardinality as assert_cardinality,
    at as at,
    bucket_by_sequence_length as bucket_by_sequence_length,
    cardinality as cardinality,
    choose_from_datasets as choose_from_datasets,
    copy_to_device as copy_to_device,
    dense_to_ragged_batch as dense_to_ragged_batch,
    dense_to_sparse_batch as dense_to_sparse_batch,
    enumerate_dataset as enumerate_dataset,
    from_list as from_list,
    get_next_as_optional as get_next_as_optional,
    get_single_element as get_single_element,
    get_structure as get_structure,
    group_by_reducer as group_by_reducer,
    group_by_window as group_by_window,
    ignore_errors as ignore_errors,
    load as load,
    map_and_batch as map_and_batch,
    pad_to_cardinality as pad_to_cardinality,
    parallel_interleave as parallel_interleave,
    prefetch_to_device as prefetch_to_device,
    rejection_resample as rejection_resample,
    sample_from_datasets as sample_from_datasets,
    save as save,
    scan as scan,
    shuffle_and_repeat as shuffle_and_repeat,
    snapshot as snapshot,
    take_while as take_while,
    unbatch as unbatch,
    unique as unique,
)
from .._src.data.io.csv_files import (
    CsvDataset as CsvDataset,
    make_csv_dataset as make_csv_dataset,
)
from .._src.data.io.examples import (
    TFRecordWriter as TFRecordWriter,
    make_batched_features_dataset as make_batched_features_dataset,
    parse_example_dataset as parse_example_dataset,
)
from .._src.data.io.sql import SqlDataset as SqlDataset
from .._src.data.optional import Optional as Optional
from .._src.data.options import (
    AutoShardPolicy as AutoShardPolicy,
    AutotuneAlgorithm as AutotuneAlgorithm,
    AutotuneOptions as AutotuneOptions,
    DistributeOptions as DistributeOptions,
    ExternalStatePolicy as ExternalStatePolicy,
    OptimizationOptions as OptimizationOptions,
    ServiceOptions as ServiceOptions,
    ThreadingOptions as ThreadingOptions,
    enable_debug_mode as enable_debug_mode,
)
from .._src.data.pipeline import (
    AUTOTUNE as AUTOTUNE,
    INFINITE as INFINITE_CARDINALITY,
    UNKNOWN as UNKNOWN_CARDINALITY,
)
from .._src.data.reducing import Reducer as Reducer
from .._src.interop.names import face as _face
from .._src.library.lookup.datasets import (
    index_table_from_dataset as index_table_from_dataset,
    table_from_dataset as table_from_dataset,
)
from .._src.library.lookup.initializers import DatasetInitializer as DatasetInitializer

_face(__name__)
