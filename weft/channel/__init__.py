"""The tensor channel: long-lived connections between tasks, and of clients with tasks, that carry messages with tensors.

It knows sockets, threads and shared memory, and nothing of what the messages are for: `protocol` says what they look like and
which rules they follow, `distributed` what to do with them. A connection is opened by `dial` on one side and a `Listener` on
the other, which both run the handshake by `admission`; `address` reads the text that one is dialed by. Then a `Connection` puts
four things together:

    transport/       bytes: the interface, and TCP, TLS, Unix sockets and memory as its implementations; a further one is a
                     file there, and a line in `address` and `listener`
    outbox           what is sent: on the sender's thread as far as that goes at once, else by a thread that writes a queue
    message_reader   what is received: bytes to messages, on whichever thread reads
    waiting/         which thread that is: a connection's own, a pool's (`reader_pool`), or one that waits for a message and
                     reads it by itself (`wait`, with `lease`, `wakeup_pipe` and `busy_poll`); `wait` draws them all
    shared_memory/   large tensors between tasks of one host: written once, and read where they lie

Rules are state machines in `protocol`: `handshake`, `connection_life`, `reader_lease`, `reader_pool`, `tensor_frame`. What is
here has the descriptors, the locks and the clock, and does what they say.
"""
