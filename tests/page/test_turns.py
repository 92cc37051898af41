"""Fair turns: who gets a place, who waits, and who is refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from anls_metric.page import limits, processes
from anls_metric.page.processes import watch
from anls_metric.page.turns import BUSY, FULL, BusyError, Turn, Turns


def begin(turns: Turns, waiting: Sequence[Turn]) -> str:
    """Begin what may begin, and return whose it is."""
    return "".join(str(turn.visitor) for turn in waiting if not turn.has_place and turns.begin(turn))


def test_visitor_has_one_place_at_a_time() -> None:
    turns = Turns(places=2, most=99, most_of_one=99)
    first = [turns.ask("a") for _ in range(10)]
    others = [turns.ask(visitor) for visitor in "bc"]
    assert begin(turns, [*others[::-1], *first]) == "ba"  # c waits for a place, and nine of a for their visitor
    turns.leave(first[0])
    assert begin(turns, [*first[1:], *others]) == "a"  # a has waited longer than c
    turns.leave(others[0])
    assert begin(turns, [*first[1:], *others]) == "c"


def test_long_work_goes_behind_what_has_not_begun() -> None:
    turns = Turns(places=1, most=99, most_of_one=99)
    a, b, c, more = (turns.ask(visitor) for visitor in "abca")
    assert begin(turns, [a, b, c, more]) == "a"
    assert turns.go_on(a)  # the place for long work is free
    assert begin(turns, [more, c, b]) == "b"
    assert not turns.go_on(b)
    assert begin(turns, [more, b, c]) == "c"
    turns.leave(c)
    assert begin(turns, [more, b]) == ""  # one place of each visitor, and b waits for one for long work
    turns.leave(a)
    assert begin(turns, [more, b]) == "ab"


def test_visitor_who_asks_too_often_is_refused_alone() -> None:
    turns = Turns(places=1, most=5, most_of_one=3)
    asked = [turns.ask("a") for _ in range(3)]
    with pytest.raises(BusyError, match=FULL):
        turns.ask("a")
    asked += [turns.ask("b"), turns.ask("c")]
    with pytest.raises(BusyError, match=BUSY):
        turns.ask("d")
    for turn in asked:
        turns.leave(turn)
    assert begin(turns, [turns.ask("d")]) == "d"


def work(folder: str, name: str) -> str:
    """Use the processor until a file is there."""
    with open(Path(folder, f"{name} began"), "a", encoding="utf-8") as file:
        file.write("x")
    while not Path(folder, f"{name} may end").exists():
        sum(range(10_000))
    return name


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell the CPU time of a process")
def test_work_that_takes_long_begins_again_when_it_has_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FIRST_SECONDS", 4)  # also for the imports of the process
    turns, results = Turns(1, 99, 99), {}

    def run(name: str) -> None:
        *_, (_, results[name]) = watch(work, str(tmp_path), name, turns=turns, visitor=name, wait=0.05)

    def see(*names: str, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while not all((tmp_path / name).exists() for name in names):
            assert time.monotonic() < end, names
            time.sleep(0.05)

    def allow(name: str) -> None:
        (tmp_path / f"{name} may end").touch()

    threads = {name: threading.Thread(target=run, args=[name]) for name in "abc"}
    try:
        for name, thread in threads.items():  # all of them take long, and all of them begin
            thread.start()
            see(f"{name} began")
        assert results == {}
        allow("a")  # which never stopped
        threads["a"].join(120)
        assert (tmp_path / "a began").read_text(encoding="utf-8") == "x"
        allow("b")
        allow("c")
    finally:
        for name in "abc":
            allow(name)
    for thread in threads.values():
        thread.join(120)
    assert results == {"a": "a", "b": "b", "c": "c"}
    assert (tmp_path / "b began").read_text(encoding="utf-8") == "xx"


def test_call_without_a_visitor_waits_for_no_other() -> None:
    looks: list[Any] = [watch(time.sleep, 600, wait=0.01) for _ in range(limits.MAX_FILES_AT_ONCE)]
    try:
        assert [next(look) for look in looks] == [("", None)] * limits.MAX_FILES_AT_ONCE
    finally:
        for look in looks:
            look.close()
    assert processes.run(abs, -1) == 1
