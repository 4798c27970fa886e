"""`tf.signal`."""

import numpy as np

from .cases_image import each
from .harness import attempt, attempts, options

NEEDS = ("signal",)
RNG = np.random.default_rng(17)
REAL = RNG.normal(size=(2, 3, 8)).astype(np.float32)
COMPLEX = (REAL + 1j * RNG.normal(size=REAL.shape)).astype(np.complex64)
ODD = RNG.normal(size=(3, 7))

TRANSFORMS = {
    **{
        f"{name} {kind}": (lambda tf, x, n=name: getattr(tf.signal, n)(x), values)
        for kind, values, names in (
            ("single", COMPLEX, ("fft", "ifft2d", "fft3d", "ifft3d")),
            ("double", COMPLEX.astype(np.complex128), ("ifft", "fft2d")),
        )
        for name in names
    },
    **{
        f"{name} {label}": (
            lambda tf, x, n=name, size=length: getattr(tf.signal, n)(x, size),
            values,
        )
        for names, label, length, values in (
            (("rfft", "rfft2d"), "even", None, REAL),
            (("rfft", "rfft2d"), "odd", None, ODD),
            (("irfft", "irfft2d"), "as it is", None, COMPLEX),
            (("rfft",), "longer", [11], REAL),
            (("rfft2d",), "other", [4, 8], REAL),
            (("irfft",), "longer", [20], COMPLEX),
        )
        for name in names
    },
}


@options(atol=2e-5)
def case_transforms(tf):
    return each(TRANSFORMS)(tf)


@options(atol=2e-5)
def case_transforms_without_gradient(tf):
    return tf.signal.rfft3d(REAL), tf.signal.irfft3d(COMPLEX), tf.signal.rfft([1, 2]), [
        tf.signal.rfft(REAL, [5]), tf.signal.rfft2d(REAL, [4, 7]), tf.signal.irfft(COMPLEX, [9]),
        tf.signal.irfft2d(COMPLEX, [5, 6]), tf.signal.inverse_stft(COMPLEX, 6, 4, 4),
        tf.signal.fft([1, 2]), tf.signal.fftshift(REAL), tf.signal.fftshift(REAL, 1),
        tf.signal.ifftshift(REAL, axes=(0, -1)), tf.signal.fft(tf.zeros([0], tf.complex64)),
    ]  # fmt: skip


FRAMES = {
    "frame": (lambda tf, x: tf.signal.frame(x, 3, 2), REAL),
    "frame end": (lambda tf, x: tf.signal.frame(x, 5, 3, pad_end=True, pad_value=7), REAL),
    "frame axis": (lambda tf, x: tf.signal.frame(x, 2, 1, axis=1), REAL),
    "frame too long": (lambda tf, x: tf.signal.frame(x, 9, 2), REAL),
    "overlap": (lambda tf, x: tf.signal.overlap_and_add(x, 3), REAL),
    "overlap apart": (lambda tf, x: tf.signal.overlap_and_add(x, 10), REAL),
    "overlap same": (lambda tf, x: tf.signal.overlap_and_add(x, 8), REAL),
    "stft": (lambda tf, x: tf.signal.stft(x, 5, 2), REAL),
    "stft end": (
        lambda tf, x: tf.signal.stft(x, 4, 3, 6, tf.signal.hamming_window, pad_end=True),
        REAL,
    ),
    "stft plain": (lambda tf, x: tf.signal.stft(x, 4, 2, window_fn=None), ODD),
    "inverse_stft": (lambda tf, x: tf.signal.inverse_stft(x[..., :5], 6, 2), COMPLEX),
    "inverse_stft window": (
        lambda tf, x: tf.signal.inverse_stft(
            x[..., :5], 7, 3, window_fn=tf.signal.inverse_stft_window_fn(3)
        ),
        COMPLEX,
    ),
    "mdct": (lambda tf, x: tf.signal.mdct(x, 4), REAL),
    "mdct ortho": (lambda tf, x: tf.signal.mdct(x, 8, None, True, "ortho"), REAL),
    "inverse_mdct": (lambda tf, x: tf.signal.inverse_mdct(x), REAL),
    "inverse_mdct ortho": (lambda tf, x: tf.signal.inverse_mdct(x, None, "ortho"), REAL),
    "mfccs": (lambda tf, x: tf.signal.mfccs_from_log_mel_spectrograms(x), REAL),
    **{
        f"dct {kind} {n} {norm}": (
            lambda tf, x, k=kind, n=n, norm=norm: (
                tf.signal.dct(x, k, n, norm=norm),
                tf.signal.idct(x, k, n, norm=norm),
            ),
            ODD,
        )
        for kind in (1, 2, 3, 4)
        for n, norm in ((5, None), (9, "ortho"))
        if (kind, norm) != (1, "ortho")
    },
}


