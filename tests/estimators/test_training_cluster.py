"""train_and_evaluate in a cluster: chief, worker, parameter server and evaluator are processes, told by TF_CONFIG."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import sys
import weft as tf

def input_fn():
    return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([[2.0], [4.0]])

def model_fn(features, labels, mode):
    weight = tf.get_variable("weight", [1, 1], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, tf.matmul(features["x"], weight))
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

class Told(tf.estimator.Exporter):
    name = "told"
    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        print("evaluated", is_the_final_export, eval_result["loss"] < 1e-3, flush=True)

config = tf.estimator.RunConfig(sys.argv[1], save_checkpoints_steps=100, experimental_max_worker_delay_secs=0)
print("device", config.task_type, config.num_ps_replicas, config.is_chief, flush=True)
estimator = tf.estimator.Estimator(model_fn, config=config)
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(input_fn, max_steps=200),
    tf.estimator.EvalSpec(input_fn, steps=1, exporters=Told(), start_delay_secs=0, throttle_secs=0.2),
)
print("ended", config.task_type, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("roots", ["/", "/dev/null"], ids=["open", "closed to graphs"])
def test_every_kind_of_task_does_its_part_and_ends(tmp_path: Path, roots: str) -> None:
    """Also where parameter servers do not open the model's folder to graphs, as those of other hosts."""
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM, encoding="utf-8")
    tasks = ["--ps", "1", "--chief", "1", "--worker", "1", "--evaluator", "1", "--env", f"ps:WEFT_FILE_ROOTS={roots}"]
    command = [sys.executable, "-m", "weft.cli", "launch", *tasks, "--no-flags", str(program), str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    told = {line.partition("| ")[2] for line in done.stdout.splitlines()}
    assert {f"ended {kind}" for kind in ("chief", "worker", "evaluator")} <= told
    assert {"device chief 1 True", "device worker 1 False", "device ps 1 False", "device evaluator 0 False"} <= told
    assert "evaluated True True" in told
    assert len(list((tmp_path / "model" / "eval").glob("*tfevents*"))) == 1
