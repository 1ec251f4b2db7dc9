"""HParams: a program's hyperparameters by name, parsed from text such as `learning_rate=0.1,layers=[64,32]`."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Mapping
from typing import Final, NoReturn

from weft.framework.building.aliases import Nest

_ASSIGNMENT: Final = re.compile(
    r"""
    (?P<name>[a-zA-Z][\w\.]*)      # variable name: "var" or "x"
    (\[\s*(?P<index>\d+)\s*\])?  # (optional) index: "1" or None
    \s*=\s*
    ((?P<val>[^,\[]*)            # single value: "a" or None
     |
     \[(?P<vals>[^\]]*)\])       # list of values: None or "1,2,3"
    ($|,\s*)""",
    re.VERBOSE,
)


def parse_values(values: str, type_map: Mapping[str, type], ignore_unknown: bool = False) -> dict[str, Nest]:
    """The values that a text assigns: `name=value`, `name=[value,value]` and `name[1]=value`, with commas between.

    Args:
        values: the text.
        type_map: the type of each hyperparameter, or of the elements of one that is a list.
        ignore_unknown: leave out names that have no type here.

    Returns:
        By name a value, a list, or for assignments to elements a dictionary by index.

    Raises:
        ValueError: the text is malformed, a name is unknown or assigned twice, or a value is not of its type.
    """
    results: dict[str, Nest] = {}
    at = 0
    while at < len(values):
        found = _ASSIGNMENT.match(values, at)
        if not found:
            raise ValueError(f"Malformed hyperparameter value: {values[at:]}")
        at = found.end()
        name = found["name"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        _note(results, found, type_map[name], values)
    return results


def _note(results: dict[str, Nest], found: re.Match[str], kind: type, values: str) -> None:
    """Note what one assignment says."""
    name, index = found["name"], found["index"]
    if found["vals"] is not None:
        if index is not None:
            raise ValueError(f"Assignment of a list to a list index: {name}[{index}]=[{found['vals']}] in {values}")
        if name in results:
            raise _assigned_twice(name, values)
        parts = [part for part in re.split("[ ,]", found["vals"]) if part]
        results[name] = [_parsed(name, kind, part, values) for part in parts]
        return
    value = _parsed(name, kind, found["val"], values)
    if index is None:
        if name in results:
            raise _assigned_twice(name, values)
        results[name] = value
        return
    elements = results.setdefault(name, {})
    if not isinstance(elements, dict) or int(index) in elements:
        raise _assigned_twice(f"{name}[{index}]" if isinstance(elements, dict) else name, values)
    elements[int(index)] = value


def _assigned_twice(name: str, values: str) -> ValueError:
    return ValueError(f"Multiple assignments to variable '{name}' in {values}")


def _parsed(name: str, kind: type, text: str, values: str) -> Nest:
    try:
        if kind is bool:
            return {"true": True, "True": True, "false": False, "False": False}[text] if not text.isdigit() else bool(int(text))
        return kind(text)
    except (KeyError, ValueError):
        raise ValueError(f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in {values}") from None


def _cast(name: str, kind: type, value: Nest) -> Nest:
    """The value as one of its hyperparameter's type, where that loses nothing."""
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    fits = {
        bool: isinstance(value, bool),
        int: isinstance(value, numbers.Integral) and not isinstance(value, bool),
        float: isinstance(value, numbers.Real) and not isinstance(value, bool),
        str: isinstance(value, str | bytes),
    }.get(kind, False)
    if not fits:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return value.decode() if kind is str and isinstance(value, bytes) else kind(value)


