"""Bytes decoded to numbers."""

from .harness import attempt

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
