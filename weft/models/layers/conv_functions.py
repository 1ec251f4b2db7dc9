"""The functions of the layers that convolve: each makes a layer, or finds its variables again, and calls it."""

from __future__ import annotations

from weft.framework.building.aliases import Activation, Constraint, Initializer, Regularizer, Sizes, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.models.layers.conv import Conv1D, Conv2D, Conv2DTranspose, Conv3D, Conv3DTranspose
from weft.models.layers.core import ZEROS
from weft.ops.variables.variable_store import Reuse


def conv1d(
    inputs: TensorLike, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Sizes = 1, activation: Activation | None = None,
    use_bias: bool = True, kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
    kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The activated convolution of sequences with a kernel and a bias that are made, or reused, by this call: a Conv1D layer.

    Args:
        inputs: `[batch, steps, channels]` floats, or `[batch, channels, steps]` with "channels_first".
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        dilation_rate: the distance between the elements that a window takes, one int or one for each spatial dimension; 1
            unless the strides are 1.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        `[batch, new_steps, filters]`, or the channels second with "channels_first"; of the inputs' type.

    Raises:
        ValueError: a size, padding or layout is none of these, strides and dilations are both above 1, the number of channels
            is not known, or the variables exist and `reuse` does not ask for them.
    """
    return Conv1D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


def conv2d(
    inputs: TensorLike, filters: int, kernel_size: Sizes, strides: Sizes = (1, 1), padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Sizes = (1, 1), activation: Activation | None = None,
    use_bias: bool = True, kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
    kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The activated convolution of images with a kernel and a bias that are made, or reused, by this call: a Conv2D layer.

    >>> tf.layers.conv2d(tf.zeros([8, 28, 28, 1]), filters=4, kernel_size=5, padding="same").shape
    TensorShape([Dimension(8), Dimension(28), Dimension(28), Dimension(4)])

    Args:
        inputs: `[batch, height, width, channels]` floats, or `[batch, channels, height, width]` with "channels_first".
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        dilation_rate: the distance between the elements that a window takes, one int or one for each spatial dimension; 1
            unless the strides are 1.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        `[batch, new_height, new_width, filters]`, or the channels second with "channels_first"; of the inputs' type.

    Raises:
        ValueError: a size, padding or layout is none of these, strides and dilations are both above 1, the number of channels
            is not known, or the variables exist and `reuse` does not ask for them.
    """
    return Conv2D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


def conv3d(
    inputs: TensorLike, filters: int, kernel_size: Sizes, strides: Sizes = (1, 1, 1), padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Sizes = (1, 1, 1), activation: Activation | None = None,
    use_bias: bool = True, kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
    kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The activated convolution of volumes with a kernel and a bias that are made, or reused, by this call: a Conv3D layer.

    Args:
        inputs: `[batch, depth, height, width, channels]` floats, or the channels second with "channels_first".
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        dilation_rate: the distance between the elements that a window takes, one int or one for each spatial dimension; 1
            unless the strides are 1.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        `[batch, new_depth, new_height, new_width, filters]`, or the channels second with "channels_first"; of the inputs'
        type.

    Raises:
        ValueError: a size, padding or layout is none of these, strides and dilations are both above 1, the number of channels
            is not known, or the variables exist and `reuse` does not ask for them.
    """
    return Conv3D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


def conv2d_transpose(
    inputs: TensorLike, filters: int, kernel_size: Sizes, strides: Sizes = (1, 1), padding: str = "valid",
    data_format: str = "channels_last", activation: Activation | None = None, use_bias: bool = True,
    kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
    kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The activated transpose of a convolution of images, which makes them larger: a Conv2DTranspose layer, made or reused.

    Args:
        inputs: `[batch, height, width, channels]` floats, or `[batch, channels, height, width]` with "channels_first".
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        `[batch, new_height, new_width, filters]`, or the channels second with "channels_first"; of the inputs' type. A side
        becomes
        `side * stride` with "same", `side * stride + max(kernel - stride, 0)` with "valid".

    Raises:
        ValueError: a size, padding or layout is none of these, the number of channels is not known, or the variables exist
            and
            `reuse` does not ask for them.
    """
    return Conv2DTranspose(
        filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


def conv3d_transpose(
    inputs: TensorLike, filters: int, kernel_size: Sizes, strides: Sizes = (1, 1, 1), padding: str = "valid",
    data_format: str = "channels_last", activation: Activation | None = None, use_bias: bool = True,
    kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
    kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The activated transpose of a convolution of volumes, which makes them larger: a Conv3DTranspose layer, made or reused.

    Args:
        inputs: `[batch, depth, height, width, channels]` floats, or the channels second with "channels_first".
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        `[batch, new_depth, new_height, new_width, filters]`, or the channels second with "channels_first"; of the inputs'
        type. A
        side becomes `side * stride` with "same", `side * stride + max(kernel - stride, 0)` with "valid".

    Raises:
        ValueError: a size, padding or layout is none of these, the number of channels is not known, or the variables exist
            and
            `reuse` does not ask for them.
    """
    return Conv3DTranspose(
        filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip
