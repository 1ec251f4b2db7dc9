import pytest

from weft.cli.cluster_job import LaunchedTask
from weft.cli.supervision import (
    GraceOver,
    JobState,
    KillTasks,
    ReportEnd,
    ReportFailure,
    ReportLate,
    RestartTask,
    Signalled,
    StopTasks,
    Supervision,
    TaskEnded,
    TaskServes,
    TaskWaits,
    exit_code_of,
)

PS = LaunchedTask("ps", 0, "h:1")
W0 = LaunchedTask("worker", 0, "h:2")
W1 = LaunchedTask("worker", 1, "h:3")


@pytest.fixture
def job():
    return Supervision([PS, W0, W1])


def test_parameter_servers_are_stopped_when_the_last_worker_is_done(job):
    assert job.handle(TaskEnded(W1, 0)) == [ReportEnd(W1, 0)]
    assert job.handle(TaskEnded(W0, 0)) == [ReportEnd(W0, 0), StopTasks((PS,))]
    assert job.handle(TaskEnded(PS, -15)) == [ReportEnd(PS, -15)]
    assert (job.state, job.exit_code) == (JobState.DONE, 0)


def test_an_evaluator_is_waited_for():
    evaluator = LaunchedTask("evaluator", 0, None)
    job = Supervision([PS, W0, evaluator])
    assert job.handle(TaskEnded(W0, 0)) == [ReportEnd(W0, 0)]
    assert StopTasks((PS,)) in job.handle(TaskEnded(evaluator, 0))


def test_a_job_of_parameter_servers_only_ends_when_they_do():
    job = Supervision([PS])
    assert job.handle(TaskEnded(PS, 0)) == [ReportEnd(PS, 0)]
    assert job.state is JobState.DONE


def test_a_parameter_server_may_end_by_itself_before_the_workers(job):
    assert job.handle(TaskEnded(PS, 0)) == [ReportEnd(PS, 0)]
    job.handle(TaskEnded(W0, 0))
    assert job.handle(TaskEnded(W1, 0)) == [ReportEnd(W1, 0)]
    assert (job.state, job.exit_code) == (JobState.DONE, 0)


@pytest.mark.parametrize("task", [PS, W0])
def test_a_failure_stops_the_others_and_gives_the_exit_code(job, task):
    others = tuple(other for other in (PS, W0, W1) if other != task)
    assert job.handle(TaskEnded(task, 3)) == [ReportFailure(task, 3), StopTasks(others)]
    for other in others:
        assert job.handle(TaskEnded(other, 1)) == [ReportEnd(other, 1)]
    assert (job.state, job.exit_code) == (JobState.DONE, 3)


def test_a_task_killed_by_a_signal_has_failed(job):
    assert job.handle(TaskEnded(W0, -9))[0] == ReportFailure(W0, -9)
    assert job.exit_code == 137


def test_a_failure_of_the_only_task_ends_the_job():
    job = Supervision([W0])
    assert job.handle(TaskEnded(W0, 2)) == [ReportFailure(W0, 2)]
    assert (job.state, job.exit_code) == (JobState.DONE, 2)


def test_a_signal_stops_everything_and_a_second_one_kills(job):
    assert job.handle(Signalled(2)) == [StopTasks((PS, W0, W1))]
    assert job.handle(TaskEnded(W1, -15)) == [ReportEnd(W1, -15)]
    assert job.handle(Signalled(2)) == [KillTasks((PS, W0))]
    job.handle(TaskEnded(W0, -9))
    job.handle(TaskEnded(PS, -9))
    assert (job.state, job.exit_code) == (JobState.DONE, 130)


def test_who_is_left_when_the_grace_is_over_is_killed(job):
    job.handle(TaskEnded(W0, 0))
    job.handle(TaskEnded(W1, 0))
    assert job.handle(GraceOver()) == [KillTasks((PS,))]
    assert job.handle(TaskEnded(PS, -9)) == [ReportEnd(PS, -9)]
    assert (job.state, job.exit_code) == (JobState.DONE, 0)
    assert job.handle(GraceOver()) == []


def test_exit_codes_of_signals_are_the_shells():
    assert [exit_code_of(code) for code in (0, 3, -2, -15)] == [0, 3, 130, 143]


def test_a_task_that_only_serves_is_not_waited_for(job):
    assert job.handle(TaskServes(W1)) == []
    assert job.handle(TaskEnded(W0, 0)) == [ReportEnd(W0, 0), StopTasks((PS, W1))]


def test_a_task_may_tell_late_that_it_only_serves(job):
    assert job.handle(TaskEnded(W0, 0)) == [ReportEnd(W0, 0)]
    assert job.handle(TaskServes(W1)) == [StopTasks((PS, W1))]
    assert job.handle(TaskServes(W1)) == []


def test_while_every_task_only_serves_the_job_goes_on(job):
    for task in (PS, W0, W1):
        assert job.handle(TaskServes(task)) == []
    assert job.state is JobState.RUNNING


def test_servers_alone_go_on_until_each_has_ended():
    job = Supervision([PS])
    assert job.handle(TaskServes(PS)) == []
    job.handle(TaskEnded(PS, 0))
    assert (job.state, job.exit_code) == (JobState.DONE, 0)


