"""The decorators that say where and how a test runs."""

from __future__ import annotations

import unittest

import pytest

import weft as tf
from weft.testing import environment, test_conditions


class _Case(tf.test.TestCase):
    def runTest(self):
        self.ran = True


def test_a_test_is_skipped_where_the_condition_holds():
    for condition, ran in ((True, False), (lambda: True, False), (lambda: False, True)):
        case = _Case()
        test_conditions.skip_if(condition)(_Case.runTest)(case)
        assert getattr(case, "ran", False) is ran


def test_a_test_of_the_second_version_is_skipped():
    for decorate in (test_conditions.run_v2_only, test_conditions.run_v2_only()):
        with pytest.raises(unittest.SkipTest, match="only compatible with v2"):
            decorate(_Case.runTest)(_Case())


def test_a_test_for_gpus_runs_only_there(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(environment, "gpu_device_name", lambda: "")
        with pytest.raises(unittest.SkipTest, match="requires GPU"):
            test_conditions.run_gpu_only(_Case.runTest)(_Case())
        patch.setattr(environment, "gpu_device_name", lambda: "/device:GPU:0")
        case = _Case()
        test_conditions.run_gpu_only(_Case.runTest)(case)
        assert case.ran


def test_a_class_is_no_method():
    with pytest.raises(ValueError, match="_Case"):
        test_conditions.run_gpu_only(_Case)


def test_all_tests_of_a_class_are_decorated():
    @test_conditions.for_all_test_methods(test_conditions.skip_if, True)
    class Tests(tf.test.TestCase):
        def test_fails(self):
            self.fail()

        def helper(self):
            return 1

    case = Tests("test_fails")
    case.test_fails()
    assert case.helper() == 1


def test_what_has_no_effect_here_leaves_the_test_as_it_is():
    assert test_conditions.as_it_is(_Case.runTest) is test_conditions.as_it_is()(_Case.runTest) is _Case.runTest
    assert test_conditions.described("why")(_Case) is _Case
    assert not test_conditions.is_xla_enabled()


def test_devices_of_a_machine_without_gpus(monkeypatch):
    monkeypatch.setattr(environment, "gpu_device_name", lambda: "")
    for scope in (environment.use_gpu(), environment.force_cpu(), environment.device(False)):
        with scope:
            assert tf.constant(1).device == "/device:CPU:0"
    with environment.force_gpu():
        assert tf.constant(1).device == "/device:GPU:0"
