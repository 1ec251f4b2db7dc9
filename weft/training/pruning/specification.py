"""What pruning is to do: its hyperparameters, and what they say of single weights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from weft.training.hparams import HParams


def get_pruning_hparams() -> HParams:
    """The hyperparameters of pruning, with their defaults.

    The sparsity is `target + (initial - target) * (1 - p) ** exponent`, where `p` goes from 0 to 1 from the step
    `sparsity_function_begin_step` to `sparsity_function_end_step`.

    - `name`: the name scope of what pruning adds;
    - `begin_pruning_step`, `end_pruning_step`: the global steps between which masks change; -1 for no end;
    - `pruning_frequency`: global steps between two changes;
    - `initial_sparsity`, `target_sparsity`, `sparsity_function_exponent`: see above;
    - `weight_sparsity_map`: a list of `NAME:SPARSITY`, targets of weights whose name a regular expression fits;
    - `threshold_decay`: how slowly a threshold moves, from 0 on;
    - `block_height`, `block_width`: the size of blocks that are taken out as wholes; -1 for all rows or columns;
    - `block_dims_map`: a list of `NAME:HEIGHTxWIDTH`, the same for weights of some names;
    - `block_pooling_function`: "AVG" or "MAX", what of a block is compared with the threshold;
    - `use_tpu`, `nbins`: whether pools are made of two; not used.
    """
    return HParams(
        name="model_pruning", begin_pruning_step=0, end_pruning_step=-1, weight_sparsity_map=[""], block_dims_map=[""],
        threshold_decay=0.0, pruning_frequency=10, nbins=256, block_height=1, block_width=1, block_pooling_function="AVG",
        initial_sparsity=0.0, target_sparsity=0.5, sparsity_function_begin_step=0, sparsity_function_end_step=100,
        sparsity_function_exponent=3.0, use_tpu=False,
    )  # fmt: skip


@dataclass(frozen=True)
class Specification:
    """The hyperparameters of pruning, by the names and with the meaning of `get_pruning_hparams`.

    Raises:
        ValueError: one of them is out of its range.
    """

    name: str
    begin_pruning_step: int
    end_pruning_step: int
    weight_sparsity_map: list[str]
    block_dims_map: list[str]
    threshold_decay: float
    pruning_frequency: int
    nbins: int
    block_height: int
    block_width: int
    block_pooling_function: str
    initial_sparsity: float
    target_sparsity: float
    sparsity_function_begin_step: int
    sparsity_function_end_step: int
    sparsity_function_exponent: float
    use_tpu: bool

    def __post_init__(self) -> None:
        for name in ("begin_pruning_step", "sparsity_function_begin_step"):
            if getattr(self, name) < 0:
                raise ValueError(f"Illegal value for {name}: expected 0 or more, got {getattr(self, name)}")
        begin, end = self.begin_pruning_step, self.end_pruning_step
        if begin >= end != -1:
            raise ValueError(
                f"Pruning must begin before it can end. begin_step={begin}, end_step={end}."
                "Set end_pruning_step to -1 if pruning is required till trainingstops"
            )
        begin, end = self.sparsity_function_begin_step, self.sparsity_function_end_step
        if begin >= end:
            raise ValueError(f"Sparsity function requires begin_step < end_step, got {begin} and {end}")
        for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} must be in range [0,1), got {getattr(self, name)}")


class ByName:
    """What a list of `NAME:VALUE` says of weights.

    Args:
        what: the hyperparameter.
        values: by regular expressions.
    """

    def __init__(self, what: str, values: dict[str, Any]) -> None:
        self._what = what
        try:
            self._values = {re.compile(name): value for name, value in values.items()}
        except re.error as error:
            raise ValueError(f"{what} has {error.pattern!r}, which is no regular expression: {error}") from None

    def of(self, weights: str) -> Any:
        """The value for weights; None where none fits.

        Args:
            weights: the name of the weights' operation.

        Raises:
            ValueError: several fit.
        """
        found = [value for pattern, value in self._values.items() if pattern.search(weights)]
        if len(found) > 1:
            raise ValueError(f"Multiple matches in {self._what} for weight {weights}")
        return found[0] if found else None


def sparsities(spec: Specification) -> ByName:
    """The targets of weights by their names.

    Args:
        spec: the hyperparameters.

    Raises:
        ValueError: a target is not below 1.
    """
    found = {}
    for name, text in _pairs("weight_sparsity_map", spec.weight_sparsity_map, "SPARSITY"):
        try:
            found[name] = float(text)
        except ValueError:
            raise ValueError(f"weight_sparsity_map has {text!r} for {name!r}: a sparsity is a number, such as 0.9") from None
        if found[name] >= 1.0:
            raise ValueError(f"Weight sparsity can not exceed 1.0. That of {name!r} is {text}.")
    return ByName("weight_sparsity_map", found)


def block_dims(spec: Specification) -> ByName:
    """The heights and widths of weights' blocks by their names.

    Args:
        spec: the hyperparameters.

    Raises:
        ValueError: there are not two numbers.
    """
    found = {}
    for name, text in _pairs("block_dims_map", spec.block_dims_map, "HEIGHTxWIDTH"):
        sizes = text.split("x")
        if len(sizes) != 2:
            raise ValueError(f"Expected 2 values for block dim for {name}, got {sizes}")
        try:
            found[name] = [int(size) for size in sizes]
        except ValueError:
            raise ValueError(f"block_dims_map has {text!r} for {name!r}: HEIGHTxWIDTH are whole numbers, as 4x4") from None
    return ByName("block_dims_map", found)


def _pairs(what: str, values: list[str], wanted: str) -> list[list[str]]:
    pairs = [value.split(":") for value in values if value]
    wrong = next((value for value in pairs if len(value) != 2), None)
    if wrong is not None:
        raise ValueError(f"{what} has {':'.join(wrong)!r}: each of its texts is NAME:{wanted}")
    return pairs
