"""Role: what a node is to the graph around it, as far as anything but its own kernel has to know."""

from __future__ import annotations

from enum import Enum


class Role(Enum):
    """The part that an op plays in a graph; each op is declared with one.

    Passes and the runtime ask for roles and other traits, never for the names of ops: so a new kind of variable or identity is
    one everywhere as soon as it is declared.
    """

    COMPUTATION = "computation"
    """Makes values of values by its kernel: most ops."""
    VARIABLE = "variable"
    """Stands for a variable: its only output is the variable's reference or its handle."""
    CONSTANT = "constant"
    """Has the value of its attribute `value`."""
    PLACEHOLDER = "placeholder"
    """Has no value unless the run feeds it."""
    DEFAULT = "default"
    """Hands its input on unless the run feeds it."""
    ALIAS = "alias"
    """Hands its inputs on unchanged: each output is the input in the same place."""
    READ = "read"
    """Hands the value on of the variable that is its only input."""
    ASSIGNMENT = "assignment"
    """Makes its second input the whole value of the variable that is its first."""
    PROBE = "probe"
    """Asks whether a variable has a value, and not for the value."""
    ORDER = "order"
    """Does nothing and has no outputs: others wait for those that it waits for."""
    ARGUMENT = "argument"
    """Stands for an argument of a function, or for a feed of a serial partition."""
    ABSENT = "absent"
    """Stands for a value that nothing uses."""
    SEND = "send"
    """Stands for what leaves a serial partition."""
    RECEIVE = "receive"
    """Stands for what comes into a serial partition."""
    RESTORE = "restore"
    """Gives what a checkpoint has."""
    BRANCH = "branch"
    """Runs one of its bodies, which its first input chooses."""
    LOOP = "loop"
    """Runs its bodies, a condition and a step, until the condition is false."""
    RECORDING_LOOP = "recording loop"
    """A loop that also returns the stacks of what its step computed."""
