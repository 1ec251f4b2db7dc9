"""The rules by which tasks talk, without any I/O: messages, their frames, admission, and tensors that come early.

Nothing here knows a socket, a thread or a clock. Bytes and events go in; messages, buffers and instructions come out.
"""
