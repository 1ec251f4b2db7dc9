"""tf.keras: layers, models, fitting."""

import numpy as np

import weft as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu", input_shape=(3,)), tf.keras.layers.Dense(1)])
model.add(tf.keras.layers.Activation("sigmoid"))
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
inputs = tf.keras.Input(shape=(3,), name="inputs")
outputs = tf.keras.layers.Dropout(0.5)(tf.keras.layers.Dense(2)(inputs))
functional = tf.keras.Model(inputs=inputs, outputs=outputs)
functional.compile("sgd", "mse")
x, y = np.zeros([4, 3], np.float32), np.zeros([4, 1], np.float32)
history = model.fit(x, y, batch_size=2, epochs=1, verbose=0, callbacks=[tf.keras.callbacks.EarlyStopping(patience=1)])
print(history.history["loss"], model.predict(x).shape, functional.count_params())
