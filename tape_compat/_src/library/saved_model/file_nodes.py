"""Steps of the host as kernels of TensorFlow's: what functions do with contents of files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import as_dtype, int32, string, uint8
from .step_nodes import Given, Reference, Table, Writer, unsupported

WRITERS = Table()


# -- images and sound -----------------------------------------------------------------------------


def _image(op: str, options: dict[str, tuple[int, Any]], output: str = "image") -> Writer:
    """Writes a kernel of the contents of a file. options: by their names in TensorFlow the places
    of those that are attributes, and their defaults."""

    def write(given: Given) -> list[str]:
        attr = {name: given.option(i, name, default) for name, (i, default) in options.items()}
        attr = {name: 0 if value is None else value for name, value in attr.items()}
        for name in attr.keys() & {"dtype", "output_type"}:
            attr[name] = as_dtype(attr[name])
        return [given.body.value(op, output, [given.reference(given.args[0])], attr)]

    return write


_CHANNELS: dict[str, tuple[int, Any]] = {"channels": (1, 0)}
_KIND = _CHANNELS | {"dtype": (2, uint8)}

WRITERS |= {
    "decode_bmp": _image("DecodeBmp", _CHANNELS),
    "decode_gif": _image("DecodeGif", {}),
    "decode_image": _image("DecodeImage", _KIND | {"expand_animations": (4, True)}),
    "decode_jpeg": _image("DecodeJpeg", _CHANNELS | {"dct_method": (6, "")}),
    "decode_png": _image("DecodePng", _KIND),
    "extract_jpeg_shape": _image("ExtractJpegShape", {"output_type": (1, int32)}, "image_shape"),
}


@WRITERS.row("decode_and_crop_jpeg")
def _decode_and_crop_jpeg(given: Given) -> list[str]:
    contents, window = given.reference(given.args[0]), given.reference(given.args[1], int32)
    attr = {
        "channels": given.option(2, "channels", 0),
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


@WRITERS.row("decode_compressed")
def _decode_compressed(given: Given) -> list[str]:
    attr = {"compression_type": given.option(1, "compression_type", "")}
    return [given.body.value("DecodeCompressed", "output", [given.reference(given.args[0])], attr)]


@WRITERS.row("encode_base64")
def _encode_base64(given: Given) -> list[str]:
    attr = {"pad": given.option(1, "pad", False)}
    return [given.body.value("EncodeBase64", "output", [given.args[0].name], attr)]


@WRITERS.row("decode_base64")
def _decode_base64(given: Given) -> list[str]:
    return [given.body.value("DecodeBase64", "output", [given.args[0].name])]


@WRITERS.row("read_file")
def _read_file(given: Given) -> list[str]:
    return [given.body.value("ReadFile", "contents", [given.args[0].name])]


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
