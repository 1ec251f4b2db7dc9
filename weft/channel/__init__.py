"""The tensor channel: connections that carry frames between tasks, their sockets, threads and shared memory."""
