"""Write SavedModels, or read those that another wrote, with weft or with a TensorFlow; print a line of JSON for each.

It is run as a script: `run.py LIBRARY write|read FOLDER CATALOGUE [NAME ...]`; LIBRARY is `weft` or `tensorflow`. A program of
the catalogue writes a SavedModel into `folder` and leaves in `feeds` what its signatures are fed, by their keys. Programs of
a catalogue named `modules.txt` are TensorFlow 2's: they save what they leave in `module` with its signatures.
"""

import json
import linecache
import os
import re
import shutil
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np  # noqa: E402

LIBRARY, ACTION, ROOT, CATALOGUE = sys.argv[1:5]
EAGER = os.path.basename(CATALOGUE) == "modules.txt"

if LIBRARY == "weft":
    import weft as tf
    from weft.proto import saved_model_pb2
else:
    import tensorflow.compat.v1 as tf  # type: ignore[import-not-found,no-redef]
    import tensorflow.compat.v2 as v2  # type: ignore[import-not-found]  # noqa: F401
    from tensorflow.core.protobuf import saved_model_pb2  # type: ignore[import-not-found,no-redef]

    if EAGER and ACTION == "write":
        tf.enable_v2_behavior()
    else:
        tf.disable_v2_behavior()
        tf.disable_resource_variables()

from google.protobuf import text_format  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)

X = np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32)


def weights(*shape):
    """A variable of known values."""
    values = np.linspace(-0.5, 1.0, int(np.prod(shape))).reshape(shape).astype(np.float32)
    return tf.get_variable(f"w{len(tf.global_variables())}", initializer=values)


def started():
    """A session whose variables and tables are initialized."""
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
    return session


def vocabulary(words=("a", "b", "c")):
    """The path of a file with a word a line, outside of any SavedModel."""
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as file:
        file.write("".join(word + "\n" for word in words))
    return path


def example(age, word, n):
    """A serialized tf.Example, as text."""
    train = tf.train
    features = {
        "age": train.Feature(float_list=train.FloatList(value=[age])),
        "word": train.Feature(bytes_list=train.BytesList(value=[word])),
        "n": train.Feature(int64_list=train.Int64List(value=[n])),
    }
    return train.Example(features=train.Features(feature=features)).SerializeToString().decode("latin1")


def variables_of(model):
    """The variables of a model of Keras, as those of TensorFlow that a tf.Module takes note of."""
    return [each if callable(each.value) else each.value for each in model.variables]


def save_with_table(folder, **given):
    """Save a model that looks words up in a file, and what it is fed; `given` makes further arguments of the builder."""
    words, path = tf.placeholder(tf.string, [None], name="words"), tf.constant(vocabulary())
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
    kind = tf.lookup.TextFileIndex
    initializer = tf.lookup.TextFileInitializer(path, tf.string, kind.WHOLE_LINE, tf.int64, kind.LINE_NUMBER)
    ids = tf.lookup.StaticVocabularyTable(initializer, 2).lookup(words)
    rows = tf.nn.embedding_lookup(weights(5, 2), ids)
    signature = tf.saved_model.predict_signature_def({"words": words}, {"ids": ids, "rows": rows})
    builder = tf.saved_model.Builder(folder)
    with started() as session:
        options = {key: make() for key, make in given.items()}
        assets = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, assets_collection=assets, **options
        )
    builder.save()
    return {"serving_default": {"words": ["a", "c", "q", "zz"]}}


def features():
    """Columns of a wide and of a deep model, with vocabularies of both kinds."""
    column = tf.feature_column
    words = column.categorical_column_with_vocabulary_file("word", vocabulary(), 3, num_oov_buckets=1)
    listed, age = column.categorical_column_with_vocabulary_list("word", ["a", "zz"]), column.numeric_column("age")
    rows = column.embedding_column(listed, 2, initializer=tf.constant_initializer(0.3))
    crossed = column.crossed_column([words, column.bucketized_column(age, [0.5])], 7)
    return [words, column.bucketized_column(age, [0.0, 1.0]), crossed], [age, column.indicator_column(words), rows]


def batch(labels):
    """Four rows of features, and their labels."""
    values = {"age": tf.constant([[0.5], [-0.25], [2.0], [1.0]]), "word": tf.constant([["a"], ["c"], ["zz"], ["b"]])}
    return values, tf.constant(labels)


def move(made, folder):
    """Move an exported model to where this script keeps it."""
    shutil.move(made.decode() if isinstance(made, bytes) else made, folder)


