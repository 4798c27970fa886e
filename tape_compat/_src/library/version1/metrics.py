"""`tf.compat.v1.metrics`, which are for graphs: in eager code each refuses, as in TensorFlow."""

from __future__ import annotations

from typing import Any

from ...values.context import executing_eagerly


def _refused(name: str) -> Any:
    def metric(*args: Any, **kwargs: Any) -> Any:
        if executing_eagerly():
            raise RuntimeError(
                f"tf.metrics.{name} is not supported when eager execution is enabled."
            )
        raise NotImplementedError(
            f"tf.compat.v1.metrics.{name} needs a session: use tf.keras.metrics"
        )

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = "Raises: RuntimeError in eager code; NotImplementedError in a `tf.function`."
    return metric


accuracy = _refused("accuracy")
auc = _refused("auc")
average_precision_at_k = _refused("average_precision_at_k")
false_negatives = _refused("false_negatives")
false_negatives_at_thresholds = _refused("false_negatives_at_thresholds")
false_positives = _refused("false_positives")
false_positives_at_thresholds = _refused("false_positives_at_thresholds")
mean = _refused("mean")
mean_absolute_error = _refused("mean_absolute_error")
mean_cosine_distance = _refused("mean_cosine_distance")
mean_iou = _refused("mean_iou")
mean_per_class_accuracy = _refused("mean_per_class_accuracy")
mean_relative_error = _refused("mean_relative_error")
mean_squared_error = _refused("mean_squared_error")
mean_tensor = _refused("mean_tensor")
percentage_below = _refused("percentage_below")
precision = _refused("precision")
precision_at_k = _refused("precision_at_k")
precision_at_thresholds = _refused("precision_at_thresholds")
precision_at_top_k = _refused("precision_at_top_k")
recall = _refused("recall")
recall_at_k = _refused("recall_at_k")
recall_at_thresholds = _refused("recall_at_thresholds")
recall_at_top_k = _refused("recall_at_top_k")
root_mean_squared_error = _refused("root_mean_squared_error")
sensitivity_at_specificity = _refused("sensitivity_at_specificity")
sparse_average_precision_at_k = _refused("sparse_average_precision_at_k")
sparse_precision_at_k = _refused("sparse_precision_at_k")
specificity_at_sensitivity = _refused("specificity_at_sensitivity")
true_negatives = _refused("true_negatives")
true_negatives_at_thresholds = _refused("true_negatives_at_thresholds")
true_positives = _refused("true_positives")
true_positives_at_thresholds = _refused("true_positives_at_thresholds")
