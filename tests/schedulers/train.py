"""A program for every scheduler: between-graph replicas that train one variable, told where they are by flags.

Its arguments: --steps=N, --model=FOLDER, --task_s=S (how long a step takes at least).
"""

import sys
import time

import weft as tf

FLAGS = dict(each[2:].split("=", 1) for each in sys.argv[1:])


def main():
    cluster = tf.train.ClusterSpec(
        {role: FLAGS[f"{role}_hosts"].split(",") for role in ("ps", "chief", "worker") if FLAGS.get(f"{role}_hosts")}
    )
    role, index = FLAGS["job_name"], int(FLAGS["task_index"])
    server = tf.train.Server(cluster, role, index)
    print(f"{role}:{index} serves at {server.target}", flush=True)
    if role == "ps":
        server.join()
        return
    has_chief = "chief" in cluster.jobs
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:{role}/task:{index}")):
        step = tf.train.get_or_create_global_step()
        weight = tf.get_variable("weight", initializer=8.0)
        train = tf.train.GradientDescentOptimizer(0.001).minimize(weight**2, global_step=step)
    is_chief = role == "chief" or (role == "worker" and index == 0 and not has_chief)
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief, FLAGS.get("model"), hooks=[tf.train.StopAtStepHook(last_step=int(FLAGS["steps"]))]
    ) as session:
        done = session.run(step)
        print(f"{role}:{index} begins at step {done}", flush=True)
        while not session.should_stop():
            _, done = session.run([train, step])
            time.sleep(float(FLAGS.get("task_s", 0)))
    print(f"{role}:{index} is done after step {done}", flush=True)


if __name__ == "__main__":
    main()
