"""VariableStore: the variables that get_variable made in a graph, by name, and the rules of making and sharing them."""

from __future__ import annotations

import enum
import functools
import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from weft.framework.building.aliases import (
    Collections,
    Constraint,
    DeviceLike,
    DTypeLike,
    Getter,
    Initializer,
    Partitioner,
    Regularizer,
    ShapeLike,
    VariableLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes import built_at
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.padding import slice_of
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.variables.initializers import GlorotUniform, Zeros
from weft.ops.variables.options import (
    VariableAggregation,
    VariableSynchronization,
    checked_trainable,
    resource_variables_enabled,
)
from weft.ops.variables.partition_info import PartitionInfo, partitions_of, parts_of
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.save_slice_info import SaveSliceInfo
from weft.ops.variables.variable import Variable
from weft.platform.hints.spelling import did_you_mean


class _ReuseMode(enum.Enum):
    """The treatment of names that exist, besides True (must exist) and False (must not)."""

    AUTO_REUSE = 1


AUTO_REUSE: Final = _ReuseMode.AUTO_REUSE
Reuse: TypeAlias = "bool | _ReuseMode | None"
_SHOWN_FRAMES: Final = 5
_NO_INITIALIZER: Final = (
    "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be provided or an "
    "instance of `tf.keras.initializers.*' and `shape` should be fully defined."
)


class VariableStore:
    """Variables and partitioned variables by full name. One per graph."""

    def __init__(self) -> None:
        self._vars: dict[str, Variable] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}

    @property
    def variables(self) -> Mapping[str, Variable]:
        """Each variable, parts of partitioned ones among them, by its full name."""
        return self._vars

    def get_variable(
        self, name: str, shape: ShapeLike = None, *, custom_getter: Getter | None = None, **options: object
    ) -> VariableLike:
        """The variable of this full name, found or made, by `custom_getter(getter, **arguments)` if given.

        `options` are the arguments of `get`, which is what a getter gets to call.

        Raises:
            ValueError: `reuse` forbids what would have to be done, or what there is differs from what is asked for.
        """
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        arguments = {**_DEFAULTS, **options, "name": name, "shape": shape}
        arguments["dtype"] = getattr(arguments["dtype"], "base_dtype", arguments["dtype"])
        arguments["trainable"] = checked_trainable(arguments["trainable"], arguments["synchronization"], name)
        if custom_getter is None:
            return self.get(**arguments)
        if not _accepts(custom_getter, "constraint"):
            arguments.pop("constraint")
        return custom_getter(getter=self.get, **arguments)

    def get(
        self,
        name: str,
        shape: ShapeLike = None,
        dtype: DTypeLike = dtypes.float32,
        initializer: Initializer | None = None,
        regularizer: Regularizer | None = None,
        reuse: Reuse = None,
        trainable: bool | None = None,
        collections: Collections = None,
        caching_device: DeviceLike | None = None,
        partitioner: Partitioner | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> VariableLike:
        """The getter that custom getters are given to call."""
        options = {
            "regularizer": regularizer, "reuse": reuse, "trainable": trainable, "collections": collections,
            "caching_device": caching_device, "validate_shape": validate_shape, "use_resource": use_resource,
            "constraint": constraint, "synchronization": synchronization, "aggregation": aggregation,
        }  # fmt: skip
        is_scalar = shape is not None and isinstance(shape, Sequence) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(
                    f"Partitioner must be callable, but received: {partitioner}. Of variable {name!r}, "
                    "tf.fixed_size_partitioner(3) makes three parts."
                )
            with get_default_graph().name_scope(None):
                return self._get_partitioned_variable(name, partitioner, shape, dtype, initializer, options)
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self._get_partitioned_variable(name, None, shape, dtype, initializer, options)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                f"No partitioner was provided, but a partitioned version of the variable was found: {name}/part_0. "
                "Perhaps "
                "a variable of the same name was already created with partitioning?"
            )
        return self._get_single_variable(name, shape, dtype, initializer, options)

    # One variable.

    def _get_single_variable(
        self, name: str, shape: ShapeLike, dtype: DTypeLike, initializer: Initializer | None, options: dict[str, Any],
        partition_info: PartitionInfo | None = None,
    ) -> VariableLike:  # fmt: skip
        if shape is not None and initializer is not None and not callable(initializer):
            raise ValueError(
                f"If initializer is a constant, do not specify shape. Variable {name!r} is asked for with the shape {shape} "
                f"and the initializer {initializer!r}: tf.constant_initializer(value) fills a shape, and without a shape the "
                "constant's is taken."
            )
        kind = dtypes.as_dtype(dtype)
        wanted = None if shape is None else TensorShape(shape)
        if name in self._vars:
            return self._shared(name, wanted, kind, options["reuse"])
        if options["reuse"] is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
                f"reuse=tf.AUTO_REUSE in VarScope?{did_you_mean(name, [each for each in self._vars if each[-1:] != '/'])}"
            )
        if initializer is None:
            initializer = default_initializer(name, kind)
            if wanted is None or not wanted.is_fully_defined():
                raise ValueError(
                    f"{_NO_INITIALIZER} Shape of a new variable ({name}) must be fully defined, but instead was "
                    f"{TensorShape(None) if wanted is None else wanted}."
                )
        value, value_type = _initial_value(name, initializer, wanted, kind, partition_info)
        rest = {key: item for key, item in options.items() if key not in ("regularizer", "reuse")}
        if rest["use_resource"] is None:
            rest["use_resource"] = resource_variables_enabled()
        make: Any = Variable  # its metaclass chooses the kind and takes the arguments
        with naming(variable=name, shape=None if wanted is None or wanted.sizes is None else list(wanted.sizes)):
            variable = make(initial_value=value, name=name, dtype=value_type, shape=wanted, **rest)
        self._vars[name] = variable
        if options["regularizer"]:
            _add_regularization_loss(name, variable, options["regularizer"])
        return variable

    def _shared(self, name: str, shape: TensorShape | None, dtype: DType, reuse: Reuse) -> Variable:
        found: Variable = self._vars[name]
        if reuse is False:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
                f"VarScope? Originally defined at:\n\n{_origin(found)}"
            )
        if shape is not None and not shape.is_compatible_with(found.get_shape()):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape {found.get_shape()}. "
                f"{_another_name(name, found)}"
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {found.dtype.name}. "
                f"{_another_name(name, found)}"
            )
        return found

    # A partitioned variable.

    def _get_partitioned_variable(
        self,
        name: str,
        partitioner: Partitioner | None,
        shape: ShapeLike,
        dtype: DTypeLike,
        initializer: Initializer | None,
        options: dict[str, Any],
    ) -> PartitionedVariable:
        if name in self._vars:
            raise ValueError(
                f"A partitioner was provided, but an unpartitioned version of the variable was found: {name}.  Perhaps "
                "a "
                "variable of the same name was already created without partitioning?"
            )
        whole = TensorShape(shape)
        if isinstance(initializer, Tensor):
            whole = whole.merge_with(initializer.get_shape())
        kind, reuse = dtypes.as_dtype(dtype), options["reuse"]
        partitions = None if partitioner is None else partitions_of(partitioner, whole, kind)
        if name in self._partitioned_vars:
            return self._shared_partitioned(name, whole, kind, partitions, reuse)
        if reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you mean "
                "to "
                "set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        assert partitions is not None
        self._check_parts(name, max(partitions))
        sizes = [size for size in whole.as_list() if size is not None]
        parts = []
        for index, (offset, part_shape) in enumerate(parts_of(sizes, partitions)):
            full_name = f"{name}/part_{index}"
            value, init_shape = _part_initializer(full_name, initializer, kind, offset, part_shape)
            if isinstance(value, Tensor):
                kind = value.dtype.base_dtype
            with get_default_graph().name_scope(None):
                info = PartitionInfo(full_shape=sizes, var_offset=offset)
                part = self._get_single_variable(full_name, init_shape, kind, value, options, info)
            part._set_save_slice_info(SaveSliceInfo(name, sizes, offset, part_shape))
            parts.append(part)
        made = PartitionedVariable(name, whole, kind, parts, partitions)
        self._partitioned_vars[name] = made
        return made

    def _shared_partitioned(
        self, name: str, shape: TensorShape, dtype: DType, partitions: Sequence[int] | None, reuse: Reuse
    ) -> PartitionedVariable:
        found = self._partitioned_vars[name]
        if reuse is False:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        asked = (
            ("shape", shape, found.get_shape(), shape.is_compatible_with(found.get_shape())),
            ("dtype", dtype.name, found.dtype.name, dtype.is_compatible_with(found.dtype)),
            ("partitions", partitions, found._get_partitions(), partitions in (None, found._get_partitions())),
        )
        for what, wanted, there, fits in asked:
            if not fits:
                raise ValueError(
                    f"Trying to reuse partitioned variable {name}, but specified {what} {wanted} and found {what} {there}."
                )
        return found

    def _check_parts(self, name: str, count: int) -> None:
        if f"{name}/part_0" not in self._vars:
            return
        prefix = (
            "Partitioner returned a different partitioning than what was already found.  Partitioner returned "
            f"{count} shards, and shard {name}/part_0 was found, but"
        )
        if f"{name}/part_{count - 1}" not in self._vars:
            raise ValueError(f"{prefix} {name}/part_{count - 1} was not.")
        if f"{name}/part_{count}" in self._vars:
            raise ValueError(f"{prefix} so was the extra shard {name}/part_{count}.")


