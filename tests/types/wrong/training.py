"""What a type checker has to refuse about layers, losses, optimizers, queues, servers, hooks."""

import weft as tf

x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(x)
tf.layers.dense(x)  # E: call-arg, reportCallIssue
tf.layers.dense(x, "ten")  # E: arg-type, reportArgumentType
tf.layers.dense(x, 10, activation="relu")  # E: arg-type, reportArgumentType
tf.layers.dense(x, 10, bias=False)  # E: call-arg, reportCallIssue
tf.layers.dense(x, 10).kernel  # E: attr-defined, reportAttributeAccessIssue
tf.layers.conv2d(x, 32)  # E: call-arg, reportCallIssue
tf.losses.sparse_softmax_cross_entropy(x)  # E: call-arg, reportCallIssue
tf.losses.mean_squared_error(x, x, weight=2.0)  # E: call-arg, reportCallIssue
tf.train.AdamOptimizer(lr=0.1)  # E: call-arg, reportCallIssue
tf.train.AdamOptimiser(0.1)  # E: attr-defined, reportAttributeAccessIssue
tf.train.MomentumOptimizer(0.1)  # E: call-arg, reportCallIssue
optimizer = tf.train.GradientDescentOptimizer(0.1)
optimizer.minimize()  # E: call-arg, reportCallIssue
optimizer.minimize(loss, step=None)  # E: call-arg, reportCallIssue
optimizer.minimise(loss)  # E: attr-defined, reportAttributeAccessIssue
optimizer.minimize(loss).eval()  # E: attr-defined, reportAttributeAccessIssue
tf.train.exponential_decay(0.1)  # E: call-arg, reportCallIssue
tf.train.SyncReplicasOptimizer(optimizer)  # E: call-arg, reportCallIssue
saver = tf.train.Saver()
saver.save("model.ckpt")  # E: call-arg, reportCallIssue
saver.save(tf.Session(), 3)  # E: arg-type, reportArgumentType
saver.restore("model.ckpt")  # E: call-arg, reportCallIssue
queue = tf.FIFOQueue(10, [tf.float32])
queue.enque([1.0])  # E: attr-defined, reportAttributeAccessIssue
queue.dequeue_many()  # E: call-arg, reportCallIssue
tf.FIFOQueue("ten", [tf.float32])  # E: arg-type, reportArgumentType
tf.RandomShuffleQueue(10, dtypes=[tf.float32])  # E: call-arg, reportCallIssue
coord = tf.train.Coordinator()
coord.request_stop(3, 4)  # E: call-arg, reportCallIssue
coord.joins()  # E: attr-defined, reportAttributeAccessIssue
tf.train.start_queue_runners(session=tf.Session())  # E: call-arg, reportCallIssue
cluster = tf.train.ClusterSpec()  # E: call-arg, reportCallIssue
server = tf.train.Server(cluster, job="ps")  # E: call-arg, reportCallIssue
server.joins()  # E: attr-defined, reportAttributeAccessIssue
server.target()  # E: operator, reportCallIssue
tf.train.Server(cluster, "ps", "0")  # E: arg-type, reportArgumentType
tf.train.MonitoredTrainingSession(config={})  # E: arg-type, reportArgumentType
tf.train.MonitoredTrainingSession(hook=[])  # E: call-arg, reportCallIssue
tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook])  # E: list-item, reportArgumentType
tf.train.StopAtStepHook(steps=3)  # E: call-arg, reportCallIssue
tf.train.get_global_step("graph")  # E: arg-type, reportArgumentType
tf.train.AdamOptimizer("0.1")  # E: arg-type, reportArgumentType
tf.train.AdamOptimizer([0.1])  # E: arg-type, reportArgumentType
tf.train.GradientDescentOptimizer("fast")  # E: arg-type, reportArgumentType
tf.train.MomentumOptimizer(learning_rate="0.1", momentum=0.9)  # E: arg-type, reportArgumentType
tf.train.AdagradOptimizer("0.1")  # E: arg-type, reportArgumentType
tf.train.RMSPropOptimizer(b"0.1")  # E: arg-type, reportArgumentType
tf.train.FtrlOptimizer(["0.1"])  # E: arg-type, reportArgumentType
