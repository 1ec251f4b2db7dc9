"""The master of a task: its sessions plan steps over the tasks of a cluster, and run them.

master           opens sessions over a cluster, `direct_session` one in this process without any
worker_cache     reaches the tasks, and waits for them
master_session   one session: fetches and feeds become a plan (prune, place, stage, partition)
steps/           the plan's steps: who runs them, and who ends them, once (`step_run`)
served_sessions  the sessions of clients in other processes: names instead of tensors, prepared runs, leases, keys
"""
