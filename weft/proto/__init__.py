"""Messages of TensorFlow's wire formats that the `tensorboard` package does not ship, with TensorFlow's field numbers.

The `.proto` files are the source; `make proto` generates the modules beside them.
"""
