"""Fair turns, in which each visitor has one place at a time and long work waits behind work that has not begun.

Since the time that work will take is unknown and hardly depends on the size of a file, all work begins in one of the
first places. Work that is not done after some seconds of CPU time needs one of the places for long work. If no such
place is free, the work stops and begins again once a place becomes free.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

FULL = "too much work of yours is waiting: call again when some of it is done, or use anls on your computer"
BUSY = "too many visitors are waiting: try again in a minute, or use anls on your computer"


class BusyError(ValueError):
    """Raised if too much work is already waiting, so that new work is rejected."""


@dataclass(eq=False)
class Turn:
    """The turn of one piece of work.

    Attributes:
        visitor: the visitor who requested the work.
        is_long: whether the work needs a place for long work because it did not finish in one of the first places.
        has_place: whether the work has a place.
    """

    visitor: object
    is_long: bool = False
    has_place: bool = False


@dataclass
class Turns:
    """The places for work of one kind, and the turns that wait for them.

    Args:
        places: the number of first places, which is also the number of places for long work.
        most: the maximum number of pieces of work that wait or have a place.
        most_of_one: the maximum number of these pieces of work from one visitor.
    """

    places: int
    most: int
    most_of_one: int
    _turns: list[Turn] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, visitor: object) -> Turn:
        """Request a turn, which must be returned with `leave`. Raises BusyError if too much work is waiting."""
        with self._lock:
            if sum(turn.visitor == visitor for turn in self._turns) >= self.most_of_one:
                raise BusyError(FULL)
            if len(self._turns) >= self.most:
                raise BusyError(BUSY)
            self._turns.append(Turn(visitor))
            return self._turns[-1]

    def begin(self, turn: Turn) -> bool:
        """Take a place unless all free places go to turns of the same kind that have waited longer, one per visitor,
        and return whether a place was taken.
        """
        with self._lock:
            kind = [each for each in self._turns if each.is_long == turn.is_long]
            free = self.places - sum(each.has_place for each in kind)
            # A visitor's work that waits for a place for long work comes before the rest of that visitor's work.
            seen = {each.visitor for each in self._turns if each.has_place or each.is_long > turn.is_long}
            for each in kind:
                if free <= 0:
                    return False
                if each is turn and each.visitor not in seen:
                    turn.has_place = True
                    return True
                if not each.has_place and each.visitor not in seen:
                    free -= 1
                    seen.add(each.visitor)
            return False

    def go_on(self, turn: Turn) -> bool:
        """Give up a first place, take a place for long work if one is free, and return whether a place was taken."""
        with self._lock:
            self._turns.remove(turn)
            self._turns.append(turn)
            turn.is_long, turn.has_place = True, False
        return self.begin(turn)

    def leave(self, turn: Turn) -> None:
        """Return a turn and give up its place."""
        with self._lock:
            self._turns.remove(turn)
