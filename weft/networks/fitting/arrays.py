"""Arrays as a model takes them: named, of the right number, rank and shape, with weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.framework.types.dims import brackets

_Shape = tuple[int | None, ...] | None


def as_arrays(data: Nest, names: Sequence[str], shapes: Sequence[_Shape] | None, prefix: str) -> list[Array]:
    """The arrays of data, in the order of the names.

    Args:
        data: an array, a list of arrays, or a dict by name.
        names: the names of the inputs or outputs.
        shapes: what shape each must have, of which None is any.
        prefix: "input" or "target", for errors.

    Raises:
        ValueError: number, names or shapes are wrong.
    """
    if not names:
        if data is not None and len(data):
            raise ValueError(f"Error when checking model {prefix}: expected no data, but got: {data}")
        return []
    found = _listed(data, names, prefix)
    if len(found) != len(names):
        raise ValueError(_wrong_number(found, names, prefix))
    wanted = shapes or [None] * len(names)
    arrays = [_column(each, shape) for each, shape in zip(found, wanted, strict=True)]
    for name, array, shape in zip(names, arrays, wanted, strict=True):
        _check_shape(name, array, shape, prefix)
    return arrays


def _listed(data: Nest, names: Sequence[str], prefix: str) -> list[Nest]:
    if isinstance(data, Mapping):
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(f'No data provided for "{missing[0]}". Need data for each key in: {list(names)}')
        return [np.asarray(data[name]) for name in names]
    if data is None:
        remedy = " Give y; a generator or dataset has pairs (inputs, targets)." if prefix == "target" else ""
        raise ValueError(f"Error when checking model {prefix}: no data for {list(names)}.{remedy}")
    if isinstance(data, list | tuple):
        is_numbers = bool(data) and not isinstance(data[0], np.ndarray | list | tuple)
        if len(names) == 1 and (is_numbers or (isinstance(data[0], list | tuple) and len(data) != 1)):
            return [np.asarray(data)]
        return [np.asarray(each) for each in data]
    return [np.asarray(data)]


def _wrong_number(found: Sequence[Array], names: Sequence[str], prefix: str) -> str:
    if found and hasattr(found[0], "shape") and len(found) > 1:
        return (
            f"Error when checking model {prefix}: the list of Numpy arrays that you are passing to your model is not the size "
            f"the model expected. Expected to see {len(names)} array(s), but instead got the following list of {len(found)} "
            f"arrays: {str(list(found))[:200]}..."
        )
    return (
        f"Error when checking model {prefix}: the list of Numpy arrays that you are passing to your model is not the size the "
        f"model expected. Expected to see {len(names)} array(s), for inputs {list(names)} but instead got the "
        f"following list of "
        f"{len(found)} arrays: {str(list(found))[:200]}...{_SEVERAL if len(names) > 1 else ''}"
    )


_SEVERAL = " Several are given as a list of arrays, such as fit([a, b], y), or as a dict of them by these names."


def _column(array: Array, shape: _Shape) -> Array:
    return array[:, None] if array.ndim == 1 and (shape is None or len(shape) != 1) else array


def _check_shape(name: str, array: Array, shape: _Shape, prefix: str) -> None:
    if shape is None:
        return
    sample = _one_sample(array, shape)
    if array.ndim != len(shape):
        raise ValueError(
            f"Error when checking {prefix}: expected {name} to have {len(shape)} dimensions, but got array with shape "
            f"{array.shape}{_flatten_hint(name, shape) if prefix == 'target' and len(shape) > 2 == array.ndim else sample}"
        )
    for found, wanted in zip(array.shape[1:], shape[1:], strict=True):
        if wanted is not None and found != wanted:
            raise ValueError(
                f"Error when checking {prefix}: expected {name} to have shape {tuple(shape[1:])} but got array with shape "
                f"{array.shape[1:]}{_CLASS_NUMBERS if prefix == 'target' and wanted == 1 and len(shape) == 2 else sample}"
            )


def _one_sample(array: Array, shape: Sequence[int | None]) -> str:
    """What is meant where an array looks like one sample, of which each number was taken for one."""
    given = array.shape[:1] if array.ndim == 2 and array.shape[1] == 1 else array.shape
    return f". Is it one sample? {_BATCH_OF_ONE}" if given == tuple(shape[1:]) else ""


_BATCH_OF_ONE = (
    "x[np.newaxis] is a batch of one, and dataset.batch(n) makes batches of a dataset's elements. An input_shape is that of "
    "one sample, without the batch."
)
_CLASS_NUMBERS = ". Of one-hot rows the loss is categorical_crossentropy; a sparse one takes class numbers: np.argmax(y, 1)"


def _flatten_hint(name: str, shape: Sequence[int | None]) -> str:
    return f". The model's output {name!r} is {brackets(tuple(shape))}: a Flatten layer makes each example one row"


def check_lengths(inputs: Sequence[Array], targets: Sequence[Array], weights: Sequence[Array]) -> None:
    """ValueError when the arrays have different numbers of examples."""
    of_inputs, of_targets = {len(each) for each in inputs}, {len(each) for each in targets}
    if len(of_inputs) > 1:
        raise ValueError(
            f"All input arrays (x) should have the same number of samples. Got array shapes: {[x.shape for x in inputs]}"
        )
    if len(of_targets) > 1:
        raise ValueError(
            f"All target arrays (y) should have the same number of samples. Got array shapes: {[y.shape for y in targets]}"
        )
    if of_inputs and of_targets and of_inputs != of_targets:
        raise ValueError(
            "Input arrays should have the same number of samples as target arrays. "
            f"Found {of_inputs.pop()} input samples and {of_targets.pop()} target samples."
        )
    of_weights = {len(each) for each in weights}
    if of_targets and of_weights and of_targets != of_weights:
        raise ValueError(
            "Sample_weight arrays should have the same number of samples as target arrays. "
            f"Got {of_weights.pop()} input samples and {of_targets.pop()} target samples."
        )


def example_weights(
    sample_weight: Nest, class_weight: Nest, targets: Sequence[Array], names: Sequence[str], ranks: Sequence[int]
) -> list[Array]:
    """The weights of the examples for each output: those given, times those of the targets' classes."""
    given = _per_output(sample_weight, names, "sample_weight")
    by_class = _per_output(class_weight, names, "class_weight", is_whole=_is_class_weight(class_weight))
    made = []
    for name, target, own, classes, rank in zip(names, targets, given, by_class, ranks, strict=True):
        weights = np.ones(target.shape[:rank], np.float32)
        if own is not None:
            own = np.asarray(own, np.float32)
            if own.ndim != rank:
                raise ValueError(
                    f"Found a sample_weight array with shape {own.shape} for {name}. In order to use one weight per time step, "
                    'specify sample_weight_mode="temporal" in compile(); otherwise it must have one dimension.'
                )
            weights = weights * own
        if classes is not None:
            weights = weights * _of_classes(target, classes)
        made.append(weights)
    return made


