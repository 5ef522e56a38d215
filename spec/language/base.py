"""What all declarations share: frozen, no unknown fields, ids that every export can carry."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
"""A name inside formulas: a valid identifier in Python, Promela, Murphi and TLA+."""

PropertyId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=80)]
"""A stable id such as ``no-block-stored-twice-in-flight``; never reused for something else."""


class Declaration(BaseModel):
    """Base of everything that a specification declares."""

    model_config = ConfigDict(frozen=True, extra="forbid")
