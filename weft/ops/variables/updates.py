"""VariableUpdates: the methods of a variable that change parts of it."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import TensorLike
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.ops.state import scatter_update as scatter
from weft.ops.variables.batch_scatter import batch_scatter_update


class VariableUpdates:
    """Updates of some rows of a variable, or at some positions, for both kinds; the result is the variable after that.

    `sparse_delta` is IndexedSlices, whose indices may repeat: each of them counts. Anything else is a TypeError.
    """

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Subtract IndexedSlices.

        Args:
            sparse_delta: slices along the first dimension, and their indices there.
            use_locking: whether updates of the variable wait for each other.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return self._scattered(scatter.scatter_sub, sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Add IndexedSlices.

        Args:
            sparse_delta: slices along the first dimension, and their indices there.
            use_locking: whether updates of the variable wait for each other.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return self._scattered(scatter.scatter_add, sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Take the maximum with IndexedSlices.

        Args:
            sparse_delta: slices along the first dimension, and their indices there.
            use_locking: whether updates of the variable wait for each other.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return self._scattered(scatter.scatter_max, sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Take the minimum with IndexedSlices.

        Args:
            sparse_delta: slices along the first dimension, and their indices there.
            use_locking: whether updates of the variable wait for each other.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return self._scattered(scatter.scatter_min, sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Multiply by IndexedSlices.

        Args:
            sparse_delta: slices along the first dimension, and their indices there.
            use_locking: whether updates of the variable wait for each other.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return self._scattered(scatter.scatter_mul, sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Divide by IndexedSlices.

        Args:
            sparse_delta: slices along the first dimension, and their indices there.
            use_locking: whether updates of the variable wait for each other.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return self._scattered(scatter.scatter_div, sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Replace the slices that IndexedSlices name.

        Args:
            sparse_delta: slices along the first dimension, and their indices there.
            use_locking: whether updates of the variable wait for each other.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return self._scattered(scatter.scatter_update, sparse_delta, use_locking, name)

    def batch_scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Replace slices in each element of a batch: see `tf.batch_scatter_update`.

        Args:
            sparse_delta: slices and their indices, for each element of the leading dimensions.
            use_locking: whether updates of the variable wait for each other.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return self._scattered(batch_scatter_update, sparse_delta, use_locking, name)

    def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
        """Subtract `updates` at the positions that the rows of `indices` name.

        Args:
            indices: `[..., k]`: each row has k coordinates, the first dimensions of the variable.
            updates: a slice, or an element, for each row.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return scatter.scatter_nd_sub(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_add(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
        """Add `updates` at the positions that the rows of `indices` name.

        Args:
            indices: `[..., k]`: each row has k coordinates, the first dimensions of the variable.
            updates: a slice, or an element, for each row.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return scatter.scatter_nd_add(self, indices, updates, use_locking=True, name=name)

    def scatter_nd_update(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
        """Replace what the rows of `indices` name by `updates`.

        Args:
            indices: `[..., k]`: each row has k coordinates, the first dimensions of the variable.
            updates: a slice, or an element, for each row.

        Returns:
            The new value of the variable, of its shape and dtype; a reference when the variable is one.
        """
        return scatter.scatter_nd_update(self, indices, updates, use_locking=True, name=name)

    def _scattered(
        self, function: Callable[..., Tensor], sparse_delta: IndexedSlices, use_locking: bool, name: str | None
    ) -> Tensor:
        if not hasattr(sparse_delta, "indices") or not hasattr(sparse_delta, "values"):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return function(self, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name)
