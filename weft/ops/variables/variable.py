"""Variable: the base of both kinds of variable, and the choice between them.

`tf.Variable(...)` makes a RefVariable (`ref_variable`) or a ResourceVariable (`resource_variable`). Both are
Variables: objects of the graph that hold an op for the state, one for its initializer, and read and update nodes
made on demand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, ClassVar, Final, NoReturn, TypeAlias, TypeVar

from tensorboard.compat.proto.variable_pb2 import VariableDef

from weft.framework.building.aliases import Array, Constraint, DeviceLike, DTypeLike, Nest, SessionLike, ShapeLike, TensorLike
from weft.framework.building.op_builder import graph_of
from weft.framework.building.tensor_conversion import register_tensor_conversion_function
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.importing.name_prefix import prepend_name_scope, strip_name_scope
from weft.framework.nodes.arithmetic import OVERLOADABLE_OPERATORS, Arithmetic
from weft.framework.nodes.no_value import NoValueYet, refuse_at_run_time
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.object_identity import Reference
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.variables import assign as assign_functions
from weft.ops.variables import save_slice_info as slice_info
from weft.ops.variables.options import (
    VariableAggregation,
    VariableSynchronization,
    checked_aggregation,
    checked_synchronization,
    checked_trainable,
    resource_variables_enabled,
    with_trainable_collection,
)
from weft.ops.variables.saveable_object import SaveableObject
from weft.ops.variables.slice_assign import sliced
from weft.ops.variables.updates import VariableUpdates

# `creator(**kwargs)` or, for a scope's, `creator(next_creator, **kwargs)` makes a variable.
Creator: TypeAlias = "Callable[..., Variable]"

# What creators are told when the program does not say.
_DEFAULTS: Final[dict[str, object]] = {
    "initial_value": None, "trainable": None, "collections": None, "validate_shape": True, "caching_device": None,
    "name": None, "variable_def": None, "dtype": None, "expected_shape": None, "import_scope": None, "constraint": None,
    "use_resource": None, "synchronization": VariableSynchronization.AUTO, "aggregation": VariableAggregation.NONE,
    "shape": None,
}  # fmt: skip
_CREATORS: Final[ContextVar[tuple[tuple[Graph, Creator], ...]]] = ContextVar("weft_variable_creators", default=())


def set_default_use_resource(function: Callable[[], bool | None]) -> None:
    """Let `function` say what `use_resource=None` means where a variable is made; variable scopes call this once."""
    Variable._default_use_resource = staticmethod(function)


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Make the default graph's variables by `variable_creator(next_creator, **kwargs)`; inner scopes come first.

    Args:
        variable_creator: the function; `next_creator(**kwargs)` makes the variable, or asks the next function.
    """
    token = _CREATORS.set((*_CREATORS.get(), (get_default_graph(), variable_creator)))
    try:
        yield
    finally:
        _CREATORS.reset(token)


_Kind = TypeVar("_Kind")


class _VariableMeta(type):
    """Makes `Variable(...)` an object of the kind wanted."""

    # Whatever the metaclass makes of it, `Variable(...)` is typed as the class's own `__init__` says.
    def __call__(cls: type[_Kind], *args: object, **kwargs: object) -> _Kind:
        made: Any
        if cls is not Variable:
            made = type.__call__(cls, *args, **kwargs)
            return made  # type: ignore[no-any-return]
        if len(args) > len(_DEFAULTS):
            raise TypeError(f"Variable takes at most {len(_DEFAULTS)} arguments, got {len(args)}")
        given = dict(zip(_DEFAULTS, args, strict=False))
        for key in kwargs:
            if key in given:
                raise TypeError(f"Variable got multiple values for argument {key!r}")
            if key not in _DEFAULTS:
                raise TypeError(f"Variable got an unexpected keyword argument {key!r}")
        given.update(kwargs)
        creator: Creator = _create
        graph = get_default_graph()
        for scope_graph, function in _CREATORS.get():
            if scope_graph is graph:
                creator = _chained(function, creator)
        made = creator(**{**_DEFAULTS, **given})
        return made  # type: ignore[no-any-return]


def _chained(function: Creator, next_creator: Creator) -> Creator:
    return lambda **kwargs: function(next_creator, **kwargs)


def _create(use_resource: bool | None = None, **kwargs: Any) -> Variable:
    use_resource = get_default_graph().runs_eagerly or use_resource  # by reference, its reads would be of the past
    if use_resource is None:
        use_resource = Variable._default_use_resource()
    return _KINDS[bool(resource_variables_enabled() if use_resource is None else use_resource)](**kwargs)


# The two classes of variables, by whether they are resources; each enters itself when it is defined.
_KINDS: Final[dict[bool, type[Variable]]] = {}


