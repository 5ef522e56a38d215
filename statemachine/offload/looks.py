"""Which requests of a step are worth a look: those that fill a block with it, or give one up. Most do neither."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import compress, count
from operator import add, ge, gt, index
from sys import maxsize

from interlock.statemachine.offload.shapes import (
    refuse_more_than_was_scheduled,
    refuse_wrong_numbers,
    refuse_wrong_total,
)
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.port import ScheduledStep

SETTLED = 4
"""Steps with the same requests, after which it pays to note in which step each is due."""


class Looks:
    """The requests of the last step, each with the tokens at which it is looked at again.

    While the same requests decode, each is noted in the step in which it is due, and a step costs what is due in it.
    A request computes at most what it was scheduled: if together they have computed all of that, each has. Otherwise,
    and where others are scheduled, or more, all are gone through, without a line of Python each.

    Args:
        tracked_as: a request by its id.
        checking: whether it is looked whether one has computed more than it was scheduled.
    """

    def __init__(self, tracked_as: Callable[[str], Tracked], *, checking: bool) -> None:
        self._tracked_as, self._checking = tracked_as, checking
        self.order: Sequence[str] = ()
        """Of the last step; most steps have the same."""
        self.at: list[Tracked] = []
        self.places: dict[str, int] = {}
        self._almost: list[int] = []
        """Of each of them, the tokens after which one more makes it worth a look."""
        self._due: defaultdict[int, list[int]] | None = None
        """From a step to the places that are due in it, if that is noted."""
        self._step = self._same = 0
        self._computed: Sequence[int] = ()
        self._told = 0, 0
        """How many tokens all have computed together before the step at hand, and how many they compute in it."""
        self._expected = 0
        """How many tokens all have computed together before the next step, if all that is scheduled is computed."""
        self._before: tuple[Sequence[int], Mapping[str, int]] = (), {}
        """With checking: what each of them had computed before the last step, and was scheduled in it."""

    def forget(self) -> None:
        """A request has ended: its id may come again at the same place, as another request."""
        if self.order:
            self.order, self.at, self.places, self._almost, self._due = (), [], {}, [], None

    def told(self, step: ScheduledStep, visited: Collection[str]) -> None:
        """A step, before anything is done with it.

        If the same requests decode that did, and have together computed what was expected, they are not gone through.

        Args:
            visited: who was let in; of what those have computed, their visits say more.

        Raises:
            Misshapen: one is named twice, or a number of tokens cannot be.
        """
        counts, in_order = step.num_scheduled_tokens, step.request_ids == self.order
        before, total = index(sum(step.num_computed_tokens)), sum(counts.values())
        refuse_wrong_total(step, total)
        if not (in_order and before == self._expected and total == len(counts)):
            refuse_wrong_numbers(step, in_order)
            if self._checking:
                self._refuse_who_is_ahead(step, visited)
        self._told = before, total

    def worth(self, step: ScheduledStep) -> list[int]:
        """The places of requests that are due, in order; of a step that :meth:`told` has heard of."""
        computed, counts = step.num_computed_tokens, step.num_scheduled_tokens
        (before, total), self._computed = self._told, computed
        as_expected, self._expected = before == self._expected, before + total
        self._step += 1
        self._same += 1
        if self._checking:
            self._before = list(computed), dict(counts)  # the engine may change its own
        if step.request_ids != self.order:
            self._line_up(step.request_ids)
        elif total == len(counts):  # all decode
            if as_expected and self._due is not None:
                return sorted(self._due.pop(self._step, ()))
            self._due = self._noted() if self._same >= SETTLED else None
        if total == len(counts):
            return list(compress(count(), map(ge, computed, self._almost)))
        self._due = None
        tokens = map(add, computed, map(counts.__getitem__, step.request_ids))
        return list(compress(count(), map(gt, tokens, self._almost)))

    def were_looked_at(self, places: Iterable[int]) -> None:
        """What :meth:`worth` has given: each is due again at the tokens that it names now."""
        at, almost, computed, due, step = self.at, self._almost, self._computed, self._due, self._step
        for place in places:
            almost[place] = tokens = at[place].next_look - 1
            if due is not None:
                wait = tokens - computed[place]
                due[step + wait if wait > 1 else step + 1].append(place)

    def again(self, tracked: Tracked) -> None:
        """When another is due has changed."""
        place = self.places.get(tracked.request.request_id)
        if place is not None:
            self._almost[place], self._due = tracked.next_look - 1, None

    def _refuse_who_is_ahead(self, step: ScheduledStep, visited: Collection[str]) -> None:
        """Makes sure that who was in the last step has computed no more since than that.

        Raises:
            Misshapen: one has.
        """
        computed, counts = self._before
        ended = dict(zip(self.order, map(add, computed, map(counts.__getitem__, self.order)), strict=True))
        ends = [ended.get(name, maxsize) for name in step.request_ids]
        for at in compress(count(), map(gt, step.num_computed_tokens, ends)):
            name = step.request_ids[at]
            if name not in visited:
                refuse_more_than_was_scheduled(name, step.num_computed_tokens[at], ends[at])

    def _line_up(self, request_ids: Sequence[str]) -> None:
        # Of its kind, because no list equals a tuple; the engine may change a list.
        self.order = request_ids if isinstance(request_ids, tuple) else list(request_ids)
        self.places = dict(zip(self.order, count()))
        self.at = list(map(self._tracked_as, self.order))
        self._almost = [tracked.next_look - 1 for tracked in self.at]
        self._due, self._same = None, 0

    def _noted(self) -> defaultdict[int, list[int]]:
        """In which step each is due that is not due now."""
        due: defaultdict[int, list[int]] = defaultdict(list)
        for place, (computed, almost) in enumerate(zip(self._computed, self._almost, strict=True)):
            if almost > computed:
                due[self._step + almost - computed].append(place)
        return due
