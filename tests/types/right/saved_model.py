"""Models that are saved, frozen and loaded; graphs as protos; functions in Python within graphs."""

import os
import tempfile
from typing import Any

import numpy as np

import weft as tf

folder = os.path.join(tempfile.mkdtemp(), "model")
x = tf.placeholder(tf.float32, [None, 2], name="x")
y = tf.layers.dense(x, 3, name="y")
doubled = tf.py_func(lambda value: value * 2, [y], tf.float32, stateful=False, name="doubled")
doubled.set_shape([None, 3])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    signature = tf.saved_model.signature_def_utils.predict_signature_def(inputs={"x": x}, outputs={"y": y})
    builder = tf.saved_model.builder.SavedModelBuilder(folder)
    builder.add_meta_graph_and_variables(
        sess,
        [tf.saved_model.tag_constants.SERVING],
        signature_def_map={tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
    )
    builder.save()
    constant = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y/BiasAdd"])
    print(len(constant.node), sess.run(doubled, {x: np.zeros([1, 2])}).shape)
    tf.train.write_graph(constant, folder, "frozen.pb", as_text=False)
with tf.Session(graph=tf.Graph()) as sess:
    meta = tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], folder)
    names: dict[str, Any] = {key: info.name for key, info in meta.signature_def["serving_default"].outputs.items()}
    print(sess.run(names, {"x:0": [[1.0, 2.0]]})["y"])
graph_def = tf.GraphDef()
with tf.gfile.GFile(os.path.join(folder, "frozen.pb"), "rb") as file:
    graph_def.ParseFromString(file.read())
with tf.Graph().as_default() as graph:
    (output,) = tf.import_graph_def(graph_def, return_elements=["y/BiasAdd:0"], name="")
    print([op.name for op in graph.get_operations() if op.type == "Placeholder"], output.shape.as_list())
    with tf.Session(graph=graph) as sess:
        print(sess.run(output, feed_dict={"x:0": np.ones((2, 2))}))
proto = tf.make_tensor_proto([1.0, 2.0], dtype=tf.float32)
print(tf.make_ndarray(proto).sum(), tf.get_static_value(tf.constant(3)), tf.as_dtype("float32").as_numpy_dtype(3))
predictor = tf.contrib.predictor.from_saved_model(folder)
print(predictor({"x": [[0.0, 1.0]]})["y"])
