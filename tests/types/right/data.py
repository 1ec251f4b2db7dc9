"""tf.data: pipelines, iterators, records."""

from typing import assert_type

import numpy as np

import weft as tf


def scaled(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """One element of the next dataset."""
    return tf.cast(x, tf.float32) / 2.0, y


dataset = tf.data.Dataset.from_tensor_slices((np.arange(6), np.arange(6)))
assert_type(dataset, tf.data.Dataset)
pipeline = dataset.shuffle(10, seed=1).repeat(2).map(scaled, num_parallel_calls=2).batch(3, drop_remainder=True).prefetch(1)
assert_type(pipeline, tf.data.Dataset)
evens = tf.data.Dataset.range(10).filter(lambda x: tf.equal(x % 2, 0)).take(2)
both = tf.data.Dataset.zip((evens, evens.skip(0)))
texts = tf.data.TextLineDataset(["/dev/null"]).skip(1)
generated = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_types=tf.int32, output_shapes=[])
joined = generated.flat_map(lambda x: tf.data.Dataset.from_tensors(x)).apply(tf.data.experimental.ignore_errors())
iterator = pipeline.make_one_shot_iterator()
features, labels = iterator.get_next()
reinitializable = tf.data.Iterator.from_structure(pipeline.output_types, pipeline.output_shapes)
start = reinitializable.make_initializer(pipeline)
again = both.make_initializable_iterator()
example = tf.train.Example(
    features=tf.train.Features(feature={"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))})
)
parsed = tf.parse_single_example(example.SerializeToString(), {"x": tf.FixedLenFeature([2], tf.int64)})
with tf.Session() as sess:
    sess.run([again.initializer, start])
    try:
        while True:
            print(sess.run([features, labels])[0].shape)
    except tf.errors.OutOfRangeError:
        print("done", sess.run(parsed["x"]))
several = dataset.batch(np.int64(2)).repeat(tf.placeholder(tf.int64)).take(tf.Variable(3, dtype=tf.int64)).prefetch(1)
print(several.shuffle(np.asarray(4)).window(2, shift=1).skip(True))
