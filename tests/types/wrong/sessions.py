"""What a type checker has to refuse about sessions; it names the code in the comment of the line."""

import weft as tf

x = tf.placeholder(tf.float32, [None, 3], name="x")
train_op = tf.no_op()
config = tf.ConfigProto()
tf.ConfigProto(allow_soft_placment=True)  # E: call-arg, reportCallIssue
tf.ConfigProto(intra_op_parallelism_threads="four")  # E: arg-type, reportArgumentType
tf.ConfigProto(gpu_options=tf.RunOptions())  # E: arg-type, reportArgumentType
config.log_placement = True  # E: attr-defined, reportAttributeAccessIssue
config.gpu_options.allow_grow = True  # E: attr-defined, reportAttributeAccessIssue
config.graph_options.optimizer_options.global_jit_level = "on"  # E: assignment, reportAttributeAccessIssue
tf.Session(config={"allow_soft_placement": True})  # E: arg-type, reportArgumentType
tf.Session(8888)  # E: arg-type, reportArgumentType
tf.Session(graph=tf.Graph)  # E: arg-type, reportArgumentType
tf.Sesion()  # E: attr-defined, reportAttributeAccessIssue
sess = tf.Session()
sess.run(None)  # E: call-overload, reportCallIssue
sess.run(3)  # E: call-overload, reportCallIssue
sess.run()  # E: call-overload, reportCallIssue
sess.run(x, [x])  # E: call-overload, reportCallIssue
sess.run(x, {x: [1]}, {})  # E: call-overload, reportCallIssue
sess.run(x, feeds={x: [1]})  # E: call-overload, reportCallIssue
sess.run(train_op, x=3)  # E: call-overload, reportCallIssue
sess.rum(train_op)  # E: attr-defined, reportAttributeAccessIssue
sess.run(train_op).shape  # E: attr-defined, reportAttributeAccessIssue
sess.run([train_op, x]).shape  # E: attr-defined, reportAttributeAccessIssue
sess.run({"x": x}).append(1)  # E: attr-defined, reportAttributeAccessIssue
sess.run((x, x)).append(1)  # E: attr-defined, reportAttributeAccessIssue
sess.graph.finalise()  # E: attr-defined, reportAttributeAccessIssue
sess.graph.get_tensor_by_name(x)  # E: arg-type, reportArgumentType
tf.get_default_graph().as_defalt()  # E: attr-defined, reportAttributeAccessIssue
