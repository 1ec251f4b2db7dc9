"""Stands for the part of TensorFlow of this name where a program imports it before `tensorflow`."""

from __future__ import annotations

import importlib
import sys

sys.modules[__name__] = importlib.import_module("tensorflow")
