"""`for` over a dataset in a translated function: a reduction of the dataset by the variables that the body changes."""

from __future__ import annotations

from collections.abc import Callable

from weft.datasets.dataset import Dataset
from weft.datasets.experimental.transformations import scan, take_while
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.types.dtypes import bool as bool_type
from weft.ops.array.constant import constant
from weft.ops.control_flow.cond import cond
from weft.translation.builtin_functions import register_form
from weft.translation.loops import LoopState, register_loop

# A loop that changes no tensor has a variable all the same, since a reduction has to have a state.
_START = 0


def over_dataset(
    dataset: Dataset, extra_test: Callable[[], Nest] | None, body: Callable[[Nest], None], state: LoopState
) -> None:
    """Run a body for each element, until the test fails where there is one."""

    def step(values: Nest, element: Nest) -> Nest:
        state.enter(values[1:])
        body(element)
        return (values[0], *state.leave())

    initial = (constant(_START), *state.initial)
    last = dataset.reduce(initial, step) if extra_test is None else _until(dataset, extra_test, step, initial, state)
    state.enter(list(last)[1:])


def _until(
    dataset: Dataset, extra_test: Callable[[], Nest], step: Callable[[Nest, Nest], Nest], initial: Nest, state: LoopState
) -> Nest:
    """The last state before the test fails. A state and whether it is one are made for each element, until one is not."""

    def tested(values: Nest, element: Nest) -> Nest:
        state.enter(values[1:])
        goes_on = convert_to_tensor(extra_test(), dtype=bool_type)
        made = cond(goes_on, lambda: list(step(values, element)), lambda: list(values), strict=True)
        return tuple(made), (tuple(made), goes_on)

    states = dataset.apply(scan(initial, tested)).apply(take_while(lambda _, goes_on: goes_on))
    return states.reduce(initial, lambda before, now: now[0])


def _mapped(function: Callable[..., Nest], dataset: Dataset) -> Dataset:
    return dataset.map(function)


register_loop(Dataset, over_dataset)
register_form(enumerate, Dataset, lambda dataset, start=0: dataset.enumerate(start))
register_form(zip, Dataset, lambda *datasets, strict=False: Dataset.zip(datasets))
register_form(map, Dataset, _mapped)
