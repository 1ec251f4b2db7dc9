"""learn_runner: makes an Experiment and runs it. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.learn_runner import run as run
