"""Steps of the host as kernels of TensorFlow's: what functions do with contents of files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import as_dtype, int32, string
from .step_nodes import Given, Reference, Table, one_to_one, unsupported

WRITERS = Table()


# -- contents of files ----------------------------------------------------------------------------


WRITERS |= {
    "decode_base64": one_to_one("DecodeBase64"),
    "decode_bmp": one_to_one("DecodeBmp", "image", channels=1),
    "decode_compressed": one_to_one("DecodeCompressed", compression_type=1),
    "decode_gif": one_to_one("DecodeGif", "image"),
    "decode_image": one_to_one("DecodeImage", "image", channels=1, dtype=2, expand_animations=4),
    "decode_jpeg": one_to_one("DecodeJpeg", "image", channels=1, ratio=2, dct_method=6),
    "decode_png": one_to_one("DecodePng", "image", channels=1, dtype=2),
    "encode_base64": one_to_one("EncodeBase64", pad=1),
    "extract_jpeg_shape": one_to_one("ExtractJpegShape", "image_shape", output_type=1),
    "_contents_of": one_to_one("ReadFile", "contents"),
}


@WRITERS.row("decode_and_crop_jpeg")
def _decode_and_crop_jpeg(given: Given) -> list[str]:
    contents, window = given.reference(given.args[0]), given.reference(given.args[1], int32)
    attr = {
        "channels": given.option(2, "channels", 0),
        "ratio": given.option(3, "ratio", 1),
        "dct_method": given.option(7, "dct_method", ""),
    }
    return [given.body.value("DecodeAndCropJpeg", "image", [contents, window], attr)]


@WRITERS.row("is_jpeg")
def _is_jpeg(given: Given) -> list[str]:
    body = given.body
    places = [body.constant(0, int32), body.constant(3, int32)]
    start = body.value("Substr", "output", [given.args[0].name, *places], {"T": int32})
    return [
        body.value("Equal", "z", [start, body.constant(b"\xff\xd8\xff", string)], {"T": string})
    ]


@WRITERS.row("decode_wav")
def _decode_wav(given: Given) -> list[str]:
    names = ("desired_channels", "desired_samples")
    attr = {name: given.option(i, name, -1) for i, name in enumerate(names, 1)}
    node = given.body.node("decodewav", "DecodeWav", [given.reference(given.args[0])], attr)
    return [f"{node.name}:audio:0", f"{node.name}:sample_rate:0"]


# -- numbers as bytes -----------------------------------------------------------------------------


@WRITERS.row("decode_raw")
def _decode_raw(given: Given) -> list[str]:
    text, length = given.reference(given.args[0]), given.option(3, "fixed_length", None)
    attr: dict[str, Any] = {
        "out_type": as_dtype(given.option(1, "out_type", None)),
        "little_endian": given.option(2, "little_endian", True),
    }
    if length is None:
        return [given.body.value("DecodeRaw", "output", [text], attr)]
    inputs = [text, given.reference(length, int32)]
    return [given.body.value("DecodePaddedRaw", "output", inputs, attr)]


@WRITERS.row("serialize_tensor")
def _serialize_tensor(given: Given) -> list[str]:
    value = given.args[0]
    return [
        given.body.value("SerializeTensor", "serialized", [value.name], {"T": value.aval.dtype})
    ]


@WRITERS.row("reduce_join")
def _reduce_join(given: Given) -> list[str]:
    text, axis = given.args[0], given.option(1, "axis", None)
    if not isinstance(text, Reference):
        raise unsupported("reduce_join of ragged texts")
    rank = len(text.aval.shape)
    axes = np.arange(rank)[::-1] if axis is None else axis
    attr = {
        "keep_dims": given.option(2, "keepdims", False),
        "separator": given.option(3, "separator", ""),
    }
    inputs = [text.name, given.reference(axes, int32)]
    return [given.body.value("ReduceJoin", "output", inputs, attr)]


@WRITERS.row("decode_csv")
def _decode_csv(given: Given) -> list[str]:
    kinds = [aval.dtype for aval in given.outputs]
    defaults = map(given.reference, given.option(1, "record_defaults", ()), kinds)
    names = {"field_delim": ",", "use_quote_delim": True, "na_value": "", "select_cols": None}
    values = {
        name: given.option(i, name, default) for i, (name, default) in enumerate(names.items(), 2)
    }
    attr = {**values, "select_cols": list(values["select_cols"] or ()), "OUT_TYPE": kinds}
    node = given.body.node("decodecsv", "DecodeCSV", [given.args[0].name, *defaults], attr)
    return [f"{node.name}:output:{i}" for i in range(len(kinds))]


@WRITERS.row("fingerprint")
def _fingerprint(given: Given) -> list[str]:
    data = given.option(0, "data", None)
    inputs = [data.name, given.reference(given.option(1, "method", "farmhash64"))]
    return [given.body.value("Fingerprint", "fingerprint", inputs, {"T": data.aval.dtype})]
