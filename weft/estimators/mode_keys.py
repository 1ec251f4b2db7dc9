"""ModeKeys: the three ways in which a model function is called."""

from __future__ import annotations

from typing import Final


class ModeKeys:
    """The mode that a model function gets: to train, to evaluate or to predict.

    >>> tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL, tf.estimator.ModeKeys.PREDICT
    ('train', 'eval', 'infer')
    """

    TRAIN: Final = "train"
    EVAL: Final = "eval"
    PREDICT: Final = "infer"
