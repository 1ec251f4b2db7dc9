"""What to do where a layer is given a tensor of another rank than it takes."""

from __future__ import annotations

from typing import Final

UNKNOWN_RANK: Final = (
    "Nothing tells how many dimensions it has: give its placeholder a shape, such as [None, 784], or tell it by "
    "tensor.set_shape([None, 784])."
)


def rank_remedy(wanted: int, found: int) -> str:
    """The next step, with the end of the sentence before it.

    Args:
        wanted: the rank that the layer takes, at least.
        found: the rank of what it was given.
    """
    if found > wanted:
        return ". tf.layers.flatten(x) makes one row of each element of the batch, tf.reshape any other shape"
    if (wanted, found) == (3, 2):
        return (
            ". Sequences are [batch, steps, features]: a recurrent layer before it gives all its steps by "
            "return_sequences=True, and tf.expand_dims(x, -1) makes steps of one feature each of the columns"
        )
    if found == wanted - 1:
        return (
            ". tf.expand_dims(x, -1) adds a dimension of size 1 at the end, such as the channels of grey images; "
            "tf.expand_dims(x, 0) makes a batch of one element"
        )
    names = {4: "[-1, height, width, channels]", 3: "[-1, steps, features]", 5: "[-1, depth, height, width, channels]"}
    return f". tf.reshape(x, {names[wanted]}) gives it the dimensions" if wanted in names else ""
