"""Hooks, savers, scaffolds, summaries, a supervisor: what stands around a training loop."""

import os
import tempfile
from typing import Any, assert_type

import weft as tf

folder = tempfile.mkdtemp()
step = tf.train.get_or_create_global_step()
assert_type(step, tf.Variable)
w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))
loss = tf.square(w, name="loss")
train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
saver = tf.train.Saver(tf.global_variables(), max_to_keep=3, keep_checkpoint_every_n_hours=1.0, sharded=True)
scaffold = tf.train.Scaffold(
    init_op=tf.global_variables_initializer(), saver=saver, init_fn=lambda scaffold, session: print(scaffold, session)
)


class Listener(tf.train.CheckpointSaverListener):
    """Told of each checkpoint."""

    def after_save(self, session: tf.Session, global_step_value: int) -> None:
        print("saved", global_step_value)


class Show(tf.train.SessionRunHook):
    """Prints the loss."""

    def begin(self) -> None:
        self._step = -1

    def after_create_session(self, session: tf.Session, coord: tf.train.Coordinator) -> None:
        self._step = session.run(step)

    def before_run(self, run_context: tf.train.SessionRunContext) -> tf.train.SessionRunArgs:
        return tf.train.SessionRunArgs({"loss": loss, "step": step}, feed_dict=None)

    def after_run(self, run_context: tf.train.SessionRunContext, run_values: tf.train.SessionRunValues) -> None:
        print(run_values.results["loss"], run_context.session.graph is tf.get_default_graph())

    def end(self, session: tf.Session) -> None:
        print(session.run(step))


hooks = [
    tf.train.StopAtStepHook(last_step=4),
    tf.train.NanTensorHook(loss),
    tf.train.LoggingTensorHook({"loss": loss, "step": step}, every_n_iter=10),
    tf.train.StepCounterHook(every_n_steps=10),
    tf.train.SummarySaverHook(save_steps=2, output_dir=folder, summary_op=merged),
    tf.train.FinalOpsHook(w),
    Show(),
]
chief = [tf.train.CheckpointSaverHook(folder, save_steps=2, scaffold=scaffold, listeners=[Listener()])]
with tf.train.MonitoredTrainingSession(
    checkpoint_dir=None,
    scaffold=scaffold,
    hooks=hooks,
    chief_only_hooks=chief,
    save_summaries_steps=None,
    save_summaries_secs=None,
) as mon_sess:
    while not mon_sess.should_stop():
        _, value = mon_sess.run([train_op, loss])
latest = tf.train.latest_checkpoint(folder)
assert_type(latest, str | Any)
state = tf.train.get_checkpoint_state(folder)
if state and state.model_checkpoint_path:
    print(os.path.basename(state.model_checkpoint_path), list(state.all_model_checkpoint_paths))
reader = tf.train.NewCheckpointReader(latest)
print(reader.get_variable_to_shape_map(), reader.get_tensor("w"), tf.train.load_variable(folder, "w").dtype)
writer = tf.summary.FileWriter(folder, tf.get_default_graph())
with tf.Session() as sess:
    saver.restore(sess, latest)
    path = saver.save(sess, os.path.join(folder, "model.ckpt"), global_step=step, write_meta_graph=True)
    assert_type(path, str | Any)
    writer.add_summary(sess.run(merged), sess.run(step))
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="accuracy", simple_value=0.5)]), 7)
    writer.add_graph(sess.graph)
    writer.add_run_metadata(tf.RunMetadata(), "step7", 7)
    assert_type(tf.train.global_step(sess, step), int)
writer.close()
again = tf.Graph()
with again.as_default(), tf.Session() as sess:
    importer = tf.train.import_meta_graph(f"{path}.meta")
    if importer is not None:
        importer.restore(sess, path)
    print(sess.run("w:0"), again.get_operation_by_name("loss").outputs[0].shape, again.get_collection("train_op"))
supervisor = tf.train.Supervisor(graph=tf.get_default_graph(), logdir=None, saver=None, summary_op=None, global_step=step)
with supervisor.managed_session() as managed:
    if not supervisor.should_stop():
        managed.run(train_op)
    supervisor.request_stop()
