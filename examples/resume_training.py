"""Trains, is interrupted, and goes on: the second run ends where one without a break does.

The checkpoint holds the weights, the optimizer, the step, the position in the shuffled data and the
generator of the noise. Ordinary TensorFlow code: change `import tape_compat as tf` to `import
tensorflow as tf` and it runs there, and each library goes on from files that the other wrote, but
for the position in the data.

    python examples/resume_training.py
"""

import tempfile

import numpy as np

import tape_compat as tf

STEPS = 60
EVERY = 20


class Model(tf.Module):
    """Two dense layers, whose weights are made at the first call."""

    def __init__(self):
        super().__init__()
        self.layers = []

    def __call__(self, x):
        if not self.layers:
            for rows, columns in ((2, 16), (16, 1)):
                matrix = tf.random.stateless_normal([rows, columns], seed=[rows, 0])
                self.layers.append([tf.Variable(matrix), tf.Variable(tf.zeros([columns]))])
        (w1, b1), (w2, b2) = self.layers
        return tf.tanh(x @ w1 + b1) @ w2 + b2


def train(folder, until):
    """Takes steps until there were `until`, from the latest checkpoint on. Gives the losses."""
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (512, 2)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices(points).shuffle(512, seed=1).repeat().batch(32)
    model, optimizer = Model(), tf.optimizers.Adam(0.02)
    checkpoint = tf.train.Checkpoint(
        model=model,
        optimizer=optimizer,
        step=tf.Variable(0),
        data=iter(data),
        noise=tf.random.Generator.from_seed(2),
    )
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    path = manager.restore_or_initialize()  # weights that are not made yet take their values then
    print(f"from step {int(checkpoint.step)}" if path else "from the beginning")
    losses = []
    while int(checkpoint.step) < until:
        x = next(checkpoint.data)
        x_noisy = x + checkpoint.noise.normal([32, 2], stddev=0.01)
        with tf.GradientTape() as tape:
            wanted = tf.sin(3.0 * x[:, :1]) * x[:, 1:]
            loss = tf.reduce_mean(tf.square(model(x_noisy) - wanted))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        losses.append(float(loss))
        if int(checkpoint.step.assign_add(1)) % EVERY == 0:
            manager.save()
    return losses


def main():
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        whole = train(one, STEPS)
        train(other, STEPS // 2)  # stops between two checkpoints
        rest = train(other, STEPS)
        for name, shape in tf.train.list_variables(tf.train.latest_checkpoint(other))[1:5]:
            print(f"  {name} {shape}")
    print(f"loss {whole[0]:.3f} at first, {rest[-1]:.5f} in the end")
    np.testing.assert_allclose(rest, whole[EVERY:], rtol=1e-4)
    print(f"the last {len(rest)} losses are those of a run without a break")


if __name__ == "__main__":
    main()
