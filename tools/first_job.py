"""What a user's first hour has: a graph, and a cluster of processes. Run where weft has just been installed."""

import sys

import weft as tf

flags = dict(each[2:].split("=", 1) for each in sys.argv[1:])
cluster = {"ps": flags["ps_hosts"].split(","), "worker": flags["worker_hosts"].split(",")}
server = tf.train.Server(cluster, flags["job_name"], int(flags["task_index"]))
if flags["job_name"] == "ps":
    server.join()
with tf.device("/job:ps/task:0"):
    step = tf.train.get_or_create_global_step()
add = step.assign_add(1)
with tf.train.MonitoredTrainingSession(server.target, hooks=[tf.train.StopAtStepHook(3)]) as session:
    while not session.should_stop():
        done = session.run(add)
print("done", done)
