"""A replica, or its parameter server, of a job whose parameter server comes back under another address.

Its arguments: the addresses of ps:0 and worker:0, the task, and whether it announces itself.
"""

import sys

import weft as tf


def train(target):
    with tf.device("/job:ps/task:0"):
        step = tf.train.get_or_create_global_step()
        count = tf.assign_add(step, 1)
    with tf.train.MonitoredTrainingSession(target, retry_policy=tf.train.RetryPolicy(longest_wait_s=0.2)) as session:
        while sys.stdin.readable():
            print("step", session.run(count), flush=True)


def main():
    ps, worker, job, announce = sys.argv[1:]
    server = tf.train.Server({"ps": [ps], "worker": [worker]}, job, 0, announce=announce == "announce")
    print("serves at", server.target, flush=True)
    if job == "ps":
        server.join()
    else:
        train(server.target)


if __name__ == "__main__":
    main()
