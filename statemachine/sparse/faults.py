"""What a step may do that no step may do: apply a partial function outside its domain, or leave a range."""

from __future__ import annotations

from interlock.spec.language.properties import domain_id, range_id


class StepFault(Exception):
    """A violation that an evaluation ran into.

    Args:
        rule: the id of the property that is violated.
    """

    def __init__(self, rule: str, variable: str, key: object, problem: str) -> None:
        super().__init__(f"{point(variable, key)} {problem}")
        self.rule = rule


class UndefinedError(StepFault):
    """A partial function was applied where it is not defined."""

    def __init__(self, variable: str, key: object) -> None:
        super().__init__(domain_id(variable), variable, key, "is applied where it is not defined")


class OutsideDomainError(StepFault):
    """A partial function was to be given a value where it is not defined after the step; it is never dropped."""

    def __init__(self, variable: str, key: object) -> None:
        super().__init__(domain_id(variable), variable, key, "is given a value where it is not defined")


class OutOfRangeError(StepFault):
    """An integer was to leave its declared range; it is never clamped."""

    def __init__(self, variable: str, key: object, value: int, low: int, high: int | None) -> None:
        bound = f"below {low}" if value < low else f"above {high}"
        super().__init__(range_id(variable), variable, key, f"would become {value}, {bound}")


def point(variable: str, key: object) -> str:
    """A variable at its arguments, as people write it: ``holds(A, 3)``."""
    if key == ():
        return variable
    parts = key if isinstance(key, tuple) else (key,)
    return f"{variable}({', '.join(map(str, parts))})"
