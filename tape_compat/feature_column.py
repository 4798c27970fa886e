"""`tf.feature_column`: what a model takes of features."""

from ._src.interop.names import face as _face
from ._src.library.feature_columns.categorical import (
    categorical_column_with_hash_bucket as categorical_column_with_hash_bucket,
    categorical_column_with_identity as categorical_column_with_identity,
    categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list,
    crossed_column as crossed_column,
    weighted_categorical_column as weighted_categorical_column,
)
from ._src.library.feature_columns.dense import (
    bucketized_column as bucketized_column,
    embedding_column as embedding_column,
    indicator_column as indicator_column,
    make_parse_example_spec as make_parse_example_spec,
    numeric_column as numeric_column,
)
from ._src.library.feature_columns.sequences import (
    sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity as sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file,  # noqa: E501
    sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list,  # noqa: E501
    sequence_numeric_column as sequence_numeric_column,
)

_face(__name__)
