"""A module whose functions have conditionals and loops that are no single program."""


def module(tf):
    """An object with such functions, and the arguments that each is called with."""

    class Control(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.reshape(tf.range(12.0), [4, 3]) * 0.1)
            self.table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1
            )

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def branch(self, x):
            if tf.reduce_sum(x) > 0:
                return tf.boolean_mask(x, x > 1)
            return x

        @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int64)])
        def switch(self, x, i):
            several = [lambda: x[:1] * self.w[0, 1], lambda: tf.concat([x, x], 0), lambda: x]
            return tf.switch_case(tf.cast(i, tf.int32), several)

        @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
        def grow(self, x, n):
            i = 0
            while i < n:
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(x, tf.TensorShape([None]))]
                )
                x = tf.concat([x, x[:1] * 2.0], 0)
                i += 1
            return x, tf.shape(x)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)] * 2)
        def decode(self, start, limit):
            """As translators do it, one word after the other."""
            out = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
            out = out.write(0, start)
            for i in tf.range(limit):
                prefix = out.stack()
                mean = tf.reduce_mean(tf.gather(self.w, prefix), 0)
                scores = tf.linalg.matvec(self.w, tf.sin(mean * 9.0))
                word = (tf.argmax(scores, output_type=tf.int32) + prefix[-1] + 1) % 4
                out = out.write(i + 1, word)
                if word == 3:
                    break
            return out.stack()

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def doubled(self, x):
            rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
            while tf.reduce_max(x) < 20.0:
                x = x * 2
                rows = rows.write(rows.size(), x)
            return rows.size(), rows.stack()

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def words(self, s):
            total = tf.constant(0, tf.int64)
            joined = ""
            for w in s:
                if tf.strings.length(w) > 0:
                    total += self.table.lookup(tf.strings.substr(w, 0, 1))
                    joined = tf.strings.join([joined, w])
            return total, joined

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def nested(self, x):
            total = tf.zeros([2])
            for i in tf.range(3):
                kept = tf.boolean_mask(x, x[:, 0] > tf.cast(i, tf.float32))
                if tf.shape(kept)[0] > 1:
                    total += tf.reduce_sum(kept[1:], 0)
                else:
                    total -= 1.0
            return total

        @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
        def larger(self, x, n):
            """A loop of these shapes is refused where the size of x is known."""
            y = x
            for i in tf.range(n):
                tf.print("turn", i, output_stream="file:///dev/null")
                y = tf.concat([y, x * self.w[0, 2]], 0)
            return y

        @tf.function(input_signature=[tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)])
        def calls(self, x, n):
            return self.larger(x, n) * 2.0, tf.size(self.larger(x[:1], n + 1))

    return Control(), {
        "branch": [([1.0, 3.0],), ([-1.0, -3.0],), ([0.5],)],
        "switch": [([1.0, 2.0], 0), ([1.0, 2.0], 1), ([1.0, 2.0], 7)],
        "grow": [([1.0, 2.0], 3), ([1.0, 2.0], 0)],
        "decode": [(0, 6), (2, 6), (1, 0)],
        "doubled": [([1.0, 2.0],), ([9.0],)],
        "words": [(["ab", "", "b"],), (["c"],)],
        "calls": [([1.0, 2.0], 2), ([1.0, 2.0], 0)],
        "nested": [([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],), ([[0.0, 1.0]],)],
    }
