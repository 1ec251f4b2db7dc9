"""Programs of the differences that docs/migration.md lists: run with weft or TensorFlow 1.15 as `tf`, they print what each has.

`python known_differences.py weft` and `python known_differences.py tensorflow` print one JSON object: by row, the outcome.
"""

import contextlib
import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading

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


@row("eager mode")
def _eager(tf):
    return hasattr(tf.contrib.eager, "enable_eager_execution")


@row("`tf.function`, `tf.autograph`")
def _function(tf):
    double = tf.function(lambda x: x * 2)
    return double(tf.constant(1)).op.type


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


def _port():
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


# A task that serves until it is killed, in a folder of its own.
_TASK = """
import importlib, json, os, sys
tf = importlib.import_module(sys.argv[1])
os.chdir(sys.argv[5])
tf.train.Server(json.loads(sys.argv[2]), job_name=sys.argv[3], task_index=int(sys.argv[4])).join()
"""


@contextlib.contextmanager
def _cluster(tf, workers=1):
    """This process's server, a worker, and the process of the only parameter server."""
    spec = {job: [f"localhost:{_port()}" for _ in range(count)] for job, count in (("ps", 1), ("worker", workers))}
    command = [sys.executable, "-c", _TASK, tf.__name__, json.dumps(spec), "ps", "0", tempfile.mkdtemp()]
    other = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    other.target = f"grpc://{spec['ps'][0]}"
    try:
        yield tf.train.Server(spec, job_name="worker", task_index=0), other
    finally:
        other.kill()
        other.wait()


def _ends(function, seconds):
    """What a function returns, the class of its error, or "waits" when it takes longer."""
    found = []

    def call():
        try:
            found.append(function())
        except Exception as error:
            found.append(type(error).__name__)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else "waits"


def _counter(tf):
    with tf.device("/job:ps/task:0"):
        tf.train.get_or_create_global_step()
        count = tf.get_variable("count", shape=[], initializer=tf.zeros_initializer())
        return count.assign_add(1.0)


@row("`tf.contrib.cudnn_rnn`")
def _cudnn(tf):
    layer = tf.contrib.cudnn_rnn.CudnnLSTM(1, 3)
    outputs, _ = layer(tf.ones([2, 1, 3]))
    names = sorted(each.op.name.rpartition("/")[2] for each in tf.global_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return "runs" if session.run(outputs).shape == (2, 1, 3) and len(names) > 1 else "one variable"


@row("`http_proxy`, `grpc_proxy`")
def _proxy(tf):
    with _cluster(tf) as (_, other):
        program = (
            f"import {tf.__name__} as tf\n"
            f"with tf.Session('{other.target}') as session:\n"
            "    print('reached', session.run(tf.constant(3)))\n"
        )
        proxy = f"http://localhost:{_port()}"
        variables = dict(os.environ, http_proxy=proxy, https_proxy=proxy, grpc_proxy=proxy)
        command = [sys.executable, "-c", program]
        try:
            printed = subprocess.run(command, env=variables, stdout=subprocess.PIPE, timeout=30, check=False).stdout
        except subprocess.TimeoutExpired:
            return "waits"
        return "reached" if b"reached 3" in printed else "not reached"


@row("a task that dies or stands still")
def _standing(tf):
    with _cluster(tf) as (server, other):
        step = _counter(tf)
        session = tf.Session(server.target)
        session.run(tf.global_variables_initializer())
        os.kill(other.pid, signal.SIGSTOP)
        return _ends(lambda: session.run(step), 15)


@row("replicas with different variables")
def _unlike(tf):
    with _cluster(tf, workers=2) as (server, _):
        _counter(tf)
        config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
        chief = tf.train.MonitoredTrainingSession(server.target, config=config)

        def other():
            with tf.Graph().as_default():
                _counter(tf)
                tf.get_variable("more", shape=[3])
                tf.train.MonitoredTrainingSession(server.target, is_chief=False, config=config)
                return "trains"

        found = _ends(other, 15)
        chief.close()
        return found


@row("a save without a shared file system")
def _apart(tf):
    with _cluster(tf) as (server, _):
        _counter(tf)
        saver = tf.train.Saver()
        os.chdir(tempfile.mkdtemp())
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            path = saver.save(session, "./model")
        with tf.Session() as session, tf.Graph().as_default():
            return "here" if os.path.exists(path + ".index") and os.path.exists(path + ".data-00000-of-00001") else "elsewhere"


@row("device filters of a training session")
def _filters(tf):
    with _cluster(tf, workers=2) as (server, _):
        _counter(tf)

        def begin():
            with tf.train.MonitoredTrainingSession(server.target) as session:
                return int(session.run(tf.train.get_global_step()))

        graph = tf.get_default_graph()

        def in_graph():
            with graph.as_default():
                return begin()

        # The other worker is not there: a session without filters waits for it.
        return _ends(in_graph, 15)


def main(module):
    """Print what each program gives: its value, or the class of its error."""
    tf = importlib.import_module(module)
    found = {}
    wanted = sys.argv[2:]
    for name, program in PROGRAMS.items():
        if wanted and name not in wanted:
            continue
        with tf.Graph().as_default():
            try:
                found[name] = program(tf)
            except Exception as error:
                found[name] = type(error).__name__
    print(json.dumps(found), flush=True)
    # Threads that wait for ever are part of what is asked.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
