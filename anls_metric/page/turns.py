"""Fair turns: a visitor has one place at a time, and work that takes long goes behind work that has not begun.

Nobody knows beforehand how long work will take, and the size of a file says little about it. So everyone's work begins
in one of the first places. Work that is not done after some seconds of CPU time needs one of the places for long work.
If none is free, the work stops and begins again once it gets one.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

FULL = "too much work of yours is waiting: call again when some of it is done, or use anls on your computer"
BUSY = "too many visitors are waiting: try again in a minute, or use anls on your computer"


class BusyError(ValueError):
    """Raised if work may not even wait."""


@dataclass(eq=False)
class Turn:
    """The turn of one piece of work.

    Attributes:
        visitor: whose work it is.
        is_long: whether it needs a place for long work because it was not done in a first place.
        has_place: whether it has a place.
    """

    visitor: object
    is_long: bool = False
    has_place: bool = False


@dataclass
class Turns:
    """The places for work of one kind, and the turns that wait for them.

    Args:
        places: how many pieces of work can be in the first places at a time, and how many in the places for long work.
        most: how many pieces of work can wait or have a place; more are rejected.
        most_of_one: how many of them can be from one visitor.
    """

    places: int
    most: int
    most_of_one: int
    _turns: list[Turn] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, visitor: object) -> Turn:
        """Ask for a turn, which must be given back with `leave`. Raises BusyError if too many are waiting."""
        with self._lock:
            if sum(turn.visitor == visitor for turn in self._turns) >= self.most_of_one:
                raise BusyError(FULL)
            if len(self._turns) >= self.most:
                raise BusyError(BUSY)
            self._turns.append(Turn(visitor))
            return self._turns[-1]

    def begin(self, turn: Turn) -> bool:
        """Take a place unless others come first, which are those of the same kind that have waited longer, one per
        visitor. Returns whether a place was taken.
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
        """Give up a first place and take a place for long work. Returns False if the work has to wait."""
        with self._lock:
            self._turns.remove(turn)
            self._turns.append(turn)
            turn.is_long, turn.has_place = True, False
        return self.begin(turn)

    def leave(self, turn: Turn) -> None:
        """Give a turn back."""
        with self._lock:
            self._turns.remove(turn)
