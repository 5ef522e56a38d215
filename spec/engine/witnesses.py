"""What must be able to happen: without it some property would hold because nothing happens."""

from __future__ import annotations

from interlock.spec.engine.common import (
    DECODE,
    LATE,
    LIVE,
    OVERLAP,
    RESUME,
    SHARE,
    SPEC,
)
from interlock.spec.engine.progress import SCHEDULE_ENDS
from interlock.spec.engine.vocabulary import (
    PROMPT,
    addressable,
    b,
    b2,
    block,
    computed,
    drafted,
    entry_lost,
    entry_wrong,
    good,
    loop,
    loops,
    pass_state,
    pass_states,
    place,
    planned,
    r,
    redo,
    request,
    role,
    roles,
    sampling,
    scheduled_in,
    slot,
    status,
    status_states,
    t,
    table,
    tainted,
    tokens,
)
from interlock.spec.language.properties import Witness
from interlock.spec.language.terms import Primed, Term, exists


def _is(r_: Term, *names: str) -> Term:
    return status(r_).one_of(*(status_states[n] for n in names))


_ry, _ty, _by = request.var("ry"), slot.var("ty"), block.var("by")


def _some(id_: str, *names: str, slices: tuple[str, ...]) -> Witness:
    return Witness(
        id=id_, source="vacuity guard", doc=f"A request can be {' or '.join(names)}.", slices=slices,
        formula=exists(_ry, _is(_ry, *names)),
    )  # fmt: skip


WITNESSES = (
    _some("engine-some-loading", "loading", slices=(LIVE,)),
    _some("engine-some-received-failed", "received_failed", slices=(LIVE,)),
    _some("engine-some-held", "held", slices=(LIVE,)),
    _some("engine-some-waiting", "waiting", slices=(LIVE,)),
    _some("engine-some-promoted", "promoted", slices=(LIVE,)),
    Witness(
        id="engine-some-update",
        source="vacuity guard",
        doc="The output of a step can be under way to requests.",
        slices=(DECODE, LIVE, SHARE),
        formula=loop().eq(loops["updating"]),
    ),
    Witness(
        id="engine-some-schedule",
        source="vacuity guard",
        doc="A step can be under construction.",
        slices=SCHEDULE_ENDS,
        formula=exists(_ty, pass_state(_ty).eq(pass_states["building"])),
    ),
    Witness(
        id="engine-some-wrong-block-counts",
        source="vacuity guard",
        doc="A running request can count a block that another is to compute again.",
        slices=(SHARE,),
        formula=exists(_ry, _by, _is(_ry, "running") & table(_ry, _by) & redo(_by) & (place(_by) < computed(_ry))),
    ),
    Witness(
        id="engine-token-from-a-wrong-block",
        source="contract I-16: what no-token-from-invalid-block guards against",
        doc="A step can sample from a block whose load failed: its token exists, and has to be dropped.",
        slices=(DECODE,),
        formula=exists(r, t, sampling(r, t) & tainted(r, t)),
    ),
    Witness(
        id="engine-wrong-blocks-spread",
        source="contract D2: what is computed from a wrong block is wrong",
        doc="A block that a step computes can stay wrong, because the step attended to a wrong one.",
        slices=(DECODE,),
        actions=("run_forward",),
        formula=exists(r, b, role(r, t, b).eq(roles["computed"]) & Primed(body=~good(b))),
    ),
    Witness(
        id="engine-output-block-is-published",
        source="contract G3; AS:74-78",
        doc="A block that was scheduled with a placeholder is found once its token is there.",
        slices=(DECODE,),
        actions=("publish_output",),
        formula=(place(b) >= PROMPT) & Primed(body=addressable(b)),
    ),
    Witness(
        id="engine-guess-is-accepted",
        source="contract Q20, I-10: speculative tokens",
        doc="One output can bring two tokens: the sampled one, and a guess that was right.",
        slices=(SPEC,),
        actions=("process_outputs",),
        formula=exists(r, Primed(body=tokens(r)).eq(tokens(r) + 2)),
    ),
    Witness(
        id="engine-guess-is-rejected",
        source="B-165 vllm #48245",
        doc="A guess can be wrong: its request counts a token less.",
        slices=(SPEC,),
        actions=("reject_draft",),
        formula=Primed(body=computed(r)).eq(computed(r) - 1) & Primed(body=~drafted(r, t)),
    ),
    Witness(
        id="engine-sharer-keeps-its-base",
        source="seeds 001; contract 5(b): others keep what they had",
        doc="A request can share an invalid block and go back no further than to what was processed.",
        slices=(OVERLAP,),
        actions=("keep_base",),
        formula=Primed(body=computed(r)) > 0,
    ),
    Witness(
        id="engine-sharer-takes-over",
        source="found with this model",
        doc="A request can have to compute a block again because the one that was to do so is gone.",
        slices=(SHARE,),
        actions=("take_over",),
        formula=Primed(body=computed(r)) < computed(r),
    ),
    Witness(
        id="engine-goes-on-behind-a-block-computed-again",
        source="contract Q24, Q20: the tokens of a step are scheduled one behind the other",
        doc="The step that computes a wrong block again can compute the next token, too: nothing is awaited.",
        slices=(LATE,),
        actions=("compute_new",),
        formula=exists(b2, table(r, b2) & redo(b2) & planned(b2)),
    ),
    Witness(
        id="engine-entry-is-lost",
        source="seeds 001",
        doc="The scheduled-tokens map can lack a request.",
        slices=(RESUME,),
        actions=("lose_entry",),
        formula=scheduled_in(r, t).eq(1) & Primed(body=entry_lost(r, t)),
    ),
    Witness(
        id="engine-entry-is-inflated",
        source="seeds 001",
        doc="The scheduled-tokens map can say too much of a request.",
        slices=(RESUME,),
        actions=("inflate_entry",),
        formula=scheduled_in(r, t).eq(1) & Primed(body=entry_wrong(r, t)),
    ),
)
