"""A signal's handler does not run inside a block that puts it off, and runs at its end."""

from __future__ import annotations

import gc
import signal
import threading
import weakref
from collections.abc import Iterator

import pytest

from weft.platform.process.interrupts import deferred_interrupts, is_main_thread, relayed_interrupts


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before:
        signal.signal(number, handler)


def interrupted_block(done: list[str]) -> None:
    with deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        done.append("block")


def interrupted_blocks(done: list[str]) -> None:
    with deferred_interrupts():
        interrupted_block(done)
        done.append("outer block")


def test_an_interrupt_comes_at_the_end_of_the_block() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_block(done)
    assert done == ["block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_nest() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_blocks(done)
    assert done == ["block", "outer block"]


def test_the_programs_own_handler_runs_and_the_block_goes_on() -> None:
    seen = []
    signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    with deferred_interrupts():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert not seen
    assert seen == [signal.SIGTERM] * 2


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_are_left_alone() -> None:
    seen = []

    def enter() -> None:
        with deferred_interrupts():
            seen.append((is_main_thread(), signal.getsignal(signal.SIGINT) is signal.default_int_handler))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [(False, True)]
    assert is_main_thread()


def relayed(done: list[str]) -> None:
    with relayed_interrupts():
        with relayed_interrupts():
            interrupted_block(done)
        done.append("relayed block")


def test_blocks_in_a_block_that_relays_put_interrupts_off() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        relayed(done)
    assert done == ["block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_between_such_blocks_an_interrupt_comes_at_once() -> None:
    seen = []
    signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    with relayed_interrupts():
        signal.raise_signal(signal.SIGTERM)
        assert seen == [signal.SIGTERM]
        with deferred_interrupts():
            signal.raise_signal(signal.SIGTERM)
            assert seen == [signal.SIGTERM]
        assert seen == [signal.SIGTERM] * 2


def test_a_handler_that_the_program_sets_in_such_a_block_stays() -> None:
    def own(number: int, frame: object) -> None:
        raise AssertionError

    with relayed_interrupts():
        signal.signal(signal.SIGINT, own)
    assert signal.getsignal(signal.SIGINT) is own


def test_other_threads_relay_nothing() -> None:
    seen = []

    def enter() -> None:
        with relayed_interrupts():
            seen.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [True]


def test_an_interrupt_in_a_callback_of_the_garbage_collector_is_not_lost() -> None:
    done: list[str] = []

    def interrupt(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            signal.raise_signal(signal.SIGINT)
            done.append("callback")

    def collected() -> None:
        with relayed_interrupts():
            gc.collect()
            gc.callbacks.remove(interrupt)
            done.append("block")

    gc.callbacks.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        collected()
    assert done == ["callback", "block"]


class Referent:
    """Can be referred to weakly."""


def test_an_interrupt_in_the_callback_of_a_weak_reference_is_not_lost() -> None:
    done: list[str] = []

    def callback() -> None:
        signal.raise_signal(signal.SIGINT)
        done.append("callback")

    def released() -> None:
        with relayed_interrupts():
            kept = Referent()
            weakref.finalize(kept, callback)
            del kept
            done.append("block")

    with pytest.raises(KeyboardInterrupt):
        released()
    assert done == ["callback", "block"]


@pytest.mark.parametrize("name", ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM"])
def test_signals_that_have_a_program_save_or_tell_the_time_wait_too(name: str) -> None:
    seen: list[str] = []
    number = getattr(signal, name)
    before = signal.signal(number, lambda number, frame: seen.append("handler"))
    try:
        with deferred_interrupts():
            signal.raise_signal(number)
            seen.append("block")
    finally:
        signal.signal(number, before)
    assert seen == ["block", "handler"]
