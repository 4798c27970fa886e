"""The messages of event files: `Event`, `Summary` and what they are made of."""

from __future__ import annotations

from typing import ClassVar

from ...data.io.fields import DATA, DOUBLE, FLOAT, INT, TEXT, Doubles
from ...data.io.messages import Message, Messages
from ...data.io.tensors import TensorProto


class _PluginData(Message):
    """The name of a part of TensorBoard, and what is for it alone."""

    FIELDS: ClassVar = {"plugin_name": (1, TEXT), "content": (2, DATA)}


class SummaryMetadata(Message):
    """What TensorBoard is to know of a summary.

    >>> import tape_compat as tf
    >>> metadata = tf.compat.v1.SummaryMetadata()
    >>> metadata.plugin_data.plugin_name = "scalars"
    >>> metadata.SerializeToString()
    b'\\n\\t\\n\\x07scalars'
    """

    FIELDS: ClassVar = {
        "plugin_data": (1, _PluginData),
        "display_name": (2, TEXT),
        "summary_description": (3, TEXT),
        "data_class": (4, INT),
    }
    PluginData = _PluginData


class HistogramProto(Message):
    """A histogram as TensorFlow 1 writes it."""

    FIELDS: ClassVar = {
        "min": (1, DOUBLE),
        "max": (2, DOUBLE),
        "num": (3, DOUBLE),
        "sum": (4, DOUBLE),
        "sum_squares": (5, DOUBLE),
        "bucket_limit": (6, Doubles),
        "bucket": (7, Doubles),
    }


class _Image(Message):
    """An image as TensorFlow 1 writes it."""

    FIELDS: ClassVar = {
        "height": (1, INT),
        "width": (2, INT),
        "colorspace": (3, INT),
        "encoded_image_string": (4, DATA),
    }


class _Audio(Message):
    """Sound as TensorFlow 1 writes it."""

    FIELDS: ClassVar = {
        "sample_rate": (1, FLOAT),
        "num_channels": (2, INT),
        "length_frames": (3, INT),
        "encoded_audio_string": (4, DATA),
        "content_type": (5, TEXT),
    }


class _Value(Message):
    """One summary: its tag, its metadata and its value."""

    FIELDS: ClassVar = {
        "tag": (1, TEXT),
        "simple_value": (2, FLOAT),
        "obsolete_old_style_histogram": (3, DATA),
        "image": (4, _Image),
        "histo": (5, HistogramProto),
        "audio": (6, _Audio),
        "node_name": (7, TEXT),
        "tensor": (8, TensorProto),
        "metadata": (9, SummaryMetadata),
    }
    ONE_OF: ClassVar = "value"
    GROUP: ClassVar = (
        *("simple_value", "obsolete_old_style_histogram", "image", "histo", "audio", "tensor"),
    )


class _ValueList(Messages):
    KIND = _Value


class Summary(Message):
    """Summaries of one step: `value` is a list of them.

    >>> import tape_compat as tf
    >>> summary = tf.compat.v1.Summary()
    >>> _ = summary.value.add(tag="loss", simple_value=0.5)
    >>> tf.compat.v1.Summary.FromString(summary.SerializeToString()).value[0].simple_value
    0.5
    """

    FIELDS: ClassVar = {"value": (1, _ValueList)}
    Value = _Value
    Image = _Image
    Audio = _Audio


class _SourceMetadata(Message):
    """What wrote a file."""

    FIELDS: ClassVar = {"writer": (1, TEXT)}


class Event(Message):
    """A record of an event file: when it was written, for which step, and what it says.

    >>> import tape_compat as tf
    >>> event = tf.compat.v1.Event(wall_time=1.5, step=3)
    >>> event.WhichOneof("what"), event.step
    (None, 3)
    """

    FIELDS: ClassVar = {
        "wall_time": (1, DOUBLE),
        "step": (2, INT),
        "file_version": (3, TEXT),
        "graph_def": (4, DATA),
        "summary": (5, Summary),
        "meta_graph_def": (9, DATA),
        "source_metadata": (10, _SourceMetadata),
    }
    ONE_OF: ClassVar = "what"
    GROUP: ClassVar = ("file_version", "graph_def", "summary", "meta_graph_def")


for _class in (SummaryMetadata, HistogramProto, Summary, Event):
    _class.__module__ = "tape_compat.compat.v1"
