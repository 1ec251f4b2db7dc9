"""The modules below `tf.compat.v2`, and where what they have stands in weft."""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import Final

from weft.api.second_version import forms

_NAMES: Final = Path(__file__).with_name("names.txt")  # one a line: its path, and with `=` where it stands, if elsewhere
_KERAS: Final = "weft.api.keras"
_KERAS_FOLDER: Final = Path(__file__).parents[1] / "keras"


def _aliases() -> dict[str, str]:
    """The modules that are Keras's: all below `keras`, and four by a short path, too."""
    below = {
        module.name.removeprefix(f"{_KERAS}.")
        for module in pkgutil.walk_packages([str(_KERAS_FOLDER)], f"{_KERAS}.", onerror=None)
    }
    return {f"keras.{path}": f"{_KERAS}.{path}" for path in sorted(below)} | {
        path: f"{_KERAS}.{path}" for path in ("initializers", "losses", "metrics", "optimizers")
    }


def _names() -> dict[str, str]:
    """The places of the names of each module, as `weft.api.import_paths` reads them."""
    places = [line.partition("=") for line in _NAMES.read_text(encoding="utf-8").splitlines()]
    entries = [(path, f"{place or path}={path.rpartition('.')[2]}") for path, _, place in places]
    own = f"{forms.__name__}:"
    entries += [
        (path, f"{own}{forms.attribute(path)}={path.rpartition('.')[2]}") for path in forms.table() if path != "Variable"
    ]
    entries.append(("Variable", "weft.api.second_version.variable:Variable"))
    found: dict[str, list[str]] = {}
    for path, entry in entries:
        found.setdefault(path.rpartition(".")[0], []).append(entry)
    return {path: " ".join(each) for path, each in found.items()}


ALIASES: Final = {"keras": _KERAS, "compat.v1": "weft.api.compat.v1"} | _aliases()
NAMES: Final = _names()
