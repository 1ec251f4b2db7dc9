"""tf.contrib.learn.graph_actions: values of a graph, from a session that each call starts."""

from __future__ import annotations

from weft.estimators.learn.graph_actions import infer as infer
from weft.estimators.learn.graph_actions import run_feeds as run_feeds
from weft.estimators.learn.graph_actions import run_feeds_iter as run_feeds_iter
from weft.estimators.learn.graph_actions import run_n as run_n
