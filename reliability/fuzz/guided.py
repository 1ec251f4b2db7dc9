"""Input that coverage guides, by Atheris: `python -m reliability.fuzz.guided --what tables --count 100000 [CORPUS]`.

Atheris is no dependency of weft's: install it beside weft (`pip install "atheris>=3,<4"`, Linux). libFuzzer changes bytes and
keeps what reaches new code; so it is given the decoders that read bytes alone. What fails is written to the current directory,
with the trace; the same command with that file in the place of CORPUS repeats it.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
import tempfile
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

import atheris

from reliability.fuzz.frames import Frames
from reliability.fuzz.graph_defs import GraphDefs
from reliability.fuzz.tables import Blocks


class Decoder(Protocol):
    """What coverage guides: good inputs, and how weft decodes others."""

    def seeds(self) -> list[bytes]:
        """Good inputs, from which to begin."""
        ...

    def run(self, data: bytes) -> str:
        """Give one input to weft; raises where weft has failed."""
        ...


DECODERS: Final[Mapping[str, Callable[[], Decoder]]] = {"frames": Frames, "graphdefs": GraphDefs, "tables": Blocks}
# Where their code is: to watch all of weft takes three minutes.
_PACKAGES: Final = {"frames": ("weft.protocol.",), "graphdefs": ("weft.framework.",), "tables": ("weft.checkpoint.",)}
_CASE_LIMIT_S: Final = 30
_MEMORY_MB: Final = 4096


def _instrument(packages: tuple[str, ...]) -> int:
    """Have the functions of these packages tell which of their branches run; returns how many there are."""
    gc.unfreeze()
    functions = [each for each in gc.get_objects() if isinstance(each, types.FunctionType)]
    functions = [each for each in functions if str(each.__module__).startswith(packages)]
    for each in functions:
        atheris.instrument_func(each)
    return len(functions)


def main() -> None:
    """Fuzz until the count or a failure, as libFuzzer does, which ends the process."""
    options = argparse.ArgumentParser("python -m reliability.fuzz.guided")
    options.add_argument("--what", choices=sorted(DECODERS), required=True)
    options.add_argument("--count", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("corpus", nargs="?", help="a folder of inputs, which grows, or one input")
    chosen = options.parse_args()
    logging.disable(logging.WARNING)
    decoder = DECODERS[chosen.what]()
    with tempfile.TemporaryDirectory(prefix="weft-fuzz-corpus-") as folder:
        corpus = Path(chosen.corpus or folder)
        if corpus.is_dir():
            for number, seed in enumerate(decoder.seeds()):
                (corpus / f"seed-{number}").write_bytes(seed)
        print(f"{_instrument(_PACKAGES[chosen.what])} functions of weft are watched", file=sys.stderr)
        limits = (f"-timeout={_CASE_LIMIT_S}", f"-rss_limit_mb={_MEMORY_MB}", "-max_len=131072")
        atheris.Setup(
            [sys.argv[0], f"-runs={chosen.count}", f"-seed={chosen.seed}", *limits, str(corpus)],
            lambda data: decoder.run(data),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