def _is_class_weight(value: Nest) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, int | np.integer) for each in value)


def _per_output(value: Nest, names: Sequence[str], what: str, is_whole: bool = False) -> list[Nest]:
    if value is None or (hasattr(value, "__len__") and len(value) == 0):
        return [None] * len(names)
    if isinstance(value, Mapping) and not is_whole:
        unknown = sorted(value.keys() - set(names))
        if unknown:
            raise ValueError(f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys: {list(names)}")
        return [value.get(name) for name in names]
    if len(names) == 1:
        return [value[0] if isinstance(value, list) and len(value) == 1 and not np.isscalar(value[0]) else value]
    if isinstance(value, list):
        if len(value) != len(names):
            raise ValueError(f"Provided `{what}` was a list of {len(value)} elements, but model has {len(names)} outputs.")
        return value
    raise TypeError(
        f"The model has multiple outputs, so `{what}` should be either a list or a dict. Provided `{what}` type not "
        f"understood: "
        f"{value}"
    )


def _of_classes(target: Array, weights: Mapping[int, float]) -> Array:
    if target.ndim > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    classes = target.argmax(axis=1) if target.ndim == 2 and target.shape[1] > 1 else target.reshape(-1)
    unknown = {int(each) for each in classes} - set(weights)
    if unknown:
        raise ValueError(
            f"`class_weight` must contain all classes in the data. The classes {unknown} exist in the data but not in "
            "`class_weight`."
        )
    return np.asarray([weights[int(each)] for each in classes], np.float32)
