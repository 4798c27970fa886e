"""`tf.signal` against NumPy and SciPy's formulas, and with unknown sizes."""

import numpy as np
import pytest

import tape_compat as tf

RNG = np.random.default_rng(4)
X = RNG.normal(size=(2, 24)).astype(np.float32)
Z = (X + 1j * RNG.normal(size=X.shape)).astype(np.complex64)


@pytest.mark.part
@pytest.mark.parametrize("name", ["fftnd", "ifftnd", "rfftnd", "irfftnd"])
@pytest.mark.parametrize("norm", [None, "forward", "ortho"])
def test_transforms_of_axes(name, norm):
    """TensorFlow has no kernel of these on the CPU; NumPy's have the same arguments."""
    values = X if name == "rfftnd" else Z
    x = values.reshape(2, 3, 2, 4)
    numpy = getattr(np.fft, name.replace("nd", "n"))
    transform = getattr(tf.signal, name)
    for length, axes in ((None, None), (None, [1]), ([5, 3], [0, 2]), ([3, 6], [-1, 1])):
        found = transform(x, length, axes, norm)
        expected = numpy(x, length, axes, norm or "backward")
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_there_and_back():
    signal = tf.signal
    np.testing.assert_allclose(signal.irfft(signal.rfft(X)), X, atol=1e-5)
    np.testing.assert_allclose(signal.ifft3d(signal.fft3d(Z[None])), Z[None], atol=1e-5)
    np.testing.assert_array_equal(signal.ifftshift(signal.fftshift(X)), X)
    for kind in (2, 3, 4):
        back = signal.idct(signal.dct(X, kind, norm="ortho"), kind, norm="ortho")
        np.testing.assert_allclose(back, X, atol=1e-5)
    back = signal.inverse_mdct(signal.mdct(X, 8))
    np.testing.assert_allclose(back[:, 4:-4], X[:, 4:-4], atol=1e-5)
    window = signal.inverse_stft_window_fn(2)
    back = signal.inverse_stft(signal.stft(X, 6, 2), 6, 2, window_fn=window)
    np.testing.assert_allclose(back[:, 6:-6], X[:, 6:-6], atol=1e-5)


PROGRAMS = {
    "rfft": lambda x: tf.abs(tf.signal.rfft(x)),
    "rfft longer": lambda x: tf.abs(tf.signal.rfft(x, [32])),
    "irfft": lambda x: tf.signal.irfft(tf.signal.rfft(x)),
    "fft": lambda x: tf.math.real(tf.signal.fft(tf.cast(x, tf.complex64))),
    "frame": lambda x: tf.signal.frame(x, 5, 3, pad_end=True),
    "overlap": lambda x: tf.signal.overlap_and_add(tf.signal.frame(x, 5, 3), 3),
    "stft": lambda x: tf.abs(tf.signal.stft(x, 8, 4)),
    "inverse_stft": lambda x: tf.signal.inverse_stft(tf.signal.stft(x, 8, 4), 8, 4),
    "dct": lambda x: tf.signal.dct(x, norm="ortho"),
    "mdct": lambda x: tf.signal.inverse_mdct(tf.signal.mdct(x, 8)),
    "shift": lambda x: tf.signal.fftshift(x, axes=-1),
}


@pytest.mark.part
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("length", [24, None])
def test_unknown_sizes(name, length):
    program = PROGRAMS[name]
    spec = tf.TensorSpec([None, length], tf.float32)
    function = tf.function(program, input_signature=[spec], autograph=False)
    expected = program(tf.constant(X))
    np.testing.assert_allclose(function(X), expected, rtol=1e-4, atol=1e-4)
    shape = function.get_concrete_function().output_shapes
    assert shape.rank == expected.shape.rank and shape[0] is None
    with tf.GradientTape(persistent=True) as tape:
        x = tf.Variable(X)
        found, plain = function(x), program(x)
    np.testing.assert_allclose(
        tape.gradient(found, x), tape.gradient(plain, x), rtol=1e-3, atol=1e-4
    )


def test_windows_for_perfect_reconstruction():
    for window in (tf.signal.vorbis_window(8), tf.signal.kaiser_bessel_derived_window(8)):
        power = window.numpy() ** 2
        np.testing.assert_allclose(power[:4] + power[4:], np.ones(4), rtol=1e-6)


def test_mel_bands_are_triangles():
    weights = tf.signal.linear_to_mel_weight_matrix(10, 513, 16000, 100.0, 7000.0).numpy()
    assert weights.shape == (513, 10) and weights.min() == 0 and 0.9 < weights.max() <= 1
    assert (np.diff(weights.argmax(0)) > 0).all()
