"""Writes loops of training steps: a tape, its gradients and updates, with turns that differ."""

from typing import Any

from .orders import OrderWriter
from .program import Program, Statement, compiled
from .write import Rejected

#: The rows of a step, by the turn `i`.
BATCHES = [
    "xb, yb = x[i % 3 * 2:i % 3 * 2 + 2], y[i % 3 * 2:i % 3 * 2 + 2]",
    "xb, yb = x[:4 - (i == turns - 1)], y[:4 - (i == turns - 1)]",
    "xb, yb = tf.gather(x, order[i % 6:i % 6 + 3]), tf.gather(y, order[i % 6:i % 6 + 3])",
    "xb, yb = x + 0.1 * i, y",
    "xb, yb = x[i % 6][tf.newaxis], y[i % 6]",
    "xb, yb = tf.constant(x.numpy() * (1.0 + 0.01 * i)), y * 0.5",
]

#: Inside of the tape, where `h` is [n, 3].
FORWARD = [
    "h = tf.tanh(h @ w)",
    "h = h * b + state[0] * 0.1",
    "h = tf.where(h > 0.1, h, 0.2 * h)",
    "if i % 3 == 1:\n    h = h * 0.5",
    "if i % 4 == 3:\n    h = tf.sin(h) + b",
    "for j in range(2):\n    h = tf.tanh(h @ w) * 0.7",
    "for j in range(1 + i % 3):\n    h = h * 0.8 + tf.sin(h) * b",
    "for r in tf.unstack(w):\n    h = h + r * 0.1",
    "if float(tf.reduce_sum(h)) > 0.2:\n    h = h * 0.6",
    "h = layer(h)",
    "h = layer(h) + layer(h * 0.5)",
    "count.assign_add(1.0)\nh = h * tf.minimum(count * 0.1, 1.0)",
    "mean.assign(mean * 0.9 + tf.reduce_mean(h, 0) * 0.1)\nh = h - mean",
    "h = clipped(h)",
    "h = tf.recompute_grad(lambda a: tf.tanh(a @ w))(h)",
    "state = [tf.stop_gradient(tf.reduce_mean(h, 0)), state[0]]",
    "state = [tf.reduce_mean(h, 0) * 0.5, state[0]]",
    "with tape.stop_recording():\n    seen.append(tf.reduce_max(h))",
    "h = tf.nn.dropout(h, 0.3) * 0.0 + h",
    "h = tf.map_fn(lambda r: r * b, h)",
    "if i == 4:\n    h = tf.concat([h, h[:1]], 0)[:h.shape[0]]",
]

#: After it, with `gw` and `gb`.
UPDATES = [
    "w.assign_sub(rate * gw)\nb.assign_sub(rate * gb)",
    "speed.assign(speed * 0.9 + gw)\nw.assign_sub(speed * rate)",
    "speed.assign(tf.maximum(speed * 0.9, gw * gw))\nw.assign_sub(gw / (tf.sqrt(speed) + 9.0))",
    "[gw, gb], norm = tf.clip_by_global_norm([gw, gb], 0.5)\nw.assign_sub(gw)\nseen.append(norm)",
    "rate *= 0.9",
    "rate = 0.1 / (1 + i)",
    "if i % 2:\n    w.assign(w * 0.99)",
    "if float(loss) < 0.3:\n    b.assign(b * 1.01)",
    "w[i % 3].assign(w[i % 3] * 0.9)",
    "b[0].assign(tf.reduce_mean(w))",
    "average = average * 0.9 + w * 0.1",
    "seen.append(w.read_value())",
    "seen.append(loss)",
    "if i == 3:\n    kept = w.numpy()",
    "if i % 3 == 2:\n    seen.append(loss.numpy())",
    "w.assign(tf.where(tf.math.is_finite(gw), w - 0.01 * gw, w))",
    "total = total + gw\nif i % 2:\n    w.assign_sub(total * 0.05)\n    total = total * 0.0",
    "del loss\nloss = tf.reduce_sum(w)",
    "step(gb)",
    "if i == 5:\n    step = tf.function(lambda g: b.assign_sub(g * 0.02))",
    "try:\n    w.assign(tf.reshape(w, [9]) if i == 4 else w)\nexcept ValueError:\n    pass",
    "b.assign(b[::-1])",
    "w.assign(tf.transpose(w))",
    "u, w = w, u",
    "u.assign(w)",
]

SETUP = """\
x = tf.reshape(tf.cast(tf.range(18) % 7 - 3, {dtype}) * 0.2, [6, 3])
y = tf.cast(tf.range(6) % 4, {dtype})[:, tf.newaxis] * 0.1
order = [0, 3, 5, 1, 1, 4, 2, 0, 3, 5, 2, 1]
w = tf.Variable(tf.reshape(tf.cast(tf.range(9) % 5 - 2, {dtype}) * 0.2, [3, 3]))
u = tf.Variable(tf.eye(3, dtype={dtype}))
b = tf.Variable(tf.constant([0.5, -0.3, 0.2], {dtype}))
speed, mean = tf.Variable(w * 0.0), tf.Variable(b * 0.0)
count = tf.Variable(tf.constant(0.0, {dtype}))
@tf.function
def layer(h):
    return tf.nn.softplus(h @ w) - b
@tf.custom_gradient
def clipped(a):
    return a * 1.0, lambda d: tf.clip_by_value(d, -0.05, 0.05)
"""


class StepWriter(OrderWriter):
    """Writes the whole of a program's end."""

    def training(self) -> None:
        """A loop of steps; what they leave, at the end."""
        if self.depth or self.block is self.program.setup or self.program.dtype[0] != "f":
            raise Rejected
        setup = SETUP.format(dtype=self.fill().type)
        statements = self._steps()
        scope: dict[str, Any] = {"tf": self.tf}
        try:
            exec(compiled(Program([Statement(setup)], statements).source()), scope)
            self.check(list(scope["program"]().values()))
        except Exception as error:
            raise Rejected from error
        self.program.eager = True
        self.program.setup.append(Statement(setup))
        self.block += statements

    def _steps(self) -> list[Statement]:
        """A loop, and the outputs after it."""
        outside, self.block = self.block, []
        turns = self.rng.choice([3, 7, 12])
        try:
            self.say("global w, u")
            self.say(f"rate, turns, seen, kept, state = 0.1, {turns}, [], None, [b * 0.0, b * 1.0]")
            self.say("average, total, step = w * 1.0, w * 0.0, lambda g: b.assign_add(g * 0.01)")
            with self.inside("for i in range(turns):"):
                self.say(self.rng.choice(BATCHES))
                persistent = self.rng.choice(["", "persistent=True"])
                with self.inside(f"with tf.GradientTape({persistent}) as tape:"):
                    self.say("h = xb")
                    for _ in range(self.rng.randint(1, 4)):
                        self.say(self.rng.choice(FORWARD))
                    self.say("loss = tf.reduce_mean((tf.tanh(h @ w + b) - yb) ** 2)")
                if persistent and self.maybe(0.5):
                    self.say("gw, gb = tape.gradient(loss, w), tape.gradient(loss, b)")
                else:
                    self.say("gw, gb = tape.gradient(loss, [w, b])")
                for _ in range(self.rng.randint(1, 4)):
                    self.say(self.rng.choice(UPDATES))
            for name in ("seen", "average", "loss", "kept", "state", "total"):
                self.say(f'out["{name}"] = {name}')
            self.say('out["all"] = [v.numpy() for v in (w, u, b, speed, mean, count)]')
            return self.block
        finally:
            self.block = outside
