"""What a type checker has to refuse about tf.data, estimators, feature columns and tf.keras."""

import weft as tf

dataset = tf.data.Dataset.range(3)
dataset.batch()  # E: call-arg, reportCallIssue
dataset.batchs(3)  # E: attr-defined, reportAttributeAccessIssue
dataset.map(3)  # E: arg-type, reportArgumentType
dataset.map()  # E: call-arg, reportCallIssue
dataset.shuffle()  # E: call-arg, reportCallIssue
dataset.make_one_shot_iterator().get_nxt()  # E: attr-defined, reportAttributeAccessIssue
dataset.make_oneshot_iterator()  # E: attr-defined, reportAttributeAccessIssue
dataset.concatenate([1, 2])  # E: arg-type, reportArgumentType
for element in dataset:  # E: misc, reportGeneralTypeIssues
    print(element)
tf.data.Dataset.from_tensor_slice([1])  # E: attr-defined, reportAttributeAccessIssue
tf.data.Datasets  # E: attr-defined, reportAttributeAccessIssue
tf.estimator.Estimator()  # E: call-arg, reportCallIssue
tf.estimator.Estimator(lambda features: None, model="dir")  # E: call-arg, reportCallIssue
estimator = tf.estimator.Estimator(lambda features, labels, mode: None, "dir")
estimator.train()  # E: call-arg, reportCallIssue
estimator.train(dataset)  # E: arg-type, reportArgumentType
estimator.fit(lambda: dataset)  # E: attr-defined, reportAttributeAccessIssue
estimator.train(lambda: dataset, step=3)  # E: call-arg, reportCallIssue
estimator.train(lambda: dataset, steps="3")  # E: arg-type, reportArgumentType
tf.estimator.EstimatorSpec()  # E: call-arg, reportCallIssue
tf.estimator.RunConfig(save_steps=3)  # E: call-arg, reportCallIssue
tf.estimator.TrainSpec(lambda: dataset, 3, steps=4)  # E: call-arg, reportCallIssue
tf.estimator.train_and_evaluate(estimator)  # E: call-arg, reportCallIssue
tf.feature_column.numeric_column()  # E: call-arg, reportCallIssue
tf.feature_column.numeric_column(3)  # E: arg-type, reportArgumentType
tf.feature_column.numeric_colum("age")  # E: attr-defined, reportAttributeAccessIssue
tf.feature_column.embedding_column(dimension=3)  # E: call-arg, reportCallIssue
tf.feature_column.indicator_column("town")  # E: arg-type, reportArgumentType
tf.keras.layers.Dens(3)  # E: attr-defined, reportAttributeAccessIssue
tf.keras.layers.Dense()  # E: call-arg, reportCallIssue
tf.keras.Sequential().fit_all()  # E: attr-defined, reportAttributeAccessIssue
dataset.batch("4")  # E: arg-type, reportArgumentType
dataset.batch([4])  # E: arg-type, reportArgumentType
dataset.repeat("2")  # E: arg-type, reportArgumentType
dataset.shuffle("100")  # E: arg-type, reportArgumentType
dataset.prefetch("auto")  # E: arg-type, reportArgumentType
dataset.take("3")  # E: arg-type, reportArgumentType
dataset.skip([1])  # E: arg-type, reportArgumentType
dataset.shard("2", 0)  # E: arg-type, reportArgumentType
dataset.padded_batch("4", [None])  # E: arg-type, reportArgumentType
dataset.window("4")  # E: arg-type, reportArgumentType
dataset.interleave(lambda x: dataset, cycle_length="2")  # E: arg-type, reportArgumentType
