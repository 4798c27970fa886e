"""Hashes of byte strings: FarmHash's Fingerprint64, SipHash-2-4 and MurmurHash64A, as published."""

from __future__ import annotations

import struct

_MASK = 0xFFFFFFFFFFFFFFFF

_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F


def _rotate(x: int, by: int) -> int:
    return ((x >> by) | (x << (64 - by))) & _MASK


def _mix(x: int) -> int:
    return x ^ (x >> 47)


def _u64(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 8], "little")


def _u32(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 4], "little")


def _pair(u: int, v: int, mul: int) -> int:
    a = ((u ^ v) * mul) & _MASK
    b = ((v ^ _mix(a)) * mul) & _MASK
    return (_mix(b) * mul) & _MASK


def _up_to_16(s: bytes) -> int:
    n = len(s)
    if n >= 8:
        mul = _K2 + 2 * n
        a = (_u64(s, 0) + _K2) & _MASK
        b = _u64(s, n - 8)
        c = (_rotate(b, 37) * mul + a) & _MASK
        d = ((_rotate(a, 25) + b) * mul) & _MASK
        return _pair(c, d, mul)
    if n >= 4:
        return _pair(n + (_u32(s, 0) << 3), _u32(s, n - 4), _K2 + 2 * n)
    if n:
        y = s[0] + (s[n >> 1] << 8)
        z = n + (s[n - 1] << 2)
        return (_mix((y * _K2 & _MASK) ^ (z * _K0 & _MASK)) * _K2) & _MASK
    return _K2


def _up_to_32(s: bytes) -> int:
    n = len(s)
    mul = _K2 + 2 * n
    a, b = _u64(s, 0) * _K1 & _MASK, _u64(s, 8)
    c, d = _u64(s, n - 8) * mul & _MASK, _u64(s, n - 16) * _K2 & _MASK
    first = (_rotate((a + b) & _MASK, 43) + _rotate(c, 30) + d) & _MASK
    second = (a + _rotate((b + _K2) & _MASK, 18) + c) & _MASK
    return _pair(first, second, mul)


def _swapped(x: int) -> int:
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def _up_to_64(s: bytes) -> int:
    n = len(s)
    mul = _K2 + 2 * n
    a, b = _u64(s, 0) * _K2 & _MASK, _u64(s, 8)
    c, d = _u64(s, n - 8) * mul & _MASK, _u64(s, n - 16) * _K2 & _MASK
    y = (_rotate((a + b) & _MASK, 43) + _rotate(c, 30) + d) & _MASK
    z = _pair(y, (a + _rotate((b + _K2) & _MASK, 18) + c) & _MASK, mul)
    e, f = _u64(s, 16) * mul & _MASK, _u64(s, 24)
    g = (y + _u64(s, n - 32)) * mul & _MASK
    h = (z + _u64(s, n - 24)) * mul & _MASK
    first = (_rotate((e + f) & _MASK, 43) + _rotate(g, 30) + h) & _MASK
    second = (e + _rotate((f + a) & _MASK, 18) + g) & _MASK
    return _pair(first, second, mul)


