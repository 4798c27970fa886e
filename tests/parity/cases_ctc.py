"""Losses and decoders of connectionist temporal classification, fake quantization, sound."""

import numpy as np

from .derivatives import derivatives
from .harness import attempts, options

NEEDS = ("nn.ctc_loss", "quantization", "audio")
LOGITS = np.random.default_rng(23).normal(size=(6, 3, 5)).astype(np.float32)
LABELS = np.int32([[1, 2, 2, 0], [3, 0, 0, 0], [4, 1, 4, 2]])
LENGTHS, TIMES = np.int32([3, 1, 4]), np.int32([6, 3, 5])
#: Two labels are as probable at the first time.
TIED = np.float32([[[0.4, 0.2, 0.4, 0.1]], [[-0.3, 0.4, 0.2, 0.3]], [[0.2, 0.4, 0.3, 0.3]]])


def parts(found):
    """Decoded labels and scores, without SparseTensors."""
    decoded, scores = found
    return [(s.indices, s.values, s.dense_shape) for s in decoded], scores


@options(atol=5e-5, rtol=1e-4)
def case_losses(tf):
    def loss(**more):
        return lambda tf, x: tf.nn.ctc_loss(LABELS, x, LENGTHS, TIMES, **more)

    sparse, low = (tf.sparse.from_dense(x) for x in (LABELS, np.minimum(LABELS, 3)))
    by_batch = np.swapaxes(LOGITS, 0, 1)
    programs = {
        "plain": (loss(), LOGITS),
        "blank last": (loss(blank_index=-1), LOGITS),
        "blank inside": (loss(blank_index=2), LOGITS),
        "by batch": (loss(logits_time_major=False), by_batch),
        "sparse": (
            lambda tf, x: tf.nn.ctc_loss(sparse, x, None, TIMES, blank_index=0),
            LOGITS,
        ),
        "one": (
            lambda tf, x: tf.compat.v1.nn.ctc_loss(low, x, TIMES),
            LOGITS,
        ),
        "too long": (
            lambda tf, x: tf.nn.ctc_loss(LABELS, x, LENGTHS, [2, 3, 5]),
            LOGITS,
        ),
        "no label": (lambda tf, x: tf.nn.ctc_loss(LABELS, x, [0, 1, 4], TIMES), LOGITS),
    }
    return {
        **{name: derivatives(tf, p, [x], 1) for name, (p, x) in programs.items()},
        "half": tf.nn.ctc_loss(LABELS, np.float16(LOGITS), LENGTHS, TIMES),
        "late": tf.compat.v1.nn.ctc_loss(
            low, LOGITS, [2, 3, 5], ignore_longer_outputs_than_inputs=True
        ),
    }


def case_greedy(tf):
    decode = tf.nn.ctc_greedy_decoder
    return [
        parts(decode(LOGITS, TIMES)),
        parts(decode(LOGITS, TIMES, merge_repeated=False)),
        parts(decode(LOGITS, TIMES, blank_index=0)),
        parts(decode(LOGITS, [0, 0, 0])),
    ]


def case_beams(tf):
    return [
        parts(tf.nn.ctc_beam_search_decoder(LOGITS, TIMES)),
        parts(tf.nn.ctc_beam_search_decoder(LOGITS * 3, TIMES, beam_width=7, top_paths=4)),
        parts(tf.nn.ctc_beam_search_decoder(LOGITS, TIMES, beam_width=2, top_paths=2)),
        parts(tf.compat.v1.nn.ctc_beam_search_decoder(LOGITS, TIMES, 20, 3)),
        parts(tf.nn.ctc_beam_search_decoder(TIED, [3], 4)),
    ]


def case_decoders_in_functions(tf):
    """Of unknown sizes; what follows them takes as many labels as there are."""
    decoders = {
        "greedy": tf.nn.ctc_greedy_decoder,
        "beams": lambda x, times: tf.nn.ctc_beam_search_decoder(x, times, 7, 2),
    }

    def run(decode):
        @tf.function(
            input_signature=[
                tf.TensorSpec([None, None, LOGITS.shape[2]]),
                tf.TensorSpec([None], tf.int32),
            ]
        )
        def run(x, times):
            labels, scores = decode(x, times)
            dense = [tf.sparse.to_dense(each, default_value=-1) for each in labels]
            return dense, [tf.reduce_sum(each.values) for each in labels], scores * 2.0

        return run(LOGITS, TIMES), run(LOGITS[:3, :1], [2]), run(LOGITS * 2, TIMES)

    return {name: run(decode) for name, decode in decoders.items()}