def export_trained(estimator, folder, labels, columns):
    """Train an estimator and export it for serialized examples; what its signatures are fed."""
    estimator.train(lambda: batch(labels), steps=3)
    spec = tf.feature_column.make_parse_example_spec(columns)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    move(estimator.export_saved_model(tempfile.mkdtemp(), receiver), folder)
    fed = {key: {"inputs": EXAMPLES} for key in ["serving_default", "classification", "regression"]}
    return dict(fed, predict={"examples": EXAMPLES})


EXAMPLES = [example(0.5, b"a", 1), example(-0.25, b"c", 4), example(2.0, b"zz", 2)]


def as_fed(value, dtype):
    """A value out of a file of JSON as an array."""
    dtype = tf.as_dtype(dtype)
    if dtype == tf.string:
        return np.vectorize(lambda each: each.encode("latin1"), otypes=[object])(np.array(value, object))
    return np.array(value, dtype.as_numpy_dtype)


def plain(value):
    """A result as JSON knows it."""
    array = np.asarray(value)
    return [each.decode("latin1") for each in array.ravel()] if array.dtype.kind in "SO" else array.astype(float).tolist()


def saved(folder):
    """The message of a SavedModel."""
    made = saved_model_pb2.SavedModel()
    if os.path.exists(folder + "/saved_model.pbtxt"):
        with open(folder + "/saved_model.pbtxt") as file:
            return text_format.Parse(file.read(), made)
    with open(folder + "/saved_model.pb", "rb") as file:
        made.ParseFromString(file.read())
    return made


def fed_of(signature, values):
    """What a run of a signature is fed, by names of tensors."""
    fed = {}
    for name, info in signature.inputs.items():
        if info.WhichOneof("encoding") == "coo_sparse":
            parts = info.coo_sparse
            fed[parts.values_tensor_name] = as_fed(values[name]["values"], info.dtype)
            fed[parts.indices_tensor_name] = as_fed(values[name]["indices"], tf.int64)
            fed[parts.dense_shape_tensor_name] = as_fed(values[name]["dense_shape"], tf.int64)
        else:
            fed[info.name] = as_fed(values[name], info.dtype)
    return fed


def read(folder, feeds):
    """What each signature of each graph gives."""
    found = {}
    for tags in [list(each.meta_info_def.tags) for each in saved(folder).meta_graphs]:
        with tf.Graph().as_default(), tf.Session() as session:
            signatures = tf.saved_model.loader.load(session, tags, folder).signature_def
            for key in sorted(set(signatures) & set(feeds)):
                names = {name: info.name for name, info in signatures[key].outputs.items()}
                fed = fed_of(signatures[key], feeds[key])
                result = session.run(names, fed)
                # In one step a metric's value is read before its update or after it, as it happens.
                metrics = {name: names[name] for name in names if name.endswith("/value")}
                result.update(session.run(metrics, fed))
                values = {name: plain(value) for name, value in sorted(result.items())}
                found[",".join(sorted(tags)) + " " + key] = [signatures[key].method_name, values]
    return found


def write(source, name, folder):
    """Run a program; what its signatures are to be fed."""
    tf.reset_default_graph()
    tf.set_random_seed(3)
    shutil.rmtree(folder, ignore_errors=True)
    names = {**globals(), "folder": folder}
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # autograph reads it
    exec(compile(source, name, "exec"), names)
    if not EAGER:
        return names["feeds"], None
    tf.saved_model.save(names["module"], folder, signatures=names["module"].run)
    given = {key: tf.constant(as_fed(value, names["kind"])) for key, value in names["feeds"].items()}
    expected = {key: plain(value.numpy()) for key, value in sorted(names["module"].run(**given).items())}
    return {"serving_default": names["feeds"]}, {"serve serving_default": ["tensorflow/serving/predict", expected]}


def outcome(source, name):
    """What came of one program or of its model."""
    folder = os.path.join(ROOT, name.replace(" ", "_"))
    try:
        if ACTION == "write":
            feeds, expected = write(source, name, folder)
            with open(folder + ".json", "w") as file:
                json.dump([feeds, expected], file)
            return {"written": True, "expected": expected}
        if not os.path.exists(folder + ".json"):
            return {}
        with open(folder + ".json") as file:
            return {"read": read(folder, json.load(file)[0])}
    except Exception as error:
        return {"error": type(error).__name__ + ": " + str(error)[:1500]}


def main():
    """Write or read the models."""
    os.makedirs(ROOT, exist_ok=True)
    with open(CATALOGUE) as file:
        parts = [part.partition("\n") for part in re.split(r"^### ", file.read(), flags=re.M)[1:]]
    for name, _, source in parts:
        if name in sys.argv[5:] or not sys.argv[5:]:
            print(json.dumps([name, outcome(source, name)]), flush=True)
    os._exit(0)


main()
