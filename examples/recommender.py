"""Learn which films people like: a wide and deep model whose tables are cut over the parameter servers.

Examples are read by tf.data from TFRecord files, each worker from its own; feature columns turn them into a linear model of
crossed features (the wide part) and embeddings under a small network (the deep part). The tables of people and films are
partitioned: each parameter server has a slice of each. The chief draws the loss and, as training goes on, the AUC of
people's opinions that the model was not trained on; watch both with `tensorboard --logdir runs/recommender`.

    weft launch --ps 2 --worker 2 examples/recommender.py

No data set is downloaded. People, films and opinions are made up, always the same ones: people have tastes that go with their
age and occupation and some of their own, films have genres and a character of their own, and whether somebody likes a film is
drawn with a probability that follows from both. So the best possible AUC is known, and printed beside the one that was reached.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import weft as tf

FLAGS = argparse.Namespace()
PEOPLE, FILMS, TASTES, FILES = 2000, 800, 6, 4
TRAINING_OPINIONS, TEST_OPINIONS = 60_000, 6_000
GENRES = ["action", "animation", "comedy", "crime", "documentary", "drama", "fantasy", "horror", "romance", "war"]
OCCUPATIONS = ["artist", "clerk", "doctor", "engineer", "farmer", "lawyer", "student", "teacher"]


class Opinions(NamedTuple):
    """Who says what of which film: [n] int64 each, and the probability that the opinion was drawn with, [n] float64."""

    person: np.ndarray
    film: np.ndarray
    likes: np.ndarray
    probability: np.ndarray


class World(NamedTuple):
    """All there is to know of people and films, but their tastes."""

    age: np.ndarray
    occupation: np.ndarray
    genres: np.ndarray
    training: Opinions
    test: Opinions


class Model(NamedTuple):
    """What the training loop needs."""

    loss: Any
    global_step: Any
    train_op: Any
    test_start: Any
    test_labels: Any
    test_probabilities: Any


def make_world() -> World:
    """Return people, films and opinions; they are always the same."""
    random = np.random.RandomState(7)
    age = random.randint(16, 80, PEOPLE)
    occupation = random.randint(len(OCCUPATIONS), size=PEOPLE)
    genres = random.rand(FILMS, len(GENRES)) < 0.15
    genres[np.arange(FILMS), random.randint(len(GENRES), size=FILMS)] = True
    of_ages = random.randn(4, TASTES)[(age - 16) // 16]
    of_occupations = random.randn(len(OCCUPATIONS), TASTES)[occupation]
    tastes = 0.6 * of_ages + 0.6 * of_occupations + 0.7 * random.randn(PEOPLE, TASTES)
    of_genres = genres @ random.randn(len(GENRES), TASTES) / genres.sum(1, keepdims=True)
    character = of_genres + 0.4 * random.randn(FILMS, TASTES)
    quality, kindness = 0.7 * random.randn(FILMS), 0.5 * random.randn(PEOPLE)
    fame = 1 / (10 + np.arange(FILMS))

    def opinions(count: int) -> Opinions:
        person = random.randint(PEOPLE, size=count)
        film = random.choice(FILMS, size=count, p=fame / fame.sum())
        logit = (tastes[person] * character[film]).sum(1) + quality[film] + kindness[person]
        probability = 1 / (1 + np.exp(-logit))
        return Opinions(person, film, (random.rand(count) < probability).astype(np.int64), probability)

    return World(age, occupation, genres, opinions(TRAINING_OPINIONS), opinions(TEST_OPINIONS))


def area_under_curve(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the probability that a liked film has a higher score than one that is not."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    liked = labels == 1
    count = liked.sum()
    return float((ranks[liked].sum() - count * (count + 1) / 2) / (count * (len(labels) - count)))


def write_records(world: World, opinions: Opinions, path: Path) -> None:
    """Write one Example for each opinion; whole, or not at all, as other workers write the same file."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    names = [[genre.encode() for genre, has in zip(GENRES, row, strict=True) if has] for row in world.genres]
    with tf.python_io.TFRecordWriter(str(unfinished)) as writer:
        for person, film, likes in zip(opinions.person, opinions.film, opinions.likes, strict=True):
            example = tf.train.Example()
            feature = example.features.feature
            feature["person"].int64_list.value.append(person)
            feature["film"].int64_list.value.append(film)
            feature["age"].float_list.value.append(world.age[person])
            feature["occupation"].bytes_list.value.append(OCCUPATIONS[world.occupation[person]].encode())
            feature["genres"].bytes_list.value.extend(names[film])
            feature["likes"].float_list.value.append(likes)
            writer.write(example.SerializeToString())
    unfinished.replace(path)


