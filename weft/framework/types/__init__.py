"""What tensors are made of: element types, shapes, and the values that go into protos and come out of them."""
