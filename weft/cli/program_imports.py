"""What a program says it imports: TensorFlow, in whose place weft is to stand then, or weft itself."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MOST_FILES: Final = 200
"""A program tells in its first few; reading more would keep its tasks waiting."""
_OF_TENSORFLOW: Final = frozenset({"tensorflow", "tensorflow_core", "tensorflow_estimator"})


def program_words(program: str) -> list[str]:
    """What Python's command line says to run a program: its file, by `weft run` where it imports TensorFlow."""
    # -P: the program's folder may have a queue.py or a config.py, and the command's modules are not to be those.
    return ["-P", "-m", "weft.cli", "run", program] if imports_tensorflow(program) else [program]


def imports_tensorflow(program: str) -> bool:
    """Whether a program says `import tensorflow` and not `import weft`.

    The file that says either decides, from the program's own on, then those of its folder that it imports, then those that
    these import. Of installed libraries nothing is known.

    Args:
        program: the Python file; one that cannot be read imports nothing.
    """
    folder = Path(program).resolve().parent
    waiting = [Path(program).resolve()]
    seen = set(waiting)
    # The list grows while it is read: files in the order in which imports reach them.
    for path in waiting:
        names = list(_imported(path, folder))
        tops = {name.partition(".")[0] for name in names}
        if "weft" in tops or tops & _OF_TENSORFLOW:
            return "weft" not in tops
        for each in (file for name in names for file in _files(name, folder)):
            if each not in seen and len(seen) < _MOST_FILES:
                seen.add(each)
                waiting.append(each)
    return False


def _imported(path: Path, folder: Path) -> Iterator[str]:
    """The dotted names that a file imports, also those within its functions."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes(), str(path))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        # The program's own process tells of it, or of nothing where that import is never reached.
        return
    package = path.parent.relative_to(folder).parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            stem = ".".join((*above, *([node.module] if node.module else [])))
            yield from (f"{stem}.{each.name}" if stem else each.name for each in node.names)


def _files(name: str, folder: Path) -> Iterator[Path]:
    """The files in a program's folder that importing a dotted name runs; the last part may be no module."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        place = folder.joinpath(*parts[:length])
        yield from (each for each in (place.with_name(f"{place.name}.py"), place / "__init__.py") if each.is_file())