def prepare_data(world: World, directory: Path) -> tuple[list[str], str]:
    """Write the files that are not there; return those to train with, and the one to test with."""
    directory.mkdir(parents=True, exist_ok=True)
    training = [directory / f"training-{part}-of-{FILES}.tfrecord" for part in range(FILES)]
    for part, path in enumerate(training):
        if not path.exists():
            write_records(world, Opinions(*(values[part::FILES] for values in world.training)), path)
    test = directory / "test.tfrecord"
    if not test.exists():
        write_records(world, world.test, test)
    return [str(path) for path in training], str(test)


def make_columns() -> tuple[list[Any], list[Any]]:
    """Return the columns of the wide part and those of the deep part."""
    column = tf.feature_column
    person = column.categorical_column_with_identity("person", PEOPLE)
    film = column.categorical_column_with_identity("film", FILMS)
    genres = column.categorical_column_with_vocabulary_list("genres", GENRES)
    occupation = column.categorical_column_with_vocabulary_list("occupation", OCCUPATIONS)
    age = column.bucketized_column(column.numeric_column("age"), [32.0, 48.0, 64.0])
    crosses = [
        column.crossed_column([age, "genres"], 400),
        column.crossed_column(["occupation", "genres"], 800),
        column.crossed_column([age, film], 8000),
        column.crossed_column(["occupation", film], 16000),
        column.crossed_column([person, "genres"], 40000),
    ]
    wide = [person, film, genres, occupation, age, *crosses]
    deep = [
        column.embedding_column(person, 16),
        column.embedding_column(film, 16),
        column.embedding_column(genres, 8),
        column.indicator_column(occupation),
        age,
    ]
    return wide, deep


def read(files: list[str], columns: list[Any], batch_size: int, seed: int | None) -> Any:
    """Return a dataset of features and labels by batch; shuffled and without end where there is a seed."""
    spec = tf.feature_column.make_parse_example_spec([*columns, tf.feature_column.numeric_column("likes")])
    records = tf.data.TFRecordDataset(files)
    if seed is not None:
        records = records.shuffle(2_000, seed=seed).repeat()

    def parsed(serialized: Any) -> Any:
        features = tf.parse_example(serialized, spec)
        return features, features.pop("likes")

    return records.batch(batch_size).map(parsed, num_parallel_calls=2).prefetch(4)


def logits_of(features: Any, wide: list[Any], deep: list[Any], servers: int) -> Any:
    """Return the model's logits, [batch, 1]; each call uses the same variables."""
    cut = tf.min_max_variable_partitioner(max_partitions=max(servers, 1), min_slice_size=16 << 10)
    with tf.variable_scope("wide", reuse=tf.AUTO_REUSE, partitioner=cut):
        wide_part = tf.feature_column.linear_model(features, wide)
    with tf.variable_scope("deep", reuse=tf.AUTO_REUSE, partitioner=cut):
        hidden = tf.feature_column.input_layer(features, deep)
        for layer, units in enumerate((64, 32)):
            hidden = tf.layers.dense(hidden, units, tf.nn.relu, name=f"hidden_{layer}")
        return wide_part + tf.layers.dense(hidden, 1, name="logits")


def build_model(training: list[str], test: str, servers: int) -> Model:
    """Build the input pipelines, the model on both, and one step of training: Ftrl for the wide part, Adagrad for the deep."""
    wide, deep = make_columns()
    files = training[FLAGS.task_index % FILES :: len(FLAGS.worker_hosts.split(","))] or training
    with tf.device(f"/job:worker/task:{FLAGS.task_index}/cpu:0"):
        features, labels = read(files, wide + deep, FLAGS.batch_size, seed=FLAGS.task_index).make_one_shot_iterator().get_next()
        test_iterator = read([test], wide + deep, 2000, seed=None).make_initializable_iterator()
        test_features, test_labels = test_iterator.get_next()
    logits = logits_of(features, wide, deep, servers)
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    tf.summary.scalar("loss", loss)
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.group(
        tf.train.FtrlOptimizer(FLAGS.learning_rate, l2_regularization_strength=0.02).minimize(
            loss, var_list=tf.trainable_variables("wide")
        ),
        tf.train.AdagradOptimizer(FLAGS.learning_rate).minimize(
            loss, var_list=tf.trainable_variables("deep"), global_step=global_step
        ),
    )
    probabilities = tf.sigmoid(logits_of(test_features, wide, deep, servers))
    return Model(loss, global_step, train_op, test_iterator.initializer, test_labels, probabilities)


