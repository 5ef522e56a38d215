"""Which decisions of the machine are compiled from the specification, and which are written by hand.

The first list is generated from the program that runs. The second is kept beside the code that it is
about and is checked only by refinement: whatever these choose, the compiled guards and tables judge it.

Printed as a table, under a preset or the default one:

    python -m interlock.statemachine.decisions.listing [PRESET]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.render import render
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE
from interlock.statemachine.decisions.program import Program, compile_program


@dataclass(frozen=True, slots=True)
class ListedDecision:
    """One decision.

    Args:
        kind: a conjunct of a guard, a row of a lifecycle, an update of a variable, or a choice.
        where: action and conjunct, lifecycle and row, or the module of a choice.
        text: what is decided.
        switches: those whose value changes it.
    """

    kind: Literal["guard", "row", "update", "choice"]
    where: str
    text: str
    how: Literal["compiled", "hand-written"]
    source: str
    switches: tuple[str, ...] = ()


HAND_WRITTEN = (
    ListedDecision(
        "choice", "machine.build_connector_meta",
        "the order of trials: blocks and loads, flushes, stores of finished requests, store scans",
        "hand-written", "contract 6.1, J5, R-28",
    ),
    ListedDecision(
        "choice", "machine._scan",
        "stores are tried block by block from the cursor on; a full tier stops the scan until the next step",
        "hand-written", "contract J1, J2",
    ),
    ListedDecision(
        "choice", "machine.get_num_new_matched_tokens",
        "a hit is the longest run of loadable chunks after the GPU's own, of at most num_tokens - 1 tokens",
        "hand-written", "contract R-04 to R-06; vLLM PR 41289, boundary test",
    ),
    ListedDecision(
        "choice", "machine._publish",
        "a block is published with the step that makes it full",
        "hand-written", "contract G3, Q13",
    ),
    ListedDecision(
        "choice", "machine._hold_reference",
        "if a report may free a block, one reference on it from the plan of a store to its last report",
        "hand-written", "contract 2.2; the lifecycle is compiled",
    ),
    ListedDecision(
        "choice", "pool.ChunkPool",
        "an absent chunk first, then the first in the order of the policy (lru, arc) that may be evicted",
        "hand-written", "contract 3.2, POL/lru",
    ),
    ListedDecision(
        "choice", "machine._plan", "job ids count up and are never used again",
        "hand-written", "contract I-47",
    ),
)  # fmt: skip


def listing(spec: Specification, switches: Mapping[str, str]) -> list[ListedDecision]:
    """All decisions under switch values: compiled ones first."""
    program = compile_program(spec, switches)
    return [*_guards(program), *_rows(program), *_updates(program), *HAND_WRITTEN]


def _guards(program: Program) -> Iterable[ListedDecision]:
    for d in program.decisions.values():
        declared = next(c for c in program.spec.action(d.action).guard if c.id == d.conjunct)
        switches = _switches(program.spec, declared.model_dump_json())
        yield ListedDecision("guard", f"{d.action}/{d.conjunct}", d.text, "compiled", d.source, switches)


def _rows(program: Program) -> Iterable[ListedDecision]:
    actions = {a.name for a in program.spec.actions if a.site == program.site}
    for table in program.tables.values():
        for (state, event), rows in table.rows.items():
            for row in rows if event in actions else ():
                guard = "" if row.guard == TRUE else f" if {render(row.guard)}"
                yield ListedDecision(
                    "row", f"{table.name}/{state}/{event}", f"to {row.target}{guard}", "compiled",
                    row.row.source, _switches(program.spec, row.row.model_dump_json()),
                )  # fmt: skip


def _updates(program: Program) -> Iterable[ListedDecision]:
    for action in program.spec.actions:
        if action.site != program.site:
            continue
        for u in action.updates:
            if not program.layout.symbols[u.symbol].ghost:
                target = f"{u.symbol}({', '.join(map(render, u.args))})"
                text = f"{target} := {render(u.value)}"
                text += "" if u.when == TRUE else f" where {render(u.when)}"
                yield ListedDecision(
                    "update", f"{action.name}/{u.symbol}", text, "compiled", action.source,
                    _switches(program.spec, u.model_dump_json()),
                )  # fmt: skip


def _switches(spec: Specification, serialised: str) -> tuple[str, ...]:
    return tuple(s.name for s in spec.switches if f'"switch":"{s.name}"' in serialised)


def markdown(rows: Iterable[ListedDecision]) -> str:
    """Decisions as a table of Markdown."""
    head = ("how", "kind", "where", "what", "switches", "source")
    cells = [(r.how, r.kind, f"`{r.where}`", r.text, ", ".join(r.switches), r.source) for r in rows]
    lines = [head, ("---",) * len(head), *cells]
    return "\n".join(f"| {' | '.join(c.replace('|', chr(92) + '|') for c in line)} |" for line in lines)


if __name__ == "__main__":
    (preset,) = sys.argv[1:] or ("interlock",)
    print(markdown(listing(SPECIFICATION, SPECIFICATION.switch_values(preset))))
