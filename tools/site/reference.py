"""Writes the API reference: a page for each public module, out of the docstrings.

An object with several names is documented under one of them, its home; under the others a line leads there.
"""

from __future__ import annotations

import enum
import inspect
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import weft
from tools.site.docstring import escaped, markdown, summary
from tools.site.signature import signature_of

# Homes of last resort: what is there too has a better one.
_ELSEWHERE: Final = ("contrib", "compat", "raw_ops", "keras.backend")
_LONGEST_VALUE: Final = 80
_LACKING: Final = Path(weft.__file__).parent / "api" / "lacking_names.txt"


@dataclass
class Module:
    """A public module: its docstring and what it has, by short name."""

    name: str
    docstring: str
    members: dict[str, Any] = field(default_factory=dict)


def modules(public_names: Iterable[str]) -> dict[str, Module]:
    """The public modules by name, with the members that the list of public names has."""
    found: dict[str, Module] = {"tf": Module("tf", inspect.getdoc(weft) or "")}
    for name in sorted(public_names):
        home, _, short = name.rpartition(".")
        value = _resolved(name)
        if isinstance(value, types.ModuleType):
            found[name] = Module(name, _about(value))
        else:
            found.setdefault(home, Module(home, _about(_resolved(home)))).members[short] = value
    return {name: module for name, module in found.items() if module.members}


def homes(found: dict[str, Module]) -> dict[int, str]:
    """Under which name each function and class is documented, by its identity."""
    names: dict[int, list[str]] = defaultdict(list)
    for module in found.values():
        for short, value in module.members.items():
            if _has_identity(value):
                names[id(value)].append(f"{module.name}.{short}")
    return {identity: min(each, key=_distance) for identity, each in names.items()}


def write(folder: Path, public_names: Iterable[str]) -> None:
    """Write a page for each module, and one that leads to them."""
    folder.mkdir(parents=True)
    found = modules(public_names)
    known = homes(found)
    for module in found.values():
        (folder / f"{module.name}.md").write_text("\n".join(_page(module, known)) + "\n", encoding="utf-8")
    rows = [f"| [{name}]({name}.md) | {escaped(summary(module.docstring))} |" for name, module in sorted(found.items())]
    listed = ["```{toctree}", ":hidden:", "", *sorted(found), "lacking", "```"]
    head = ["# API reference", "", "The public names by module. `tf` is what a program imports: `import weft as tf`.", ""]
    text = "\n".join([*head, "| module | what it has |", "|---|---|", *rows, "", *listed])
    (folder / "lacking.md").write_text(_lacking(), encoding="utf-8")
    (folder / "index.md").write_text(text + "\n", encoding="utf-8")


def _lacking() -> str:
    """The page of the names that TensorFlow 1.15 has and weft lacks."""
    names = _LACKING.read_text(encoding="utf-8").split()
    listed = [f"- `tf.{name}*`, all of it" if name.endswith(".") else f"- `tf.{name}`" for name in names]
    head = ["# Names that weft lacks", "", f"Of TensorFlow 1.15's public names weft has not these {len(names)}.", ""]
    return "\n".join([*head, *listed, ""])


def _page(module: Module, known: dict[int, str]) -> Iterator[str]:
    yield from (f"# {module.name}", "", markdown(module.docstring), "")
    own, others = dict[str, Any](), dict[str, str]()
    for short, value in sorted(module.members.items(), key=lambda item: item[0].lower()):
        home = known.get(id(value), f"{module.name}.{short}") if _has_identity(value) else f"{module.name}.{short}"
        if home == f"{module.name}.{short}":
            own[short] = value
        else:
            others[short] = home
    if own:
        yield from ("| name | what it is |", "|---|---|")
        yield from (f"| {{py:obj}}`{short} <{module.name}.{short}>` | {_in_a_word(value)} |" for short, value in own.items())
        yield ""
    if others:
        yield from ("| also here | documented as |", "|---|---|")
        yield from (f"| `{module.name}.{short}` | {{py:obj}}`{home}` |" for short, home in others.items())
        yield ""
    for short, value in own.items():
        yield from _documented(f"{module.name}.{short}", value, known)


