"""Networks by which autoregressive models predict a window from the one before."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Tensor
from weft.models.rnn.fused import LSTMBlockFusedCell
from weft.networks.layers.core import Dense, Flatten
from weft.networks.models.model import Model
from weft.networks.models.sequential import Sequential
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape
from weft.ops.array.transposing import transpose
from weft.ops.math.unary import exp
from weft.ops.nn.activation import relu


class FlatPredictionModel(Model):
    """Dense layers over all that is in both windows.

    Args:
        num_features: how many values each time has.
        input_window_size: the length of the window that is known.
        output_window_size: the length of the window that is predicted.
        hidden_layer_sizes: the sizes of hidden layers; none when None.
    """

    def __init__(
        self, num_features: int, input_window_size: int, output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._input_flatten = Flatten()
        self._output_flatten = Flatten()
        self._hidden_layers = (
            Sequential([Dense(each, activation=relu) for each in hidden_layer_sizes]) if hidden_layer_sizes else None
        )
        self._mean_transform = Dense(num_features * output_window_size, name="predicted_mean")
        self._covariance_transform = Dense(num_features * output_window_size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, input_window_features: Tensor, output_window_features: Tensor) -> dict[str, Tensor]:  # type: ignore[override]
        """The means and the variances of the window that is predicted.

        Args:
            input_window_features: `[batch, input window, input features]`; the window may be of no times.
            output_window_features: `[batch, output window, output features]`; there may be none.

        Returns:
            `mean` and `covariance`, `[batch, output window, features]`.
        """
        if input_window_features.shape[1].value == 0:
            activation = self._output_flatten(output_window_features)
        elif output_window_features.shape[2].value == 0:
            activation = self._input_flatten(input_window_features)
        else:
            activation = concat(
                [self._input_flatten(input_window_features), self._output_flatten(output_window_features)], axis=1
            )
        if self._hidden_layers:
            activation = self._hidden_layers(activation)
        mean = reshape(self._mean_transform(activation), self._prediction_shape)
        covariance = reshape(exp(self._covariance_transform(activation)), self._prediction_shape)
        return {"mean": mean, "covariance": covariance}


class LSTMPredictionModel(Model):
    """An LSTM over the window that is known, and one over the window that is predicted.

    Args:
        num_features: how many values each time has.
        input_window_size, output_window_size: the lengths of both windows.
        num_units: the size of the LSTMs.
    """

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int, num_units: int = 128) -> None:
        super().__init__()
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = Dense(num_features, name="mean_transform")
        self._covariance_transform = Dense(num_features, name="covariance_transform")

    def call(self, input_window_features: Tensor, output_window_features: Tensor) -> dict[str, Tensor]:  # type: ignore[override]
        """The means and the variances of the window that is predicted.

        Args:
            input_window_features, output_window_features: see FlatPredictionModel.

        Returns:
            `mean` and `covariance`, `[batch, output window, features]`.
        """
        known = transpose(input_window_features, [1, 0, 2])
        wanted = transpose(output_window_features, [1, 0, 2])
        _, state = self._encoder(known, dtype=input_window_features.dtype)
        outputs, _ = self._decoder(wanted, dtype=input_window_features.dtype, initial_state=state)
        outputs = transpose(outputs, [1, 0, 2])
        return {"mean": self._mean_transform(outputs), "covariance": exp(self._covariance_transform(outputs))}
