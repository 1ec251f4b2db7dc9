"""Input pipelines of queues and threads."""
