"""The steps of a session: planned once, run any number of times, and ended once.

step_plan    runs a plan; `partial_run` runs one step in pieces; `step_metadata` tells how a step went
step_run     one step, from its start to its end, whoever ends it; `awaited` names what it waits for in errors
live_steps   the steps that run now, their numbers, and the end of them all
registrar    a plan's parts as the tasks keep them; notices that a task was restarted
deployment   the parts as they are registered now; a step keeps those that it began with
"""
