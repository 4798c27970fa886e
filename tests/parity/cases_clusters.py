"""Clusters that a program describes, what tells of them, and threads that are to stop together."""

import json
import os
import sys
import threading
from contextlib import contextmanager

from .harness import attempt

JOBS = {"worker": ["a:1", "b:2"], "ps": {1: "c:3", 4: "d:4"}}


@contextmanager
def config(value):
    """`TF_CONFIG` in the environment; None for none."""
    before = os.environ.pop("TF_CONFIG", None)
    if value is not None:
        os.environ["TF_CONFIG"] = value if isinstance(value, str) else json.dumps(value)
    try:
        yield
    finally:
        os.environ.pop("TF_CONFIG", None)
        if before is not None:
            os.environ["TF_CONFIG"] = before


def spec(tf, jobs=JOBS):
    return tf.train.ClusterSpec(jobs)


def attempts(calls):
    """What each call gives, or the class and the words of its error."""
    found = []
    for call in calls:
        try:
            found.append(call())
        except (TypeError, ValueError) as error:
            found.append((type(error).__name__, str(error)))
    return found


def case_jobs_and_tasks(tf):
    jobs = spec(tf)
    return (
        repr(jobs),
        jobs.as_dict(),
        jobs.jobs,
        [jobs.num_tasks(job) for job in jobs.jobs],
        [jobs.task_indices(job) for job in jobs.jobs],
        jobs.task_address("ps", 4),
        jobs.job_tasks("ps"),
        bool(jobs),
        bool(spec(tf, {})),
    )


def case_jobs_and_tasks_that_there_are_not(tf):
    jobs = spec(tf)
    return attempts(
        [
            lambda: jobs.task_address("ps", 0),
            lambda: jobs.task_address("x", 0),
            lambda: jobs.job_tasks("x"),
            lambda: jobs.num_tasks("x"),
            lambda: jobs.task_indices("x"),
        ]
    )


def case_what_is_no_cluster(tf):
    wrong = [None, [1], {"w": "abc"}, {"w": 1}, {"w": [1]}, {1: ["a"]}, {"w": ["a", None]}]
    return attempts([lambda jobs=jobs: repr(spec(tf, jobs)) for jobs in wrong])


def case_forms_of_a_cluster(tf):
    given = [{"w": ("a",)}, {"w": {"0": "a"}}, {"w": []}, {"w": {0: "a", 1: "b"}}, {"w": [b"a"]}]
    return [spec(tf, jobs).as_dict() for jobs in given]


def case_clusters_are_equal(tf):
    jobs = spec(tf)
    of_message = tf.train.ClusterSpec(jobs.as_cluster_def())
    return (
        jobs == tf.train.ClusterSpec(jobs),
        jobs == of_message,
        jobs == jobs.as_dict(),
        jobs != spec(tf, {}),
        of_message.as_dict(),
    )


def case_messages_of_clusters(tf):
    cluster = tf.train.ClusterDef()
    job = cluster.job.add()
    job.name, job.tasks[3] = "worker", "a:1"
    job.tasks[0] = "b:1"
    server = tf.train.ServerDef(cluster=cluster, job_name="worker", task_index=3, protocol="grpc")
    again = tf.train.ServerDef.FromString(server.SerializeToString())
    tasks = dict(sorted(again.cluster.job[0].tasks.items()))
    return str(spec(tf).as_cluster_def()), str(server), tasks, again == server


def case_a_job_of_arguments(tf):
    job = tf.train.JobDef(name="ps", tasks={1: "x"})
    return job.name, dict(job.tasks), job.SerializeToString()


def case_a_simple_resolver(tf):
    simple = tf.distribute.cluster_resolver.SimpleClusterResolver
    plain = simple(spec(tf))
    told = simple(spec(tf, {}), "x", "w", 1, "cloud", {"GPU": 2}, "grpc")
    return [
        (
            each.cluster_spec().as_dict(),
            each.master(),
            each.task_type,
            each.task_id,
            each.environment,
            each.rpc_layer,
            dict(each.num_accelerators()),
        )
        for each in (plain, told)
    ] + attempts(
        [
            lambda: plain.master("worker", 1),
            lambda: plain.master("worker", 1, "grpc"),
            lambda: plain.master("worker", 7),
            lambda: simple(3),
        ]
    )


def of_config(tf, **arguments):
    found = tf.distribute.cluster_resolver.TFConfigClusterResolver(**arguments)
    told = [found.task_type, found.task_id, found.environment, found.rpc_layer]
    calls = [
        found.master,
        lambda: found.master("worker", 0),
        lambda: found.master("worker", 1, "x"),
        lambda: found.master(task_id=1),
    ]
    return told, found.cluster_spec().as_dict(), attempts(calls)


def case_a_resolver_of_the_environment(tf):
    configs = [
        None,
        {"cluster": {"worker": ["a", "b"]}},
        {"cluster": {"worker": ["a", "b"]}, "task": {"type": "worker"}},
        {"cluster": {"worker": ["a"]}, "task": {"type": "worker", "index": "0"}},
        {
            "cluster": {"worker": ["a", "b"], "chief": ["c"]},
            "task": {"type": "worker", "index": 1},
            "rpc_layer": "grpc",
            "environment": "cloud",
        },
    ]
    found = []
    for each in configs:
        with config(each):
            found.append(of_config(tf))
            found.append(
                of_config(tf, task_type="worker", task_id=1, rpc_layer="g", environment="e")
            )
    return found


def case_a_config_that_is_no_json(tf):
    with config("{"):
        return tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec()


