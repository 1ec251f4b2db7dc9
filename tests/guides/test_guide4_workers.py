"""Guide 4: from one process to two workers that wait for instructions; map and reduce; the exercises."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import weft as tf
from tests.guides.conftest import Cluster, StartProgram, StartServers
from weft.distributed.server.local_cluster import free_addresses


@pytest.fixture
def workers(start_servers: StartServers) -> list[tf.train.Server]:
    cluster: Cluster = start_servers({"local": 2})
    return cluster["local"]


def test_one_process_computes_238() -> None:
    x = tf.constant(2)
    y1 = x + 300
    y2 = x - 66
    y = y1 + y2
    with tf.Session() as sess:
        assert str(sess.run(y)) == "238"


def test_two_worker_scripts_compute_for_a_client_script_and_go_on_waiting(start_program: StartProgram) -> None:
    addresses = free_addresses(2)
    workers = [start_program("create_worker.py", index, *addresses) for index in range(2)]
    for index, worker in enumerate(workers):
        worker.wait_for(f"Starting server #{index}")
    for client in [start_program("client.py", address) for address in addresses]:
        assert client.wait() == ["238"]
    assert all(worker.is_running for worker in workers)
    assert [worker.output for worker in workers] == [["Starting server #0"], ["Starting server #1"]]


def test_a_client_may_come_before_the_workers(start_program: StartProgram) -> None:
    addresses = free_addresses(2)
    client = start_program("client.py", addresses[0])
    for index in range(2):
        start_program("create_worker.py", index, *addresses)
    assert client.wait()[-1] == "238"


def mean_by_map_and_reduce(x: tf.Tensor, sizes: Sequence[int], job: str = "local") -> tf.Tensor:
    """Exercise 2: each task takes the mean of its slice; the means are weighed by the slices' sizes."""
    weighed, begin = [], 0
    for index, size in enumerate(sizes):
        with tf.device(f"/job:{job}/task:{index}"):
            batch = tf.slice(x, [begin], [size])
            weighed.append(tf.cast(tf.size(batch), tf.float32) * tf.reduce_mean(batch))
        begin += max(size, 0)
    with tf.device(f"/job:{job}/task:0"):
        return tf.add_n(weighed) / tf.cast(tf.size(x), tf.float32)


def test_the_mean_of_two_halves_is_the_mean_of_their_means(workers: list[tf.train.Server]) -> None:
    x = tf.placeholder(tf.float32, 100)
    with tf.device("/job:local/task:1"):
        first_batch = tf.slice(x, [0], [50])
        mean1 = tf.reduce_mean(first_batch)
    with tf.device("/job:local/task:0"):
        second_batch = tf.slice(x, [50], [-1])
        mean2 = tf.reduce_mean(second_batch)
        mean = (mean1 + mean2) / 2
    values = np.random.RandomState(0).uniform(size=100)
    with tf.Session(workers[0].target) as sess:
        assert sess.run(mean, feed_dict={x: values}) == pytest.approx(values.mean(), rel=1e-6)


def test_another_job_name_needs_the_other_name_in_devices_too(start_servers: StartServers) -> None:
    servers = start_servers({"research": 2})["research"]
    with tf.device("/job:research/task:1"):
        there = tf.constant(2) - 66
    with tf.device("/job:local/task:1"):
        nowhere = tf.constant(2, name="nowhere") - 66
    with tf.Session(servers[0].target) as sess:
        assert sess.run(there) == -64
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"nowhere.*/job:research/replica:0/task:1"):
            sess.run(nowhere)


def test_slices_of_different_sizes_are_averaged_by_size(workers: list[tf.train.Server]) -> None:
    x = tf.placeholder(tf.float32, 100)
    mean = mean_by_map_and_reduce(x, [30, -1])
    values = np.random.RandomState(1).uniform(size=100)
    unweighed = (values[:30].mean() + values[30:].mean()) / 2
    with tf.Session(workers[1].target) as sess:
        result = sess.run(mean, feed_dict={x: values})
    assert result == pytest.approx(values.mean(), rel=1e-5)
    assert abs(unweighed - values.mean()) > 1e-4


def test_a_remote_gpu_is_used_where_there_is_one_and_else_softly_replaced(workers: list[tf.train.Server]) -> None:
    with tf.device("/job:local/task:1/gpu:0"):
        product = tf.matmul(tf.ones([2, 3]), tf.ones([3, 2]))
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(workers[0].target, config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        assert sess.run(product, options=options, run_metadata=metadata).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    devices = [stats.device for stats in metadata.step_stats.dev_stats]
    assert any(name.startswith("/job:local/replica:0/task:1/") for name in devices)


def test_a_directory_of_images_is_mirrored_by_all_tasks_with_ops(workers: list[tf.train.Server], tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    pictures = {f"{i}.png": random.randint(0, 256, size=(5, 4 + i, 3), dtype=np.uint8) for i in range(5)}
    pictures |= {f"flat{i}.jpg": np.full((8, 8, 3), 40 * i, np.uint8) for i in range(3)}
    originals, mirrored = tmp_path / "originals", tmp_path / "mirrored"
    originals.mkdir()
    for name, pixels in pictures.items():
        Image.fromarray(pixels).save(originals / name)

    with tf.Session(workers[0].target) as sess:
        paths = sess.run(tf.matching_files([str(originals / "*.png"), str(originals / "*.jpg")]))
    assert [Path(path.decode()).name for path in paths] == sorted(pictures)
    written = []
    for number, path in enumerate(paths.tolist()):
        with tf.device(f"/job:local/task:{number % 2}"):
            picture = tf.image.flip_left_right(tf.image.decode_image(tf.read_file(path), channels=3, expand_animations=False))
            written.append(tf.write_file(str(mirrored / f"{Path(path.decode()).stem}.png"), tf.image.encode_png(picture)))
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(workers[0].target) as sess:
        sess.run(tf.group(*written), options=options, run_metadata=metadata)

    ran = {stats.device: [node.node_name for node in stats.node_stats] for stats in metadata.step_stats.dev_stats}
    assert [sum(name.startswith("EncodePng") for name in names) for _, names in sorted(ran.items())] == [4, 4]
    for name, pixels in pictures.items():
        result = np.asarray(Image.open(mirrored / f"{Path(name).stem}.png"))
        assert np.abs(result.astype(int) - pixels[:, ::-1]).max() <= (2 if name.endswith("jpg") else 0)
