"""Models with scikit-learn's methods: `fit`, `predict`, `score`, `get_params` and `set_params`."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.types.printed import printed
from weft.networks.callbacks.callback import History
from weft.networks.config import Config, KerasObject, Options
from weft.networks.loss_functions import categorical_crossentropy
from weft.networks.losses import loss_object
from weft.networks.models.sequential import Sequential
from weft.networks.numpy_tools import to_categorical


class BaseWrapper:
    """What the classifier and the regressor share.

    Args:
        build_fn: makes a compiled model; None where the subclass's `__call__` does.
        sk_params: arguments of `build_fn`, and of the model's `fit`, `predict` and `evaluate`.

    Raises:
        ValueError: an argument that none of these takes.
    """

    __repr__ = printed("tf.keras.wrappers.scikit_learn")

    def __init__(self, build_fn: Callable[..., KerasObject] | None = None, **sk_params: Options) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self) -> Callable[..., KerasObject]:
        if self.build_fn is None:
            # A subclass has it.
            built: Callable[..., KerasObject] = getattr(self, "__call__")  # noqa: B004,B009
            return built
        return self.build_fn

    def check_params(self, params: Config) -> None:
        """Check that each argument has a taker; ValueError where one has none.

        Args:
            params: arguments by name.
        """
        takers: list[Callable[..., object]] = [Sequential.fit, Sequential.predict, Sequential.evaluate, self._builder()]
        known = {name for each in takers for name in inspect.signature(each).parameters}
        for name in params:
            if name not in known and name != "nb_epoch":
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Options) -> Config:
        """The arguments, and `build_fn`; `params` are not used.

        Args:
            params: taken and without effect.
        """
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Options) -> Self:
        """Change arguments; returns the wrapper.

        Args:
            params: arguments of the function that builds the model, or of its `fit`, `predict` or `evaluate`.

        Raises:
            ValueError: none of these takes one of them.
        """
        given = dict(params)
        self.build_fn = given.pop("build_fn", self.build_fn)
        self.check_params(given)
        self.sk_params.update(given)
        return self

    def filter_sk_params(self, fn: Callable[..., Any], override: Config | None = None) -> Config:
        """Those of the arguments that a function takes, and those given here.

        Args:
            fn: the function.
            override: arguments that come before those that are kept.

        Returns:
            Arguments by name.
        """
        wanted = inspect.signature(fn).parameters
        return {**{name: value for name, value in self.sk_params.items() if name in wanted}, **(override or {})}

    def fit(self, x: Array, y: Array, **kwargs: Options) -> History:
        """Make a model and train it.

        Args:
            x: the examples' features.
            y: their targets.
            kwargs: arguments of the model's `fit`.
        """
        build = self._builder()
        self.model = build(**self.filter_sk_params(build))
        loss = loss_object(self.model.loss)
        if getattr(loss, "fn", None) is categorical_crossentropy and np.ndim(y) != 2:
            y = to_categorical(y)
        given = copy.deepcopy(self.filter_sk_params(Sequential.fit))
        history: History = self.model.fit(x, y, **{**given, **kwargs})
        return history

    def _score(self, x: Array, y: Array, kwargs: Config) -> list[float]:
        found = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return list(found) if isinstance(found, list | tuple) else [found]


class KerasClassifier(BaseWrapper):
    """A model of classes with scikit-learn's methods."""

    def fit(self, x: Array, y: Array, **kwargs: Options) -> History:
        """Make a model and train it; see BaseWrapper.

        Raises:
            ValueError: the targets are neither classes nor rows of one-hot vectors.
        """
        given = np.array(y)
        if given.ndim == 2 and given.shape[1] > 1:
            self.classes_ = np.arange(given.shape[1])
        elif given.ndim == 1 or (given.ndim == 2 and given.shape[1] == 1):
            self.classes_ = np.unique(given)
            given = np.searchsorted(self.classes_, given)
        else:
            raise ValueError("Invalid shape for y: " + str(given.shape))
        self.n_classes_ = len(self.classes_)
        return super().fit(x, given, **kwargs)

    def predict(self, x: Array, **kwargs: Options) -> Array:
        """The most probable class of each example; `kwargs` are arguments of the model's `predict`.

        Args:
            x: `[examples, ...]`.
            kwargs: arguments of the model's `predict`.
        """
        proba = self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs))
        found = np.argmax(proba, axis=-1) if proba.shape[-1] > 1 else (proba > 0.5).astype("int32")
        return self.classes_[found]

    def predict_proba(self, x: Array, **kwargs: Options) -> Array:
        """The probabilities of the classes; `kwargs` are arguments of the model's `predict`.

        Args:
            x: `[examples, ...]`.
            kwargs: arguments of the model's `predict`.
        """
        probs = self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs))
        return np.hstack([1 - probs, probs]) if probs.shape[1] == 1 else probs

    def score(self, x: Array, y: Array, **kwargs: Options) -> float:
        """The accuracy; `kwargs` are arguments of the model's `evaluate`.

        Args:
            x: `[examples, ...]`.
            y: `[examples]` or `[examples, outputs]`, the targets.
            kwargs: arguments of the model's `evaluate`.

        Raises:
            ValueError: the model was compiled without accuracy.
        """
        targets: Array = np.searchsorted(self.classes_, np.asarray(y))
        if getattr(loss_object(self.model.loss), "fn", None) is categorical_crossentropy and np.ndim(targets) != 2:
            targets = to_categorical(targets)
        for name, value in zip(self.model.metrics_names, self._score(x, targets, kwargs), strict=True):
            if name in ("accuracy", "acc"):
                return value
        raise ValueError(
            'The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to the '
            "`model.compile()` method."
        )


class KerasRegressor(BaseWrapper):
    """A model of numbers with scikit-learn's methods."""

    def predict(self, x: Array, **kwargs: Options) -> Array:
        """The predictions; `kwargs` are arguments of the model's `predict`.

        Args:
            x: `[examples, ...]`.
            kwargs: arguments of the model's `predict`.
        """
        found: Array = np.squeeze(self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)), axis=-1)
        return found

    def score(self, x: Array, y: Array, **kwargs: Options) -> float:
        """The loss, with the other sign: more is better; `kwargs` are arguments of the model's `evaluate`.

        Args:
            x: `[examples, ...]`.
            y: `[examples]` or `[examples, outputs]`, the targets.
            kwargs: arguments of the model's `evaluate`.
        """
        return -self._score(x, y, kwargs)[0]
