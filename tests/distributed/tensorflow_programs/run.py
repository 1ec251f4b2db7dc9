"""Run the programs of a catalogue in an own process and on a server; print both results as JSON, by name.

It is run as a script: `run.py LIBRARY CATALOGUE TARGET [NAME ...]`; LIBRARY is `weft` or `tensorflow`, whose interpreter it
is. Programs find `target`, `tf`, `np`, `os`, `tempfile` and `failure`, which calls a function and gives the class of its
error, and leave what they found in `result`.
"""

import json
import os
import re
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np  # noqa: E402

if sys.argv[1] == "weft":
    import weft as tf
else:
    import tensorflow as tf  # type: ignore[import-not-found,no-redef]

    if not tf.__version__.startswith("1."):  # there the module itself, which alone has contrib
        tf = tf.compat.v1

tf.logging.set_verbosity(tf.logging.ERROR)


def failure(run):
    """The class of the error of a call."""
    try:
        run()
    except tf.errors.OpError as error:
        return [type(error).__name__]
    return ["none"]


def plain(value):
    """A result as JSON knows it."""
    if isinstance(value, dict):
        return {str(key): plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    array = np.asarray(value)
    if array.dtype.kind in "SO":
        return [plain(each) for each in array] if array.ndim else repr(array[()])
    return array.astype(np.float64).tolist() if array.dtype.kind in "fiub" else np.asarray(array, object).tolist()


def outcome(source, name, target):
    """What a program found, or the error that it raised."""
    tf.reset_default_graph()
    tf.disable_v2_behavior()
    tf.disable_resource_variables()
    if target:
        tf.Session.reset(target)
    names = {"tf": tf, "np": np, "os": os, "tempfile": tempfile, "failure": failure, "target": target}
    try:
        exec(compile(source, name, "exec"), names)
    except Exception as error:
        return {"error": type(error).__name__ + ": " + str(error)[:2500]}
    return {"result": plain(names["result"])}


def main():
    """Run the programs."""
    with open(sys.argv[2]) as file:
        parts = [part.partition("\n") for part in re.split(r"^### ", file.read(), flags=re.M)[1:]]
    wanted = sys.argv[4:]
    for name, _, source in parts:
        if not wanted or name in wanted:
            print(json.dumps([name, outcome(source, name, ""), outcome(source, name, sys.argv[3])]), flush=True)
    os._exit(0)


main()
