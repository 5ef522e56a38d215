"""Lifecycles as state diagrams of Mermaid."""

from interlock.spec.language.render import render
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE

_ESCAPES = str.maketrans({c: f"#{ord(c)};" for c in "#;:<>"})
"""What Mermaid takes for its own inside a label."""

LABEL = 60
"""Characters of a guard that a diagram has room for; the table has it whole."""


def mermaid(spec: Specification, name: str) -> str:
    """The state diagram of a lifecycle: its rows as they are declared, switch tests in their guards, long ones cut."""
    lifecycle = spec.lifecycle(name)
    lines = ["---", f"title: {spec.name}, {name}", "---", "stateDiagram-v2", f"  [*] --> {lifecycle.initial}"]
    for row in lifecycle.rows:
        guard = "" if row.guard == TRUE else f" [{_cut(render(row.guard))}]"
        lines.append(f"  {row.source_state} --> {row.target_state}: {row.event}{guard.translate(_ESCAPES)}")
    return "\n".join(lines) + "\n"


def _cut(guard: str) -> str:
    return guard if len(guard) <= LABEL else f"{guard[: LABEL - 1].rstrip()}…"
