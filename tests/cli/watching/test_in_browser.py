"""The live page in a real browser: charts are drawn, it follows the cluster, and asks nobody else for anything."""

from __future__ import annotations

import threading

import pytest

import weft as tf
from tests.chromium import NEEDS_CHROMIUM, chromium_tab
from tests.distributed.client.observation.least_squares import least_squares
from weft.cli.watching.cluster_view import ClusterView
from weft.cli.watching.page import LivePage
from weft.distributed.rpc.pages.http_door import HttpDoor
from weft.distributed.server.server import Server

pytestmark = NEEDS_CHROMIUM


def test_the_page_lives_in_a_browser() -> None:
    from playwright.sync_api import expect  # noqa: PLC0415 - where it is installed

    with Server({"worker": ["localhost:0"]}) as server, chromium_tab() as tab:
        page = LivePage(ClusterView(server.target.removeprefix("grpc://")), interval_s=0.2)
        door = HttpDoor("localhost", 0, page.respond)
        try:
            problems: list[str] = []
            asked: list[str] = []
            tab.on("console", lambda message: problems.append(message.text))
            tab.on("pageerror", lambda error: problems.append(str(error)))
            tab.on("request", lambda request: asked.append(request.url))
            tab.goto(door.url)
            expect(tab.locator("#tasks")).to_contain_text("worker:0")
            expect(tab.locator("#tasks svg.line polyline")).to_have_count(1)
            first = tab.locator("#time").inner_text()
            expect(tab.locator("#time")).not_to_have_text(first)
            server.stop()
            expect(tab.locator("#tasks .missing").first).to_be_visible()
            expect(tab.locator("#lost")).to_be_hidden()
            door.stop()
            expect(tab.locator("#lost")).to_be_visible()
            assert {url for url in asked if not url.startswith("data:")} == {door.url, f"{door.url}events"}
            assert [problem for problem in problems if "ERR_" not in problem] == []
        finally:
            page.close()


def test_every_section_shows_what_a_training_cluster_does() -> None:
    from playwright.sync_api import expect  # noqa: PLC0415 - where it is installed

    over = threading.Event()
    with tf.LocalCluster(ps=1, worker=1) as cluster, chromium_tab() as tab:
        model = least_squares()
        with model.graph.as_default(), tf.device("/job:ps/task:0"):
            wrong = tf.check_numerics(tf.log(tf.placeholder_with_default(0.0, [])), "the logarithm of nothing")
            filled = tf.FIFOQueue(4, tf.float32, [[]], shared_name="filled").enqueue(1.0)
        page = LivePage(ClusterView(cluster.target("ps").removeprefix("grpc://")), interval_s=0.2)
        door = HttpDoor("localhost", 0, page.respond)
        with tf.Session(cluster.target("worker"), graph=model.graph) as session:
            session.run([model.init, filled])

            def train() -> None:
                while not over.is_set():
                    model.train(session)
                    over.wait(0.005)

            running = threading.Thread(target=train)
            running.start()
            try:
                tab.goto(door.url)
                page.add_line("worker:0 | a line of its own")
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(wrong)
                for section, shown in (
                    ("tasks", "ps:0"), ("tasks", "waits for"), ("waits", "worker:0"), ("traffic", "KiB"),
                    ("variables", "weights"),
                    ("graphs", "MatMul"), ("queues", "1 of 4"), ("failures", "the logarithm of nothing"),
                    ("log", "a line of its own"), ("staleness", "ps:0"),
                ):  # fmt: skip
                    expect(tab.locator(f"#{section}")).to_contain_text(shown)
                expect(tab.locator("#variables svg").first).to_be_visible()
                expect(tab.locator("#staleness svg").first).to_be_visible()
            finally:
                over.set()
                running.join()
                door.stop()
                page.close()
