"""Runs the cases of an archive in one library, TensorFlow or weft, and writes what came out.

    PYTHON runner.py tensorflow.compat.v1

Orders come on the standard input, each a line of JSON: the archive of the cases, where to write the results, and which cases to
leave out. TensorFlow 1.15's Python 3.7 runs this file too.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import warnings
from typing import Any

import numpy as np
from archive import Reader, Writer

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
TIMEOUT_MS = 20_000
# The way that a case runs: weft's config has the level of compilation, TensorFlow has one way only.
LEVELS = {"cold": -1, "compiled": 1}


class Runner:
    """The cases of one archive in one library."""

    def __init__(self, library: str, cases: str) -> None:
        self.tf: Any = importlib.import_module(library)
        self.is_weft = library == "weft"
        if not self.is_weft:
            self.tf.disable_v2_behavior()
            self.tf.logging.set_verbosity(self.tf.logging.FATAL)
        self.cases = Reader(cases)
        self.results = Writer()

    def run(self, number: int, ways: list[str]) -> None:
        """Run a case in some ways and note what came out."""
        case = self.cases.records[number]
        found = {"number": number, "static": self._attempt(lambda: self._static(case))}
        for way in ways if self.is_weft else ["cold"]:
            if way == "compiled" and not case["compiled"]:
                continue
            found[way] = self._attempt(lambda way=way: self._forward(case, way))
            if case["gradient"] and "error" not in found[way]:
                found[way + " gradient"] = self._attempt(lambda way=way: self._gradient(case, way))
        self.results.add(found)

    def _attempt(self, what: Any) -> Any:
        try:
            return what()
        except Exception as error:
            classes = [each.__name__ for each in type(error).__mro__]
            return {"error": classes, "message": str(error)[:600]}

    def _static(self, case: Any) -> Any:
        graph, names = self._graph(case)
        tensors = [graph.get_tensor_by_name(name) for name in names["static"]]
        return {"shapes": [_dims(each.shape) for each in tensors], "types": [each.dtype.base_dtype.name for each in tensors]}

    def _graph(self, case: Any) -> Any:
        tf = self.tf
        graph = tf.Graph()
        definition = tf.GraphDef()
        definition.ParseFromString(self.cases.bytes(case["graph"]))
        with graph.as_default():
            tf.set_random_seed(1)
            tf.import_graph_def(definition, name="")
        return graph, case

    def _session(self, graph: Any, way: str) -> Any:
        config = self.tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.operation_timeout_in_ms = TIMEOUT_MS
        if self.is_weft:
            config.graph_options.optimizer_options.global_jit_level = LEVELS[way]
        else:
            config.graph_options.optimizer_options.opt_level = -1
            config.graph_options.rewrite_options.disable_meta_optimizer = True
        return self.tf.Session(graph=graph, config=config)

    def _feeds(self, graph: Any, case: Any) -> Any:
        numpy_type = lambda name: self.tf.as_dtype(name).as_numpy_dtype  # noqa: E731
        return {graph.get_tensor_by_name(name): self.cases.array(entry, numpy_type) for name, entry in case["feeds"].items()}

    def _forward(self, case: Any, way: str) -> Any:
        graph, _ = self._graph(case)
        feeds = self._feeds(graph, case)
        values = []
        with self._session(graph, way) as session:
            for run in case["runs"]:
                fetches = [graph.as_graph_element(name) for name in run]
                for tensor, value in zip(fetches, session.run(fetches, feeds)):  # noqa: B905
                    if value is not None:
                        values.append(self._noted(tensor, value))
        return {"values": values}

    def _noted(self, tensor: Any, value: Any) -> Any:
        value = np.asarray(value)
        entry = self.results.array(tensor.dtype.base_dtype.name, value)
        entry["type"] = "string" if value.dtype.kind in "OSU" else str(value.dtype)
        return entry

    def _gradient(self, case: Any, way: str) -> Any:
        graph, _ = self._graph(case)
        feeds = self._feeds(graph, case)
        tf = self.tf
        with graph.as_default(), self._session(graph, way) as session:
            outputs = [graph.get_tensor_by_name(name) for name in case["gradient"]["of"]]
            inputs = [graph.get_tensor_by_name(name) for name in case["gradient"]["by"]]
            generator = np.random.RandomState(7)
            weights = []
            for output, value in zip(outputs, session.run(outputs, feeds)):  # noqa: B905
                weight = generator.uniform(0.5, 1.5, np.shape(value))
                weights.append(tf.placeholder(output.dtype, None))
                feeds[weights[-1]] = weight.astype(output.dtype.as_numpy_dtype)
            found = tf.gradients(outputs, inputs, grad_ys=weights)
            dense = [None if each is None else tf.convert_to_tensor(each) for each in found]
            fetches = [each for each in dense if each is not None]
            values = [self._noted(*pair) for pair in zip(fetches, session.run(fetches, feeds))] if fetches else []  # noqa: B905
        return {"values": values, "connected": [each is not None for each in dense]}


def _dims(shape: Any) -> Any:
    return None if shape.ndims is None else shape.as_list()


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--ways", default="cold")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        order = json.loads(line)
        runner = Runner(asked.library, order["cases"])
        skipped = set(order["skipped"])
        deadline = time.time() + order["limit_s"]
        for number in range(len(runner.cases.records)):
            if number not in skipped and time.time() < deadline:
                # Where the library dies of a case, the parent knows of which.
                sys.stdout.write("%d\n" % number)  # noqa: UP031
                sys.stdout.flush()
                runner.run(number, asked.ways.split(","))
        runner.results.write(order["results"])
        sys.stdout.write("written\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
