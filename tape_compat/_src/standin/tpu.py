"""`tf.tpu.experimental.embedding`: classes that libraries name, for the embeddings of TPUs."""

from __future__ import annotations

from typing import Any

from ..core.errors import user_location


class OfTPU:
    """What is made for the embeddings of TPUs: none is one, and none can be made."""

    def __init__(self, *_: Any, **__: Any):
        raise NotImplementedError(
            f"tf.tpu.experimental.embedding: tables of TPUs are not here (at {user_location()})"
        )


Adagrad = AdagradMomentum = Adam = FTRL = SGD = CustomOptimizer = OfTPU
FeatureConfig = TableConfig = TPUEmbedding = TPUEmbeddingForServing = TPUEmbeddingV0 = OfTPU
TPUEmbeddingV2 = QuantizationConfig = RowIdInitializer = SparseCoreEmbeddingConfig = OfTPU


class HardwareFeature:
    """What TPUs have for embeddings."""

    class EmbeddingFeature:
        """The kinds of support, by their names."""

        UNSUPPORTED, V1, V2 = "UNSUPPORTED", "V1", "V2"


class _Context:
    """What says of how many TPUs a function is replicated on."""

    number_of_shards = None


_CONTEXT = _Context()


def get_tpu_context() -> _Context:
    """That of this thread, which is not on TPUs: `number_of_shards` is None."""
    return _CONTEXT


class SequentialEmbeddingContext:
    """A context whose embeddings on TPUs are looked up one after the other: there are none."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass
