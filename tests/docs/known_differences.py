"""Programs of the differences that docs/migration.md lists: run with weft or TensorFlow 1.15 as `tf`, they print what each has.

`python known_differences.py weft` and `python known_differences.py tensorflow` print one JSON object: by row, the outcome.
"""

import contextlib
import importlib
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

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


@row("the seed of an op that has only the graph's")
def _graph_seed(tf):
    tf.set_random_seed(1)
    tf.random_uniform([])
    numbers = tf.ones([3])
    tf.gradients(tf.map_fn(lambda each: each * 2.0, numbers), numbers)
    tf.random_uniform([])
    drawn = [op for op in tf.get_default_graph().get_operations() if op.type == "RandomUniform"]
    return drawn[1].get_attr("seed2") - drawn[0].get_attr("seed2")


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


@row("the gradient of `tf.nn.ctc_loss_v2` behind the end of a sequence, of dense labels")
def _padding(tf):
    logits = tf.constant([[[0.1, 0.2, 0.3]]] * 4)
    loss = tf.nn.ctc_loss_v2(tf.constant([[1]]), logits, tf.constant([1]), tf.constant([2]), blank_index=0)
    return bool(tf.Session().run(tf.gradients(loss, logits)[0])[2:].any())


@row("a feed that loses something, such as 1.7 for an int32")
def _fraction(tf):
    x = tf.placeholder(tf.int32)
    return int(tf.Session().run(x, {x: 1.7}))


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


def _spec(workers=1):
    return {job: [f"localhost:{_port()}" for _ in range(count)] for job, count in (("ps", 1), ("worker", workers))}


@contextlib.contextmanager
def _process(tf, code, spec, job, index):
    """The process of a task, in a folder of its own."""
    command = [sys.executable, "-c", code, tf.__name__, json.dumps(spec), job, str(index), tempfile.mkdtemp()]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    process.target = f"grpc://{spec[job][index]}"
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _cluster(tf, workers=1):
    """This process's server, a worker, and the process of the only parameter server."""
    spec = _spec(workers)
    with _process(tf, _TASK, spec, "ps", 0) as other:
        yield tf.train.Server(spec, job_name="worker", task_index=0), other


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


@row("a dead replica under `SyncReplicasOptimizer`")
def _half(tf):
    # One replica of two trains, and the other never gives a gradient: the numbers of updates after each of its steps.
    graph, found = tf.get_default_graph(), []
    x = tf.get_variable("x", shape=[], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2, 2)
    update, hook = optimizer.minimize(x * 1.0, step), optimizer.make_session_run_hook(True)

    def train():
        # A session that closes waits for threads that wait for gradients, in TensorFlow.
        with graph.as_default():
            session = tf.train.MonitoredTrainingSession(hooks=[hook])
            for _ in range(7):
                session.run(update)
            found.append(int(session.run(step)))
        return found[0]

    return _ends(train, 60)


@row("a replica that waits for its chief")
def _asking(tf):
    return inspect.signature(tf.train.SessionManager.__init__).parameters["recovery_wait_secs"].default


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


@row("first runs of a step")
def _first_runs(tf):
    x = y = tf.placeholder(tf.float32, [None, 64])
    for _ in range(6):
        y = tf.nn.relu(tf.matmul(y, tf.ones([64, 64])))

    def timed(rows):
        begun = time.time()
        session.run(y, {x: [[1.0] * 64] * rows})
        return time.time() - begun

    with tf.Session() as session:
        first, seen = timed(8), sorted(timed(8) for _ in range(15))[7]
        return [first > 3 * seen, min(timed(rows) for rows in range(9, 19)) < 3 * seen]


@row("devices")
def _devices(tf):
    found = importlib.import_module(f"{tf.__name__}.python.client.device_lib").list_local_devices()
    return sorted({each.device_type for each in found} - {"GPU", "XLA_GPU"})


def _own_ports():
    """At how many ports this process listens."""
    links = [os.path.join("/proc/self/fd", each) for each in os.listdir("/proc/self/fd")]
    held = {os.readlink(link) for link in links if os.path.islink(link)}
    found = set()
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        with open(table) as file:
            rows = [line.split() for line in file.readlines()[1:]]
        found.update(each[1].split(":")[1] for each in rows if each[3] == "0A" and f"socket:[{each[9]}]" in held)
    return len(found)


@row("ports")
def _ports(tf):
    before = _own_ports()
    server = tf.train.Server({"a": ["localhost:0"]}, job_name="a", task_index=0)
    return _own_ports() - before if server.target else 0


@row("who may use a server")
def _other_user(tf):
    server = tf.train.Server({"a": ["localhost:0"]}, job_name="a", task_index=0)
    program = (
        # All is loaded before, gRPC too: another user may not read this one's Python.
        f"import os\nimport {tf.__name__} as tf\n'x'.encode('idna')\nown = tf.train.Server.create_local_server()\n"
        "tf.Session(own.target).run(tf.constant(3))\n"
        "os.setgid(65534)\nos.setuid(65534)\n"
        "try:\n"
        f"    print('reached', tf.Session('{server.target}').run(tf.constant(3)))\n"
        "except tf.errors.OpError as error:\n    print(type(error).__name__)\n"
    )
    variables = dict(os.environ, HOME=tempfile.gettempdir())
    printed = subprocess.run([sys.executable, "-c", program], env=variables, stdout=subprocess.PIPE, timeout=60, check=False)
    return printed.stdout.decode().strip().split("\n")[-1]


@row("files that graphs may open")
def _files(tf):
    os.environ["WEFT_FILE_ROOTS"] = tempfile.mkdtemp()
    try:
        server = tf.train.Server({"a": ["localhost:0"]}, job_name="a", task_index=0)
    finally:
        del os.environ["WEFT_FILE_ROOTS"]
    with tempfile.NamedTemporaryFile() as file:
        return tf.Session(server.target).run(tf.read_file(file.name)).decode() or "read"


# A worker that trains for a few steps and ends.
_TRAINER = """
import importlib, json, os, sys
tf = importlib.import_module(sys.argv[1])
os.chdir(sys.argv[5])
spec = json.loads(sys.argv[2])
server = tf.train.Server(spec, job_name=sys.argv[3], task_index=int(sys.argv[4]))
with tf.device("/job:ps/task:0"):
    step = tf.train.get_or_create_global_step().assign_add(1)
with tf.train.MonitoredTrainingSession(server.target) as session:
    for _ in range(3):
        session.run(step)
"""


@row("`server.join()`")
def _join(tf):
    spec = _spec()
    with _process(tf, _TASK, spec, "ps", 0) as other, _process(tf, _TRAINER, spec, "worker", 0) as trainer:
        if trainer.wait(60):
            return "the trainer failed"
        try:
            return other.wait(20)
        except subprocess.TimeoutExpired:
            return "waits"


@row("a save while others train")
def _torn(tf):
    # With a momentum of 1 and gradients of 1 the slot counts the updates n, and the variable is -n (n + 1) / 2.
    names = ["v0", "v1", "v2"]
    variables = [tf.get_variable(name, [400000], tf.float64, tf.zeros_initializer()) for name in names]
    update = tf.train.MomentumOptimizer(1.0, 1.0).apply_gradients([(tf.ones([400000], tf.float64), each) for each in variables])
    saver, folder, is_over = tf.train.Saver(), tempfile.mkdtemp(), threading.Event()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def train():
            while not is_over.is_set():
                session.run(update)

        thread = threading.Thread(target=train)
        thread.start()
        try:
            for _ in range(20):
                reader = tf.train.load_checkpoint(saver.save(session, folder + "/model", write_meta_graph=False))
                for name in names:
                    value, slot = reader.get_tensor(name), reader.get_tensor(f"{name}/Momentum")
                    if (value != -slot * (slot + 1) / 2).any():
                        return "torn"
        finally:
            is_over.set()
            thread.join()
    return "whole"


def main(module):
    """Print what each program gives: its value, or the class of its error."""
    tf = importlib.import_module(module)
    found = {}
    wanted = sys.argv[2:]
    for name, program in PROGRAMS.items():
        if (wanted and name not in wanted) or (os.geteuid() and name == "who may use a server"):
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
