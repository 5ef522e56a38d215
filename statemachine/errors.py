"""What the machine raises when it is asked for what the specification does not allow."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST = 300
"""Characters of what was given that an error quotes whole."""


class SpecificationViolation(Exception):
    """Something that the specification rules out was asked for; the action that was refused has changed nothing.

    A call may do several actions: those before the one that was refused are done, so it cannot be repeated.
    """


class IllegalTransition(SpecificationViolation):
    """No row of a lifecycle's table applies.

    Args:
        rule: what would be legal, or which rows there are and what they need.
    """

    def __init__(self, lifecycle: str, entity: Sequence[object], state: str, event: str, rule: str) -> None:
        self.lifecycle, self.entity, self.state, self.event = lifecycle, tuple(entity), state, event
        self.rule = rule
        super().__init__(f"{lifecycle} {_named(entity)} is {state}: {event} is illegal; {rule}")


class GuardViolation(SpecificationViolation):
    """A conjunct of an action's guard is false."""

    def __init__(self, action: str, arguments: Sequence[object], conjunct: str, text: str, source: str) -> None:
        self.action, self.arguments, self.conjunct = action, tuple(arguments), conjunct
        self.rule = f"{text} ({source})"
        super().__init__(f"{action}({_named(arguments)}): {conjunct} is false; it says {self.rule}")


class RangeViolation(SpecificationViolation):
    """A counter would leave its declared range. Nothing clamps."""

    def __init__(self, symbol: str, arguments: object, value: int, low: int, high: int | None) -> None:
        self.symbol, self.value = symbol, value
        upper = "" if high is None else f" to {high}"
        super().__init__(f"{symbol}({arguments}) would be {value}; its range is {low}{upper}")


class UndefinedApplication(SpecificationViolation):
    """A partial function was applied outside its domain."""

    def __init__(self, symbol: str, arguments: object) -> None:
        self.symbol = symbol
        super().__init__(f"{symbol}({arguments}) is not defined now")


class UnknownTransfer(SpecificationViolation):
    """A report on a transfer that is not under way: one too many, or one that nobody started."""

    def __init__(self, transfer: int, started: int) -> None:
        self.transfer = transfer
        why = "it has ended before" if 0 <= transfer < started else "it was never started"
        super().__init__(f"transfer {transfer} has ended, says a report; {why}: report each transfer once")


class RequestIdInUse(SpecificationViolation):
    """A request arrives under the id of one that has not ended (contract R-57), or is still being loaded.

    Args:
        loading: it has ended, and its load has not.
    """

    def __init__(self, request_id: str, *, loading: bool = False) -> None:
        wrong, right = "has not ended", "finish it"
        if loading:
            wrong, right = "ended while it was being loaded", "name it in finished_recving"
        super().__init__(f"request {request_id!r} {wrong}: {right} before its id comes again")


class UnknownRequest(SpecificationViolation):
    """Something is asked about a request of which nobody was told, or that has ended."""

    def __init__(self, request_id: str, call: str) -> None:
        super().__init__(f"{call}: request {request_id!r} has not arrived, or has ended; on_new_request comes first")


class NoOpenVisit(SpecificationViolation):
    """Something that belongs to the visit to a request is called outside it."""

    def __init__(self, call: str) -> None:
        super().__init__(f"{call}: schedule() is not in a visit to that request; ensure_cache_available opens it")


class ImpossibleGrant(SpecificationViolation):
    """A request is granted external tokens that its lookup has not found, or that its blocks have no room for."""

    def __init__(self, request_id: str, granted: int, wrong: str, right: str) -> None:
        super().__init__(
            f"update_state_after_alloc: request {request_id!r} is granted {granted} external tokens {wrong}: {right}"
        )


class MissingBlocks(SpecificationViolation):
    """A request has filled a block that it was not said to have: a report is missing, or comes too late."""

    def __init__(self, request_id: str, tokens: int, blocks: int, block_size: int) -> None:
        super().__init__(
            f"build_connector_meta: request {request_id!r} fills {tokens} tokens, "
            f"and has {blocks} block(s) of {block_size}: "
            "give each block that it gets in new_block_ids, or in update_state_after_alloc if it was waiting"
        )


class MissingItem(SpecificationViolation):
    """A request computes tokens of an item in a step, and the encoder cache has no place for it."""

    def __init__(self, request_id: str, place: int, item: str) -> None:
        super().__init__(
            f"request {request_id!r} computes tokens of its feature {place}, and item {item!r} has no place in the "
            "encoder cache: update_state_after_alloc comes after request_scheduled, for each item that the cache lacks"
        )


class WrongHit(SpecificationViolation):
    """The engine's own cache has given a request a block of another prefix (contract G2, R-07)."""

    def __init__(self, request_id: str, block: int, place: int) -> None:
        super().__init__(
            f"build_connector_meta: request {request_id!r} has block {block} at place {place} from the engine's cache, "
            "which has it under another hash: its table begins with the blocks that its lookup counted, in their order"
        )


class NotLetIn(SpecificationViolation):
    """A request computes in a step, and waits, as far as was said: nobody has said that it got its blocks."""

    def __init__(self, request_id: str, state: str) -> None:
        right = (
            "it is in no step until finished_recving names it"
            if state == "loading"
            else "update_state_after_alloc comes first, also for one that has loaded (its whole table, 0 tokens)"
        )
        super().__init__(f"build_connector_meta: request {request_id!r} computes in this step, and is {state}: {right}")


class OutOfTurn(SpecificationViolation):
    """A call that a request has no place for at this moment; it has changed nothing.

    Args:
        wrong, right: what speaks against it, and what to do.
    """

    def __init__(self, call: str, request_id: str, wrong: str, right: str) -> None:
        super().__init__(f"{call}: request {request_id!r} {wrong}: {right}")


class Misshapen(SpecificationViolation):
    """An argument is not of the shape that ``port`` asks for, or says what cannot be.

    The call has changed nothing, but where one row of many is wrong: rows are not looked at beforehand, and those
    before it may be done.

    Args:
        call: in which it was given.
        wrong, right: what was given, and what to give.
    """

    def __init__(self, call: str, wrong: str, right: str) -> None:
        if len(wrong) > _LONGEST:  # a column of a step may have thousands of entries
            wrong = f"{wrong[: _LONGEST // 2]} … {wrong[-_LONGEST // 4 :]}"
        super().__init__(f"{call}: {wrong}: {right}")


class UnknownPolicy(ValueError):
    """No eviction policy has this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"unknown eviction policy {name!r}; known: {', '.join(known)}")


class Unsupported(ValueError):
    """The machine does not run something.

    Args:
        wrong, right: what was asked for, and what can be done instead.
    """

    def __init__(self, wrong: str, right: str) -> None:
        self.wrong, self.right = wrong, right
        super().__init__(f"{wrong}; {right}")


class UnsupportedSwitch(Unsupported):
    """The specification has this value of a switch, and the machine does not run it."""


class UnsupportedGroups(Unsupported):
    """The machine does not run these KV cache groups."""


class CompileError(ValueError):
    """The specification says something that cannot be compiled to constant-time code; names the place."""


def _named(values: Sequence[object]) -> str:
    return ", ".join(map(str, values))
