"""What a step may do that no step may do: apply a partial function outside its domain, or leave a range."""

from __future__ import annotations


class StepFault(Exception):
    """A violation that an evaluation ran into; names the variable and its arguments."""

    kind = "step"

    def __init__(self, variable: str, key: object, problem: str) -> None:
        super().__init__(f"{point(variable, key)} {problem}")
        self.variable, self.key = variable, key

    @property
    def rule(self) -> str:
        """The rule that is broken, as an id: ``range-of-pending-count``."""
        return f"{self.kind}-of-{self.variable.replace('_', '-')}"


class UndefinedError(StepFault):
    """A partial function was applied where it is not defined."""

    kind = "domain"

    def __init__(self, variable: str, key: object) -> None:
        super().__init__(variable, key, "is applied where it is not defined")


class OutsideDomainError(StepFault):
    """A partial function was to be given a value where it is not defined after the step; it is never dropped."""

    kind = "domain"

    def __init__(self, variable: str, key: object) -> None:
        super().__init__(variable, key, "is given a value where it is not defined")


class OutOfRangeError(StepFault):
    """An integer was to leave its declared range; it is never clamped."""

    kind = "range"

    def __init__(self, variable: str, key: object, value: int, low: int, high: int | None) -> None:
        bound = f"below {low}" if value < low else f"above {high}"
        super().__init__(variable, key, f"would become {value}, {bound}")
        self.value = value


def point(variable: str, key: object) -> str:
    """A variable at its arguments, as people write it: ``holds(A, 3)``."""
    if key == ():
        return variable
    parts = key if isinstance(key, tuple) else (key,)
    return f"{variable}({', '.join(map(str, parts))})"
