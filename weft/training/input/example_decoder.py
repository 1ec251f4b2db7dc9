"""slim's decoder of tf.train.Example records, and the handlers that make an item of an example's features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence

from weft.framework.building.aliases import Nest, ShapeLike, TensorLike
from weft.framework.composites.sparse_tensor import SparseTensor as SparseValue
from weft.framework.nodes.operation import Tensor as DenseTensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.cond import cond
from weft.ops.io.example_features import FixedLenFeature
from weft.ops.io.parse_example import parse_single_example
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal
from weft.ops.math.reduce_functions import reduce_prod
from weft.ops.sparse.layout import sparse_reshape
from weft.ops.sparse.tensors import sparse_tensor_to_dense
from weft.training.input.data_provider import DataDecoder

Features = Mapping[str, Nest]


class ItemHandler(ABC):
    """Makes an item of some features of an example.

    Args:
        keys: the features' names, or one name.
    """

    __repr__ = printed("tf.contrib.slim.tfexample_decoder")

    def __init__(self, keys: str | Sequence[str]) -> None:
        self._keys = list(keys) if isinstance(keys, list | tuple) else [str(keys)]

    @property
    def keys(self) -> list[str]:
        """The names of the features that the item is made of."""
        return self._keys

    @abstractmethod
    def tensors_to_item(self, keys_to_tensors: Features) -> Nest:
        """The item, of the features' tensors by name.

        Args:
            keys_to_tensors: the features' tensors, dense or sparse, by name.
        """


class ItemHandlerCallback(ItemHandler):
    """Makes an item by a function of the program's.

    Args:
        keys: the features' names.
        func: a function of a dict of their tensors.
    """

    def __init__(self, keys: str | Sequence[str], func: Callable[[Features], Nest]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Features) -> Nest:
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes, `[boxes, 4]`, of a feature for each of their sides.

    Args:
        keys: the features of the least y, the least x, the greatest y and the greatest x.
        prefix: what stands before each name, such as "image/object/bbox/".

    Raises:
        ValueError: these are not four.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        names = ["ymin", "xmin", "ymax", "xmax"] if keys is None else list(keys)
        if len(names) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(names)}")
        super().__init__([prefix + name for name in names])

    def tensors_to_item(self, keys_to_tensors: Features) -> DenseTensor:
        found = [keys_to_tensors[key] for key in self._keys]
        sides = [each.values if isinstance(each, SparseValue) else each for each in found]
        return transpose(concat([expand_dims(side, 0) for side in sides], 0))


class Tensor(ItemHandler):
    """A feature's values, in a shape that the program gives or another feature has.

    Args:
        tensor_key: the feature.
        shape_keys: the feature, or the features in their order, with the shape.
        shape: the shape itself.
        default_value: what stands where a sparse feature has no value.

    Raises:
        ValueError: both shapes are given.
    """

    def __init__(
        self, tensor_key: str, shape_keys: str | Sequence[str] | None = None, shape: ShapeLike = None,
        default_value: TensorLike = 0,
    ) -> None:  # fmt: skip
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        names = [shape_keys] if isinstance(shape_keys, str) else list(shape_keys or ())
        super().__init__([tensor_key, *names])
        self._shape_keys = names
        self._shape = shape
        self._default_value = default_value

    def tensors_to_item(self, keys_to_tensors: Features) -> Nest:
        tensor = keys_to_tensors[self._keys[0]]
        wanted: Nest = self._shape
        if self._shape_keys:
            wanted = reshape(stack([_dense(keys_to_tensors[key], 0) for key in self._shape_keys]), [-1])
        if isinstance(tensor, SparseValue):
            tensor = tensor if wanted is None else sparse_reshape(tensor, wanted)
            return sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if wanted is None else reshape(tensor, wanted)


class LookupTensor(Tensor):
    """A feature's values as a lookup table knows them.

    Args:
        tensor_key: the feature.
        table: the table.
        shape_keys, shape: the shape; see `Tensor`.
        default_value: what is looked up where a sparse feature has no value.
    """

    def __init__(
        self, tensor_key: str, table: Nest, shape_keys: str | Sequence[str] | None = None, shape: ShapeLike = None,
        default_value: TensorLike = "",
    ) -> None:  # fmt: skip
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = table

    def tensors_to_item(self, keys_to_tensors: Features) -> Nest:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """An item by one handler or, where that has no values in it, by another.

    Args:
        handler: the first.
        backup: the other.

    Raises:
        ValueError: one is no handler.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for name, each in (("Primary", handler), ("Backup", backup)):
            if not isinstance(each, ItemHandler):
                raise ValueError(f"{name} handler is of type {type(each)} instead of ItemHandler")
        super().__init__([*handler.keys, *backup.keys])
        self._handler = handler
        self._backup = backup

    def tensors_to_item(self, keys_to_tensors: Features) -> Nest:
        item = self._handler.tensors_to_item(keys_to_tensors)
        empty = equal(reduce_prod(shape(item)), 0)
        return cond(empty, lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class SparseTensor(ItemHandler):
    """A sparse tensor of a feature with numbers of columns and a feature with their values.

    Args:
        indices_key: the feature of the columns, "indices" when None.
        values_key: the feature of the values, "values" when None.
        shape_key: the feature with the shape.
        shape: the shape itself.
        densify: whether to make a dense tensor of it.
        default_value: what stands elsewhere then.
    """

    def __init__(
        self, indices_key: str | None = None, values_key: str | None = None, shape_key: str | None = None,
        shape: ShapeLike = None, densify: bool = False, default_value: TensorLike = 0,
    ) -> None:  # fmt: skip
        super().__init__([indices_key or "indices", values_key or "values", *([shape_key] if shape_key else [])])
        self._shape = shape
        self._densify = densify
        self._default_value = default_value

    def tensors_to_item(self, keys_to_tensors: Features) -> Nest:
        indices, values, *shapes = (keys_to_tensors[key] for key in self._keys)
        wanted = _dense(shapes[0], 0) if shapes else self._shape or indices.dense_shape
        rank = shape(indices.indices)[1]
        before = slice_of(indices.indices, [0, 0], stack([-1, rank - 1]))
        columns = reshape(cast(indices.values, dtypes.int64), [-1, 1])
        tensor = SparseValue(concat([before, columns], 1), values.values, wanted)
        return sparse_tensor_to_dense(tensor, self._default_value) if self._densify else tensor


def _dense(value: Nest, default: TensorLike) -> Nest:
    return sparse_tensor_to_dense(value, default) if isinstance(value, SparseValue) else value


class TFExampleDecoder(DataDecoder):
    """Makes items of tf.train.Example records.

        decoder = slim.tfexample_decoder.TFExampleDecoder(
            {"image/encoded": tf.FixedLenFeature((), tf.string), "image/format": tf.FixedLenFeature((), tf.string, "jpeg"),
             "image/class/label": tf.FixedLenFeature((), tf.int64)},
            {"image": slim.tfexample_decoder.Image(), "label": slim.tfexample_decoder.Tensor("image/class/label")})

    Args:
        keys_to_features: the features, as `tf.parse_single_example` takes them.
        items_to_handlers: what makes each item.
    """

    def __init__(self, keys_to_features: Features, items_to_handlers: Mapping[str, ItemHandler]) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> Collection[str]:
        return list(self._items_to_handlers)

    def decode(self, serialized_example: TensorLike, items: Sequence[str] | None = None) -> list[Nest]:
        """The items of an example, a scalar string; all of them when `items` is None.

        Args:
            serialized_example: `[]` string, a `tf.train.Example`.
            items: names out of `list_items()`; all when None or empty.
        """
        example = parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, FixedLenFeature):
                example[key] = reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [each.tensors_to_item({key: example[key] for key in each.keys}) for each in handlers]
