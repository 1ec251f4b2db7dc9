"""Datasets that become less: one value of all elements of a key, and a file of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from weft.datasets.dataset import Dataset
from weft.datasets.experimental.iteration import get_single_element
from weft.datasets.experimental.transformations import Apply, group_by_window
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.data.record_output import dataset_to_tf_record

_ALL: Final = (1 << 63) - 1


class Reducer:
    """How the elements of a key become one value, for `group_by_reducer`.

    Args:
        init_func: the first state of a key.
        reduce_func: makes a state of a state and an element.
        finalize_func: makes the value of the last state.
    """

    def __init__(
        self, init_func: Callable[..., Nest], reduce_func: Callable[..., Nest], finalize_func: Callable[..., Nest]
    ) -> None:
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func

    def __repr__(self) -> str:
        return f"<tf.data.experimental.Reducer by {getattr(self.reduce_func, '__name__', self.reduce_func)}>"


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Nest:
    """One value of all elements of a dataset, as tensors: each run goes over all of them.

    Args:
        dataset: the dataset.
        reducer: makes the value.

    Raises:
        TypeError: `dataset` or `reducer` is none.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"reduce_dataset: `dataset` must be a tf.data.Dataset, got {dataset!r}")
    if not isinstance(reducer, Reducer):
        raise TypeError("`reducer` must be a `Reducer` instance.")
    return get_single_element(_reduced(dataset, constant(0, dtypes.int64), reducer))


def group_by_reducer(key_func: Callable[..., Nest], reducer: Reducer) -> Apply:
    """One value of all elements of each key, in the order of the keys, when the dataset ends.

    Args:
        key_func: the key of an element, a scalar int64.
        reducer: makes the value.

    Returns:
        A function of a dataset, for `Dataset.apply`.

    Raises:
        TypeError: `reducer` is no Reducer.
    """
    if not isinstance(reducer, Reducer):
        raise TypeError("`reducer` must be a `Reducer` instance.")

    def value_of(key: Nest, elements: Dataset) -> Dataset:
        return _reduced(elements, key, reducer)

    return group_by_window(key_func, value_of, window_size=_ALL)


def _reduced(dataset: Dataset, key: Nest, reducer: Reducer) -> Dataset:
    """A dataset of the value: as an element, a state that is a tuple is several arguments of `finalize_func`."""
    return Dataset.from_tensors(dataset.reduce(reducer.init_func(key), reducer.reduce_func)).map(reducer.finalize_func)


class TFRecordWriter:
    """Writes datasets to a file of records.

        writer = tf.data.experimental.TFRecordWriter("/tmp/records")
        session.run(writer.write(dataset))

    Args:
        filename: the file's path.
        compression_type: `ZLIB` or `GZIP`; the records as they are when None.
    """

    def __init__(self, filename: TensorLike, compression_type: TensorLike | None = None) -> None:
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression_type = convert_to_tensor(compression_type or "", dtypes.string, name="compression_type")

    def __repr__(self) -> str:
        return f"<tf.data.experimental.TFRecordWriter to {self._filename.name}>"

    def write(self, dataset: Dataset) -> Operation:
        """The operation that writes the file anew.

        Args:
            dataset: its elements are the records, scalar strings.

        Returns:
            The operation.

        Raises:
            TypeError: `dataset` is no dataset, or its elements are no scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype is not dtypes.string or not spec.shape.is_compatible_with([]):
            raise TypeError(
                f"`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape {dataset.output_shapes} and "
                f"types {dataset.output_types}"
            )
        node: Operation = dataset_to_tf_record(dataset.variant_tensor, self._filename, self._compression_type)
        return node
