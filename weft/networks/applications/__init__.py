"""Networks for images that programs take ready-made, with the layers' names of Keras, so that its files of weights fit."""
