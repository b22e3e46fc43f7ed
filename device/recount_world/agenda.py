"""What is due when: the actions that wait for a moment of the world's clock, in their order."""

import heapq
from collections.abc import Callable

Action = Callable[[], None]


class Agenda:
    """Actions by their moment; those of one moment in the order in which they were planned."""

    def __init__(self) -> None:
        self._due: list[tuple[int, int, bool, Action]] = []
        self._planned = 0
        self._hurried = 0

    def add(self, at_us: int, action: Action, *, hurried: bool = True) -> None:
        """Plan an action. With `hurried`, time is not to slow down to real time before it is done."""
        self._planned += 1
        self._hurried += hurried
        heapq.heappush(self._due, (at_us, self._planned, hurried, action))

    @property
    def next_us(self) -> int | None:
        """When something is due next; None: nothing is planned."""
        return self._due[0][0] if self._due else None

    @property
    def hurried(self) -> bool:
        """Whether anything is planned that time must not dawdle before."""
        return self._hurried > 0

    def take(self, now_us: int) -> Action | None:
        """Return the next action that is due by now, and strike it off."""
        if not self._due or self._due[0][0] > now_us:
            return None
        _, _, hurried, action = heapq.heappop(self._due)
        self._hurried -= hurried
        return action
