"""What the page takes on: no visitor keeps the others waiting, and nobody's memory grows without end."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack

import pytest

from anls_metric.page import limits
from anls_metric.page.limits import Turnstile, measure_memory, measure_work, refuse_too_long


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


def test_what_people_compare_is_far_within_the_limits() -> None:
    refuse_too_long("word " * 6_200, ["an accepted answer"] * 20, "a rambling model")
    refuse_too_long("a page " * 1_000, ["a page " * 1_000], "a whole page")
    assert 200_000 * measure_work("a usual answer", ["a usual answer", "another"]) < limits.MOST_COMPARED_IN_FILE


def test_memory_is_counted_through_lists_and_objects() -> None:
    text = "x" * 10_000
    assert measure_memory({"a": [text, {"b": text}]}) > 20_000
    assert measure_memory("漢" * 10_000) > 20_000
    assert measure_memory(7) == sys.getsizeof(7)


def test_one_large_piece_of_work_at_a_time_and_small_ones_at_once() -> None:
    turnstile = Turnstile(most_waiting=2)
    inside: list[int] = []
    most: list[int] = []
    enter, leave = threading.Event(), threading.Event()

    def work() -> None:
        with turnstile.admit(large=True):
            inside.append(1)
            most.append(len(inside))
            enter.set()
            leave.wait(10)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(2)]
    threads[0].start()
    assert enter.wait(10)
    threads[1].start()
    with turnstile.admit(large=False):
        assert len(inside) == 1
    while turnstile._places.acquire(blocking=False):  # until the second one waits
        turnstile._places.release()
    with pytest.raises(ValueError, match="try again in a minute"), turnstile.admit(large=True):
        pass
    leave.set()
    for thread in threads:
        thread.join(10)
    assert most == [1, 1]
    with ExitStack() as stack:  # every place is free again
        stack.enter_context(turnstile.admit(large=True))
        assert turnstile._places.acquire(blocking=False)


def test_an_error_at_work_frees_the_place() -> None:
    turnstile = Turnstile(most_waiting=1)
    for _ in range(3):
        with pytest.raises(KeyError), turnstile.admit(large=True):
            raise KeyError
