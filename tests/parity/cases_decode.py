"""Bytes decoded to numbers."""

import io
import struct
import zlib

import numpy as np
from PIL import Image

from .harness import attempt, attempts

NEEDS = ("io.decode_raw",)


def case_decode_raw(tf):
    decode = tf.io.decode_raw
    return (
        decode(["abcd", "efgh"], tf.int16),
        decode(["abcd"], tf.uint8, fixed_length=6),
        decode(["abcd"], tf.int16, little_endian=False),
        attempt(decode, ["abc"], tf.int16),
        attempt(decode, ["abc", "ab"], tf.uint8),
    )


def case_specs_of_decoded_files(tf):
    files = tf.data.Dataset.from_tensors(tf.io.encode_png(np.zeros([3, 4, 3], np.uint8)))
    sound = tf.data.Dataset.from_tensors(tf.audio.encode_wav(np.zeros([4, 2], np.float32), 8000))

    def image(contents, **options):
        return tf.io.decode_image(contents, expand_animations=False, **options)

    mapped = {
        "image": files.map(image),
        "gray": files.map(lambda x: image(x, channels=1, dtype=tf.float32)),
        "resized": files.map(lambda x: tf.image.resize(image(x, channels=3), [5, 6])).batch(2),
        "png": files.map(tf.io.decode_png),
        "bmp": files.map(lambda x: tf.io.decode_bmp(x, channels=3)),
        "gif": files.map(tf.io.decode_gif),
        "jpeg": files.map(tf.io.is_jpeg),
        "sound": sound.map(lambda x: tuple(tf.audio.decode_wav(x))),
        "mono": sound.map(lambda x: tuple(tf.audio.decode_wav(x, 1, 3))),
        "nothing": sound.map(lambda x: tuple(tf.audio.decode_wav(x, 0, 0))),
    }
    specs = {name: dataset.element_spec for name, dataset in mapped.items()}
    runs = ("image", "gray", "resized", "sound", "mono", "nothing")
    return specs, {name: next(iter(mapped[name])) for name in runs}


