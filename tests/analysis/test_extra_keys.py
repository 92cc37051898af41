"""Keys beside the answer, which no reference has, and the option that leaves them out."""

from __future__ import annotations

from typing import Any

import pytest

from anls_metric import get_scorer
from anls_metric.analysis.extra_keys import find_extra_keys
from tests.system.conftest import Shell, shell

__all__ = ["shell"]

GOLD = [
    {"vendor": f"V{n} Ltd", "invoice date": f"{n}.5.", "items": [{"name": "tea", "price": f"{n}"}]} for n in range(6)
]


def add_to_items(value: Any, **more: Any) -> Any:
    return {**value, "items": [{**item, **more} for item in value["items"]]}


# What becomes of each answer, and the keys that are beside it.
CASES: dict[str, tuple[Any, list[str]]] = {
    "bookkeeping": (lambda value, n: {"model": "m", **value, "seconds": n}, ["model", "seconds"]),
    "objects": (lambda value, n: {**value, "usage": {"tokens": n}}, ["usage"]),
    "items of a list": (lambda value, n: add_to_items(value, score=0.5), ["items.score"]),
    "a key of some answers": (lambda value, n: {**value, **({"note": "x"} if n % 2 else {})}, []),
    "a key in another spelling": (
        lambda value, n: {"invoice_date" if k == "invoice date" else k: v for k, v in value.items()},
        [],
    ),
    "a key under another name": (
        lambda value, n: {"supplier" if k == "vendor" else k: v for k, v in value.items()},
        [],
    ),
    "a wrapper": (lambda value, n: {"response": value, "seconds": n}, []),
    "nothing": (lambda value, n: value, []),
}


@pytest.mark.parametrize("case", CASES)
def test_keys_beside_the_answer_get_a_hint_that_works(shell: Shell, case: str) -> None:
    change, keys = CASES[case]
    rows = [{"prediction": change(value, n), "references": value} for n, value in enumerate(GOLD)]
    shell.write({"t.json": rows})
    line = "t.json --variant anls_star"
    option = f"leave them out with --ignore-keys {','.join(keys)} ("
    assert (option in shell.type(line).err) == bool(keys)
    assert ("--ignore-keys" in shell.type(line).err) == bool(keys)
    if keys:
        assert shell.scores(f"{line} --ignore-keys {','.join(keys)}") == [1.0]
        assert (
            f"|ignore_keys:{','.join(keys)}|" in shell.document(f"{line} --ignore-keys {','.join(keys)}")["signature"]
        )
        assert "--ignore-keys" not in shell.type(f"{line} --ignore-keys {','.join(keys)}").err


def test_hint_keeps_the_keys_that_are_left_out_already(shell: Shell) -> None:
    shell.write({"t.json": [{"prediction": {"a": 1, **value, "b": 1}, "references": value} for value in GOLD]})
    assert "--ignore-keys a,b (" in shell.type("t.json --variant anls_star --ignore-keys a").err


def test_unknown_key_is_refused(shell: Shell) -> None:
    shell.write({"t.json": [{"prediction": value, "references": value} for value in GOLD]})
    line = "t.json --variant anls_star --ignore-keys"
    assert shell.error(f"{line} vendr") == "no answer has the key 'vendr' of --ignore-keys: did you mean 'vendor'?"
    assert shell.error(f"{line} xyz").startswith("no answer has the key 'xyz': correct --ignore-keys (found vendor, ")
    assert shell.scores(f"{line} items.price") == [1.0]


def test_strings_and_lists_have_no_keys_to_leave_out(shell: Shell) -> None:
    assert "--ignore-keys applies only to structured answers" in shell.error("gold.json a.json --ignore-keys a")
    shell.write({"t.json": [{"prediction": ["a"], "references": ["a"]}]})
    assert "anlsl has no option 'ignore_keys'" in shell.error("t.json --variant anlsl --ignore-keys a")


def test_find_extra_keys_needs_a_scorer_that_can_leave_them_out() -> None:
    assert find_extra_keys(get_scorer("anlsl"), [["a"]], [(["b"],)]) == []
