"""NoValueYet: what a tensor or a variable says to Python and NumPy, which ask for the value that only a run gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

# NumPy's methods and the ops that do the same.
_OPS: Final = {
    "all": "tf.reduce_all", "any": "tf.reduce_any", "argmax": "tf.argmax", "argmin": "tf.argmin", "astype": "tf.cast",
    "clip": "tf.clip_by_value", "copy": "tf.identity", "cumsum": "tf.cumsum", "dot": "tf.matmul", "flatten": "tf.reshape",
    "max": "tf.reduce_max", "mean": "tf.reduce_mean", "min": "tf.reduce_min", "ndim": "tf.rank", "prod": "tf.reduce_prod",
    "ravel": "tf.reshape", "repeat": "tf.tile", "reshape": "tf.reshape", "round": "tf.round", "size": "tf.size",
    "sort": "tf.sort", "squeeze": "tf.squeeze", "std": "tf.nn.moments", "sum": "tf.reduce_sum", "T": "tf.transpose",
    "transpose": "tf.transpose", "var": "tf.nn.moments",
}  # fmt: skip
# Methods of str and bytes.
_OF_TEXTS: Final = {
    "split": "tf.string_split([{0}], delimiter)", "strip": "tf.strings.strip({0})",
    "replace": "tf.strings.regex_replace({0}, ...)",
    "lower": "tf.strings.lower({0})", "upper": "tf.strings.upper({0})", "join": "tf.strings.join([{0}, ...])",
    "decode": "tf.decode_raw({0}, tf.uint8)", "format": "tf.strings.format(...)",
    "startswith": "tf.strings.regex_full_match({0}, pattern)", "endswith": "tf.strings.regex_full_match({0}, pattern)",
}  # fmt: skip
_OF_LISTS: Final = {
    "append": "tf.concat([{0}, [value]], 0)", "extend": "tf.concat([{0}, values], 0)",
    "insert": "tf.concat([{0}[:i], [value], {0}[i:]], 0)", "pop": "a slice, such as {0}[:-1]",
}  # fmt: skip
_OF_DICTS: Final = ("items", "keys", "values", "get", "update")
_VALUES: Final = ("numpy", "item", "tolist", "tobytes", "data")
_UPDATES: Final = ("assign", "assign_add", "assign_sub", "initializer", "scatter_update", "scatter_add", "lazy_read")


class NoValueYet:
    """The part of Tensor and Variable that tells who takes them for values what they are, and how to get a value."""

    __slots__ = ()

    name: Any

    def __format__(self, spec: str) -> str:
        if spec:
            self.refuse(f"the format {spec!r}")
        return str(self)

    def refuse(self, wanted: str) -> NoReturn:
        """Raise the TypeError for who wants a value.

        Args:
            wanted: what was asked of the value, such as "iterate over it".
        """
        raise TypeError(
            f"{wanted} wants a value, and {self!r} has one in a run only: session.run({_bare(self)}) returns it. While the "
            "graph is built, use ops (tf.cast, tf.range, tf.as_string) in place of Python's functions."
        )


def _missing(self: NoValueYet, name: str) -> NoReturn:
    text = f"{type(self).__name__!r} object has no attribute {name!r}"
    if name in _OPS:
        text += f": the op for it is {_OPS[name]}({_bare(self)})"
    elif name in _OF_TEXTS:
        text += f": a text has a value in a run only; the op for it is {_OF_TEXTS[name].format(_bare(self))}"
    elif name in _VALUES:
        text += f": {_bare(self)} has a value in a run only, which session.run({_bare(self)}) returns"
    elif name in _UPDATES:
        text += f": {_bare(self)} is no tf.Variable, and only variables are updated"
    elif name in _OF_LISTS:
        text += f": {_bare(self)} is no list; the op that makes a longer one of it is {_OF_LISTS[name].format(_bare(self))}"
    elif name in _OF_DICTS:
        text += f": {_bare(self)} is a tensor, and no dict of tensors: what made it returned no {{name: tensor}}"
    elif not name.startswith("_"):
        text += f": {_bare(self)} is a {_kind(self)}"
    raise AttributeError(text, name=name, obj=self)


def _kind(self: NoValueYet) -> str:
    """`tensor of shape (3,) and type float32`, whose attributes those of a tensor are."""
    kind = "variable" if "Variable" in type(self).__name__ else "tensor"
    shape, dtype = getattr(self, "shape", None), getattr(self, "dtype", None)
    return kind if shape is None or dtype is None else f"{kind} of shape {shape} and type {dtype.name.removesuffix('_ref')}"


def _contains(self: NoValueYet, item: object) -> NoReturn:
    raise TypeError(
        f"argument of type {type(self).__name__!r} is not iterable: `in` looks at values, and {_bare(self)} has them in a run "
        f"only. In the graph, tf.reduce_any(tf.equal({_bare(self)}, value)) says whether a value is among them."
    )


def _set_item(self: NoValueYet, key: object, value: object) -> NoReturn:
    kind = type(self).__name__
    raise TypeError(
        f"{kind!r} object does not support item assignment: {self.name} is a node of the graph. For a variable v, an op "
        "such as tf.scatter_update(v, [0], [value]) or v[0].assign(value) changes a part; for a tensor, tf.where or "
        "tf.concat makes another one."
    )


def _float(self: NoValueYet) -> NoReturn:
    self.refuse("float()")


def _int(self: NoValueYet) -> NoReturn:
    self.refuse("int()")


def _complex(self: NoValueYet) -> NoReturn:
    self.refuse("complex()")


def _index(self: NoValueYet) -> NoReturn:
    self.refuse("an integer, such as range() and indices need,")


def _round(self: NoValueYet, digits: object = None) -> NoReturn:
    self.refuse("round(), for which tf.round is the op,")


_REFUSALS: Final[dict[str, Callable[..., NoReturn]]] = {
    "__getattr__": _missing,
    "__setitem__": _set_item,
    "__contains__": _contains,
    "__float__": _float,
    "__int__": _int,
    "__round__": _round,
    "__complex__": _complex,
    "__index__": _index,
}


def refuse_at_run_time(kind: type, refusals: Mapping[str, Callable[..., NoReturn]]) -> None:
    """Give a class methods that say at run time why they do not work.

    Type checkers refuse what a class has no method for; one that they could see would let it pass.
    """
    for name, function in refusals.items():
        setattr(kind, name, function)


refuse_at_run_time(NoValueYet, _REFUSALS)


def _bare(element: NoValueYet) -> str:
    return str(element.name).removesuffix(":0")
