"""constants: the tasks of exported outputs. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.keys import ProblemType as ProblemType
