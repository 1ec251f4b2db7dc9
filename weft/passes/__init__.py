"""From a graph and a run's fetches and feeds to one partition per task: prune, place, stage, partition.

Each pass is a pure function or a class without threads or I/O, so placement and partitioning are tested with nothing running.
"""
