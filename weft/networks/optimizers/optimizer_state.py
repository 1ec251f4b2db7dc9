"""What an optimizer of tf.keras keeps: the numbers that it is set by, the count of steps, and variables beside others."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from weft.framework.building.aliases import Array, DTypeLike, Initializer, Nest, ShapeLike, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Hyperparameter, Options
from weft.networks.objects import initializers
from weft.networks.optimizers.clipping import CLIPS, GradientClips
from weft.networks.optimizers.hyperparameters import Hyperparameters, scalar_variable
from weft.networks.optimizers.slots import Slots
from weft.platform.hints.spelling import did_you_mean


class OptimizerState:
    """The numbers of an optimizer, the count of its steps and its slots; also under the names by which programs ask their base.

    Args:
        name: the name of the operations.
        kwargs: `clipnorm`, `clipvalue`, `decay` and `lr`.

    Raises:
        TypeError: unknown arguments.
        ValueError: a negative number.
    """

    _use_locking = True

    def __init__(self, name: str, **kwargs: Options) -> None:
        object.__setattr__(self, "hypers", Hyperparameters())
        for key, value in kwargs.items():
            if key not in (*CLIPS, "lr", "decay"):
                taken = [each for each in inspect.signature(type(self)).parameters if each != "kwargs"] + [
                    *CLIPS,
                    "lr",
                    "decay",
                ]
                raise TypeError(
                    f"Unexpected keyword argument passed to optimizer: {key}. {type(self).__name__} takes {', '.join(taken)}."
                    f"{did_you_mean(key, taken)}"
                )
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name
        self._clips = GradientClips(kwargs)
        self._iterations: VariableLike = None
        self.slots = Slots()
        decay = kwargs.get("decay", 0.0) or 0.0
        self._decays = decay > 0
        self._initial_decay = decay
        self.hypers.set("decay", decay)

    def __getattr__(self, name: str) -> Nest:
        hypers = self.__dict__.get("hypers", ())
        known = "learning_rate" if name == "lr" else name
        if known in hypers:
            return self.hypers.get(known)
        if name in CLIPS and name in self._clips.limits:
            return self._clips.limits[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Hyperparameter) -> None:
        known = "learning_rate" if name == "lr" else name
        if known in self.__dict__.get("hypers", ()):
            self.hypers.set(known, value)
        else:
            object.__setattr__(self, name, value)

    def decayed_rate(self, dtype: DType) -> Tensor:
        """The learning rate at this step.

        Args:
            dtype: the type of the result.
        """
        rate: Tensor = self.hypers.decayed_rate(dtype, self.iterations, self._decays)
        return rate

    @property
    def iterations(self) -> VariableLike:
        """The variable that counts the steps."""
        if self._iterations is None:
            self._iterations = scalar_variable("iter", 0, dtypes.int64)
            self.slots.keep(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: VariableLike) -> None:
        if self._iterations is not None:
            raise RuntimeError("Cannot set `iterations` to a new Variable after the Optimizer weights have been created")
        self._iterations = variable
        self.slots.keep(variable)

    def get_slot(self, var: VariableLike, slot_name: str) -> VariableLike:
        """The slot of a variable; KeyError when there is none.

        Args:
            var: the variable.
            slot_name: the slot's name.
        """
        return self.slots.get(var, slot_name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots that were made."""
        return self.slots.names()

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the count of steps and the hyperparameters; slots belong to their variables."""
        count = [] if self._iterations is None else [("iter", self._iterations)]
        return [*count, *self.hypers.variables.items()]

    @property
    def weights(self) -> list[VariableLike]:
        """The count of steps and the slots, in the order in which they were made."""
        return self.slots.variables

    def variables(self) -> list[VariableLike]:
        """The count of steps and the slots."""
        return self.slots.variables

    def get_weights(self) -> list[Array]:
        """The values of these."""
        return self.slots.values()

    def set_weights(self, weights: Sequence[Array]) -> None:
        """Give these values; ValueError when number or shapes differ.

        Args:
            weights: arrays, in the order of `weights`.
        """
        self.slots.set_values(weights, self._name)

    def add_slot(self, var: VariableLike, slot_name: str, initializer: str | Initializer = "zeros") -> VariableLike:
        """Make a variable of the optimizer beside another, of its shape and type; it is the same one when it is there.

        Args:
            var: the variable.
            slot_name: the slot's name, for `get_slot`.
            initializer: what makes its first value, or the name of it.
        """
        return self.slots.add(var, slot_name, initializers.get(initializer))

    def add_weight(
        self, name: str, shape: ShapeLike, dtype: DTypeLike | None = None, initializer: str | Initializer = "zeros",
        trainable: bool = False, synchronization: object = None, aggregation: object = None,
    ) -> VariableLike:  # fmt: skip
        """Make a variable of the optimizer.

        Args:
            name: its name.
            shape: its shape.
            dtype: its type; float32 when None.
            initializer: what makes its first value, or the name of it.
            trainable, synchronization, aggregation: accepted; the optimizer alone has it.
        """
        kind = dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)
        sizes = [size or 0 for size in TensorShape(shape).as_list()]
        return self.slots.add_own(name, sizes, kind, initializers.get(initializer))

    # What programs ask of their base.

    def _set_hyper(self, name: str, value: Hyperparameter) -> None:
        self.hypers.set(name, value)

    def _get_hyper(self, name: str, dtype: DTypeLike | None = None) -> Nest:
        return self.hypers.get(name) if dtype is None else self.hypers.value(name, dtypes.as_dtype(dtype))

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Nest:
        return self.hypers.plain(hyperparameter_name)[hyperparameter_name]

    def _create_hypers(self) -> None:
        self.hypers.make_variables()

    def _decayed_lr(self, var_dtype: DTypeLike) -> Tensor:
        return self.decayed_rate(dtypes.as_dtype(var_dtype).base_dtype)
