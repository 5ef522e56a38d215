"""What must be able to happen: without it some property would hold because nothing happens."""

from __future__ import annotations

from interlock.spec.engine.coverage import DECODE, LATE, LIVE, OVERLAP, RESUME, SCHEDULING_ENDS, SHARE, SPEC, VICTIM_HIT
from interlock.spec.engine.judging import is_in_use
from interlock.spec.engine.predicates import is_
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
    t,
    table,
    tainted,
    tokens,
    withheld,
)
from interlock.spec.language.properties import witnesses_of
from interlock.spec.language.terms import Primed, exists

_ry, _ty, _by = request.var("ry"), slot.var("ty"), block.var("by")


_witness = witnesses_of("engine")

WITNESSES = (
    *(
        _witness(f"some-{s.replace('_', '-')}", exists(_ry, is_(_ry, s)), f"A request can be {s}.", LIVE)
        for s in ("loading", "received_failed", "held", "waiting", "promoted")
    ),
    _witness(
        "some-update", loop().eq(loops["updating"]), "The output of a step can be under way to requests.", DECODE, LIVE,
        SHARE,
    ),
    _witness(
        "some-schedule", exists(_ty, pass_state(_ty).eq(pass_states["building"])), "A step can be under construction.",
        *SCHEDULING_ENDS,
    ),
    _witness(
        "some-block-for-who-runs",
        exists(_ry, is_(_ry, "running", "promoted") & exists(_by, ~is_in_use(_by))),
        "A block can be free while a request is admitted.", VICTIM_HIT,
    ),
    _witness(
        "some-wrong-block-counts",
        exists(_ry, _by, is_(_ry, "running") & table(_ry, _by) & redo(_by) & (place(_by) < computed(_ry))),
        "A running request can count a block that another is to compute again.", SHARE,
    ),
    _witness(
        "token-from-a-wrong-block", exists(r, t, sampling(r, t) & tainted(r, t)),
        "A step can sample from a block whose load failed: its token exists, and has to be dropped.", DECODE,
        source="contract I-16: what no-token-from-invalid-block guards against",
    ),
    _witness(
        "wrong-blocks-spread", exists(r, b, role(r, t, b).eq(roles["computed"]) & Primed(body=~good(b))),
        "A block that a step computes can stay wrong, because the step attended to a wrong one.", DECODE,
        actions=("run_forward",), source="contract D2: what is computed from a wrong block is wrong",
    ),
    _witness(
        "two-reports-are-withheld", exists(b2, b2.ne(b) & withheld(b2)), "Two failures are reported a step too late.",
        LATE, actions=("withhold_report",), source="contract R-43, R-44",
    ),
    _witness(
        "a-guess-is-rejected-behind-a-later-step",
        exists(_ty, _ty.ne(t) & pass_state(_ty).eq(pass_states["dispatched"])),
        "A guess is found wrong while a later step is out.", SPEC,
        actions=("reject_draft",), source="B-165 vllm #48245",
    ),
    _witness(
        "output-block-is-published", (place(b) >= PROMPT) & Primed(body=addressable(b)),
        "A block that was scheduled with a placeholder is found once its token is there.", DECODE,
        actions=("publish_output",), source="contract G3; async_scheduler.py:74-78",
    ),
    _witness(
        "guess-is-accepted", exists(r, Primed(body=tokens(r)).eq(tokens(r) + 2)),
        "One output can bring two tokens: the sampled one, and a guess that was right.", SPEC,
        actions=("process_outputs",), source="contract Q20, I-10: speculative tokens",
    ),
    _witness(
        "guess-is-rejected", Primed(body=computed(r)).eq(computed(r) - 1) & Primed(body=~drafted(r, t)),
        "A guess can be wrong: its request counts a token less.", SPEC, actions=("reject_draft",),
        source="B-165 vllm #48245",
    ),
    _witness(
        "sharer-keeps-its-base", Primed(body=computed(r)) > 0,
        "A request can share an invalid block and go back no further than to what was processed.", OVERLAP,
        actions=("keep_base",), source="seeds 001; contract 5(b): others keep what they had",
    ),
    _witness(
        "sharer-takes-over", Primed(body=computed(r)) < computed(r),
        "A request can have to compute a block again because the one that was to do so is gone.", SHARE,
        actions=("take_over",), source="found with this model",
    ),
    _witness(
        "goes-on-behind-a-block-computed-again", exists(b2, table(r, b2) & redo(b2) & planned(b2)),
        "The step that computes a wrong block again can compute the next token, too: nothing is awaited.", LATE,
        actions=("compute_new",), source="contract Q24, Q20: the tokens of a step are scheduled one behind the other",
    ),
    _witness(
        "entry-is-lost", scheduled_in(r, t).eq(1) & Primed(body=entry_lost(r, t)),
        "The scheduled-tokens map can lack a request.", RESUME, actions=("lose_entry",), source="seeds 001",
    ),
    _witness(
        "entry-is-inflated", scheduled_in(r, t).eq(1) & Primed(body=entry_wrong(r, t)),
        "The scheduled-tokens map can say too much of a request.", RESUME, actions=("inflate_entry",),
        source="seeds 001",
    ),
)  # fmt: skip
