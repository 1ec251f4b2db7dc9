"""What a type checker has to refuse about hooks, savers, scaffolds, summaries and supervisors."""

import weft as tf

loss = tf.constant(1.0)
step = tf.train.get_or_create_global_step()
step.nme  # E: attr-defined, reportAttributeAccessIssue
step.assign_sum(1)  # E: attr-defined, reportAttributeAccessIssue
saver = tf.train.Saver(max_keep=3)  # E: call-arg, reportCallIssue
tf.train.Saver(max_to_keep="three")  # E: arg-type, reportArgumentType
saver.save(tf.Session())  # E: call-arg, reportCallIssue
saver.save(tf.Session(), "model", step="last")  # E: call-arg, reportCallIssue
saver.restor(tf.Session(), "model")  # E: attr-defined, reportAttributeAccessIssue
saver.restore(tf.Session())  # E: call-arg, reportCallIssue
saver.recover_last_checkpoint(["a"])  # E: attr-defined, reportAttributeAccessIssue
tf.train.latest_checkpoint()  # E: call-arg, reportCallIssue
tf.train.latest_checkpoints("dir")  # E: attr-defined, reportAttributeAccessIssue
tf.train.latest_checkpoint("dir").namme  # E: union-attr, reportAttributeAccessIssue
tf.train.get_checkpoint_state()  # E: call-arg, reportCallIssue
tf.train.NewCheckpointReader()  # E: call-arg, reportCallIssue
tf.train.NewCheckpointReader("model").get_tensr("w")  # E: attr-defined, reportAttributeAccessIssue
tf.train.import_meta_graph()  # E: call-arg, reportCallIssue
tf.train.NanTensorHook()  # E: call-arg, reportCallIssue
tf.train.NanTensorHook(3)  # E: arg-type, reportArgumentType
tf.train.LoggingTensorHook(["loss"], every_steps=3)  # E: call-arg, reportCallIssue
tf.train.CheckpointSaverHook()  # E: call-arg, reportCallIssue
tf.train.CheckpointSaverHook("dir", save_step=3)  # E: call-arg, reportCallIssue
tf.train.SummarySaverHook(save_steps="ten")  # E: arg-type, reportArgumentType
tf.train.StepCounterHook(every_n_step=3)  # E: call-arg, reportCallIssue
tf.train.FinalOpsHook()  # E: call-arg, reportCallIssue
tf.train.Scaffold(init=None)  # E: call-arg, reportCallIssue
tf.train.Scaffold().init_ops  # E: attr-defined, reportAttributeAccessIssue
tf.train.Scaffold(saver="model")  # E: arg-type, reportArgumentType
tf.train.SessionRunArgs()  # E: call-arg, reportCallIssue
tf.train.SessionRunArgs(loss, feeds={})  # E: call-arg, reportCallIssue
tf.train.ChiefSessionCreator(checkpoint="dir")  # E: call-arg, reportCallIssue
tf.train.MonitoredSession(session_creators=None)  # E: call-arg, reportCallIssue
tf.train.MonitoredTrainingSession(checkpoint_dir="dir", save_checkpoint_sec=3)  # E: call-arg, reportCallIssue
tf.train.Supervisor(log_dir="dir")  # E: call-arg, reportCallIssue
tf.train.Supervisor(logdir="dir").should_stops()  # E: attr-defined, reportAttributeAccessIssue
tf.train.Supervisor(logdir="dir", is_chief=True).managed_sessions()  # E: attr-defined, reportAttributeAccessIssue
tf.summary.scalar("loss")  # E: call-arg, reportCallIssue
tf.summary.scalar(3, loss)  # E: arg-type, reportArgumentType
tf.summary.histograms("loss", loss)  # E: attr-defined, reportAttributeAccessIssue
tf.summary.FileWriter()  # E: call-arg, reportCallIssue
writer = tf.summary.FileWriter("dir")
writer.add_summaries(b"")  # E: attr-defined, reportAttributeAccessIssue
writer.add_summary()  # E: call-arg, reportCallIssue
writer.add_summary(b"", "step")  # E: arg-type, reportArgumentType
writer.add_graph(3)  # E: arg-type, reportArgumentType
tf.Summary(values=[])  # E: call-arg, reportCallIssue
tf.train.ExponentialMovingAverage()  # E: call-arg, reportCallIssue
tf.train.ExponentialMovingAverage(0.9).averages(step)  # E: attr-defined, reportAttributeAccessIssue
tf.train.global_step(tf.Session())  # E: call-arg, reportCallIssue


class Hook(tf.train.SessionRunHook):
    """A hook whose methods are not those of a hook."""

    def before_run(self) -> None: ...  # E: override, reportIncompatibleMethodOverride

    def after_run(self, run_context: int, run_values: int) -> None: ...  # E: override, reportIncompatibleMethodOverride

    def end(self, session: int) -> None: ...  # E: override, reportIncompatibleMethodOverride


tf.train.MonitoredTrainingSession(hooks=Hook())  # E: arg-type, reportArgumentType
tf.train.MonitoredTrainingSession(hooks=[step])  # E: list-item, reportArgumentType
