"""Variable: the base of both kinds of variable, and the choice between them.

`tf.Variable(...)` makes a RefVariable (`ref_variable`) or a ResourceVariable (`resource_variable`). Both are
Variables: objects of the graph that hold an op for the state, one for its initializer, and read and update nodes
made on demand.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, ClassVar, Final

from tensorboard.compat.proto import variable_pb2

from weft.framework.graph import Graph, get_default_graph
from weft.framework.operation import OVERLOADABLE_OPERATORS, Operation, Tensor
from weft.framework.tensor_conversion import register_tensor_conversion_function
from weft.framework.tensor_shape import TensorShape
from weft.ops import assign as assign_functions
from weft.ops import save_slice_info as slice_info
from weft.ops.slice_assign import sliced


class VariableSynchronization(enum.Enum):
    """When the copies of a distributed variable are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the copies of a distributed variable are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


_ARGUMENTS: Final = (
    "initial_value", "trainable", "collections", "validate_shape", "caching_device", "name", "variable_def", "dtype",
    "expected_shape", "import_scope", "constraint", "use_resource", "synchronization", "aggregation", "shape",
)  # fmt: skip
_CREATORS: Final[ContextVar[tuple[tuple[Graph, Callable[..., Any]], ...]]] = ContextVar("weft_variable_creators", default=())
_default_use_resource: list[Callable[[], bool | None]] = []


def set_default_use_resource(function: Callable[[], bool | None]) -> None:
    """Tell what `use_resource=None` means where a variable is made; variable scopes call this once."""
    _default_use_resource[:] = [function]


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Make the default graph's variables by `variable_creator(next_creator, **kwargs)`; inner scopes come first."""
    token = _CREATORS.set((*_CREATORS.get(), (get_default_graph(), variable_creator)))
    try:
        yield
    finally:
        _CREATORS.reset(token)