class HParams:
    """Hyperparameters, each an attribute; their types, and whether they are lists, are those of the first values.

        hparams = tf.contrib.training.HParams(learning_rate=0.1, layers=[64, 32])
        hparams.parse("learning_rate=0.01,layers=[128]")

    Args:
        hparam_def: not supported: there is no such protocol buffer here; save `to_json()`.
        model_structure: anything; `get_model_structure` gives it back.
        kwargs: the hyperparameters.

    Raises:
        ValueError: a name is taken by a method, or a value is an empty list.
    """

    def __init__(self, hparam_def: None = None, model_structure: object = None, **kwargs: Nest) -> None:
        if hparam_def is not None:
            raise ValueError("HParams: hparam_def is not supported; give the values, or parse_json() of what to_json() made")
        self._types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"'HParams' object has no attribute {name!r}")
        known = ", ".join(self._types)
        raise AttributeError(f"'HParams' object has no attribute {name!r}. It has {known or 'no hyperparameter'}.")

    def add_hparam(self, name: str, value: Nest) -> None:
        """Add a hyperparameter.

        Args:
            value: a number, bool, text or function, or a list of one type, which gives the hyperparameter its type.

        Raises:
            ValueError: there is such a name already, or the list is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, list | tuple):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._types[name] = (type(value[0]), True)
        else:
            self._types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Nest) -> None:
        """Give a hyperparameter another value of its type.

        Args:
            value: the value, a list where the hyperparameter is one.

        Raises:
            KeyError: there is no such hyperparameter.
            ValueError: the value is not of its type, or a list where it is none.
        """
        kind, is_list = self._types[name]
        if isinstance(value, list) and not is_list:
            raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
        if not isinstance(value, list) and is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        setattr(self, name, [_cast(name, kind, each) for each in value] if is_list else _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Take a hyperparameter away, if there is one."""
        if hasattr(self, name):
            delattr(self, name)
            del self._types[name]

    def parse(self, values: str) -> HParams:
        """Take values from a text (see `parse_values`); returns itself.

        Args:
            values: pairs NAME=VALUE with commas between them.

        Raises:
            ValueError: the text has another form, or a value another type.
        """
        return self.override_from_dict(parse_values(values, {name: kind for name, (kind, _) in self._types.items()}))

    def override_from_dict(self, values_dict: Mapping[str, Nest]) -> HParams:
        """Take values by name, a dictionary for single elements of a list; returns itself.

        Args:
            values_dict: values by the hyperparameters' names.

        Raises:
            KeyError: there is no such hyperparameter.
            ValueError: a value is not of its type.
        """
        for name, value in values_dict.items():
            if isinstance(value, dict):
                elements = list(getattr(self, name))
                for index, element in value.items():
                    elements[index] = element
                self.set_hparam(name, elements)
            else:
                self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def set_model_structure(self, model_structure: object) -> None:
        """Keep anything with the hyperparameters.

        Args:
            model_structure: what is kept.
        """
        self._model_structure = model_structure

    def get_model_structure(self) -> object:
        """What is kept with them."""
        return self._model_structure

    def to_json(self, indent: int | None = None, separators: tuple[str, str] | None = None, sort_keys: bool = False) -> str:
        """The values as JSON; functions are left out.

        Args:
            indent, separators, sort_keys: those of `json.dumps`.
        """
        values = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(values, indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Take values from JSON; returns itself.

        Args:
            values_json: an object of values by the hyperparameters' names.

        Raises:
            KeyError: there is no such hyperparameter.
            ValueError: this is no JSON, or a value is not of its type.
        """
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Nest]:
        """The values by name."""
        return {name: getattr(self, name) for name in self._types}

    def get(self, key: str, default: Nest = None) -> Nest:
        """A value, or `default`, which must be of its type, where there is none.

        Args:
            key: the hyperparameter's name.
            default: what to give where there is none.

        Raises:
            ValueError: the default is of another type.
        """
        if key not in self._types:
            return default
        kind, is_list = self._types[key]
        if default is not None:
            text = f"Hparam '{key}' of type '{kind}' is incompatible with default={default}"
            if isinstance(default, list) != is_list:
                raise ValueError(text)
            try:
                for each in default if is_list else [default]:
                    _cast(key, kind, each)
            except ValueError as error:
                raise ValueError(f"{text}. {error}") from None
        return getattr(self, key)

    def __contains__(self, key: str) -> bool:
        return key in self._types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"
