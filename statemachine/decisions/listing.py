"""Which decisions of the machine are compiled from the specification, and which are written by hand.

The first list is generated from the program that runs. The second is kept beside the code that it is
about and is checked only by refinement: whatever these choose, the compiled guards and tables judge it.

Printed as a table, under a preset or the default one, of KV offloading or of another part that runs:

    python -m interlock.statemachine.decisions.listing [PRESET [PART]]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from interlock.spec import encoder, engine, groups, kv
from interlock.spec.language.elaborate import fold
from interlock.spec.language.render import render
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE
from interlock.statemachine.decisions.program import Program, Wanted, compile_program
from interlock.statemachine.names import did_you_mean
from interlock.statemachine.offload.rules import WANTED as RULES
from interlock.statemachine.recovery.books import ACTIONS, ASKED, WANTED, with_prompts


@dataclass(frozen=True, slots=True)
class ListedDecision:
    """One decision.

    Args:
        kind: a conjunct of a guard, a row of a lifecycle, an update of a variable, a term that is read, or a choice.
        where: action and conjunct, lifecycle and row, or the module of a choice.
        text: what is decided.
        switches: those whose value changes it.
    """

    kind: Literal["guard", "row", "update", "term", "choice"]
    where: str
    text: str
    how: Literal["compiled", "hand-written"]
    source: str
    switches: tuple[str, ...] = ()


HAND_WRITTEN = (
    ListedDecision(
        "choice", "machine.KVOffloadScheduler.build_connector_meta",
        "the order of trials: blocks and loads, flushes, stores of finished requests, store scans",
        "hand-written", "contract 6.1, J5, R-28",
    ),
    ListedDecision(
        "choice", "offload.stores.Stores.scan",
        "stores are tried block by block from the cursor on; a full tier stops the scan until the next step",
        "hand-written", "contract J1, J2",
    ),
    ListedDecision(
        "choice", "offload.choice.StoreChoice.declines",
        "with limits: nothing beyond the prompt, or so many blocks of a request, or that too few requests have come to "
        "is stored; a request counts once for each of its blocks",
        "hand-written", "contract J3; B-041 vllm #52022; that it may be left out is compiled",
    ),
    ListedDecision(
        "choice", "offload.loads.Loads.match",
        "a hit is the longest run of loadable chunks after the GPU's own, of at most num_tokens - 1 tokens",
        "hand-written", "contract R-04 to R-06; vLLM PR 41289, boundary test",
    ),
    ListedDecision(
        "choice", "offload.loads.Loads._search",
        "with other groups than one of full attention a hit is the longest that all have, or are getting; it ends "
        "where a hash does, what is being stored of it is waited for, and what the GPU's hit covers is not asked about",
        "hand-written", "contract 5(d), I-52; vLLM PR 41228; modules lookup and groups",
    ),
    ListedDecision(
        "choice", "offload.loads.Loads._needed",
        "of a windowed group its last window is loaded, and no null block is a destination; a block that a hit ends in "
        "is loaded whole",
        "hand-written", "contract 5(d), R-19, I-32",
    ),
    ListedDecision(
        "choice", "offload.slides.Slides.slide",
        "a block has slid out of a window once the next token's window has passed it, or, where that is not known, "
        "when it is given away again; its store is planned before that or never",
        "hand-written", "contract G6, 5(d) early freeing",
    ),
    ListedDecision(
        "choice", "offload.offering.Offering.answer",
        "a request whose load has failed, or told to ask later for as long as the deadline, computes its prompt",
        "hand-written", "contract R-02, V-03, D9; who is refused is compiled",
    ),
    ListedDecision(
        "choice", "offload.running.Running.publish",
        "a block is published with the step that makes it full",
        "hand-written", "contract G3, Q13",
    ),
    ListedDecision(
        "choice", "offload.moves.Moves._hold_reference",
        "if a report may free a block, one reference on it from the plan of a store to its last report",
        "hand-written", "contract 2.2; the lifecycle is compiled",
    ),
    ListedDecision(
        "choice", "pool.pool.ChunkPool",
        "an absent chunk first, then the first in the order of the policy (lru, arc) that may be evicted",
        "hand-written", "contract 3.2, POL/lru",
    ),
    ListedDecision(
        "choice", "offload.moves.Moves.plan_each", "job ids count up and are never used again",
        "hand-written", "contract I-47",
    ),
)  # fmt: skip


def _choice(where: str, text: str, source: str) -> ListedDecision:
    return ListedDecision("choice", where, text, "hand-written", source)


HAND_WRITTEN_FOR_GROUPS = (
    _choice(
        "offload.rules.GroupRules",
        "what the specification says of chunks of one prompt, in windows of one or two, is said of prompts, windows "
        "and chunks of any size: by where a chunk lies, and whether its group is windowed",
        "seeds 003",
    ),
    _choice(
        "offload.grouped_stores.GroupedStores.scan",
        "position by position, in all groups before the next; what has slid out before it was stored is passed over",
        "contract I-45, I-50, 5(d) early freeing",
    ),
    _choice(
        "offload.kept.Kept",
        "what a hit that is being loaded needs stays, in every slot; so does what a scan has passed at its position",
        "contract I-40, I-45",
    ),
    _choice(
        "offload.recency.Recency",
        "a touch is done when a lookup answers with a hit, and with each store; chunks of one prefix that lie together "
        "in the policy's order are moved at once",
        "contract 5(d) _touch",
    ),
)


HAND_WRITTEN_FOR_ENCODERS = (
    _choice(
        "encoder.answers.Answers._note_match",
        "what num_computed_tokens covers to its end is matched, in each visit to a request without KV; "
        "the rest is future",
        "contract 5(a), R-65",
    ),
    _choice(
        "encoder.answers.Answers.covers_less",
        "who is matched less than in a visit that the engine has left without a word gets no KV in this one, and is "
        "matched anew in the next",
        "contract 5(a), Q7",
    ),
    _choice(
        "encoder.answers.Answers.about",
        "whether an item is asked about, and whether all are there, is asked of the places that an answer is about, "
        "as the moves of features say; guards are asked of all",
        "R-65",
    ),
    _choice(
        "encoder.answers.Answers._fetch",
        "of the items asked about, in the order of the prompt, those that the other side offers and neither pool nor "
        "encoder cache has; not after the request's budget is spent, if it can encode the item",
        "contract 4.2, R-66",
    ),
    _choice(
        "encoder.answers.Answers.may_go_on",
        "a no is said again without a look while computed tokens and the pool are the same",
        "R-64",
    ),
    _choice(
        "deadlines.Deadlines",
        "a budget counts from the first no for an item, in the given clock; a yes ends it, unless it is spent; what is "
        "due is given up with the first call after a step",
        "R-66, contract 4.2",
    ),
    _choice(
        "encoder.pool.ItemPool.make_room",
        "a free place first, then the first entry in the order of the policy (lru, arc) that may be evicted and that "
        "the request at hand does not ask for",
        "contract 4.2",
    ),
    _choice("encoder.pool.ItemPool.start", "ids of transfers count up and are never used again", "R-57, R-70"),
    _choice(
        "encoder.entries.Entries.find",
        "an item of which only an unused entry is left is found unless the visit counts on its slot already",
        "contract N2, N4",
    ),
    _choice(
        "encoder.entries.Entries.take",
        "the entry that has been unused for longest makes room; what the connector holds is loaded, the rest encoded",
        "contract N4, 4.3",
    ),
    _choice(
        "encoder.entries.Entries.settle",
        "an input is freed with the first of the places that have taken it: what speaks against one speaks against all",
        "contract N3",
    ),
    _choice(
        "encoder.entries.Entries.advance",
        "a step reads the features that its tokens overlap, and those that are not settled; at its end one is counted",
        "contract I-67; vLLM PR 45347",
    ),
    _choice(
        "encoder.scheduler.EncoderCacheScheduler._goes_on_with",
        "a request with items to come is scheduled, and its KV loaded, after a yes of the same schedule",
        "R-64",
    ),
    _choice(
        "encoder.scheduler.EncoderCacheScheduler._visit_runners",
        "before the queue, those that run and that nobody has asked about are passed over as the answer would be; of "
        "whom it is a yes for want of any need, nothing is booked where nobody reads it",
        "contract section 1, Q19, Q20",
    ),
    _choice(
        "encoder.scheduler.EncoderCacheScheduler.take_unavailable_requests",
        "a request is unrecoverable if it gave up an item that has no data here and that it still needs",
        "contract Q34, R-66",
    ),
    _choice(
        "encoder.scheduler.EncoderCacheScheduler._forget_if_over",
        "an id that comes again is another request: its name has the number of its arrival, and never comes again",
        "R-57",
    ),
)


HAND_WRITTEN_FOR_RECOVERY = (
    _choice(
        "recovery.LoadRecovery.take_report",
        "requests are tried in the engine's order, their invalid blocks in the order of the tokens, whole loads first",
        "contract 5(b), 6.1",
    ),
    _choice(
        "recovery.LoadRecovery.dispatched",
        "a new block is not wrong any more; what a step computes again is planned from a request's computed tokens on",
        "contract G1, Q20",
    ),
    _choice(
        "recovery.LoadRecovery.blocks_forgotten",
        "a block that nobody holds or can find is owed to nobody",
        "contract G1",
    ),
    _choice(
        "recovery.LoadRecovery.request_finished",
        "a refusal is forgotten with its request",
        "contract I-15",
    ),
    _choice(
        "recovery.pieces.Cuts",
        "a block of many tokens is as many blocks of one as counts end within it; it is invalid by its first, wrong "
        "from its first wrong one on, and found if all are",
        "module engine: one block holds one token",
    ),
    _choice(
        "recovery.pieces.from_the_first_of",
        "what comes before the first failed block of a request is left out: no action touches it",
        "contract 5(b)",
    ),
    _choice(
        "recovery.pieces.has_what_it_attends_to",
        "a request whose windowed group has given back what it would attend to is to be preempted",
        "R-45: not asked of vLLM, which refuses such reports",
    ),
    _choice(
        "recovery.books.with_prompts",
        "where the specification says how many tokens every prompt has, each request's own number is read",
        "module engine: PROMPT",
    ),
)


def listing(
    spec: Specification, switches: Mapping[str, str], by_hand: Iterable[ListedDecision] = HAND_WRITTEN
) -> list[ListedDecision]:
    """All decisions under switch values: compiled ones first."""
    program = compile_program(spec, switches)
    return [*_guards(program), *_rows(program), *_updates(program), *by_hand]


def recovery_listing(
    spec: Specification,
    switches: Mapping[str, str],
    by_hand: Iterable[ListedDecision] = HAND_WRITTEN_FOR_RECOVERY,
) -> list[ListedDecision]:
    """The same of recovery from failed loads, which runs some actions of module ``engine`` and asks about others."""
    program = compile_program(with_prompts(spec), switches, wanted=WANTED)
    asked = {f"{action}/{conjunct}" for action, conjunct in ASKED}
    guards = [d for d in _guards(program) if d.where.partition("/")[0] in ACTIONS or d.where in asked]
    rows = [d for d in _rows(program) if d.where.rpartition("/")[2] in ACTIONS]
    updates = [d for d in _updates(program) if d.where.partition("/")[0] in ACTIONS]
    return [*guards, *rows, *updates, *_terms(program, WANTED, "seeds 001"), *by_hand]


def groups_listing(
    spec: Specification, switches: Mapping[str, str], by_hand: Iterable[ListedDecision] = HAND_WRITTEN_FOR_GROUPS
) -> list[ListedDecision]:
    """The same of several KV cache groups, of which module ``groups`` decides some things."""
    program = compile_program(spec, switches, wanted=RULES)
    guards = [d for d in _guards(program) if d.where == "match/one-group"]
    return [*guards, *_terms(program, RULES, "seeds 003"), *by_hand]


@dataclass(frozen=True, slots=True)
class Part:
    """Something that runs, what of it is written by hand, and how its decisions are listed."""

    spec: Specification
    by_hand: tuple[ListedDecision, ...]
    listed: Callable[[Specification, Mapping[str, str], Iterable[ListedDecision]], list[ListedDecision]] = listing


PARTS = {
    "kv": Part(kv.SPECIFICATION, HAND_WRITTEN),
    "encoder": Part(encoder.SPECIFICATION, HAND_WRITTEN_FOR_ENCODERS),
    "recovery": Part(engine.SPECIFICATION, HAND_WRITTEN_FOR_RECOVERY, recovery_listing),
    "groups": Part(groups.SPECIFICATION, HAND_WRITTEN_FOR_GROUPS, groups_listing),
}


def _guards(program: Program) -> Iterable[ListedDecision]:
    """Those that these switch values make always true are among them."""
    for action in program.spec.actions:
        for conjunct in action.guard if action.site == program.site else ():
            decision = program.decisions.get((action.name, conjunct.id))
            text = "true" if decision is None else decision.text
            switches = _switches(program.spec, conjunct.model_dump_json())
            yield ListedDecision("guard", f"{action.name}/{conjunct.id}", text, "compiled", action.source, switches)


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


def _terms(program: Program, wanted: Wanted, source: str) -> Iterable[ListedDecision]:
    for name, term, _ in wanted.terms:
        text = render(fold(term, dict(program.switches)))
        switches = _switches(program.spec, term.model_dump_json())
        yield ListedDecision("term", name, text, "compiled", source, switches)


def _switches(spec: Specification, serialised: str) -> tuple[str, ...]:
    return tuple(s.name for s in spec.switches if f'"switch":"{s.name}"' in serialised)


def markdown(rows: Iterable[ListedDecision]) -> str:
    """Decisions as a table of Markdown."""
    head = ("how", "kind", "where", "what", "switches", "source")
    cells = [(r.how, r.kind, f"`{r.where}`", r.text, ", ".join(r.switches), r.source) for r in rows]
    lines = [head, ("---",) * len(head), *cells]
    return "\n".join(f"| {' | '.join(c.replace('|', chr(92) + '|') for c in line)} |" for line in lines)


def main(arguments: Sequence[str]) -> int:
    """Print a listing, or what it lists; 2 for arguments that mean nothing."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        print(f"PART is one of {', '.join(PARTS)}; PRESET is a preset of the part's module: interlock show presets")
        return 0
    names = [*arguments, *("interlock", "kv")[len(arguments) :]]
    preset, part = names[:2]
    known = [p.name for p in PARTS[part].spec.presets] if part in PARTS else []
    wrong = ""
    if len(names) > 2:
        wrong = f"{len(names)} arguments; it takes [PRESET [PART]]"
    elif part not in PARTS:
        wrong = f"unknown part {part!r}; {did_you_mean(part, PARTS)}"
    elif preset not in known:
        wrong = f"unknown preset {preset!r}; {did_you_mean(preset, known)}"
    if wrong:
        print(f"listing: {wrong}", file=sys.stderr)
        return 2
    chosen = PARTS[part]
    print(markdown(chosen.listed(chosen.spec, chosen.spec.switch_values(preset), chosen.by_hand)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