class Variable(VariableUpdates, Arithmetic, NoValueYet, metaclass=_VariableMeta):
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
        synchronization, aggregation: recorded.
        shape: the variable's shape; the initial value's when None.

    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> sess.run(v.initializer)
    >>> sess.run(v + 1.0)
    array([2., 3.], dtype=float32)

    Raises:
        ValueError: no initial value, one of unknown shape though `validate_shape`, or arguments that exclude each other.
    """

    # Variable scopes, which import this module, put theirs here.
    _default_use_resource: ClassVar[Callable[[], bool | None]] = staticmethod(lambda: None)
    SaveSliceInfo = slice_info.SaveSliceInfo

    # NumPy leaves `array * variable` to Variable.__rmul__.
    __array_priority__ = 100

    _is_resource_variable = False

    # The tensor of the state op, a mutable one or a handle, and the tensor that users of the value read unless they ask for
    # a later one.
    _variable: Tensor
    _snapshot: Tensor
    _initializer_op: Operation
    _initial_value: Tensor | None
    _constraint: Constraint | None
    _trainable: bool
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _save_slice_info: slice_info.SaveSliceInfo | None
    _caching_device: DeviceLike
    _validate_shape: bool

    def __init_subclass__(cls, use_resource: bool | None = None) -> None:
        super().__init_subclass__()
        if use_resource is not None:
            _KINDS[use_resource] = cls

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike] | None = None,
        trainable: bool | None = None,
        collections: Iterable[str] | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike | None = None,
        name: str | None = None,
        variable_def: VariableDef | None = None,
        dtype: DTypeLike | None = None,
        expected_shape: ShapeLike = None,
        import_scope: str | None = None,
        constraint: Constraint | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation | None = VariableAggregation.NONE,
        shape: ShapeLike = None,
    ) -> None:
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._restore(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError(f"initial_value must be specified. For {name!r} a shape will do in tf.get_variable(name, shape).")
        self._trainable = checked_trainable(trainable, synchronization, name)
        keys = with_trainable_collection(
            collections, self._trainable, GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES
        )
        if constraint is not None and not callable(constraint):
            raise ValueError(
                f"The `constraint` argument must be a callable, not {constraint!r}: a function of the value, such as "
                "tf.nn.relu."
            )
        self._constraint = constraint
        self._synchronization = checked_synchronization(synchronization, name)
        self._aggregation = checked_aggregation(aggregation, name)
        self._caching_device = caching_device
        self._save_slice_info = None
        self._validate_shape = validate_shape
        with init_scope():
            graph = get_default_graph() if callable(initial_value) else graph_of([initial_value])
            with graph.as_default(), graph.name_scope("Variable" if name is None else name) as scope:
                self._build(graph, scope, initial_value, dtype, shape)
            graph.add_to_collections(keys, self)

    def _build(self, graph: Graph, scope: str, initial_value: Nest, dtype: DTypeLike | None, shape: ShapeLike) -> None:
        """Add the nodes, in the name scope `scope`."""
        raise NotImplementedError

    # What it is.

    @property
    def name(self) -> str:
        """`op:0`."""
        return self._variable.name

    @property
    def shared_name(self) -> str:
        """The name by which tasks share the state."""
        return self._variable.op.name

    # As optimizers outside of TensorFlow ask for it, to name slots.
    _shared_name = shared_name

    @property
    def op(self) -> Operation:
        """The operation that holds the state."""
        return self._variable.op

    @property
    def graph(self) -> Graph:
        """The graph that this variable belongs to."""
        return self._variable.graph

    @property
    def dtype(self) -> DType:
        """The type; its ref form where the state op gives a mutable tensor."""
        raise NotImplementedError

    @property
    def device(self) -> str:
        """The device asked for."""
        return self._variable.device

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._variable.get_shape()

    def get_shape(self) -> TensorShape:
        """The shape, as far as it is known."""
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
    def constraint(self) -> Constraint | None:
        """The projection that optimizers apply to the value after an update."""
        return self._constraint

    @property
    def initializer(self) -> Operation:
        """The operation that gives it its initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor | None:
        """The tensor that the initializer assigns."""
        return self._initial_value

    def replace_initializer(self, initializer: Operation, initial_value: Tensor) -> None:
        """Take another operation as the initializer, with the tensor that it assigns.

        Args:
            initializer: the operation that assigns.
            initial_value: what it assigns.
        """
        self._initializer_op = initializer
        self._initial_value = initial_value

    @property
    def reference(self) -> Tensor:
        """The tensor that stands for the variable's memory: a mutable one, or a handle."""
        return self._variable

    def own_saveable(self, name: str) -> SaveableObject | None:
        """The object that saves this variable under a name, where it is not saved as others are; None where it is."""
        return None

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

    def eval(self, session: SessionLike | None = None) -> Array:
        """The value in the session given or the default one.

        Args:
            session: the session; None for the default one.
        """
        return self.value().eval(session=session)

    # Its changes.

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Tensor:
        """Replace the value; the result is the variable after that, or the operation unless `read_value`.

        Args:
            value: the new value, of the variable's shape.
            use_locking: whether updates of the variable wait for each other.
            read_value: whether the result is the variable after the assignment; otherwise it is the operation.
        """
        raise NotImplementedError

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Tensor:
        """Add to the value; the result is the variable after that, or the operation unless `read_value`.

        Args:
            delta: what is added, of the variable's shape.
            use_locking: whether updates of the variable wait for each other.
            read_value: whether the result is the variable after the assignment; otherwise it is the operation.
        """
        raise NotImplementedError

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Tensor:
        """Subtract from the value; the result is the variable after that, or the operation unless `read_value`.

        Args:
            delta: what is subtracted, of the variable's shape.
            use_locking: whether updates of the variable wait for each other.
            read_value: whether the result is the variable after the assignment; otherwise it is the operation.
        """
        raise NotImplementedError

    def count_up_to(self, limit: int) -> Tensor:
        """The counter before it is raised by one; the run raises OutOfRangeError when it has reached `limit`.

        Args:
            limit: the number at which counting ends.
        """
        counted: Tensor = assign_functions.count_up_to(self, limit=limit)
        return counted

    def __getitem__(self, slice_spec: object) -> Tensor:
        """A slice of the value, which can also be assigned to."""
        return sliced(self.value(), self._variable, slice_spec)

    # A variable has `__getitem__`, by which Python would iterate over it.
    __iter__: None

    def experimental_ref(self) -> Reference:
        """A key for sets and dictionaries that stands for this variable."""
        return Reference(self)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def load(self, value: TensorLike, session: SessionLike | None = None) -> None:
        """Give the variable a value in the session given or the default one, without adding nodes.

        Args:
            value: the value, of the variable's shape: an array or what makes one.
            session: the session; None for the default one, ValueError where there is none.
        """
        self._initializer_op.run({self._initializer_op.inputs[1]: value}, session)

    def to_tensor(self, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
        """The value for an op; the mutable tensor for one that asks for it. `convert_to_tensor` calls it.

        Args:
            dtype: the type that is wanted; None for the variable's own.
            as_ref: whether the op changes the variable in place.
        """
        check_conversion(self.dtype, dtype)
        return self._ref() if as_ref else self.value()

    def _ref(self) -> Tensor:
        """The tensor for an op that asks for a mutable one."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}>"

    # Its serial form.

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The VariableDef; None when the variable is outside `export_scope`.

        Args:
            export_scope: the name scope that is exported; it is left out of the names.
        """
        if export_scope is not None and not self._variable.name.startswith(export_scope):
            return None
        variable_def = VariableDef(
            variable_name=strip_name_scope(self._variable.name, export_scope),
            trainable=self._trainable,
            synchronization=self._synchronization.value,
            aggregation=self._aggregation.value,
            initializer_name=strip_name_scope(self._initializer_op.name, export_scope),
            snapshot_name=strip_name_scope(self._snapshot.name, export_scope),
            is_resource=self._is_resource_variable,
        )
        if self._initial_value is not None:
            variable_def.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        if self._save_slice_info:
            variable_def.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope=export_scope))
        return variable_def

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable that a VariableDef describes, whose nodes are in the default graph.

        Args:
            variable_def: the message that `to_proto` gave.
            import_scope: the name scope under which its nodes were imported.
        """
        kind = _KINDS[variable_def.is_resource]
        return kind(variable_def=variable_def, import_scope=import_scope)

    def _restore(self, variable_def: VariableDef, import_scope: str | None) -> None:
        """Find the nodes that a VariableDef names, and take what else it says."""
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._variable = element(variable_def.variable_name)
        self._initializer_op = element(variable_def.initializer_name)
        self._initial_value = element(variable_def.initial_value_name) if variable_def.initial_value_name else None
        self._snapshot = element(variable_def.snapshot_name)
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


def check_conversion(own: DType, asked: DType | None) -> None:
    """Raise ValueError unless a variable of type `own` can stand where a tensor of the type asked for is wanted."""
    if asked is not None and not asked.is_compatible_with(own):
        raise ValueError(f"Incompatible type conversion requested to type '{asked.name}' for variable of type '{own.name}'")


def _delegating(operator: str) -> Callable[..., Any]:
    def run(self: Variable, *args: TensorLike) -> Any:
        return getattr(Tensor, operator)(self.value(), *args)

    run.__name__ = operator
    run.__doc__ = f"`Tensor.{operator}` of the value."
    return run


def _no_iterator(self: Variable) -> NoReturn:
    raise TypeError("'Variable' object is not iterable.")


refuse_at_run_time(Variable, {"__iter__": _no_iterator})
for _operator in OVERLOADABLE_OPERATORS - {"__getitem__"}:
    setattr(Variable, _operator, _delegating(_operator))


def _to_tensor(value: Variable, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    return value.to_tensor(dtype, name, as_ref)


register_tensor_conversion_function(Variable, _to_tensor)
