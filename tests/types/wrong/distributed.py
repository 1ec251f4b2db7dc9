"""What a type checker has to refuse about clusters, servers, devices, strategies and synchronous replicas."""

import weft as tf

tf.train.ClusterSpec(["a:1", "b:2"])  # E: arg-type, reportArgumentType
tf.train.ClusterSpec({"ps": 3})  # E: dict-item, reportArgumentType
tf.train.ClusterSpec("a:1")  # E: arg-type, reportArgumentType
cluster = tf.train.ClusterSpec({"worker": ["a:1"]})
cluster.num_tasks()  # E: call-arg, reportCallIssue
cluster.job_task("worker")  # E: attr-defined, reportAttributeAccessIssue
cluster.task_address("worker")  # E: call-arg, reportCallIssue
cluster.as_dictionary()  # E: attr-defined, reportAttributeAccessIssue
tf.train.Server()  # E: call-arg, reportCallIssue
tf.train.Server("a:1", job_name="worker")  # E: arg-type, reportArgumentType
tf.train.Server({"worker": ["a:1"]}, job_name=0, task_index=0)  # E: arg-type, reportArgumentType
tf.train.Server({"worker": ["a:1"]}, task_id=0)  # E: call-arg, reportCallIssue
tf.train.Server({"worker": ["a:1"]}, config={"a": 1})  # E: arg-type, reportArgumentType
tf.train.Server.create_local_server(port=3)  # E: call-arg, reportCallIssue
tf.train.Server.create_local_server().start_all()  # E: attr-defined, reportAttributeAccessIssue
tf.train.Server.create_local_server().target.nme  # E: attr-defined, reportAttributeAccessIssue
tf.LocalCluster(worker="two")  # E: arg-type, reportArgumentType
tf.LocalCluster({"worker": 1}).targets("worker")  # E: attr-defined, reportAttributeAccessIssue
tf.train.replica_device_setter(tasks=2)  # E: call-arg, reportCallIssue
tf.train.replica_device_setter(ps_tasks="two")  # E: arg-type, reportArgumentType
tf.train.replica_device_setter(cluster=["a:1"])  # E: arg-type, reportArgumentType
tf.train.replica_device_setter(ps_strategy=3)  # E: arg-type, reportArgumentType
tf.device()  # E: call-arg, reportCallIssue
tf.device(3)  # E: arg-type, reportArgumentType
tf.contrib.training.GreedyLoadBalancingStrategy()  # E: call-arg, reportCallIssue
tf.contrib.training.byte_size_load_fn()  # E: call-arg, reportCallIssue
optimizer = tf.train.GradientDescentOptimizer(0.1)
tf.train.SyncReplicasOptimizer(optimizer, 2, 2).make_session_hook(True)  # E: attr-defined, reportAttributeAccessIssue
tf.train.SyncReplicasOptimizer(optimizer, "two")  # E: arg-type, reportArgumentType
tf.train.SyncReplicasOptimizer(optimizer, 2, total_replicas=2)  # E: call-arg, reportCallIssue
tf.train.SyncReplicasOptimizer(optimizer, 2).make_session_run_hook()  # E: call-arg, reportCallIssue
tf.distribute.MirroredStrategy(devices=3)  # E: arg-type, reportArgumentType
tf.distribute.MirrorStrategy()  # E: attr-defined, reportAttributeAccessIssue
tf.distribute.MirroredStrategy().scopes()  # E: attr-defined, reportAttributeAccessIssue
tf.contrib.distribute.ParameterServerStrategy(cluster)  # E: arg-type, reportArgumentType
tf.Session("grpc://a:1", tf.ConfigProto(device_filter=[]))  # E: arg-type, reportArgumentType
tf.Session(target="grpc://a:1", server=None)  # E: call-arg, reportCallIssue
tf.train.Coordinator(stop_grace=3)  # E: call-arg, reportCallIssue
tf.train.QueueRunner(3, [])  # E: arg-type, reportArgumentType
tf.train.add_queue_runner()  # E: call-arg, reportCallIssue
tf.train.add_queue_runners(None)  # E: attr-defined, reportAttributeAccessIssue
tf.ConditionalAccumulator()  # E: call-arg, reportCallIssue
tf.ConditionalAccumulator(tf.float32).take_grads(1)  # E: attr-defined, reportAttributeAccessIssue
tf.ConditionalAccumulator(tf.float32).apply_grad()  # E: call-arg, reportCallIssue
tf.placeholder(3.0)  # E: arg-type, reportArgumentType
tf.cast(1, [tf.int32])  # E: call-overload, reportArgumentType
tf.zeros({2: 3})  # E: arg-type, reportArgumentType
tf.get_variable("v", shape="two", dtype=1.5)  # E: arg-type, reportArgumentType
tf.placeholder(tf.float32, {1: 2})  # E: arg-type, reportArgumentType
