"""Write the training programs as `.meta` files, each with what runs it and the losses that weft had.

Run as a script, it writes into the folder given: `exported_programs.py FOLDER [NAME ...]`.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf
from tests.interop import further_training_programs as further_training_programs
from tests.interop import third_training_programs as third_training_programs
from tests.interop.training_programs import PROGRAMS, Program

STEPS = 3


def initializers(program: Program) -> list[Any]:
    """What a program runs before its first step."""
    first = [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
    return [tf.group(*first, name="initialize_all"), *program.before]


def train(session: Any, plan: dict[str, Any], feeds: dict[str, Any], restore: Callable[[], None] = lambda: None) -> list[float]:
    """Initialize, restore what there is and take the steps; the losses of each."""
    for name in plan["before"]:
        session.run(name)
    restore()
    coordinator = tf.train.Coordinator()
    has_queues = bool(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))
    threads = tf.train.start_queue_runners(session, coordinator) if has_queues else []
    losses = []
    for _ in range(STEPS):
        # In two runs: reading a variable and updating it in one has no order in TensorFlow.
        losses.append(float(session.run([plan["loss"], *plan["extra"]], feeds)[0]))
        session.run(plan["train"], feeds)
    coordinator.request_stop()
    session.run(
        [op for op in session.graph.get_operations() if op.type.startswith("QueueClose") and "cancel" in op.name.lower()]
    )
    coordinator.join(threads, stop_grace_period_secs=10)
    return losses


def export(name: str, folder: Path, config: tf.ConfigProto | None = None) -> dict[str, Any]:
    """Build a program, train it in a session of that configuration, and write its graph and a checkpoint.

    The plan that is returned says how to train it again, and what losses it has from the start and since the checkpoint.
    """
    tf.reset_default_graph()
    tf.set_random_seed(7)
    program = PROGRAMS[name]()
    before = [each.name for each in initializers(program)]
    plan: dict[str, Any] = {
        "loss": program.loss.name,
        "train": program.train.name,
        "extra": [each.name for each in program.extra],
        "before": before,
    }
    feeds = {tensor.name: _as_array(value, tensor.dtype) for tensor, value in program.feeds.items()}
    np.savez(folder / f"{name}.npz", **feeds)
    saver = tf.train.Saver(name="trained")
    tf.train.export_meta_graph(str(folder / f"{name}.meta"), saver_def=saver.as_saver_def())
    with tf.Session(config=config) as session:
        plan["losses"] = train(session, plan, feeds)
        saver.save(session, str(folder / name), write_meta_graph=False)
    with tf.Session(config=config) as session:
        plan["since"] = train(session, plan, feeds, lambda: saver.restore(session, str(folder / name)))
    tf.reset_default_graph()
    return plan


def _as_array(value: object, dtype: tf.DType) -> np.ndarray[Any, Any]:
    """A feed as a file of NumPy's keeps it without pickling; strings end in no zero byte."""
    return np.asarray(value, "S" if dtype == tf.string else dtype.as_numpy_dtype)


def train_again(name: str, plan: dict[str, Any], folder: Path, config: tf.ConfigProto | None = None) -> list[float]:
    """The losses of the graph that was written, imported by weft."""
    tf.reset_default_graph()
    tf.train.import_meta_graph(str(folder / f"{name}.meta"))
    with np.load(folder / f"{name}.npz") as feeds, tf.Session(config=config) as session:
        losses = train(session, plan, dict(feeds))
    tf.reset_default_graph()
    return losses


def main(folder: Path, names: list[str]) -> None:
    plans: dict[str, Any] = {}
    for name in names or PROGRAMS:
        try:
            plans[name] = export(name, folder)
        except Exception:
            print(name, traceback.format_exc(limit=-3))
            continue
        try:
            plans[name]["again"] = train_again(name, plans[name], folder)
        except Exception as error:
            print(name, "AGAIN", type(error).__name__, str(error)[:600])
    (folder / "plans.json").write_text(json.dumps(plans))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
