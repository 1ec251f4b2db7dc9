"""What a type checker has to refuse about tensors, variables and ops."""

import numpy as np

import weft as tf

x = tf.placeholder(tf.float32, [None, 3])
v = tf.Variable(tf.zeros([3]), name="v")
len(x)  # E: arg-type, reportArgumentType
float(x)  # E: arg-type, reportArgumentType
range(x)  # E: call-overload, reportArgumentType
range(v)  # E: call-overload, reportArgumentType
np.mean(x)  # E: call-overload, reportCallIssue
x[0] = 1.0  # E: index, reportIndexIssue
v[0] = 1.0  # E: index, reportIndexIssue
x += "text" if x.grpah else 1  # E: attr-defined, reportAttributeAccessIssue
for row in x:  # E: misc, reportGeneralTypeIssues
    print(row)
for row in v:  # E: misc, reportGeneralTypeIssues
    print(row)
x.numpy()  # E: attr-defined, reportAttributeAccessIssue
x.assign(1.0)  # E: attr-defined, reportAttributeAccessIssue
x.get_shape().as_lst()  # E: attr-defined, reportAttributeAccessIssue
x.op.nme  # E: attr-defined, reportAttributeAccessIssue
v.assing(3)  # E: attr-defined, reportAttributeAccessIssue
v.initializer()  # E: operator, reportCallIssue
v.load()  # E: call-arg, reportCallIssue
tf.Variable(1.0, nam="v")  # E: call-arg, reportCallIssue
tf.Variable(1.0, name=3)  # E: arg-type, reportArgumentType
tf.get_variable()  # E: call-arg, reportCallIssue
tf.get_variable("a", [2], initialiser=tf.zeros_initializer())  # E: call-arg, reportCallIssue
tf.get_variable("a", [2], trainable="no")  # E: arg-type, reportArgumentType
tf.nn.relu()  # E: call-overload, reportCallIssue
tf.nn.relu(feature=x)  # E: call-overload, reportCallIssue
tf.nn.sofmax(x)  # E: attr-defined, reportAttributeAccessIssue
tf.add(x)  # E: call-overload, reportCallIssue
tf.matmul(x, transpose_b=True)  # E: call-arg, reportCallIssue
tf.matmul(x, v, transpose_c=True)  # E: call-arg, reportCallIssue
tf.reduce_mean(x, keep_dim=True)  # E: call-arg, reportCallIssue
tf.reshape(x)  # E: call-arg, reportCallIssue
tf.placeholder()  # E: call-arg, reportCallIssue
tf.concat([x, x])  # E: call-arg, reportCallIssue
tf.one_hot(x)  # E: call-arg, reportCallIssue
tf.while_loop(lambda i: i < 3, [0])  # E: call-arg, reportCallIssue
tf.device("/cpu:0", "/cpu:1")  # E: call-arg, reportCallIssue
tf.global_variables()[0].nme  # E: attr-defined, reportAttributeAccessIssue