def case_fake_quant(tf):
    x = np.linspace(-9, 9, 24, dtype=np.float32).reshape(6, 4)
    q = tf.quantization
    low, high = np.float32([-1, 0, -3, 0]), np.float32([2, 5, 1, 0])
    vars_ = q.fake_quant_with_min_max_vars
    programs = {
        "args": (lambda tf, x: q.fake_quant_with_min_max_args(x), x),
        "args narrow": (
            lambda tf, x: q.fake_quant_with_min_max_args(x, -2.1, 3.0, 3, narrow_range=True),
            x,
        ),
        "vars": (lambda tf, x, a, b: vars_(x, a, b, 4), x, np.float32(-2.2), np.float32(4.1)),
        "vars above": (lambda tf, x, a, b: vars_(x, a, b), x, np.float32(1), np.float32(4)),
        "vars empty": (lambda tf, x, a, b: vars_(x, a, b), x, np.float32(0), np.float32(0)),
        "channels": (
            lambda tf, x, a, b: q.fake_quant_with_min_max_vars_per_channel(x, a, b, num_bits=5),
            x, low, high,
        ),
    }  # fmt: skip
    return {
        **{name: derivatives(tf, p, values, 1) for name, (p, *values) in programs.items()},
        "args gradient": q.fake_quant_with_min_max_args_gradient(x, x),
        "vars gradient": list(q.fake_quant_with_min_max_vars_gradient(x, x, -2.0, 4.0)),
        "channels gradient": list(
            q.fake_quant_with_min_max_vars_per_channel_gradient(x, x, low, high)
        ),
    }


def case_sound(tf):
    wave = np.float32([[0.5, 0.1], [-1.0, 0.2], [1.5, -0.3], [0.3, 1e-5]])
    file = tf.audio.encode_wav(wave, 8000)
    return (
        file,
        list(tf.audio.decode_wav(file)),
        tf.audio.decode_wav(file, desired_channels=3, desired_samples=2).audio,
        tf.audio.decode_wav(file, desired_channels=1, desired_samples=6).audio,
        tf.audio.decode_wav(file).sample_rate,
    )


def case_errors(tf):
    q, audio, sparse = tf.quantization, tf.audio, tf.sparse.from_dense(LABELS)
    x = tf.constant([-8.0, 7.0])
    one = tf.compat.v1.nn.ctc_loss
    vars_, channels = (
        q.fake_quant_with_min_max_vars,
        q.fake_quant_with_min_max_vars_per_channel,
    )
    greedy, beams = tf.nn.ctc_greedy_decoder, tf.nn.ctc_beam_search_decoder
    return attempts(
        tf,
        {
            "bits": lambda tf: q.fake_quant_with_min_max_args(x, num_bits=1),
            "range": lambda tf: q.fake_quant_with_min_max_args(x, min=2.0, max=1.0),
            "rank": lambda tf: vars_(x, [0.0], 1.0),
            "dtype": lambda tf: vars_(tf.cast(x, tf.float64), 0.0, 1.0),
            "min": lambda tf: channels(x, [0.0], [1.0]),
            "max": lambda tf: channels(x, [0.0, 0.0], [1.0]),
            "blank": lambda tf: tf.nn.ctc_loss(sparse, LOGITS, None, TIMES),
            "times": lambda tf: tf.nn.ctc_loss(sparse, LOGITS, None, [7, 3, 5], blank_index=0),
            "dense labels": lambda tf: one([[1]], LOGITS, TIMES),
            "batch": lambda tf: one(sparse, LOGITS, [5]),
            "greedy times": lambda tf: greedy(LOGITS, [7, 1, 1]),
            "greedy batch": lambda tf: greedy(LOGITS, [5]),
            "greedy rank": lambda tf: greedy(LOGITS[0], [5]),
            "greedy blank": lambda tf: greedy(LOGITS, TIMES, blank_index=7),
            "beams": lambda tf: beams(LOGITS, TIMES, beam_width=1, top_paths=2),
            "few": lambda tf: beams(LOGITS, [1, 0, 1], beam_width=10, top_paths=4),
            "beam times": lambda tf: beams(LOGITS, [7, 1, 1]),
            "short": lambda tf: audio.decode_wav(b"abc"),
            "header": lambda tf: audio.decode_wav(b"x" * 50),
            "files": lambda tf: audio.decode_wav([b"a"]),
            "channels": lambda tf: audio.decode_wav(b"a", desired_channels=-3),
            "wave rank": lambda tf: audio.encode_wav([1.0], 8000),
            "rate": lambda tf: audio.encode_wav(tf.ones([2, 1]), 0),
            "rates": lambda tf: audio.encode_wav(tf.ones([2, 1]), [1]),
            "no samples": lambda tf: audio.encode_wav(tf.reshape(tf.sin(x[:0]), [-1, 2]), 8000),
            "silence": lambda tf: audio.encode_wav(tf.ones([2, 0]), 8000),
        },
        words=3,
    )