def _weak(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = struct.unpack_from("<4Q", s, at)
    a = (a + w) & _MASK
    b = _rotate((b + a + z) & _MASK, 21)
    c = a
    a = (a + x + y) & _MASK
    b = (b + _rotate(a, 44)) & _MASK
    return (a + z) & _MASK, (b + c) & _MASK


def _block(
    s: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int]
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    x = _rotate((x + y + v[0] + _u64(s, at + 8)) & _MASK, 37) * _K1 & _MASK
    y = _rotate((y + v[1] + _u64(s, at + 48)) & _MASK, 42) * _K1 & _MASK
    x ^= w[1]
    y = (y + v[0] + _u64(s, at + 40)) & _MASK
    z = _rotate((z + w[0]) & _MASK, 33) * _K1 & _MASK
    v = _weak(s, at, v[1] * _K1 & _MASK, (x + w[0]) & _MASK)
    w = _weak(s, at + 32, (z + w[1]) & _MASK, (y + _u64(s, at + 16)) & _MASK)
    return z, y, x, v, w


def fingerprint64(s: bytes) -> int:
    """FarmHash's Fingerprint64 of bytes: an unsigned number of 64 bits.

    >>> fingerprint64(b"a") % 1000000
    363939
    """
    n = len(s)
    if n <= 16:
        return _up_to_16(s)
    if n <= 32:
        return _up_to_32(s)
    if n <= 64:
        return _up_to_64(s)
    x = 81
    y = (81 * _K1 + 113) & _MASK
    z = _mix((y * _K2 + 113) & _MASK) * _K2 & _MASK
    v = w = (0, 0)
    x = (x * _K2 + _u64(s, 0)) & _MASK
    last = (n - 1) // 64 * 64
    for at in range(0, last, 64):
        x, y, z, v, w = _block(s, at, x, y, z, v, w)
    return _last_block(s, x, y, z, v, w)


def _last_block(s: bytes, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int]) -> int:
    n, at = len(s), len(s) - 64
    mul = (_K1 + ((z & 0xFF) << 1)) & _MASK
    w = ((w[0] + ((n - 1) & 63)) & _MASK, w[1])
    v = ((v[0] + w[0]) & _MASK, v[1])
    w = ((w[0] + v[0]) & _MASK, w[1])
    x = _rotate((x + y + v[0] + _u64(s, at + 8)) & _MASK, 37) * mul & _MASK
    y = _rotate((y + v[1] + _u64(s, at + 48)) & _MASK, 42) * mul & _MASK
    x ^= w[1] * 9 & _MASK
    y = (y + v[0] * 9 + _u64(s, at + 40)) & _MASK
    z = _rotate((z + w[0]) & _MASK, 33) * mul & _MASK
    v = _weak(s, at, v[1] * mul & _MASK, (x + w[0]) & _MASK)
    w = _weak(s, at + 32, (z + w[1]) & _MASK, (y + _u64(s, at + 16)) & _MASK)
    z, x = x, z
    first = (_pair(v[0], w[0], mul) + _mix(y) * _K0 + z) & _MASK
    return _pair(first, (_pair(v[1], w[1], mul) + x) & _MASK, mul)


def fingerprint_cat64(first: int, second: int) -> int:
    """One fingerprint of two, in this order."""
    mul = _MURMUR
    result = first ^ mul ^ (_mix(second * mul & _MASK) * mul & _MASK)
    result = result * mul & _MASK
    return _mix(_mix(result) * mul & _MASK)


_MURMUR = 0xC6A4A7935BD1E995


def murmur64(s: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A of bytes."""
    n = len(s)
    h = seed ^ (n * _MURMUR & _MASK)
    whole = n - n % 8
    for (k,) in struct.iter_unpack("<Q", s[:whole]):
        k = _mix(k * _MURMUR & _MASK) * _MURMUR & _MASK
        h = (h ^ k) * _MURMUR & _MASK
    if n % 8:
        h = (h ^ int.from_bytes(s[whole:], "little")) * _MURMUR & _MASK
    return _mix(_mix(h) * _MURMUR & _MASK)


def siphash(s: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 of bytes, under a key of two numbers of 64 bits."""
    v = [
        key[0] ^ 0x736F6D6570736575,
        key[1] ^ 0x646F72616E646F6D,
        key[0] ^ 0x6C7967656E657261,
        key[1] ^ 0x7465646279746573,
    ]
    n = len(s)
    whole = n - n % 8
    for (word,) in struct.iter_unpack("<Q", s[:whole]):
        v[3] ^= word
        _sip_rounds(v, 2)
        v[0] ^= word
    last = int.from_bytes(s[whole:], "little") | ((n & 0xFF) << 56)
    v[3] ^= last
    _sip_rounds(v, 2)
    v[0] ^= last
    v[2] ^= 0xFF
    _sip_rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_rounds(v: list[int], count: int) -> None:
    a, b, c, d = v
    for _ in range(count):
        a = (a + b) & _MASK
        c = (c + d) & _MASK
        b, d = _rotate(b, 51) ^ a, _rotate(d, 48) ^ c
        a = _rotate(a, 32)
        c = (c + b) & _MASK
        a = (a + d) & _MASK
        b, d = _rotate(b, 47) ^ c, _rotate(d, 43) ^ a
        c = _rotate(c, 32)
    v[:] = a, b, c, d