class TestHook(tf.train.SessionRunHook):
    """Tests the model every so many steps and when training has ended, and draws the AUC."""

    def __init__(self, model: Model, every_n_steps: int) -> None:
        self._model = model
        self._timer = tf.train.SecondOrStepTimer(every_steps=every_n_steps)
        self._writer = tf.summary.FileWriterCache.get(FLAGS.train_dir)
        self.area, self.accuracy, self.step = 0.0, 0.0, 0

    def before_run(self, context: Any) -> Any:
        return tf.train.SessionRunArgs(self._model.global_step)

    def after_run(self, context: Any, values: Any) -> None:
        if self._timer.should_trigger_for_step(values.results):
            self._timer.update_last_triggered_step(values.results)
            self._test(context.session)

    def end(self, session: Any) -> None:
        self._test(session)

    def _test(self, session: Any) -> None:
        session.run(self._model.test_start)
        parts = []
        try:
            while True:
                parts.append(session.run([self._model.test_labels, self._model.test_probabilities]))
        except tf.errors.OutOfRangeError:
            pass
        labels, probabilities = (np.concatenate(each).ravel() for each in zip(*parts, strict=True))
        self.area = area_under_curve(labels, probabilities)
        self.accuracy = float(np.mean((probabilities > 0.5) == (labels == 1)))
        self.step = session.run(self._model.global_step)
        values = {"test/auc": self.area, "test/accuracy": self.accuracy}
        summary = tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])
        self._writer.add_summary(summary, self.step)
        self._writer.flush()


def train(cluster: Any, server: Any) -> None:
    """Do one worker's part."""
    is_chief = FLAGS.task_index == 0
    world = make_world()
    training, test_file = prepare_data(world, Path(FLAGS.data_dir))
    worker = f"/job:worker/task:{FLAGS.task_index}"
    servers = cluster.num_tasks("ps") if "ps" in cluster.jobs else 0
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        model = build_model(training, test_file, servers)
    test = TestHook(model, every_n_steps=FLAGS.test_steps)
    hooks = [
        tf.train.StopAtStepHook(num_steps=FLAGS.train_steps),
        tf.train.LoggingTensorHook({"step": model.global_step, "loss": model.loss}, every_n_iter=200),
    ]
    started = None
    with tf.train.MonitoredTrainingSession(
        master=server.target,
        is_chief=is_chief,
        checkpoint_dir=FLAGS.train_dir,
        hooks=[*hooks, test] if is_chief else hooks,
        save_summaries_steps=20,
        config=tf.ConfigProto(device_filters=["/job:ps", worker]),
    ) as session:
        while not session.should_stop():
            _, step = session.run([model.train_op, model.global_step])
            started = started or (step, time.perf_counter())
            ended = time.perf_counter()

    if is_chief and started:
        best = area_under_curve(world.test.likes, world.test.probability)
        speed = (test.step - started[0]) / (ended - started[1])
        print(
            f"test AUC {test.area:.3f} of {best:.3f} possible, accuracy {test.accuracy:.1%}, after step {test.step}; all "
            f"workers together made {speed:.0f} steps/s of {FLAGS.batch_size} opinions"
        )


def cluster_from_flags() -> dict[str, list[str]]:
    """Return the addresses by job; exit with one line if the flags make no sense."""
    hosts = {"ps": FLAGS.ps_hosts, "worker": FLAGS.worker_hosts}
    cluster = {job: addresses.split(",") for job, addresses in hosts.items() if addresses}
    if not 0 <= FLAGS.task_index < len(cluster.get(FLAGS.job_name, [])):
        sys.exit(
            f"recommender.py: --job_name={FLAGS.job_name!r} --task_index={FLAGS.task_index} is no task of the cluster "
            f"{cluster}; start the program with `weft launch`, which sets these flags"
        )
    if len(cluster["worker"]) > 1 and "ps" not in cluster:
        sys.exit("recommender.py: several workers need a parameter server to share the variables: --ps_hosts is empty")
    if min(FLAGS.train_steps, FLAGS.batch_size, FLAGS.test_steps) < 1:
        sys.exit("recommender.py: --train_steps, --batch_size and --test_steps are at least 1")
    return cluster


def main(_: list[str]) -> None:
    tf.logging.set_verbosity(tf.logging.INFO)
    cluster = tf.train.ClusterSpec(cluster_from_flags())
    try:
        server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
        if FLAGS.job_name == "ps":
            server.join()
        else:
            train(cluster, server)
    except tf.errors.OpError as error:
        sys.exit(f"recommender.py: {type(error).__name__}: {error.message.splitlines()[0]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ps_hosts", default="", help="host:port of each parameter server, separated by commas")
    parser.add_argument("--worker_hosts", default="", help="host:port of each worker, separated by commas")
    parser.add_argument("--job_name", default="", help="this task's job: 'ps' or 'worker'")
    parser.add_argument("--task_index", type=int, default=0, help="this task's index within its job")
    parser.add_argument("--train_dir", default="runs/recommender", help="directory for checkpoints and curves")
    parser.add_argument("--data_dir", default="runs/recommender-data", help="directory for the files of examples")
    parser.add_argument("--train_steps", type=int, default=800, help="steps of all workers together in this run")
    parser.add_argument("--test_steps", type=int, default=200, help="steps from one test to the next")
    parser.add_argument("--batch_size", type=int, default=256, help="opinions per step")
    parser.add_argument("--learning_rate", type=float, default=0.05, help="learning rate of both parts")
    FLAGS = parser.parse_args()
    tf.app.run(main=main, argv=sys.argv[:1])
