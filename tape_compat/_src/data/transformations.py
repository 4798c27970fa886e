"""The methods of Dataset that give other datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import dataset_of, seeds
from .combining import Concatenate
from .grouping import Grouping
from .interleaving import Interleave
from .mapping import Filter, FlatMap, Map, TakeWhile
from .options import Options, frozen
from .pipeline import AUTOTUNE, UNKNOWN, refused
from .prefetching import Prefetch
from .selecting import Repeat, Shard, Shuffle, Skip, Take
from .sources import integer


class Transformations(Grouping):
    """What is made from a dataset."""

    # -- functions of elements ------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: Any = False,
        name: str | None = None,
    ) -> Any:
        """A dataset of what a function gives for each element.

        The function is recorded once, as by `tf.function`, and runs compiled; with `batch` after
        it, for a whole batch at once. Its Python runs for each element where it cannot be recorded.

        Args:
          map_func: takes the parts of a tuple, or the element if it is something else.
          num_parallel_calls: how many threads run its Python, where that takes long; compiled
            functions are parallel within. Elements come in their order.
          deterministic, synchronous, use_unbounded_threadpool: change nothing.
        Raises: TypeError for a result that is no nest of tensors; what recording it raises. Going
          through the elements raises what an op raises, with the element and the line.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(3).map(lambda x: x + 10).as_numpy_iterator())
        [np.int64(10), np.int64(11), np.int64(12)]
        """
        parallel = 1 if num_parallel_calls is None else integer(num_parallel_calls, "calls")
        if parallel < 1 and parallel != AUTOTUNE:
            raise refused("num_parallel_calls must be greater than zero.")
        made = Map(self._pipeline, map_func, "Dataset.map()", parallel)
        return self._made(made.of_calls(num_parallel_calls))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Any:
        """The elements of the datasets that a function gives, one dataset after the other.

        Raises: TypeError if it gives no dataset.

        >>> import tape_compat as tf
        >>> numbers = tf.data.Dataset.range(1, 4)
        >>> list(numbers.flat_map(lambda n: tf.data.Dataset.range(n)).as_numpy_iterator())
        [np.int64(0), np.int64(0), np.int64(1), np.int64(0), np.int64(1), np.int64(2)]
        """
        return self._made(FlatMap(self._pipeline, map_func, "Dataset.flat_map()"))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Any:
        """The elements of the datasets that a function gives, several datasets by turns.

        Args:
          cycle_length: how many datasets are open at a time; by default as many as there are CPUs.
          block_length: how many elements of one come together (default 1).
          num_parallel_calls, deterministic: change nothing.
        Raises: TypeError if the function gives no dataset; InvalidArgumentError for a number below
          1, and for more parallel calls than the `cycle_length` that is given.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(1, 3).interleave(
        ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2
        ... )
        >>> list(map(int, dataset))
        [1, 1, 2, 2, 1, 2]
        """
        cycle = AUTOTUNE if cycle_length is None else integer(cycle_length, "cycle_length")
        block = 1 if block_length is None else integer(block_length, "block_length")
        calls = None if num_parallel_calls is None else integer(num_parallel_calls, "calls")
        if calls is not None and calls < 1 and calls != AUTOTUNE:
            raise refused("num_parallel_calls must be greater than zero.")
        if cycle < 1 and cycle != AUTOTUNE:
            if calls is None:
                raise refused("cycle_length must be greater than zero.")
            raise refused(
                f"`cycle_length` must be `tf.data.AUTOTUNE` or greater than 0 but is {cycle}"
            )
        if calls is not None and cycle != AUTOTUNE and calls > cycle:
            raise refused(
                "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either "
                "`tf.data.AUTOTUNE` or a value less than or equal to `cycle_length`. However, "
                f"`cycle_length` was set to {cycle} while `num_parallel_calls` was set to {calls}"
            )
        if block < 1:
            raise refused("`block_length` must be > 0")
        made = Interleave(self._pipeline, map_func, cycle, block, "Dataset.interleave()")
        return self._made(made.of_calls(calls))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements of which a predicate, which gives a bool scalar, is true.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(5).filter(lambda x: x % 2 == 1).as_numpy_iterator())
        [np.int64(1), np.int64(3)]
        """
        return self._made(Filter(self._pipeline, predicate, "Dataset.filter()"))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements before the first of which a predicate is false.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(5).take_while(lambda x: x < 2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        return self._made(TakeWhile(self._pipeline, predicate, "Dataset.take_while()"))

    # -- order and choice -----------------------------------------------------------------------

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: Any = True,
        name: str | None = None,
    ) -> Any:
        """The elements in random order: each is drawn from the next `buffer_size` ones.

        Args:
          buffer_size: at least the number of elements for a perfect shuffle;
            `tf.data.UNKNOWN_CARDINALITY` for all of them.
          seed: with the global seed it says which order comes.
          reshuffle_each_iteration: whether each run has another order.
        Raises: InvalidArgumentError for another size below 1.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(5).shuffle(5, seed=1)
        >>> sorted(dataset.as_numpy_iterator()) == [0, 1, 2, 3, 4]
        True
        """
        size = integer(buffer_size, "buffer_size")
        if size < 1 and size != UNKNOWN:
            raise refused("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        again = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        found = seeds(seed, again)
        return self._made(Shuffle(self._pipeline, None if size == UNKNOWN else size, found))

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """The elements `count` times over; without end for None or -1.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(2).repeat(2).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(0), np.int64(1)]
        """
        times = -1 if count is None else integer(count, "count")
        return self._made(Repeat(self._pipeline, times))

    def take(self, count: Any, name: str | None = None) -> Any:
        """The first `count` elements; all for -1.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(5).take(2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        return self._made(Take(self._pipeline, integer(count, "count")))

    def skip(self, count: Any, name: str | None = None) -> Any:
        """All but the first `count` elements; none for -1.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(5).skip(3).as_numpy_iterator())
        [np.int64(3), np.int64(4)]
        """
        return self._made(Skip(self._pipeline, integer(count, "count")))

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
        """Every `num_shards`-th element, beginning with number `index`.

        Raises: InvalidArgumentError unless 0 <= index < num_shards.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(5).shard(2, 1).as_numpy_iterator())
        [np.int64(1), np.int64(3)]
        """
        shards, place = integer(num_shards, "num_shards"), integer(index, "index")
        if shards < 1:
            raise refused(
                f"Number of shards must be greater than zero (currently num_shards = {shards})."
            )
        if not 0 <= place < shards:
            raise refused(f"Index must be between 0 and {shards - 1} (currently index = {place}).")
        return self._made(Shard(self._pipeline, shards, place))

    def concatenate(self, dataset: Any, name: str | None = None) -> Any:
        """The elements of this dataset, then those of another.

        Raises: TypeError if their specs have nothing in common.

        >>> import tape_compat as tf
        >>> numbers = tf.data.Dataset.range(2)
        >>> list(numbers.concatenate(numbers.skip(1)).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(1)]
        """
        other = dataset_of(dataset, "`dataset`")
        made = self._made(Concatenate(self._pipeline, other._pipeline))
        made._options = self._options.merge(other._options)
        return made

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Any:
        """The same elements, up to `buffer_size` of them made ahead in a thread.

        Args:
          buffer_size: `tf.data.AUTOTUNE` leaves the number to us; 0 makes none ahead.
        Raises: InvalidArgumentError for a size below -1.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(2).prefetch(1).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        size = integer(-1 if buffer_size is None else buffer_size, "buffer_size")
        if size < -1:
            raise refused("buffer_size must be >= -1, set buffer_size to -1 for auto-tuning")
        return self._made(Prefetch(self._pipeline, size))

    # -- options --------------------------------------------------------------------------------

    def options(self) -> Options:
        """The options of the dataset and of those it is made from. They cannot be changed."""
        return frozen(self._options)

    def with_options(self, options: Options, name: str | None = None) -> Any:
        """The same dataset, with further options.

        Raises: TypeError for something else.

        >>> import tape_compat as tf
        >>> options = tf.data.Options()
        >>> options.deterministic = False
        >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
        False
        """
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be a `tf.data.Options`, not {options!r}.")
        made = self._made(self._pipeline)
        made._options = self._options.merge(options)
        return made

    def apply(self, transformation_func: Callable[[Any], Any]) -> Any:
        """What a function makes of this dataset.

        Raises: TypeError if it makes no dataset.

        >>> import tape_compat as tf
        >>> len(tf.data.Dataset.range(6).apply(lambda dataset: dataset.batch(2)))
        3
        """
        return dataset_of(
            transformation_func(self),
            "`transformation_func` must return a `tf.data.Dataset` object. What it returns",
        )
