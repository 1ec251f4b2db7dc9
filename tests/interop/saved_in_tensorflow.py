"""Let TensorFlow 1.15 train the training programs, save them by its Saver and go on: graphs, checkpoints, and losses since.

Run as a script by TensorFlow's interpreter, it writes into the folder given: `saved_in_tensorflow.py FOLDER NAME ...`. The
programs call weft, for which TensorFlow stands there.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from pathlib import Path
from typing import Any, Dict, List  # noqa: UP035 - Python 3.7 runs this


def go_on(tf: Any, train: Any, path: str, plan: Dict[str, Any], feeds: Dict[str, Any], saver: Any) -> List[float]:  # noqa: UP006
    """Restore the checkpoint in a new session of the default graph, and take further steps; the losses of each."""
    with tf.Session() as session:
        for name in plan["before"]:
            session.run(name)
        saver.restore(session, path)
        losses: List[float] = train(session, {**plan, "before": []}, feeds)  # noqa: UP006
        return losses


def _save(tf: Any, programs: Any, name: str, folder: Path) -> Dict[str, Any]:  # noqa: UP006
    tf.reset_default_graph()
    tf.set_random_seed(7)
    program = programs.PROGRAMS[name]()
    plan = {
        "before": [each.name for each in programs.initializers(program)],
        "loss": program.loss.name,
        "train": program.train.name,
        "extra": [each.name for each in program.extra],
    }
    feeds = {tensor.name: programs.np.asarray(value, tensor.dtype.as_numpy_dtype) for tensor, value in program.feeds.items()}
    saver, path = tf.train.Saver(), str(folder / name)
    with tf.Session() as session:
        programs.train(session, plan, feeds)
        saver.save(session, path)
    plan["losses"] = go_on(tf, programs.train, path, plan, feeds, saver)
    plan["feeds"] = {key: [str(value.dtype), value.tolist()] for key, value in feeds.items()}
    return plan


def _main() -> None:
    tf = importlib.import_module("tensorflow")
    tf.logging.set_verbosity(tf.logging.ERROR)
    sys.modules["weft"] = tf
    programs = importlib.import_module("tests.interop.exported_programs")
    folder, plans = Path(sys.argv[1]), {}
    for name in sys.argv[2:] or programs.PROGRAMS:
        try:
            plans[name] = _save(tf, programs, name, folder)
        except Exception:
            plans[name] = {"error": traceback.format_exc()}
        (folder / "plans.json").write_text(json.dumps(plans))


if __name__ == "__main__":
    _main()
