"""Which variable a handle stands for."""

from __future__ import annotations

import weft as tf
from weft.ops.control_flow.stacks import stack_pop_v2, stack_push_v2, stack_v2


def test_a_handle_that_a_branch_returns_is_no_variables_which_the_branch_only_takes() -> None:
    variable = tf.Variable(2.0, use_resource=True)
    stack = stack_v2(-1, elem_type=tf.float32)
    chosen = tf.placeholder_with_default(True, [])
    read, handle = tf.cond(chosen, lambda: [variable * 3.0, tf.identity(stack)], lambda: [variable * 4.0, tf.identity(stack)])
    with tf.control_dependencies([stack_push_v2(stack, read)]):
        popped = stack_pop_v2(handle, elem_type=tf.float32)
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(popped) == 6.0
