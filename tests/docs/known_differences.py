"""Programs of the differences that docs/migration.md lists: run with weft or TensorFlow 1.15 as `tf`, they print what each has.

`python known_differences.py weft` and `python known_differences.py tensorflow` print one JSON object: by row, the outcome.
"""

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAMS = {}


def row(name):
    """Note a function as the program of a row."""

    def note(function):
        PROGRAMS[name] = function
        return function

    return note


@row("floating-point results")
def _sums(tf):
    numbers = tf.random_uniform([100000], seed=3)
    parts = tf.add_n([tf.reduce_sum(each) for each in tf.split(numbers, 10)])
    whole, by_parts = tf.Session().run([tf.reduce_sum(numbers), parts])
    return bool(abs(whole - by_parts) < 1e-4 * whole)


@row("eager mode, `tf.function`")
def _eager(tf):
    return hasattr(tf, "function")


@row("gradients of `tf.py_function`")
def _second_derivative(tf):
    x = tf.constant(2.0)
    y = tf.py_function(lambda each: each * each * each, [x], tf.float32)
    return tf.gradients(tf.gradients(y, x), x)[0] is not None


@row("`tf.load_op_library`")
def _library(tf):
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        tf.load_op_library(file.name)


@row("`parallel_iterations`, `swap_memory`, `use_cudnn_on_gpu`")
def _loop(tf):
    loop = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)], parallel_iterations=1, swap_memory=True)
    return int(tf.Session().run(loop))


@row("a feed that loses something, such as 1.7 for an int32")
def _fraction(tf):
    whole = tf.placeholder(tf.int32)
    return int(tf.Session().run(whole, {whole: 1.7}))


@row("`tf.jax_function`, `weft.explain`, `tf.LocalCluster`, `tf.draw_timeline`, `tf.draw_placement`")
def _own_names(tf):
    names = ("jax_function", "explain", "LocalCluster", "draw_timeline", "draw_placement")
    return sum(hasattr(tf, name) for name in names)


def _listening(port):
    """The addresses at which this host listens on a port, as the kernel prints them."""
    found = set()
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        if os.path.exists(table):
            with open(table) as file:
                rows = [line.split() for line in file.readlines()[1:]]
            found.update(each[1].split(":")[0] for each in rows if each[3] == "0A" and int(each[1].split(":")[1], 16) == port)
    return found


@row("addresses")
def _addresses(tf):
    server = tf.train.Server({"a": ["localhost:0"]}, job_name="a", task_index=0)
    addresses = _listening(int(server.target.rpartition(":")[2]))
    return "all" if any(set(each) == {"0"} for each in addresses) else "its own"


@row("`grpc+verbs`, `grpc+mpi`, `grpc+gdr`")
def _protocols(tf):
    # TensorFlow's own packages are built without them; a build with the option has them.
    tf.train.Server({"a": ["localhost:0"]}, job_name="a", task_index=0, protocol="grpc+verbs")


@row("`Server.stop`")
def _stop(tf):
    return hasattr(tf.train.Server, "stop")


@row("a damaged checkpoint")
def _damaged(tf):
    folder = tempfile.mkdtemp()
    step = tf.train.get_or_create_global_step()
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in (1, 2):
            session.run(step.assign(number))
            path = saver.save(session, folder + "/model.ckpt", number)
    with open(path + ".index", "r+b") as file:
        file.truncate(10)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_secs=None) as session:
        return int(session.run(step))


@row("Python generators in a saved iterator")
def _generator(tf):
    folder = tempfile.mkdtemp()
    dataset = tf.data.Dataset.from_generator(lambda: iter(range(5)), tf.int32)
    iterator = dataset.make_initializable_iterator()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        path = saver.save(session, folder + "/model")
        session.run(element)
        saver.restore(session, path)
        return int(session.run(element))


@row("tracebacks")
def _traceback(tf):
    name = tf.__name__
    program = f"import {name} as tf\nv = tf.Variable(1.0)\ntf.Session().run(v)\n"
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(program)
    shown = subprocess.run([sys.executable, file.name], stderr=subprocess.PIPE, text=True).stderr
    frames = re.findall(r'File ".*[/\\](weft|tensorflow\w*)[/\\]', shown.partition("was built at")[0])
    return "one" if len(frames) == 1 else "several"


@row("a name that is misspelt or lacking")
def _misspelt(tf):
    try:
        return tf.nn.sofmax
    except AttributeError as error:
        return "softmax" in str(error)


def main(module):
    """Print what each program gives: its value, or the class of its error."""
    tf = importlib.import_module(module)
    found = {}
    for name, program in PROGRAMS.items():
        with tf.Graph().as_default():
            try:
                found[name] = program(tf)
            except Exception as error:
                found[name] = type(error).__name__
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
