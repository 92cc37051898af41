"""Decides from the structure of a regular expression whether some text takes more than linear time.

`re` tries one way through a pattern after the other. It takes more than linear time only if the number of ways through
a text grows with the length of the text. There are three such cases: a loop that reads the same text in two ways, as in
`(a+)+`; two loops that can read the same text, as in `a*a*`; and a search for a pattern that may begin anywhere inside
its own loop, as in `a+b`, which begins again at each a.

A pattern is seen as places: each is a set of characters, and after each place some others may come next.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

# The parser of `re`.
_NAMES = ("re._parser", "re._compiler") if sys.version_info >= (3, 11) else ("sre_parse", "sre_compile")
_parser, _compiler = map(import_module, _NAMES)

_LARGE = 5  # a repeat of this many times counts as a loop inside or around another loop
_UNBOUNDED = 1_000  # a repeat of this many times counts as a loop anywhere
_ANCHORS = [(_parser.AT, _parser.AT_BEGINNING), (_parser.AT, _parser.AT_BEGINNING_STRING)]
_OTHERS = "éßİ漢\u00a0\u2003\u0661🙂"  # characters outside ASCII


class Part(NamedTuple):
    """A part of a pattern: the places where it begins and ends, and whether it may be empty or has a look around."""

    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    is_empty: bool = True
    is_sure: bool = True  # whether the text up to here is a match, without a following look-around


class Places:
    """The places of a pattern, and which come next.

    Attributes:
        characters: the characters of each place.
        next: the places after each.
        twice: the pairs of places that have two ways from one to the other.
        first, last: the places where a match begins, and where it surely is one.
        is_anchored: whether it is found at the beginning of a text only.
    """

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        tree = _parser.parse(pattern, flags)
        self._flags = tree.state.flags
        self._groups: dict[int | None, Any] = {}
        letters = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
        others = _OTHERS if isinstance(pattern, str) else "\x80\xff"
        self._is_text = isinstance(pattern, str)
        self._alphabet = frozenset(map(chr, range(128))) | frozenset(letters + letters.swapcase() + others)
        self.characters: list[frozenset[str]] = []
        self.next: list[set[int]] = []
        self.twice: set[tuple[int, int]] = set()
        whole = self._read_all(tree, in_loop=False)
        self.is_anchored = bool(tree) and tree[0] in _ANCHORS and not self._flags & re.MULTILINE
        self.first, self.last = whole.first, whole.last if whole.is_sure else frozenset()

    def _add(self, characters: Iterable[str]) -> Part:
        self.characters.append(frozenset(characters))
        self.next.append(set())
        places = frozenset([len(self.next) - 1])
        return Part(places, places, is_empty=False)

    def _connect(self, before: Iterable[int], after: Iterable[int]) -> None:
        for place in before:
            self.twice |= {(place, other) for other in self.next[place].intersection(after)}
            self.next[place] |= set(after)

    def _read_all(self, tree: Iterable[Any], in_loop: bool) -> Part:
        """A sequence."""
        first: frozenset[int] = frozenset()
        last: frozenset[int] = frozenset()
        is_empty = is_sure = True
        for kind, value in tree:
            part = self._read(kind, value, in_loop)
            self._connect(last, part.first)
            first |= part.first if is_empty else frozenset()
            last = part.last | (last if part.is_empty else frozenset())
            is_sure = part.is_sure and (is_sure or not part.is_empty)
            is_empty &= part.is_empty
        return Part(first, last, is_empty, is_sure)

    def _read(self, kind: Any, value: Any, in_loop: bool) -> Part:
        name = str(kind)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._add(self._list_characters(name, value))
        if name == "AT":
            return Part(is_sure=False)
        if name in ("ASSERT", "ASSERT_NOT"):  # a way that ends there
            return Part(self._read_all(value[1], in_loop).first, is_sure=False)
        if name == "SUBPATTERN":
            number, added, removed, inside = value
            self._groups[number] = inside
            before, self._flags = self._flags, (self._flags | added) & ~removed
            part = self._read_all(inside, in_loop)
            self._flags = before
            return part
        if name == "GROUPREF":  # as if it could be any text of its group, which is more than it can
            return self._read_all(self._groups[value], in_loop)
        if name == "BRANCH":
            parts = [self._read_all(branch, in_loop) for branch in value[1]]
            return Part(
                frozenset().union(*(part.first for part in parts)),
                frozenset().union(*(part.last for part in parts)),
                any(part.is_empty for part in parts),
                all(part.is_sure for part in parts),
            )
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inside = value
            holds_loop = in_loop or _holds_repeat(inside)
            is_loop = most > _UNBOUNDED or (most >= _LARGE and holds_loop)
            part = self._read_all(inside, in_loop or most >= _LARGE)
            if is_loop:
                self._connect(part.last, part.first)
            return part._replace(is_empty=part.is_empty or least == 0)
        raise NotImplementedError(f"{name} in a pattern: leave it out, or teach this test what it does")

    def _list_characters(self, name: str, value: Any) -> Iterator[str]:
        """The characters of the alphabet that `re` itself finds at such a place."""
        tree = _parser.SubPattern(_parser.State(), [(getattr(_parser, name), value)])
        tree.state.flags = self._flags
        single = _compiler.compile(tree)
        for character in self._alphabet:
            if single.fullmatch(character if self._is_text else character.encode("latin-1", "ignore")):
                yield character


def _holds_repeat(tree: Iterable[Any]) -> bool:
    """Whether a part has a repeat of many times inside."""
    for kind, value in tree:
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT") and (value[1] >= _LARGE or _holds_repeat(value[2])):
            return True
        if name == "SUBPATTERN" and _holds_repeat(value[-1]):
            return True
        if name == "BRANCH" and any(map(_holds_repeat, value[1])):
            return True
    return False


def find_growth(pattern: str | bytes, flags: int = 0, is_searched: bool = True) -> str:
    """Say why a pattern takes more than linear time for some text; "" where it does not.

    `is_searched` says whether it is looked for at each place of a text, and not at one place.
    """
    places = Places(pattern, flags)
    return next(_find_reasons(places, is_searched), "")


def _find_reasons(places: Places, is_searched: bool) -> Iterator[str]:
    def show(place: int) -> str:
        return "[" + "".join(sorted(places.characters[place]))[:20] + "]"

    reach = {place: _find_reachable(places, place) for place in range(len(places.next))}
    loops = [place for place, after in reach.items() if place in after]
    for place, other in places.twice:
        if place in reach[other]:
            yield f"{show(place)}: a loop in a loop"
    for place in loops:
        pairs = _reach(places, [(place, place)])
        for one, two in pairs:
            if one != two and (place, place) in _reach(places, [(one, two)]):
                yield f"{show(place)}: two ways through a loop"
                break
    for place in loops:
        for other in loops:
            if other != place and (place, other, other) in _reach(places, [(place, place, other)]):
                yield f"{show(place)} and then {show(other)}: two loops read the same text"
    if is_searched and not places.is_anchored:
        for place in loops:
            # A search is a loop that reads anything: another match begins while this loop reads on.
            begun = {(first, after) for first in places.first for after in places.next[place]}
            starts = [pair for pair in begun if places.characters[pair[0]] & places.characters[pair[1]]]
            if place not in places.last and (place, place) in {*starts, *_reach(places, starts)}:
                yield f"{show(place)}: a loop that each place of a text begins, and that does not end the pattern"


def _find_reachable(places: Places, place: int) -> set[int]:
    """The places that come after a place, however far."""
    return {after for (after,) in _reach(places, [(place,)])}


def _reach(places: Places, starts: Iterable[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """The places that several readers of one text can come to together, from where they are."""
    seen: set[tuple[int, ...]] = set()
    waiting = list(starts)
    while waiting:
        for after in _list_steps(places, waiting.pop()):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def _list_steps(places: Places, readers: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    def extend(chosen: tuple[int, ...], common: frozenset[str] | None) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(readers):
            yield chosen
            return
        for place in places.next[readers[len(chosen)]]:
            both = places.characters[place] if common is None else places.characters[place] & common
            if both:
                yield from extend((*chosen, place), both)

    return extend((), None)
