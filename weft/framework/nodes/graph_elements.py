"""The elements of a graph: its operations and tensors by name, and which of them a run may feed and fetch."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Set, ValuesView
from typing import Any

from weft.framework.nodes.operation import Operation, Tensor
from weft.platform.hints.spelling import nearest_in_scopes, one_of


class Elements:
    """The operations of a graph in the order in which they were made."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: dict[str, Operation] = {}
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self.functions: dict[str, Any] = {}
        # See `weft.framework.serial.export_cache`.
        self.last_written: object = None

    @property
    def label(self) -> str:
        """The graph's name in messages."""
        return "a graph"

    def get_operations(self) -> list[Operation]:
        """All operations in the order in which they were made."""
        return list(self.operations.values())

    def find_operation(self, name: str) -> Operation | None:
        """The node of that name, which may be one of a function's, or None."""
        found = self.operations.get(name)
        bodies = (function.operations.get(name) for function in self.functions.values())
        return found or next((op for op in bodies if op is not None), None)

    # Programs' own choices while building hand it on with a tensor, to ask for the tensor's value.
    @property
    def _c_graph(self) -> Elements:
        return self

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name; KeyError when there is none.

        Raises:
            TypeError: `name` is no text.
        """
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)  # type: ignore[no-any-return]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of that name (`op:index`); KeyError or ValueError when there is none.

        Raises:
            TypeError: `name` is no text.
        """
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)  # type: ignore[no-any-return]

    def as_graph_element(self, obj: object, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Tensor or Operation that `obj` is, names or stands for.

        Args:
            obj: a tensor, operation, variable, or the name of a tensor or operation.
            allow_tensor, allow_operation: whether it may be one.

        Raises:
            TypeError: `obj` stands for neither. ValueError: it is of another kind or another graph. KeyError: nothing here
            has that name.
        """
        return _find_element(self, obj, allow_tensor, allow_operation)

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Mark a tensor as not feedable.

        Args:
            tensor: a tensor of this graph.
        """
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether a run may feed this tensor: what a branch or loop makes is not known outside of it.

        Args:
            tensor: a tensor.
        """
        return tensor not in self._unfeedable and tensor.graph is self

    def prevent_fetching(self, op: Operation) -> None:
        """Mark an operation as not fetchable.

        Args:
            op: an operation of this graph.
        """
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: object) -> bool:
        """Whether a run may fetch this tensor or operation.

        Args:
            tensor_or_op: a tensor or operation.
        """
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable and getattr(op, "graph", self) is self

    def add_function(self, name: str, function: object) -> None:
        """Put a function (a body graph) into the library, once per name.

        Args:
            function: its body; another of the same name stays.
        """
        self.functions.setdefault(name, function)

    def get_function(self, name: str) -> Any:
        """The function of that name; KeyError when there is none."""
        return self.functions[name]

    def _control_operation(self, item: Any) -> Operation:
        if hasattr(item, "indices") and hasattr(item, "values") and isinstance(item.values, Tensor):
            return item.op  # type: ignore[no-any-return]
        if getattr(item, "_is_resource_variable", False):
            # Waiting for a variable, or for an update of it, is no reason to read it.
            return item.op  # type: ignore[no-any-return]
        stand_in = item._as_graph_element() if hasattr(item, "_as_graph_element") else item
        if isinstance(stand_in, Tensor | Operation):
            # Waiting for a tensor is waiting for its operation, whatever else a branch that it is of has to do for its value.
            stand_in = self.bring(stand_in.op if isinstance(stand_in, Tensor) else stand_in)
        element = self.as_graph_element(stand_in)
        op: Operation = element.op if isinstance(element, Tensor) else element
        if op.graph is not self:
            raise ValueError(f"Operation {op.name!r} is inside of a branch or loop body, and nodes outside cannot wait for it.")
        return op

    def bring(self, element: Tensor | Operation) -> Tensor | Operation:
        """The tensor of this graph that stands for what a finished branch in it made; the graph knows.

        Args:
            element: a tensor or operation, of this graph or of a branch in it.
        """
        raise NotImplementedError


def _find_element(elements: Elements, obj: object, allow_tensor: bool, allow_operation: bool) -> Any:
    """The Tensor or Operation of a graph that `obj` is, names, or stands for; see Elements.as_graph_element."""
    if allow_tensor and allow_operation:
        wanted = "Tensor or Operation"
    elif allow_tensor or allow_operation:
        wanted = "Tensor" if allow_tensor else "Operation"
    else:
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    convert = getattr(obj, "_as_graph_element", None)
    if convert is not None:
        obj = convert()
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        return _find_by_name(elements, obj, allow_tensor, allow_operation, wanted)
    if (allow_tensor and isinstance(obj, Tensor)) or (allow_operation and isinstance(obj, Operation)):
        if obj.graph is not elements and obj.graph.outermost is not elements:
            kind = "Tensor" if isinstance(obj, Tensor) else "Operation"
            told = obj if isinstance(obj, Tensor) else repr(obj.name)
            raise ValueError(
                f"{kind} {told} is not an element of this graph. It is of {obj.graph.label}, this is {elements.label}: build "
                "the model and make the session inside of one `with graph.as_default():`, or pass Session(graph=...)."
            )
        return obj
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.{_outputs_of(obj) or _call_it(obj)}")


def _outputs_of(obj: object) -> str:
    """The tensors that an operation has, where one is wanted."""
    if not isinstance(obj, Operation):
        return ""
    if not obj.outputs:
        return f" The operation {obj.name!r} has no value."
    return f" The operation {obj.name!r} gives {', '.join(repr(each.name) for each in obj.outputs)}: operation.outputs[0]."


def _call_it(obj: object) -> str:
    """What was meant by an object that is no part of a graph."""
    if isinstance(obj, int | float):
        return f" {obj!r} is a number: was the name of a tensor or an operation used again for its value?"
    if isinstance(obj, Iterator | KeysView | ValuesView | Set):
        return f" list(...) of this {type(obj).__name__} can be fetched, if its items can."
    if isinstance(obj, type) or not callable(obj):
        return ""
    if not hasattr(obj, "__name__"):
        return " It can be called: fetch the tensor that its call returned."
    return f" Did you mean to call it, {obj.__name__}()?"


def _find_by_name(elements: Elements, name: str, allow_tensor: bool, allow_operation: bool, wanted: str) -> Operation | Tensor:
    if ":" in name:
        if not allow_tensor:
            raise ValueError(
                f"Name {name!r} appears to refer to a Tensor, not a {wanted}. Did you mean {name.partition(':')[0]!r}?"
            )
        op_name, _, index = name.partition(":")
        if not index.isdigit():
            raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be "
                             "of the form \"<op_name>:<output_index>\".")  # fmt: skip
        op = elements.find_operation(op_name)
        if op is None:
            raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does "
                           f"not exist in the graph.{_meant(elements, op_name, f':{index}')}")  # fmt: skip
        if int(index) >= len(op.outputs):
            raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists "
                           f"but only has {len(op.outputs)} outputs.{_no_tensor(op)}")  # fmt: skip
        return op.outputs[int(index)]
    op = elements.find_operation(name)
    if not allow_operation:
        if op is not None:
            raise ValueError(f"The name {name!r} refers to an Operation, not a {wanted}. Tensor names must be of the form "
                             f"\"<op_name>:<output_index>\". Did you mean '{name}:0'?")  # fmt: skip
        raise ValueError(f"The name {name!r} looks like an (invalid) Operation name, not a {wanted}. Tensor names must be "
                         f"of the form \"<op_name>:<output_index>\".{_meant(elements, name, ':0')}")  # fmt: skip
    if op is None:
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.{_meant(elements, name)}")
    return op


def _no_tensor(op: Operation) -> str:
    return "" if op.outputs else f" It is run as {op.name!r}, and has no value to fetch or feed."


def _meant(elements: Elements, op_name: str, ending: str = "") -> str:
    """The operations, or tensors, whose names are nearly the one that was asked for, or are it in another scope."""
    if not op_name:
        return " A SignatureDef gives this name for a key that it has not: its `inputs` and `outputs` show those that it has."
    return one_of([f"{found}{ending}" for found in nearest_in_scopes(op_name, elements.operations)])
