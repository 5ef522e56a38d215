"""One publicly reported failure of a transfer's lifecycle."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from interlock.spec.language.base import Declaration


class Failure(Declaration):
    """A report, as an abstract scenario and the invariant that it breaks.

    Args (of the declaration):
        reference: project and number of the public thread.
        outcome: what users saw.
        model: whether a model of the scheduler's side, without a GPU, can show it.
        evidence: A: cause or fix stated in the thread; B: cause unconfirmed; C: symptom only.
        tags: what it takes (``preempt``, ``abort``, ``tier``); ``pd``: prefill and decode are apart.
        lacks: what the specification lacks to show it, if no module demonstrates it.
    """

    id: Annotated[str, StringConstraints(pattern=r"^B-[0-9]{3}$")]
    family: str
    reference: str
    outcome: str
    model: Literal["yes", "partly", "no"]
    evidence: Literal["A", "B", "C"]
    tags: tuple[str, ...]
    title: str
    scenario: str
    invariant: str
    lacks: str = Field(default="")

    @property
    def core(self) -> bool:
        """A model can show it, and it needs no disaggregation."""
        return self.model == "yes" and "pd" not in self.tags
