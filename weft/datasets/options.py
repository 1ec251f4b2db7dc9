"""Options of datasets: what a pipeline may do differently. Those that tune TensorFlow's threads change nothing here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Self

from weft.framework.building.aliases import Nest
from weft.framework.types.printed import printed
from weft.platform.hints.spelling import did_you_mean


class Option:
    """A property that only takes values of one type.

    Args:
        kind: the type, or types.
        make_default: makes the value of an option that was not set.
        doc: what it is.
    """

    def __init__(self, kind: type, doc: str, make_default: Callable[[], object] = lambda: None) -> None:
        self._kind = kind
        self._make_default = make_default
        self._name = ""
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, options: OptionSet | None, owner: type | None = None) -> Nest:
        if options is None:
            return self
        return options.values.setdefault(self._name, self._make_default())

    def __set__(self, options: OptionSet, value: object) -> None:
        if not isinstance(value, self._kind):
            raise TypeError(f'Property "{self._name}" must be of type {self._kind}, got: {value!r} (type: {type(value)!r})')
        options.values[self._name] = value


class OptionSet:
    """A set of options; equal when all of them are."""

    values: dict[str, Nest]

    __repr__ = printed("tf.data")

    def __init__(self) -> None:
        object.__setattr__(self, "values", {})

    def __setattr__(self, name: str, value: object) -> None:
        if not hasattr(type(self), name):
            known = [each for each in dir(type(self)) if isinstance(inspect.getattr_static(type(self), each), Option)]
            meant = did_you_mean(name, known) or f" It has {', '.join(known)}."
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.{meant}")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in {*self.values, *other.values})

    __hash__ = None  # type: ignore[assignment]

    def merged(self, other: Self) -> Self:
        """The options of both.

        Args:
            other: options of the same kind.

        Raises:
            TypeError: these are options of another kind.
            ValueError: both set an option, to different values.
        """
        if not isinstance(other, type(self)):
            raise TypeError(f"Incompatible options type: {type(self)!r} vs {type(other)!r}")
        result, default = type(self)(), type(self)()
        for name in {*self.values, *other.values}:
            setattr_if_set(result, name, _both(name, getattr(self, name), getattr(other, name), getattr(default, name)))
        return result


def setattr_if_set(options: OptionSet, name: str, value: object) -> None:
    """Set an option unless the value is that of an option that nobody set."""
    if value is not None:
        setattr(options, name, value)


def _both(name: str, this: object, that: object, default: object) -> object:
    if that == default or this == that:
        return this
    if this == default:
        return that
    if isinstance(this, OptionSet):
        assert isinstance(that, OptionSet)
        return this.merged(that)
    raise ValueError(f"Cannot merge incompatible values ({this!r} and {that!r}) of option: {name}")


class MapVectorizationOptions(OptionSet):
    """How maps are vectorized: not at all, whatever is set."""

    enabled = Option(bool, "Whether maps run on batches.")
    use_choose_fastest = Option(bool, "Whether the faster way is found by trying.")


class OptimizationOptions(OptionSet):
    """The rewrites of a pipeline. One changes what comes out: `shuffle_and_repeat_fusion`, which is on by default."""

    apply_default_optimizations = Option(bool, "Whether those are done that are on by default.")
    autotune = Option(bool, "Whether parallelism is tuned while the pipeline runs.")
    autotune_algorithm = Option(int, "How it is tuned.")
    autotune_buffers = Option(bool, "Whether sizes of buffers are tuned.")
    autotune_cpu_budget = Option(int, "How many processors tuning may use.")
    filter_fusion = Option(bool, "Whether neighbouring filters become one.")
    filter_with_random_uniform_fusion = Option(bool, "Whether a random filter becomes sampling.")
    hoist_random_uniform = Option(bool, "Whether random numbers are made outside of maps.")
    map_and_batch_fusion = Option(bool, "Whether a map and the batching behind it become one.")
    map_and_filter_fusion = Option(bool, "Whether a map and the filter behind it become one.")
    map_fusion = Option(bool, "Whether neighbouring maps become one.")
    map_parallelization = Option(bool, "Whether maps without state run in parallel.")
    map_vectorization = Option(MapVectorizationOptions, "How maps are vectorized.", MapVectorizationOptions)
    noop_elimination = Option(bool, "Whether transformations without effect go.")
    parallel_batch = Option(bool, "Whether batches are copied in parallel.")
    shuffle_and_repeat_fusion = Option(bool, "Whether shuffling and the repetition behind it become one.")

    def rewrites(self) -> list[str]:
        """The names of the rewrites that are on, sorted."""
        by_default = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")
        other = (
            "filter_fusion", "filter_with_random_uniform_fusion", "hoist_random_uniform", "map_and_filter_fusion",
            "map_parallelization", "map_fusion", "parallel_batch", *by_default,
        )  # fmt: skip
        found = {name for name in other if getattr(self, name)}
        if self.apply_default_optimizations is not False:
            found.update(name for name in by_default if getattr(self, name) is not False)
        if self.map_vectorization.enabled:
            found.add("map_vectorization")
        if self.autotune is not False and self.autotune_buffers:
            found.add("inject_prefetch")
        return sorted(found)


class DistributeOptions(OptionSet):
    """How a pipeline is shared out between the replicas of a distribution strategy."""

    auto_shard = Option(bool, "Whether each worker reads a part of the files.")
    num_devices = Option(int, "How many devices the pipeline feeds.")


class StatsOptions(OptionSet):
    """What is told of a running pipeline."""

    aggregator = Option(object, "Where it is told.")
    prefix = Option(str, "What the names begin with.", lambda: "")
    counter_prefix = Option(str, "What the names of counters begin with.", lambda: "")
    latency_all_edges = Option(bool, "Whether the time of each transformation is told.")


class ThreadingOptions(OptionSet):
    """How many threads a pipeline may use."""

    max_intra_op_parallelism = Option(int, "How many threads one node may use.")
    private_threadpool_size = Option(int, "How many threads the pipeline has for itself.")


class Options(OptionSet):
    """What a pipeline may do differently; see `Dataset.with_options`."""

    experimental_deterministic = Option(bool, "Whether elements come in the same order always; None for yes.")
    experimental_distribute = Option(DistributeOptions, "How it is shared out between replicas.", DistributeOptions)
    experimental_optimization = Option(OptimizationOptions, "Its rewrites.", OptimizationOptions)
    experimental_slack = Option(bool, "Whether the last prefetch lets the step begin before it goes on.")
    experimental_stats = Option(StatsOptions, "What is told of it.", StatsOptions)
    experimental_stateful_whitelist = Option(list, "Nodes with state that do not keep an iterator from being saved.")
    experimental_threading = Option(ThreadingOptions, "Its threads.", ThreadingOptions)

    def merge(self, options: Options) -> Options:
        """The options of both; ValueError where they contradict each other.

        Args:
            options: those of a dataset further on, or of the one that it is joined with.
        """
        return self.merged(options)

    def rewrites(self) -> list[str]:
        """The names of the rewrites that are on."""
        found: list[str] = self.experimental_optimization.rewrites()
        return found + ["make_sloppy"] * (self.experimental_deterministic is False) + ["slack"] * bool(self.experimental_slack)
