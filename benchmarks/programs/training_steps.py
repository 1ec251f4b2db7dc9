"""Training steps in one process: dense, sparse and convolutional."""

from __future__ import annotations

from benchmarks.framework import framework
from benchmarks.programs import models
from benchmarks.timing import Sample, seconds_per_call

BATCH = 128


def mlp_step() -> Sample:
    """Seconds of an Adagrad step of 784-512-10 on a fed batch of 128."""
    tf = framework()
    images, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
    loss = models.cross_entropy(tf, models.perceptron(tf, images, 512), labels)
    step = tf.train.AdagradOptimizer(0.01).minimize(loss)
    pixels, digits = models.digits(BATCH)
    batch = {images: pixels, labels: digits}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return seconds_per_call(lambda: session.run(step, batch))


def cnn_step() -> Sample:
    """Seconds of a gradient descent step of two 5x5 convolutions with pooling on a fed batch of 128 digits."""
    tf = framework()
    images, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
    loss = models.cross_entropy(tf, models.convolutional(tf, images), labels)
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    pixels, digits = models.digits(BATCH)
    batch = {images: pixels, labels: digits}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return seconds_per_call(lambda: session.run(step, batch), warm_up_s=3.0, measure_s=4.0, batch_s=0.2)


def resnet_step() -> Sample:
    """Seconds of a momentum step of ResNet-20 on a fed batch of 32 pictures of 32x32."""
    tf = framework()
    images, labels = tf.placeholder(tf.float32, [None, 32, 32, 3]), tf.placeholder(tf.int32, [None])
    loss = models.cross_entropy(tf, models.residual(tf, images), labels)
    step = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    batch = {images: models.pictures(32), labels: models.digits(32)[1]}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return seconds_per_call(lambda: session.run(step, batch), warm_up_s=3.0, measure_s=4.0, batch_s=0.2)


def embedding_step() -> Sample:
    """Seconds of an Adagrad step that looks up 4,096 fed ids in 1,000,000 x 32 and updates only those rows."""
    tf = framework()
    ids = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("table", [1_000_000, 32], initializer=tf.random_uniform_initializer(-0.1, 0.1, seed=1))
    step = tf.train.AdagradOptimizer(0.1).minimize(models.embedding_loss(tf, table, ids))
    batch = {ids: models.random_ids(4096, 1_000_000)}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return seconds_per_call(lambda: session.run(step, batch))
