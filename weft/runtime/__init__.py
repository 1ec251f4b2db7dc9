"""One process's part of a run: devices, state, the executor of a task's partition, and the engine that compiles stages."""
