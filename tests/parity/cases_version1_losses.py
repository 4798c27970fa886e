"""`tf.compat.v1.losses`: values, gradients, weights, reductions, collections."""

from .harness import attempt, attempts

NEEDS = ("compat.v1.losses.compute_weighted_loss",)

LABELS = [[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[0.5, 0.25], [0.0, 0.0], [1.0, 0.0]]]
OUTPUTS = [[[0.3, -1.0], [2.0, 0.1], [0.7, 0.9]], [[0.5, 3.0], [-0.6, 0.2], [0.4, -2.5]]]
#: By the axes along which they are given.
WEIGHTS = {
    "one": 2.0,
    "zero": 0.0,
    "integer": 3,
    "first": [[[1.0]], [[0.0]]],
    "second": [[[1.0], [0.0], [3.0]]],
    "last": [[[0.5, 2.0]]],
    "two": [[[1.0], [0.0], [3.0]], [[0.0], [0.0], [1.0]]],
    "all": [[[1.0, 0.0], [2.0, 0.0], [0.5, 1.0]], [[0.0, 0.0], [0.0, 0.0], [0.0, 4.0]]],
    "negative": [[[-1.0]], [[1.0]]],
    "of a lower rank": [1.0, 2.0],
    "of another size": [[[1.0, 2.0, 3.0]]],
}
REDUCTIONS = (
    "NONE SUM SUM_OVER_BATCH_SIZE MEAN SUM_BY_NONZERO_WEIGHTS SUM_OVER_NONZERO_WEIGHTS".split()
)


def _in_unit(outputs):
    return [[[min(max(x, 0.05), 0.95) for x in row] for row in rows] for rows in outputs]


def _programs(losses):
    """Each loss as a function of outputs and the keywords of all."""
    return {
        "absolute": lambda y, **k: losses.absolute_difference(LABELS, y, **k),
        "cosine": lambda y, **k: losses.cosine_distance(LABELS, y, axis=2, **k),
        "hinge": lambda y, **k: losses.hinge_loss(LABELS, y, **k),
        "huber": lambda y, **k: losses.huber_loss(LABELS, y, **k),
        "huber delta": lambda y, **k: losses.huber_loss(LABELS, y, delta=0.25, **k),
        "squared": lambda y, **k: losses.mean_squared_error(LABELS, y, **k),
        "sigmoid": lambda y, **k: losses.sigmoid_cross_entropy(LABELS, y, **k),
        "sigmoid smooth": lambda y, **k: losses.sigmoid_cross_entropy(
            LABELS, y, label_smoothing=0.2, **k
        ),
    }


def _with_gradient(tf, function, outputs, **keywords):
    y = tf.constant(outputs)
    with tf.GradientTape() as tape:
        tape.watch(y)
        loss = function(y, **keywords)
    return loss, tape.gradient(loss, y)


def _of_loss(name):
    def case(tf):
        loss = _programs(tf.compat.v1.losses)[name]
        reductions = [getattr(tf.compat.v1.losses.Reduction, name) for name in REDUCTIONS]
        of_cosine = name == "cosine"
        return {
            "plain": _with_gradient(tf, loss, OUTPUTS),
            "weights": {
                kind: attempt(
                    lambda weights: _with_gradient(tf, loss, OUTPUTS, weights=weights),
                    weights,
                    words=7,
                )
                for kind, weights in WEIGHTS.items()
                if not (of_cosine and kind in ("last", "all"))
            },
            "reductions": [
                _with_gradient(tf, loss, OUTPUTS, weights=weights, reduction=reduction)
                for reduction in reductions
                for weights in (1.5, 0.0, WEIGHTS["two"])
            ],
        }

    return case


