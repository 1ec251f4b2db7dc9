"""Guide 4's worker script: `create_worker.py TASK ADDRESS ADDRESS`."""

import sys

task_number = int(sys.argv[1])

import weft as tf  # noqa: E402

cluster = tf.train.ClusterSpec({"local": sys.argv[2:]})
server = tf.train.Server(cluster, job_name="local", task_index=task_number)

print(f"Starting server #{task_number}")

server.start()
server.join()