# What custom getters are told when nobody says.
_DEFAULTS: Final = {
    key: parameter.default
    for key, parameter in inspect.signature(VariableStore.get).parameters.items()
    if parameter.default is not parameter.empty
}


def default_initializer(name: str, dtype: DType) -> GlorotUniform | Zeros:
    """The initializer of a variable of this type when nobody says; ValueError when there is none."""
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype.base_dtype is dtypes.string:
        return Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _accepts(function: Callable[..., object], keyword: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return keyword in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _needs_no_arguments(function: Callable[..., object]) -> bool:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return all(p.default is not p.empty or p.kind in kinds for p in parameters)


def _initial_value(
    name: str, initializer: Initializer, shape: TensorShape | None, dtype: DType, partition_info: PartitionInfo | None
) -> tuple[Any, DType | None]:
    """The initial value, or a function that makes it, and the type to convert it to."""
    if not callable(initializer):
        return initializer, None
    if isinstance(initializer, type):
        initializer = initializer()
    if shape is not None and shape.is_fully_defined():
        keywords: dict[str, Any] = {"dtype": dtype}
        if _accepts(initializer, "partition_info"):
            keywords["partition_info"] = partition_info
        return functools.partial(initializer, shape.as_list(), **keywords), dtype.base_dtype
    if _needs_no_arguments(initializer):
        return initializer, None
    asked = "without a shape" if shape is None else f"with the shape {shape}"
    raise ValueError(f"{_NO_INITIALIZER} Variable {name!r} is asked for {asked}, which {initializer!r} needs: shape=[...].")


def _part_initializer(
    full_name: str, initializer: Initializer | None, dtype: DType, offset: list[int], shape: list[int]
) -> tuple[Any, list[int] | None]:
    """The initializer of one part, and its shape when that does not follow from the initializer."""
    if initializer is None or callable(initializer):
        return initializer, shape
    with init_scope(), get_default_graph().name_scope(f"{full_name}/PartitionedInitializer"):
        value = initializer if isinstance(initializer, Tensor) else convert_to_tensor(initializer, dtype)
        return slice_of(value, offset, shape), None


def _origin(variable: Variable) -> str:
    return "".join(traceback.format_list(variable.op.traceback[::-1][:_SHOWN_FRAMES]))


def _another_name(name: str, found: Variable) -> str:
    where = built_at.place(found.op.built_from)
    return f"It was made{f' in {where}' if where else ''}; a variable of its own needs a name, or a scope, of its own."


def _add_regularization_loss(name: str, variable: Variable, regularizer: Regularizer) -> None:
    with init_scope():
        graph = get_default_graph()
        with graph.colocate_with(variable.op), graph.name_scope(f"{name}/Regularizer/"):
            loss = penalty_of(name, variable, regularizer)
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def penalty_of(name: str, variable: VariableLike, regularizer: Regularizer) -> Tensor | None:
    """What a regularizer makes of the variable of this name; TypeError for one that is no function."""
    if not callable(regularizer):
        raise TypeError(
            f"{type(regularizer).__name__!r} object is not callable: the regularizer of {name!r} must be a function of "
            f"the variable, such as tf.contrib.layers.l2_regularizer({regularizer!r})"
        )
    return regularizer(variable)