def _webp(pixels):
    """A WebP file of the pixels as they are."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", lossless=True, exact=True)
    return file.getvalue()


def case_webp_files(tf):
    pixels = np.arange(64, dtype=np.uint8).reshape(4, 4, 4) * 3
    three, four = _webp(pixels[..., :3].copy()), _webp(pixels)
    webp, image = tf.image.decode_webp, tf.image.decode_image
    return (
        [webp(three), webp(four), webp(three, 3), webp(four, 4)],
        [image(three), image(four, 4), image(three, expand_animations=False)],
        webp(tf.io.encode_png(pixels[..., :3])),
        attempts(
            tf,
            {
                "gray": lambda tf: webp(three, 1),
                "more": lambda tf: webp(three, 4),
                "less": lambda tf: image(four, 3),
                "two": lambda tf: webp(three, 2),
                "floats": lambda tf: image(three, dtype=tf.float32),
                "dtype": lambda tf: webp(three, dtype=tf.float32),
                "empty": lambda tf: webp(b""),
                "no image": lambda tf: webp(b"abcdefghijkl"),
            },
            words=4,
        ),
    )


#: Lists of features as JSON.
LISTS = (
    *('"int64List": {"value": ["1", 2, -3, 1e3, "1e2", 2.0]}', '"int64_list": {"value": 5}'),
    *('"bytesList": {"value": ["YQ==", "YQ", "_-8=", ""]}', '"floatList": {"value": []}'),
    *('"floatList": {"value": [1.5, "NaN", "Infinity", "-Infinity", "1e3", 2]}', ""),
    *('"int64List": {"value": ["9223372036854775807"]}', '"int64List": null', '"int64List": {}'),
    *('"int64List": {"value": [1.5]}', '"int64List": {"value": [true]}', '"x": 1'),
    *('"int64List": {"value": [1e999]}', '"floatList": {"value": [1e39]}'),
    *('"int64List": {"value": ["9223372036854775808"]}', '"int64List": {"value": ["a"]}'),
    *('"floatList": {"value": ["x"]}', '"bytesList": {"value": ["*"]}', '"floatList": [1]'),
    '"int64List": {"value": [1]}, "floatList": {"value": [1]}',
)


def case_decode_json_example(tf):
    decode = tf.io.decode_json_example
    texts = [f'{{"features": {{"feature": {{"a": {{{part}}}}}}}}}' for part in LISTS]
    wrong = ("", "x", "[]", '{"x": 1}', '{"features": {"x": 1}}', '{"features": NaN}')
    pair = tf.constant([["{}"], ['{"features": null}']])
    return [attempt(decode, text, words=4) for text in (*texts, *wrong)] + [
        decode(pair),
        tf.function(decode)(pair),
        attempt(decode, 1),
    ]


def _file(pixels, kind):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def case_files_of_other_formats(tf):
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    files = [_file(pixels, kind) for kind in ("PNG", "BMP", "GIF")]
    decoders = (tf.io.decode_png, tf.io.decode_bmp, tf.io.decode_gif, tf.io.decode_image)
    return [attempt(decode, file, words=12) for decode in decoders for file in files]


def case_images_that_are_not_encoded(tf):
    gray, flat = tf.zeros([2, 2, 1], tf.uint16), tf.zeros([2, 2], tf.uint8)
    images = (gray, tf.zeros([2, 2, 3], tf.uint16), flat, tf.zeros([2, 2, 3]))
    jpeg = [attempt(lambda: tf.io.encode_jpeg(x), words=4) for x in images]
    png = [attempt(lambda: tf.io.encode_png(x), words=8) for x in images[2:]]
    array = np.full([2, 2, 3], 7, np.uint16)
    return jpeg, png, tf.io.decode_jpeg(tf.io.encode_jpeg(array)).shape


def _deep_file(color, interlaced):
    """A PNG file of 16 bits a channel, of 5 x 6 pixels: any bytes are lines, by each filter."""
    random, lines = np.random.default_rng(color), []
    parts = [(5, 6)] if not interlaced else [(1, 1), (1, 1), (2, 1), (1, 2), (3, 1), (2, 3), (5, 3)]
    size = {0: 2, 2: 6, 4: 4, 6: 8}[color]
    for width, height in parts:
        for row in range(height):
            lines.append(bytes([(row + color) % 5]) + random.bytes(size * width))
    header = struct.pack(">IIBBBBB", 5, 6, 16, color, 0, 0, interlaced)
    file = b"\x89PNG\r\n\x1a\n"
    for kind, data in (
        (b"IHDR", header),
        (b"IDAT", zlib.compress(b"".join(lines))),
        (b"IEND", b""),
    ):
        sum_ = struct.pack(">I", zlib.crc32(kind + data))
        file += struct.pack(">I", len(data)) + kind + data + sum_
    return file


def case_images_of_16_bits(tf):
    found = {}
    for color in (0, 2, 4, 6):
        for interlaced in (0, 1):
            file = _deep_file(color, interlaced)
            found[color, interlaced] = [
                tf.io.decode_png(file, channels, dtype)
                for channels in (0, 1, 3, 4)
                for dtype in (tf.uint8, tf.uint16)
            ]
    image = tf.io.decode_image(_deep_file(2, 0), dtype=tf.float32)
    pixels = [np.arange(6 * c, dtype=np.uint16).reshape(2, 3, c) * 2999 for c in (1, 2, 3, 4)]
    back = [tf.io.decode_png(tf.io.encode_png(x), dtype=tf.uint16) for x in pixels]
    stacked = tf.io.encode_png(np.stack(pixels[2:3] * 2), compression=1).shape
    damaged = attempt(tf.io.decode_png, _deep_file(2, 0)[:60], words=2)
    jpeg = attempt(tf.io.encode_jpeg, pixels[2], words=0)
    return found, image, back, stacked, damaged, jpeg