def _in_a_word(value: Any) -> str:
    """The first sentence about a function or class; of others their value."""
    if callable(value):
        return escaped(summary(_doc_of(value)))
    text = repr(value).replace("|", "\\|").replace("\n", " ")
    return f"`{text}`" if len(text) <= _LONGEST_VALUE and "`" not in text else ""


def _documented(name: str, value: Any, known: dict[int, str]) -> Iterator[str]:
    if inspect.isclass(value):
        yield from _class(name, value, known)
    elif callable(value):
        yield from _directive("function", name + signature_of(value), _doc_of(value))
    else:
        text = repr(value)
        options = [f":value: {text}"] if len(text) <= _LONGEST_VALUE and "\n" not in text else []
        yield from _directive("data", name, "", options)


def _class(name: str, value: type, known: dict[int, str]) -> Iterator[str]:
    bases = [known[id(base)] for base in value.__mro__[1:] if known.get(id(base), name) != name]
    doc = [markdown(_doc_of(value))]
    if bases:
        doc.append("Is a " + ", ".join(f"{{py:obj}}`{base}`" for base in bases) + ".")
    if issubclass(value, enum.Enum):
        doc.append("Its values: " + ", ".join(f"`{member}`" for member in value.__members__) + ".")
    inner: list[str] = []
    for short, member in _members(value, known):
        if isinstance(member, property):
            inner += _directive("property", f"{name}.{short}", _doc_of(member))
        else:
            kind = "staticmethod" if isinstance(member, staticmethod) else "classmethod"
            kind = kind if isinstance(member, staticmethod | classmethod) else "method"
            signature = signature_of(getattr(value, short), is_method=kind == "method")
            inner += _directive(kind, f"{name}.{short}{signature}", _doc_of(getattr(value, short)))
    signature = "" if issubclass(value, enum.Enum) else signature_of(value)
    yield from _fenced("class", name + signature, ["\n\n".join(each for each in doc if each), "", *inner], ":::::")


def _members(value: type, known: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """What a class has beyond its documented bases: of itself and of bases that are not public."""
    seen: set[str] = set()
    found: dict[str, Any] = {}
    for base in value.__mro__:
        is_documented = base is not value and id(base) in known
        if is_documented or not base.__module__.startswith("weft"):
            continue
        for short, member in vars(base).items():
            is_shown = not short.startswith("_") and short not in seen
            if is_shown and isinstance(member, property | staticmethod | classmethod | types.FunctionType):
                found[short] = member
            seen.add(short)
    yield from sorted(found.items())


def _directive(kind: str, signature: str, docstring: str, options: Iterable[str] = ()) -> list[str]:
    return _fenced(kind, signature, [markdown(docstring)], ":::", options)


def _fenced(kind: str, signature: str, content: list[str], fence: str, options: Iterable[str] = ()) -> list[str]:
    return [f"{fence}{{py:{kind}}} {signature}", *options, "", *content, fence, ""]


def _resolved(name: str) -> Any:
    found: Any = weft
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def _about(module: Any) -> str:
    return (inspect.getdoc(module) or "").replace(" This module only re-exports.", "")


def _doc_of(value: Any) -> str:
    """Its docstring; what protocol buffers and built-in types inherit says nothing of them."""
    if inspect.isclass(value) and not (value.__doc__ or "").strip():
        return ""
    return inspect.getdoc(value) or ""


def _has_identity(value: Any) -> bool:
    return callable(value)


def _distance(name: str) -> tuple[bool, int, str]:
    """How far a name is from where readers look first: `tf.math.add` is before `tf.add`, and both before contrib's."""
    path = name.removeprefix("tf.")
    is_elsewhere = any(path.startswith(f"{each}.") for each in _ELSEWHERE)
    depth = path.count(".")
    return is_elsewhere, depth if depth else 2, name