class _VariableMeta(type):
    """Makes `Variable(...)` an object of the kind wanted."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        if len(args) > len(_ARGUMENTS):
            raise TypeError(f"Variable takes at most {len(_ARGUMENTS)} arguments, got {len(args)}")
        given = dict(zip(_ARGUMENTS, args, strict=False))
        for key in kwargs:
            if key in given:
                raise TypeError(f"Variable got multiple values for argument {key!r}")
            if key not in _ARGUMENTS:
                raise TypeError(f"Variable got an unexpected keyword argument {key!r}")
        given.update(kwargs)
        creator: Callable[..., Any] = _create
        graph = get_default_graph()
        for scope_graph, function in _CREATORS.get():
            if scope_graph is graph:
                creator = _chained(function, creator)
        return creator(**given)


def _chained(function: Callable[..., Any], next_creator: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **kwargs: function(next_creator, **kwargs)


def _create(use_resource: bool | None = None, **kwargs: Any) -> Any:
    if use_resource is None and _default_use_resource:
        use_resource = _default_use_resource[0]()
    return Variable._kinds[bool(use_resource)](**kwargs)


class Variable(metaclass=_VariableMeta):
    """A value that lives on a task between runs, shared by name.

    Calling this class makes a RefVariable, or a ResourceVariable where `use_resource` says so.

    Args:
        initial_value: a tensor, a value that becomes one, or a function without arguments that returns one.
        trainable: whether optimizers change it by default; true when None.
        collections: the graph collections to add it to; GLOBAL_VARIABLES when None.
        validate_shape: whether the initial value's shape must be known, and all values have it.
        caching_device: where to read it once per run for all users; a device or a device function.
        name: "Variable" when None; made unique.
        variable_def: a VariableDef to restore the object from, with nothing else but `import_scope`.
        dtype: the type to convert the initial value to.
        expected_shape: ignored.
        import_scope: the name scope that the graph of `variable_def` was imported into.
        constraint: a function of the value that optimizers apply after an update.
        use_resource: whether to make a resource variable; the variable scope's choice when None.
        synchronization: recorded.
        aggregation: recorded.
        shape: the variable's shape; the initial value's when None.
    """

    _kinds: ClassVar[dict[bool, Any]] = {}
    SaveSliceInfo = slice_info.SaveSliceInfo

    # NumPy leaves `array * variable` to Variable.__rmul__.
    __array_priority__ = 100

    _variable: Tensor
    _initializer_op: Operation
    _initial_value: Tensor | None
    _constraint: Callable[[Any], Any] | None
    _trainable: bool
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _save_slice_info: slice_info.SaveSliceInfo | None
    _caching_device: Any
    _validate_shape: bool

    def __init_subclass__(cls, use_resource: bool | None = None) -> None:
        super().__init_subclass__()
        if use_resource is not None:
            Variable._kinds[use_resource] = cls

    # What it is.

    @property
    def name(self) -> str:
        """`op:0`."""
        return self._variable.name

    @property
    def _shared_name(self) -> str:
        return self._variable.op.name

    @property
    def op(self) -> Operation:
        """The operation that holds the state."""
        return self._variable.op

    @property
    def graph(self) -> Graph:
        """The graph that this variable belongs to."""
        return self._variable.graph

    @property
    def device(self) -> str:
        """The device asked for."""
        return self._variable.device

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape."""
        return self._variable.get_shape()

    def get_shape(self) -> TensorShape:
        """What is known of the shape."""
        return self.shape

    @property
    def trainable(self) -> bool:
        """Whether optimizers change it by default."""
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        """As given."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """As given."""
        return self._aggregation

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """What optimizers apply to the value after an update."""
        return self._constraint

    @property
    def initializer(self) -> Operation:
        """The operation that gives it its initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor | None:
        """The tensor that the initializer assigns."""
        return self._initial_value

    def _set_save_slice_info(self, save_slice_info: slice_info.SaveSliceInfo | None) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> slice_info.SaveSliceInfo | None:
        return self._save_slice_info

    # Its value.

    def value(self) -> Tensor:
        """The tensor with the value that users of this variable read."""
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """A tensor with the value as it is here, after the control dependencies that are open."""
        raise NotImplementedError

    def eval(self, session: Any = None) -> Any:
        """The value in the session given or the default one."""
        return self.value().eval(session=session)

    def count_up_to(self, limit: int) -> Tensor:
        """The counter before it is raised by one; the run raises OutOfRangeError when it has reached `limit`."""
        return assign_functions.count_up_to(self, limit=limit)

    def __getitem__(self, slice_spec: Any) -> Tensor:
        """A slice of the value, which can also be assigned to."""
        return sliced(self, slice_spec)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'Variable' object is not iterable.")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    # Its serial form.

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef; None when the variable is outside `export_scope`."""
        raise NotImplementedError

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
        """The variable that a VariableDef describes, whose nodes are in the default graph."""
        kind = Variable._kinds[variable_def.is_resource]
        return kind(variable_def=variable_def, import_scope=import_scope)

    def _save_slice_info_to(self, variable_def: Any, export_scope: str | None) -> None:
        if self._save_slice_info:
            variable_def.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope=export_scope))

    def _restore_common(self, variable_def: Any, import_scope: str | None) -> None:
        """Take what a VariableDef says of both kinds of variable."""
        self._trainable = variable_def.trainable
        self._synchronization = VariableSynchronization(variable_def.synchronization)
        self._aggregation = VariableAggregation(variable_def.aggregation)
        self._save_slice_info = None
        if variable_def.HasField("save_slice_info_def"):
            info = variable_def.save_slice_info_def
            self._save_slice_info = slice_info.SaveSliceInfo(save_slice_info_def=info, import_scope=import_scope)
        self._caching_device = None
        self._constraint = None
        self._validate_shape = True


VariableDef = variable_pb2.VariableDef


def checked_trainable(trainable: bool | None, synchronization: VariableSynchronization, name: str | None) -> bool:
    """Whether a variable is trainable; ValueError when it may not be."""
    if not isinstance(synchronization, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")
    if synchronization is VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. "
                "You have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
            )
        return False
    return True if trainable is None else trainable


def with_trainable_collection(collections: Any, trainable: bool, default: str, trainable_key: str) -> Any:
    """The collections that a new variable goes to; ValueError unless they are a list, tuple or set."""
    if collections is None:
        collections = [default]
    if not isinstance(collections, list | tuple | set):
        raise ValueError(
            f"collections argument to Variable constructor must be a list, tuple, or set. Got {collections} of type "
            f"{type(collections)}"
        )
    if trainable and trainable_key not in collections:
        collections = [*collections, trainable_key]
    return collections


def _delegating(operator: str) -> Callable[..., Any]:
    def run(self: Any, *args: Any) -> Any:
        return getattr(Tensor, operator)(self.value(), *args)

    run.__name__ = operator
    run.__doc__ = f"`Tensor.{operator}` of the value."
    return run


for _operator in OVERLOADABLE_OPERATORS - {"__getitem__"}:
    setattr(Variable, _operator, _delegating(_operator))


def _to_tensor(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    return value._to_tensor(dtype, name, as_ref)


register_tensor_conversion_function(Variable, _to_tensor)