def _of_classes(name):
    def case(tf):
        losses = tf.compat.v1.losses
        outputs = [[1.0, 2.0, 0.5], [0.1, -1.0, 3.0]]
        labels = {
            "softmax": [[0, 1, 0], [1, 0, 0]],
            "softmax smooth": [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
            "sparse": [1, 2],
            "sparse column": [[1], [2]],
        }[name]
        function = losses.softmax_cross_entropy
        if name.startswith("sparse"):
            function = losses.sparse_softmax_cross_entropy
        more = {"label_smoothing": 0.1} if name == "softmax smooth" else {}

        def loss(y, **keywords):
            return function(labels, y, **keywords, **more)

        every = (1.0, [2.0, 0.0], [0.0, 0.0], [1.0], [[2.0], [3.0]], [[1.0, 2.0]], [1.0, 2.0, 3.0])
        return [
            attempt(
                lambda weights, reduction: _with_gradient(
                    tf, loss, outputs, weights=weights, reduction=reduction
                ),
                weights,
                getattr(losses.Reduction, reduction),
                words=6,
            )
            for weights in every
            for reduction in REDUCTIONS
        ]

    return case


CASES = {
    f"loss {name}": _of_loss(name)
    for name in (
        "absolute",
        "cosine",
        "hinge",
        "huber",
        "huber delta",
        "squared",
        "sigmoid",
        "sigmoid smooth",
    )
} | {
    f"classes {name}": _of_classes(name)
    for name in ("softmax", "softmax smooth", "sparse", "sparse column")
}


def case_log_loss(tf):
    loss, outputs = tf.compat.v1.losses.log_loss, _in_unit(OUTPUTS)
    return [
        _with_gradient(tf, lambda y, **k: loss(LABELS, y, **k), outputs, **keywords)
        for keywords in ({}, {"epsilon": 0.1}, {"weights": WEIGHTS["first"]}, {"reduction": "none"})
    ]


def case_pairwise(tf):
    loss = tf.compat.v1.losses.mean_pairwise_squared_error

    def of_labels(y, **keywords):
        return loss(LABELS, y, **keywords)

    return {
        "weights": [
            attempt(
                lambda weights: _with_gradient(tf, of_labels, OUTPUTS, weights=weights),
                weights,
                words=7,
            )
            for weights in WEIGHTS.values()
        ],
        "vectors": loss([1.0, 2.0], [2.0, 5.0]),
        "recorded": [
            tf.function(lambda y, w: loss(LABELS, y, w))(tf.constant(OUTPUTS), tf.constant(w))
            for w in (1.0, 0.0, WEIGHTS["all"])
        ],
        **attempts(
            tf,
            {
                "none": lambda tf: loss(None, 1.0),
                "no output": lambda tf: loss(1.0, None),
                "shapes": lambda tf: loss([1.0], [[1.0]]),
            },
        ),
    }


def case_weighted(tf):
    losses = tf.compat.v1.losses
    weighted = losses.compute_weighted_loss
    return attempts(
        tf,
        {
            "integers": lambda tf: weighted([1, 2, 4]),
            "doubles": lambda tf: weighted(tf.constant([1.0, 2.0], tf.float64), [1, 0]),
            "halves": lambda tf: weighted(tf.constant([1.0, 2.0], tf.float16), 0.5),
            "scalar": lambda tf: weighted(3.0, 2.0),
            "empty": lambda tf: weighted(tf.zeros([0, 2])),
            "empty mean": lambda tf: weighted(tf.zeros([0]), reduction="weighted_mean"),
            "vector of a scalar": lambda tf: weighted(3.0, [2.0]),
            "not finite": lambda tf: weighted([float("inf"), 1.0], [0.0, 1.0]),
            "reduction": lambda tf: weighted([1.0], reduction="mean"),
            "every": lambda tf: losses.Reduction.all(),
            "validate": lambda tf: losses.Reduction.validate("none"),
            "gradient of weights": lambda tf: _with_gradient(
                tf, lambda w: weighted([1.0, 2.0], w), [1.0, 3.0]
            ),
            "unknown sizes": lambda tf: tf.function(
                weighted, input_signature=[tf.TensorSpec([None, 2])] * 2
            )([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0]]),
        },
        words=6,
    )


def case_missing_arguments(tf):
    losses = tf.compat.v1.losses
    pairs = [
        getattr(losses, name)
        for name in (
            "absolute_difference hinge_loss huber_loss log_loss mean_squared_error "
            "sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy".split()
        )
    ]
    found = [attempt(loss, *given) for loss in pairs for given in ((None, [1.0]), ([1.0], None))]
    return [
        *found,
        *[attempt(loss, [[1.0]], [[1.0, 2.0]], words=6) for loss in pairs[:-1]],
        attempt(losses.cosine_distance, [1.0], [1.0]),
        attempt(lambda: losses.cosine_distance([1.0], [1.0], dim=0)),
        attempt(lambda: losses.cosine_distance([1.0], [1.0], 0, dim=0)),
        attempt(losses.sparse_softmax_cross_entropy, [[1, 2]], [[1.0, 2.0]], words=3),
    ]


def case_collections(tf):
    v1, losses = tf.compat.v1, tf.compat.v1.losses
    for key in (v1.GraphKeys.LOSSES, v1.GraphKeys.REGULARIZATION_LOSSES):
        v1.get_collection_ref(key).clear()  # what another case has left
    losses.add_loss(tf.constant(1.0))
    losses.mean_squared_error([1.0], [2.0])

    @tf.function
    def total(x):
        losses.mean_squared_error([1.0], x)
        losses.absolute_difference([1.0], x, loss_collection="mine")
        losses.add_loss(x[0] * 100.0)
        losses.hinge_loss([1.0], x, loss_collection=None)
        v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, tf.constant(0.25))
        return [
            losses.get_total_loss(),
            losses.get_total_loss(add_regularization_losses=False),
            losses.get_regularization_loss(),
            tf.add_n(losses.get_losses(loss_collection="mine")),
            len(losses.get_losses()),
        ]

    return [
        losses.get_losses(),
        losses.get_regularization_losses(),
        losses.get_regularization_loss(),
        attempt(losses.get_total_loss, words=4),
        total(tf.constant([3.0])),
        losses.get_losses(),
    ]


def case_collections_of_eager_code(tf):
    v1 = tf.compat.v1
    v1.add_to_collection("a", 1)
    v1.add_to_collections(["a", "b", "a"], 2)
    v1.add_to_collections("c", 3)
    v1.get_collection_ref("d").append(4)
    found = [v1.get_collection(name) for name in "abcde"]
    v1.get_collection("a").append(5)
    inside = tf.function(lambda: tf.constant(v1.get_collection("a")))()
    found += [v1.get_collection("a"), inside]
    for name in "abcd":
        v1.get_collection_ref(name).clear()
    keys = {name: getattr(v1.GraphKeys, name) for name in dir(v1.GraphKeys) if name[0] != "_"}
    return found, [v1.get_collection("a")], keys
