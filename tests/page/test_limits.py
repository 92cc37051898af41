"""The limits of the page: no visitor keeps others waiting, and memory does not grow without bound."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack

import pytest

from anls_metric.page import limits
from anls_metric.page.limits import Allowance, Lane, measure_memory, measure_work, refuse_too_long
from tests.conftest import ROOT


def test_all_references_together_are_counted() -> None:
    one = measure_work("a" * 5_000, ["b" * 5_000])
    assert measure_work("a" * 5_000, ["b" * 5_000] * 4) == 4 * one <= 4 * limits.MOST_COMPARED
    refuse_too_long("a" * 5_000, ["b" * 5_000] * 3, "it")
    with pytest.raises(
        ValueError, match=r"it: 5,000 characters and 4 accepted answers of 20,000 together are too long"
    ):
        refuse_too_long("a" * 5_000, ["b" * 5_000] * 4, "it")
    with pytest.raises(ValueError, match="score it with anls"):
        refuse_too_long("a" * 20_000, ["b"] * 10_000, "it")  # the form of 40 kB that took 31 s
    with pytest.raises(ValueError, match="too long"):
        refuse_too_long("a", ["b"] * 10**6, "it")


def test_usual_answers_are_far_below_the_limits() -> None:
    refuse_too_long("word " * 6_200, ["an accepted answer"] * 20, "a rambling model")
    refuse_too_long("a page " * 1_000, ["a page " * 1_000], "a whole page")
    assert 200_000 * measure_work("a usual answer", ["a usual answer", "another"]) < limits.MOST_COMPARED_IN_FILE


def test_memory_is_counted_through_lists_and_objects() -> None:
    text = "x" * 10_000
    assert measure_memory({"a": [text, {"b": text}]}) > 20_000
    assert measure_memory("漢" * 10_000) > 20_000
    assert measure_memory(7) == sys.getsizeof(7)


ALLOWANCE = Allowance(seconds=1, memory=10**9)


def test_lane_lets_as_many_through_as_it_says() -> None:
    lane = Lane(waiting=2, inside=1, allowance=ALLOWANCE)
    inside: list[int] = []
    most: list[int] = []
    enter, leave = threading.Event(), threading.Event()

    def work() -> None:
        with lane.admit():
            inside.append(1)
            most.append(len(inside))
            enter.set()
            leave.wait(10)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(2)]
    threads[0].start()
    assert enter.wait(10)
    threads[1].start()
    while lane._places.acquire(blocking=False):  # until the second one waits
        lane._places.release()
    with pytest.raises(ValueError, match="try again in a minute"), lane.admit():
        pass
    leave.set()
    for thread in threads:
        thread.join(10)
    assert most == [1, 1]
    with ExitStack() as stack:  # every place is free again
        stack.enter_context(lane.admit())
        assert lane._places.acquire(blocking=False)


def test_error_at_work_frees_the_place() -> None:
    lane = Lane(waiting=1, inside=1, allowance=ALLOWANCE)
    for _ in range(3):
        with pytest.raises(KeyError), lane.admit():
            raise KeyError


def test_threads_outnumber_waiting_work() -> None:
    assert sum(limits.MOST_WAITING) < limits.THREADS


def test_limits_in_security_md_match_the_code() -> None:
    text = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    small, large, gigabyte = limits.small.allowance, limits.large.allowance, 10**9
    for promise in (
        f"after {small.seconds:g} seconds for small work, and after {large.seconds / 60:g} minutes for large uploads",
        f"{small.memory / gigabyte:g} GB of memory for small work, and {large.memory / gigabyte:g} GB for large work",
        f"run again, with {limits.SECOND_TRY.seconds:g} seconds and {limits.SECOND_TRY.memory / gigabyte:g} GB",
        f"All processes together have {limits.MOST_MEMORY / gigabyte:g} GB",
        f"at most {limits.MOST_REQUEST >> 10} kB, an upload {limits.MOST_UPLOAD >> 20} MB, and a file",
        f"a file {limits.MOST_BYTES >> 20} MB",
        f"pauses for {limits.PAUSE_SECONDS} seconds",
        f"together take at most {limits.MOST_UPLOADED / gigabyte:g} GB",
    ):
        assert promise in text
    assert limits.KEPT_SECONDS == 3600


def test_table_of_limits_in_the_guide_has_the_limits_of_the_page() -> None:
    guide = (ROOT / "docs" / "page.md").read_text(encoding="utf-8")
    allowance = limits.large.allowance
    for row in (
        f"| one file | {limits.MOST_BYTES >> 20} MB, and {limits.MOST_QUESTIONS:,} questions |",
        f"| the files of one upload | {limits.MOST_UPLOAD >> 20} MB |",
        f"| submissions | {limits.MOST_SUBMISSIONS} |",
        f"| memory | {allowance.memory // 10**9} GB for one request |",
        f"| time | {allowance.seconds / 60:g} minutes; files of more than {limits.SMALL_FILES // 1000} kB wait",
    ):
        assert row in guide
