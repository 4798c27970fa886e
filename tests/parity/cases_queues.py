"""`tf.queue`."""

import threading

from .harness import attempt

NEEDS = ("queue",)


def refused(call):
    """What a call raises; TensorFlow's texts begin with names of its kernels."""
    return attempt(call, words=0)


def case_fifo(tf):
    q = tf.queue.FIFOQueue(3, tf.int32)
    found = [q.enqueue(1), q.enqueue(2), q.size(), q.dequeue(), q.size(), q.is_closed()]
    return found, q.dtypes, [str(s) for s in q.shapes], q.names, refused(lambda: q.dequeue_many(1))


def case_components(tf):
    q = tf.queue.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2]])
    q.enqueue([1, [1.0, 2.0]])
    q.enqueue((2, [3.0, 4.0]))
    q.enqueue_many([[5, 6], [[1.0, 2.0], [3.0, 4.0]]])
    found = [q.dequeue(), q.dequeue_many(2), q.dequeue_many(0)]
    q.close()
    found += [q.dequeue_up_to(5), q.is_closed()]
    return found, [
        refused(q.dequeue),
        refused(lambda: q.dequeue_many(2)),
        refused(lambda: q.dequeue_up_to(1)),
        refused(lambda: q.enqueue([1, [1.0, 2.0]])),
        refused(q.close),
    ]


def case_what_does_not_fit(tf):
    q = tf.queue.FIFOQueue(10, tf.int32, shapes=[[]])
    named = tf.queue.FIFOQueue(10, [tf.int32, tf.float32], names=["a", "b"])
    return [
        refused(lambda: q.enqueue(tf.constant([1, 2]))),
        refused(lambda: q.enqueue(1.5)),
        refused(lambda: q.enqueue(tf.constant(1.5))),
        refused(lambda: named.enqueue((1, 2.0))),
        refused(lambda: named.enqueue({"a": 1})),
        refused(lambda: tf.queue.FIFOQueue(4, [tf.int32, tf.float32], names=["a"])),
        refused(lambda: tf.queue.FIFOQueue(4, [tf.int32, tf.float32], shapes=[[]])),
        refused(lambda: tf.queue.FIFOQueue(4, tf.int32, shapes=[[None]])),
        refused(lambda: tf.queue.PaddingFIFOQueue(4, tf.int32, shapes=None)),
        refused(lambda: tf.queue.QueueBase.from_list(0, [])),
        refused(lambda: tf.queue.QueueBase.from_list(0, [q, named])),
    ]


def case_one_shape(tf):
    def filled(shapes, rows):
        q = tf.queue.FIFOQueue(4, tf.int32, shapes=shapes)
        q.enqueue_many([rows])
        return q.shapes, q.dequeue_many(2)

    pairs = tf.queue.FIFOQueue(4, [tf.int32, tf.int32], shapes=((), ()))
    plain = tf.queue.FIFOQueue(4, tf.int32)
    return (
        [filled(shapes, [1, 2]) for shapes in ((), [()], tf.TensorShape([]))],
        [filled(shapes, [[1, 2], [3, 4]]) for shapes in ((2,), [2], [[2]])],
        refused(lambda: pairs.enqueue_many([[1, 2], [3]])),
        refused(lambda: plain.enqueue({"a": 1})),
        refused(lambda: tf.queue.FIFOQueue(4, tf.int32, shapes=3)),
        refused(lambda: tf.queue.PaddingFIFOQueue(4, tf.int32, shapes=[None])),
        refused(lambda: tf.queue.PaddingFIFOQueue(4, [tf.int32, tf.int32], shapes=[[None]])),
    )


def case_names(tf):
    q = tf.queue.FIFOQueue(4, [tf.int32, tf.float32], shapes=[[], []], names=["a", "b"])
    for i in range(3):
        q.enqueue({"b": 2.0 * i, "a": i})
    return q.dequeue(), q.dequeue_many(2)


def case_priority(tf):
    q = tf.queue.PriorityQueue(10, [tf.float32], shapes=[[]])
    for n in (3, 1, 2, -1):
        q.enqueue((tf.constant(n, tf.int64), 10.0 * n))
    q.enqueue_many((tf.constant([7, 0], tf.int64), [70.0, 0.0]))
    return q.dequeue(), q.dequeue_many(4), q.size(), q.dtypes, [str(s) for s in q.shapes]


def case_random_shuffle(tf):
    q = tf.queue.RandomShuffleQueue(10, 2, tf.int32, shapes=[[]], seed=3)
    q.enqueue_many([[0, 1, 2, 3, 4, 5]])
    first = q.dequeue_many(4)
    left = q.size()
    q.close()
    rest = q.dequeue_up_to(9)
    return left, tf.sort(tf.concat([first, rest], 0))


def case_padding(tf):
    q = tf.queue.PaddingFIFOQueue(10, [tf.int32, tf.float32], shapes=[[None], [2, None]])
    q.enqueue((tf.constant([1]), tf.ones([2, 1])))
    q.enqueue((tf.constant([1, 2, 3]), tf.ones([2, 2])))
    q.enqueue((tf.constant([4]), tf.zeros([2, 0])))
    bad = refused(lambda: q.enqueue((tf.constant(1), tf.ones([2, 1]))))
    return q.dequeue_many(2), q.dequeue(), bad


def case_from_list(tf):
    a, b = tf.queue.FIFOQueue(3, tf.int32), tf.queue.FIFOQueue(3, tf.int32)
    b.enqueue(9)
    return tf.queue.QueueBase.from_list(1, [a, b]).dequeue()


def case_in_functions(tf):
    q = tf.queue.FIFOQueue(30, tf.int32, shapes=[[]])

    @tf.function
    def f(x):
        q.enqueue(x)
        q.enqueue(x + 1)
        return q.dequeue(), q.size()

    return f(tf.constant(5)), f(tf.constant(6))


def case_threads(tf):
    q = tf.queue.FIFOQueue(1, tf.int32)
    done = tf.queue.FIFOQueue(10, tf.int32)

    def produce():
        for i in range(5):
            q.enqueue(i)
        q.close()

    thread = threading.Thread(target=produce)
    thread.start()
    found = [q.dequeue() for _ in range(5)]
    thread.join()
    waiting = threading.Thread(target=lambda: done.enqueue(1))
    waiting.start()
    last = done.dequeue()
    waiting.join()
    return found, refused(q.dequeue), last
