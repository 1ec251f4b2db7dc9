"""MapStagingArea: a staging area whose elements have keys, by which steps take them; components may come one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.ops.data_flow.map_staging_nodes import ORDERED, UNORDERED
from weft.ops.data_flow.staged import Staged


class MapStagingArea(Staged):
    """A buffer of elements with keys on the device where it is made; an element is a list of tensors, or a dict of them.

        area = data_flow_ops.MapStagingArea([tf.float32], shapes=[[128, 10]])
        put, (key, (batch,)) = area.put(number, [next_batch], [0]), area.get()

    Args:
        dtypes: the components' dtypes.
        shapes: their shapes; None when they are not known.
        names: their names, for elements that are dicts.
        shared_name: the name by which sessions share it; a name of its own in the graph when None.
        ordered: whether the element of the least key comes first where none is asked for.
        capacity: how many whole elements it holds at most; 0 for any number.
        memory_limit: how many bytes they take at most; 0 for any number.

    Raises:
        ValueError: there are not as many shapes or names as dtypes, a limit is negative, or shared_name is no str.
        TypeError: a limit is no whole number.
    """

    __repr__ = printed("tensorflow.python.ops.data_flow_ops")

    def __init__(
        self,
        dtypes: Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._nodes = ORDERED if ordered else UNORDERED

    def put(
        self, key: TensorLike, vals: TensorLike, indices: Sequence[int] | None = None, name: str | None = None
    ) -> Operation:
        """An operation that adds components of an element; waits while the area is full, if they are all of them.

        A key that the area has keeps its element.

        Args:
            key: a scalar int64.
            vals: a list of tensors, or a dict of them for an area with names.
            indices: which components they are, in rising order; a dict needs none.
            name: the node's name.

        Raises:
            ValueError: the components do not fit, or the indices are lacking.
        """
        graph = get_default_graph()
        with graph.name_scope(name or f"{self._name}_put") as scope:
            components, places = self._components(vals, indices)
            with graph.colocate_with(self._root):
                return self._nodes.stage(key, places, components, **self._attrs(), name=scope)

    def get(
        self, key: TensorLike | None = None, indices: Sequence[int | str] | None = None, name: str | None = None
    ) -> tuple[TensorLike, Nest]:
        """A key and its element, or components of it, which are taken out; waits until the element is whole.

        Args:
            key: a scalar int64; None for the first element, whatever its key.
            indices: which components, by numbers or names; all when None.
            name: the node's name.

        Raises:
            ValueError: there are no such components.
        """
        places = self._places(indices)
        attrs = {**self._attrs(), "dtypes": [self._dtypes[place] for place in places]}
        if key is None:
            with get_default_graph().colocate_with(self._root):
                first, parts = self._nodes.unstage_no_key(places, **attrs, name=name or f"{self._name}_get_nokey")
            return self._here([first])[0], self._element(parts, places)
        with get_default_graph().colocate_with(self._root):
            parts = self._nodes.unstage(key, places, **attrs, name=name or f"{self._name}_get")
        return key, self._element(parts, places)

    def peek(self, key: TensorLike, indices: Sequence[int | str] | None = None, name: str | None = None) -> Nest:
        """The element of a key, or components of it, which stays; waits until the element is whole. Arguments as of `get`."""
        places = self._places(indices)
        attrs = {**self._attrs(), "dtypes": [self._dtypes[place] for place in places]}
        with get_default_graph().colocate_with(self._root):
            parts = self._nodes.peek(key, places, **attrs, name=name or f"{self._name}_pop")
        return self._element(parts, places)

    def size(self, name: str | None = None) -> Tensor:
        """The number of whole elements, a scalar int32."""
        return self._nodes.size(**self._attrs(), name=name or f"{self._name}_size")

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """The number of elements that lack components, a scalar int32."""
        return self._nodes.incomplete_size(**self._attrs(), name=name or f"{self._name}_incomplete_size")

    def clear(self, name: str | None = None) -> Operation:
        """An operation that drops all elements."""
        return self._nodes.clear(**self._attrs(), name=name or f"{self._name}_clear")

    def _components(self, vals: TensorLike, indices: Sequence[int] | None) -> tuple[list[Tensor], list[int]]:
        if isinstance(vals, Mapping):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals) <= set(self._names):
                raise ValueError(
                    f"Keys in dictionary to put do not match names of staging area. Dictionary: ({sorted(vals)}), Queue: "
                    f"({sorted(self._names)})"
                )
            places = [place for place, name in enumerate(self._names) if name in vals]
            values = [vals[self._names[place]] for place in places]
        else:
            values, places = self._listed(vals, indices)
        components = [convert_to_tensor(value, dtype=self._dtypes[place]) for value, place in zip(values, places, strict=True)]
        for component, place in zip(components, places, strict=True):
            component.get_shape().assert_is_compatible_with(self._shapes[place])
        return components, places

    def _listed(self, vals: TensorLike, indices: Sequence[int] | None) -> tuple[list[TensorLike], list[int]]:
        if self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        if indices is None:
            raise ValueError("Indices must be supplied when inserting a list of tensors")
        if not isinstance(vals, list | tuple):
            raise TypeError(
                f"MapStagingArea {self._name!r}: vals must be a list of tensors, one for each of indices, got {vals!r}"
            )
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        places = self._places(indices)
        if len(places) != len(vals):
            raise ValueError(f"Number of indices '{len(places)}' doesn't match number of values '{len(vals)}'")
        return list(vals), places

    def _places(self, indices: Sequence[int | str] | None) -> list[int]:
        if indices is None:
            return list(range(len(self._dtypes)))
        if not isinstance(indices, list | tuple):
            raise TypeError(f"Invalid indices type '{type(indices).__name__}': a list of components' numbers or names")
        if not indices:
            raise ValueError("Empty indices")
        if any(isinstance(index, str) for index in indices) and not self._names:
            raise ValueError(f"String indices provided '{list(indices)}', but this Staging Area was not created with names.")
        return [self._place(index) for index in indices]

    def _place(self, index: int | str) -> int:
        if isinstance(index, str):
            names = self._names or []
            if index not in names:
                raise ValueError(f"Named index '{index}' not in Staging Area names '{names}'")
            return names.index(index)
        if not 0 <= index < len(self._dtypes):
            raise IndexError(
                f"list index out of range: component {index} of MapStagingArea {self._name!r}, which has {len(self._dtypes)}"
            )
        return index