def test_the_job_may_end_with_one_task_alone():
    job = Supervision([PS, W0, W1], until=W1)
    assert job.handle(TaskEnded(W0, 0)) == [ReportEnd(W0, 0)]
    assert job.handle(TaskEnded(W1, 0)) == [ReportEnd(W1, 0), StopTasks((PS,))]


def test_a_task_that_fails_is_started_again_as_often_as_the_job_allows():
    job = Supervision([PS, W0], restarts=2)
    assert job.handle(TaskEnded(W0, 1)) == [RestartTask(W0, 1, 1)]
    assert job.handle(TaskEnded(PS, -9)) == [RestartTask(PS, -9, 1)]
    assert job.handle(TaskEnded(W0, 1)) == [RestartTask(W0, 1, 0)]
    assert job.handle(TaskEnded(W0, 3)) == [ReportFailure(W0, 3), StopTasks((PS,))]
    assert job.handle(TaskEnded(PS, -15)) == [ReportEnd(PS, -15)]
    assert (job.state, job.exit_code) == (JobState.DONE, 3)


def test_a_task_that_is_being_stopped_is_not_started_again():
    job = Supervision([PS, W0], restarts=2)
    job.handle(Signalled(15))
    assert job.handle(TaskEnded(W0, -15)) == [ReportEnd(W0, -15)]


def test_a_task_that_waits_for_servers_which_have_ended_with_the_training_is_not_waited_for():
    # One that was started again, and one that has begun late: whoever comes to the wait first.
    for events in ([TaskEnded(W1, 1), TaskWaits(W1, ("h:1",))], [TaskWaits(W1, ("h:1", "h:9"))]):
        job = Supervision([PS, W0, W1], restarts=1)
        for event in events:
            job.handle(event)
        job.handle(TaskEnded(W0, 0))
        assert job.handle(TaskEnded(PS, 0)) == [ReportEnd(PS, 0), ReportLate(W1, (PS,)), StopTasks((W1,))]
        job.handle(TaskEnded(W1, -15))
        assert (job.state, job.exit_code) == (JobState.DONE, 0)
    job = Supervision([PS, W0, W1])
    job.handle(TaskEnded(W0, 0))
    assert job.handle(TaskEnded(PS, 0)) == [ReportEnd(PS, 0)]
    assert job.handle(TaskWaits(W1, ("h:1",))) == [ReportLate(W1, (PS,)), StopTasks((W1,))]


def test_a_task_that_waits_for_nobody_has_its_time_when_the_training_is_over():
    job = Supervision([PS, W0, W1], restarts=1)
    job.handle(TaskEnded(W1, 1))
    job.handle(TaskWaits(W1, ("h:1",)))
    job.handle(TaskWaits(W1, ()))
    job.handle(TaskEnded(W0, 0))
    assert job.handle(TaskEnded(PS, 0)) == [ReportEnd(PS, 0)]
    # Nor is a wait for a worker one for a server.
    assert job.handle(TaskWaits(W1, ("h:2",))) == []
    assert job.handle(TaskEnded(W1, 0)) == [ReportEnd(W1, 0)]
    assert (job.state, job.exit_code) == (JobState.DONE, 0)


def test_a_task_that_is_started_again_waits_for_nobody_yet():
    job = Supervision([PS, W0, W1], restarts=1)
    job.handle(TaskWaits(W1, ("h:1",)))
    job.handle(TaskEnded(W1, 1))
    job.handle(TaskEnded(W0, 0))
    assert job.handle(TaskEnded(PS, 0)) == [ReportEnd(PS, 0)]


def test_a_task_that_waits_while_a_server_serves_is_waited_for():
    job = Supervision([PS, W0, W1], restarts=1)
    job.handle(TaskWaits(W1, ("h:1",)))
    assert job.handle(TaskEnded(W0, 0)) == [ReportEnd(W0, 0)]


def test_a_chief_that_failed_behind_the_training_and_finds_no_server_ends_the_job_with_its_code():
    job = Supervision([PS, W0], restarts=3)
    job.handle(TaskEnded(W0, 7))
    job.handle(TaskEnded(PS, 0))
    assert job.handle(TaskWaits(W0, ("h:1",))) == [ReportLate(W0, (PS,)), StopTasks((W0,))]
    assert job.exit_code == 7
    # One that has not failed may wait for servers which somebody has stopped, and brings back elsewhere.
    job = Supervision([PS, W0], restarts=3)
    job.handle(TaskEnded(PS, 0))
    assert job.handle(TaskWaits(W0, ("h:1",))) == []


def test_when_the_training_is_over_an_evaluator_alone_is_started_again():
    evaluator = LaunchedTask("evaluator", 0, None)
    job = Supervision([PS, W0, W1, evaluator], restarts=2)
    assert job.handle(TaskEnded(evaluator, 1)) == [RestartTask(evaluator, 1, 1)]
    job.handle(TaskEnded(W0, 0))
    assert job.handle(TaskEnded(PS, 0)) == [ReportEnd(PS, 0)]
    assert job.handle(TaskEnded(evaluator, 1)) == [RestartTask(evaluator, 1, 0)]
    assert job.handle(TaskEnded(W1, 1)) == [ReportFailure(W1, 1), StopTasks((evaluator,))]
    assert job.exit_code == 1
