"""What a forked child gives up."""

from __future__ import annotations

import pytest

from weft.platform.process import fork_release


class _Owner:
    def __init__(self, released: list[_Owner], *, fails: bool = False) -> None:
        self._released, self._fails = released, fails

    def release_after_fork(self) -> None:
        if self._fails:
            raise AttributeError("it was not made to the end")
        self._released.append(self)


def test_one_that_fails_does_not_keep_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_release, "_OWNERS", set())
    released: list[_Owner] = []
    owners = [_Owner(released), _Owner(released, fails=True), _Owner(released)]
    for owner in owners:
        fork_release.release_in_children(owner)
    with pytest.raises(AttributeError):
        fork_release._release_all()
    assert set(released) == {owners[0], owners[2]}
    assert not fork_release._OWNERS
