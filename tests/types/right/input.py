"""Input of many kinds: queues of files, records, parsing, tables, images."""

import os
import tempfile
from typing import assert_type

import weft as tf

folder = tempfile.mkdtemp()
records = os.path.join(folder, "a.tfrecord")
with tf.python_io.TFRecordWriter(records) as writer:
    for number in range(4):
        feature = {
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
            "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"b"])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
print([len(each) for each in tf.python_io.tf_record_iterator(records)])
files = tf.train.string_input_producer([records], num_epochs=2, shuffle=False)
_, serialized = tf.TFRecordReader().read(files)
spec = {"label": tf.FixedLenFeature([], tf.int64), "words": tf.VarLenFeature(tf.string)}
parsed = tf.parse_single_example(serialized, features=spec)
label = tf.cast(parsed["label"], tf.int32)
labels = tf.train.shuffle_batch([label], batch_size=2, capacity=20, min_after_dequeue=4, num_threads=1, seed=3)
dataset = (
    tf.data.TFRecordDataset([records], num_parallel_reads=1)
    .map(lambda each: tf.parse_single_example(each, spec))
    .map(lambda each: (each["label"], tf.sparse_tensor_to_dense(each["words"], default_value="")))
    .padded_batch(2, padded_shapes=([], [None]))
    .shuffle(buffer_size=3)
    .repeat()
    .prefetch(buffer_size=tf.data.experimental.AUTOTUNE)
)
numbers, words = dataset.make_one_shot_iterator().get_next()
vocabulary = tf.contrib.lookup.index_table_from_tensor(tf.constant(["a", "b"]), num_oov_buckets=1)
ids = vocabulary.lookup(words)
assert_type(vocabulary.lookup(tf.constant(["a"])), tf.Tensor)
sparse = tf.SparseTensor(indices=[[0, 0]], values=["b"], dense_shape=[1, 2])
assert_type(vocabulary.lookup(sparse), tf.SparseTensor)
counts = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, 0)
counted = counts.insert(tf.constant(["a"]), tf.constant([3], tf.int64))
found = counts.lookup(tf.constant(["a", "z"]))
lines = tf.data.TextLineDataset(records).interleave(lambda x: tf.data.Dataset.from_tensors(x), cycle_length=2, block_length=1)
columns = tf.decode_csv(["1,a,2.5"], record_defaults=[[0], [""], [0.0]])
image = tf.image.decode_png(tf.image.encode_png(tf.zeros([4, 4, 3], tf.uint8)), channels=3)
image = tf.image.random_flip_left_right(tf.image.resize_images(tf.image.convert_image_dtype(image, tf.float32), (8, 8)))
pieces = tf.string_split(["a b c"], " ")
assert_type(pieces, tf.SparseTensor)
hashed = tf.string_to_hash_bucket_fast(pieces.values, 10)
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    try:
        while not coord.should_stop():
            print(sess.run(labels))
    except tf.errors.OutOfRangeError as error:
        print("done", error.message[:5], error.op.name if error.op else None)
    finally:
        coord.request_stop()
    coord.join(threads)
    sess.run(counted)
    print(sess.run([numbers, ids, found, columns, image, hashed])[0])