def case_a_union_of_resolvers(tf):
    space = tf.distribute.cluster_resolver
    one = space.SimpleClusterResolver(spec(tf, {"worker": ["a", "b"]}))
    two = space.SimpleClusterResolver(spec(tf, {"worker": ["c"], "ps": ["p"]}), "m", "ps", 0)
    gaps = space.SimpleClusterResolver(spec(tf, {"worker": {3: "z"}}))
    union = space.UnionResolver(one, two)
    other = space.UnionResolver(two, one, rpc_layer="grpc")
    return (
        union.cluster_spec().as_dict(),
        space.UnionResolver(one, gaps).cluster_spec().as_dict(),
        [union.master(), union.master("worker", 2), union.task_type, union.task_id],
        [other.master("worker", 2), other.task_type, other.task_id, other.rpc_layer],
        attempts(
            [
                space.UnionResolver,
                lambda: space.UnionResolver(3),
                lambda: space.UnionResolver(one, a=1),
            ]
        ),
    )


def case_a_strategy_says_which_worker_it_is(tf):
    with config({"cluster": {"worker": ["localhost:1"]}, "task": {"type": "worker", "index": 0}}):
        of_environment = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        found = [of_environment.task_type, of_environment.task_id]
    with config(None):
        resolver = tf.distribute.MultiWorkerMirroredStrategy().cluster_resolver
        older = tf.distribute.experimental
        how = older.CollectiveCommunication.RING
        strategy = older.MultiWorkerMirroredStrategy(communication=how, cluster_resolver=resolver)
        assert isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
        found += [resolver.task_type, resolver.task_id, resolver.cluster_spec().as_dict()]
    return found, tf.distribute.MirroredStrategy().cluster_resolver


def case_threads_stop_together(tf):
    coordinator = tf.train.Coordinator()

    def work(last):
        with coordinator.stop_on_exception():
            while not coordinator.wait_for_stop(0.001):
                if last:
                    coordinator.request_stop()

    threads = [threading.Thread(target=work, args=[i == 2]) for i in range(3)]
    for thread in threads:
        coordinator.register_thread(thread)
        thread.start()
    coordinator.join()
    after = coordinator.should_stop(), coordinator.joined
    coordinator.clear_stop()
    alive = [thread.is_alive() for thread in threads]
    return alive, after, coordinator.should_stop(), coordinator.joined


def case_a_thread_that_raises(tf):
    coordinator = tf.train.Coordinator()

    def work():
        with coordinator.stop_on_exception():
            raise KeyError("worker")

    thread = threading.Thread(target=work)
    thread.start()
    coordinator.join([thread])


def case_an_end_that_is_usual(tf):
    coordinator = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    with coordinator.stop_on_exception():
        raise ValueError("the end")
    coordinator.join()
    default = tf.train.Coordinator()
    with default.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "the end")
    default.join()
    return coordinator.should_stop(), default.should_stop()


def case_the_first_exception_counts(tf):
    coordinator = tf.train.Coordinator()
    for text in ("first", "second"):
        try:
            raise ValueError(text)
        except ValueError:
            coordinator.request_stop(sys.exc_info())
    coordinator.raise_requested_exception()


def case_a_thread_that_does_not_stop(tf):
    coordinator, end = tf.train.Coordinator(), threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    coordinator.request_stop()
    try:
        coordinator.join([thread], 0.01, ignore_live_threads=True)
        coordinator.join([thread], stop_grace_period_secs=0.01)
    finally:
        end.set()


def case_input_contexts(tf):
    made = tf.distribute.InputContext
    return (
        [str(made(2, 1, 4)), made(2, 1, 4).get_per_replica_batch_size(8)],
        [
            (each.num_input_pipelines, each.input_pipeline_id, each.num_replicas_in_sync)
            for each in (made(), made(2, 1, 4), made(num_replicas_in_sync=3))
        ],
        attempt(made(num_replicas_in_sync=3).get_per_replica_batch_size, 8),
    )


def case_where_no_replica_runs(tf):
    seen = []

    def note(where, *_):
        context = tf.distribute.get_replica_context()
        seen.append((where, tf.distribute.in_cross_replica_context(), context is None))
        return context

    def of_a_replica():
        note("replica").merge_call(lambda *_: note("merged"))
        note("replica again")

    def everywhere(strategy):
        with strategy.scope():
            note("scope")
            tf.function(lambda: note("recorded") and 0, autograph=False).get_concrete_function()
            strategy.run(of_a_replica)
            strategy.extended.update(tf.Variable(1.0), lambda v: note("update"))
            note("scope again")
        strategy.run(of_a_replica)
        note("outside")

    everywhere(tf.distribute.get_strategy())
    everywhere(tf.distribute.OneDeviceStrategy("/cpu:0"))
    everywhere(tf.distribute.MirroredStrategy(["/cpu:0"]))
    return seen


def case_settings_of_the_optimizer(tf):
    optimizer = tf.config.optimizer
    found = []
    for enabled in (True, "autoclustering", "", False):
        optimizer.set_jit(enabled)
        found.append(optimizer.get_jit())
    optimizer.set_experimental_options({"remapping": True, "auto_mixed_precision": False})
    optimizer.set_experimental_options({"debug_stripper": False})
    return found, sorted(optimizer.get_experimental_options().items())


def case_a_loop_until_the_end_in_a_scope(tf):
    total = tf.Variable(0)
    iterator = iter(tf.data.Dataset.range(3, output_type=tf.int32))
    step = tf.function(lambda: total.assign_add(iterator.get_next()))
    try:
        with tf.experimental.async_scope():
            while True:
                step()
    except tf.errors.OutOfRangeError:
        tf.experimental.async_clear_error()
    seen = total.numpy()

    @tf.function
    def within(x):
        with tf.experimental.async_scope():
            y = x + 1
        return y

    with tf.experimental.async_scope():
        inside = within(tf.constant(1.0))
    return seen, inside
