"""`weft saved-model run`: loads a model into a session, feeds a signature's inputs, and prints and saves its outputs."""

from __future__ import annotations

import argparse
import importlib
import io
import os
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from weft.cli.saved_model.inputs import read_inputs
from weft.cli.saved_model.showing import find_graph, find_signature
from weft.cli.whole_file import write_whole
from weft.client.session import Session
from weft.framework.graphs.graph import Graph
from weft.training.saved_model.loader import load


def run(arguments: argparse.Namespace) -> None:
    """Do what the command's options say.

    Raises:
        OSError: there is no model, or a file cannot be read or written.
        ValueError: there is no such signature, or an input is wrong.
        RuntimeError: no graph has the tags, or an output's file exists.
        OpError: the step failed.
    """
    # The model may have any kind of variable, and ops of every family.
    importlib.import_module("weft.namespace")
    signature = find_signature(find_graph(arguments.dir, arguments.tag_set), arguments.signature_def)
    values = read_inputs(arguments.inputs, arguments.input_exprs, arguments.input_examples, signature.inputs)
    paths = _output_paths(arguments.outdir, sorted(signature.outputs), arguments.overwrite)
    with Graph().as_default(), Session(arguments.worker) as session:
        load(session, arguments.tag_set.split(","), arguments.dir)
        outputs = session.run(
            {key: info.name for key, info in signature.outputs.items()},
            feed_dict={signature.inputs[key].name: value for key, value in values.items()},
        )
    _report(outputs, paths)


def _output_paths(folder: str | None, keys: list[str], overwrite: bool) -> dict[str, str]:
    """Where each output is saved; looked at before the model runs, so that a long run is not lost."""
    if folder is None:
        return {}
    paths = {key: os.path.join(folder, f"{key}.npy") for key in keys}
    for path in paths.values():
        if os.path.exists(path) and not overwrite:
            raise RuntimeError(f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.')
    os.makedirs(folder, exist_ok=True)
    return paths


def _report(outputs: Mapping[str, object], paths: Mapping[str, str]) -> None:
    for key, value in sorted(outputs.items()):
        print(f"Result for output key {key}:\n{value}")
        if key in paths:
            _save(paths[key], value)
            print(f"Output {key} is saved to {paths[key]}")


def _save(path: str, value: object) -> None:
    content = io.BytesIO()
    np.save(content, _storable(value), allow_pickle=False)
    # NumPy's own way into a file says nothing of a full disk.
    write_whole(path, lambda draft: _write_bytes(draft, content.getbuffer()))


def _write_bytes(path: str, data: memoryview) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _storable(value: object) -> npt.NDArray[np.generic]:
    """An array that needs no pickle to be stored: strings as bytes of one length."""
    array = np.asarray(value)
    return array.astype(np.bytes_) if array.dtype == object else array