@options(atol=2e-5)
def case_frames(tf):
    return each(FRAMES)(tf)


@options(atol=3e-5, rtol=1e-4)
def case_windows(tf):
    signal = tf.signal
    found = {}
    for n in (1, 2, 5, 8):
        found[n] = [
            signal.hann_window(n), signal.hann_window(n, periodic=False),
            signal.hamming_window(n), signal.kaiser_window(n), signal.kaiser_window(n, 3.0),
            signal.vorbis_window(n), signal.kaiser_bessel_derived_window(n),
            signal.inverse_stft_window_fn(3)(n, dtype=tf.float32),
        ]  # fmt: skip
    found["none"] = signal.hann_window(0)
    found["double"] = tf.cast(signal.kaiser_window(6, dtype=tf.float64), tf.float32)
    found["mel"] = signal.linear_to_mel_weight_matrix()
    found["mel double"] = signal.linear_to_mel_weight_matrix(9, 33, 16000, 80.0, 7600.0, tf.float64)
    return found


def case_errors(tf):
    signal, x, z = tf.signal, tf.constant(REAL), tf.constant(COMPLEX)
    mel = signal.linear_to_mel_weight_matrix
    return attempts(
        tf,
        {
            "fft of real": lambda tf: signal.fft(x),
            "fft rank": lambda tf: signal.fft2d(z[0, 0]),
            "rfft rank": lambda tf: signal.rfft(tf.constant(1.0)),
            "rfft of integers": lambda tf: signal.rfft(tf.constant([1, 2])),
            "rfft lengths": lambda tf: signal.rfft(x, [6, 6]),
            "irfft of real": lambda tf: signal.irfft(x),
            "frame of scalar": lambda tf: signal.frame(tf.constant(1.0), 2, 1),
            "frame step": lambda tf: signal.frame(x, 2, 0),
            "frame vector": lambda tf: signal.frame(x, [2], 1),
            "overlap rank": lambda tf: signal.overlap_and_add(x[0, 0], 2),
            "overlap step": lambda tf: signal.overlap_and_add(x, 2.0),
            "window dtype": lambda tf: signal.hann_window(5, dtype=tf.int32),
            "window vector": lambda tf: signal.hann_window([5]),
            "kaiser": lambda tf: signal.kaiser_window(0),
            "dct axis": lambda tf: signal.dct(x, axis=0),
            "dct type": lambda tf: signal.dct(x, type=5),
            "dct n": lambda tf: signal.dct(x, n=0),
            "dct 1 ortho": lambda tf: signal.dct(x, 1, norm="ortho"),
            "dct 1 short": lambda tf: signal.dct(x[..., :1], 1),
            "dct norm": lambda tf: signal.dct(x, norm="x"),
            "mdct": lambda tf: signal.mdct(x, 6),
            "inverse rank": lambda tf: signal.inverse_stft(z[0, 0], 6, 2),
            "mel bins": lambda tf: mel(0),
            "mel low": lambda tf: mel(lower_edge_hertz=-1),
            "mel edges": lambda tf: mel(lower_edge_hertz=5e3),
            "mel rate": lambda tf: mel(sample_rate=0),
            "mel nyquist": lambda tf: mel(upper_edge_hertz=5000.0),
            "mel dtype": lambda tf: mel(dtype=tf.int32),
            "mfccs": lambda tf: signal.mfccs_from_log_mel_spectrograms(tf.zeros([3, 0])),
        },
        words=3,
    )


@options(words=5)
def case_transforms_of_no_elements(tf):
    def tried(name, shape, length):
        x = tf.zeros(shape, tf.complex64 if name.startswith("irfft") else tf.float32)
        return attempt(getattr(tf.signal, name), x, length)

    of_empty = [
        tried(name, shape, None)
        for name in ("rfft", "irfft", "rfft2d", "irfft2d")
        for shape in ([0, 3], [3, 0], [2, 0, 0], [2, 0, 3])
    ]
    to_empty = [
        tried("irfft2d", [1, 2, 3], [0, 0]), tried("rfft2d", [1, 2, 3], [0, 3]),
        tried("rfft", [2, 3], [-1]), tried("irfft2d", [2, 3], [2, -1]),
    ]  # fmt: skip
    x = tf.Variable(tf.zeros([3, 0]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.abs(tf.signal.rfft(x)))
    return of_empty, to_empty, tape.gradient(y, x)


def case_cosines_of_no_samples(tf):
    x = tf.zeros([3, 0])
    return [tf.signal.dct(x, type=kind) for kind in (2, 3, 4)], tf.signal.idct(x)
