"""Staging areas: StagingArea, which hands values from one step to a later one so that a step need not wait for its input."""

from __future__ import annotations

from collections.abc import Mapping

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.ops.data_flow.staged import Staged
from weft.ops.data_flow.staging_nodes import stage, stage_clear, stage_peek, stage_size, unstage


class StagingArea(Staged):
    """A buffer of elements, tuples of tensors or dicts of them, on the device where it is made.

        area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[128, 10]])
        put, (batch,) = area.put([next_batch]), area.get()
        session.run(put)
        while training:
            session.run([train_on(batch), put])

    Args:
        dtypes: the components' dtypes.
        shapes: their shapes; None when they are not known.
        names: their names, for elements that are dicts.
        shared_name: the name by which sessions share it; a name of its own in the graph when None.
        capacity: how many elements it holds at most; 0 for any number.
        memory_limit: how many bytes they take at most; 0 for any number.

    Raises:
        ValueError: there are not as many shapes or names as dtypes, a limit is negative, or shared_name is no str.
        TypeError: a limit is no whole number.
    """

    __repr__ = printed("tf.contrib.staging")

    def put(self, values: TensorLike, name: str | None = None) -> Operation:
        """An operation that adds an element; waits while the area is full.

        Args:
            values: a list of tensors or a single one, or a dict of them for an area with names.
            name: the node's name.

        Raises:
            ValueError: the components do not fit.
        """
        graph = get_default_graph()
        with graph.name_scope(name or f"{self._name}_put") as scope:
            components = self._components(values)
            with graph.colocate_with(self._root):
                return stage(components, **self._attrs(with_dtypes=False), name=scope)

    def _components(self, values: TensorLike) -> list[Tensor]:
        if isinstance(values, Mapping):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if sorted(values) != sorted(self._names):
                raise ValueError(
                    f"Keys in dictionary to put do not match names of staging area. Dictionary: {sorted(values)}Queue: "
                    f"{sorted(self._names)}"
                )
            values = [values[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        elif not isinstance(values, list | tuple):
            values = [values]
        if len(values) != len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(values)}' vs '{len(self._dtypes)}'")
        components = [convert_to_tensor(value, dtype=dtype) for value, dtype in zip(values, self._dtypes, strict=True)]
        for component, shape in zip(components, self._shapes, strict=True):
            component.get_shape().assert_is_compatible_with(shape)
        return components

    def get(self, name: str | None = None) -> Nest:
        """The first element, which is taken out; waits for one. A list of tensors, or a dict for an area with names."""
        with get_default_graph().colocate_with(self._root):
            taken = unstage(**self._attrs(), name=name or f"{self._name}_get")
        return self._element(taken, range(len(self._dtypes)))

    def peek(self, index: TensorLike, name: str | None = None) -> Nest:
        """The element at a position, which stays; waits until there are so many.

        Args:
            index: the position, counted from the element that comes out next.
        """
        with get_default_graph().colocate_with(self._root):
            seen = stage_peek(index, **self._attrs(), name=name or f"{self._name}_peek")
        return self._element(seen, range(len(self._dtypes)))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in it, a scalar int32."""
        with get_default_graph().colocate_with(self._root):
            return stage_size(**self._attrs(), name=name or f"{self._name}_size")

    def clear(self, name: str | None = None) -> Operation:
        """An operation that drops all elements."""
        with get_default_graph().colocate_with(self._root):
            return stage_clear(**self._attrs(), name=name or f"{self._name}_clear")
