"""The actions of the worker: steps run, loads arrive or fail, and what is known of them is reported."""

from __future__ import annotations

from interlock.spec.engine.vocabulary import (
    b,
    b2,
    b3,
    bad,
    broke,
    delayed,
    failed_msg,
    foreign,
    good,
    invalid_msg,
    late,
    load_meta,
    load_start,
    r,
    r2,
    r3,
    recv_msg,
    role,
    roles,
    step_meta,
    step_output,
    sync_meta,
    t,
    tainted,
    transfer_state,
    transfer_states,
    withheld,
    zero_meta,
)
from interlock.spec.language.actions import (
    Action,
    Fairness,
    Fire,
    assign,
    assign_all,
    fire,
    need,
    receive,
    receive_all,
    send,
)
from interlock.spec.language.terms import Term, Var, exists, forall, ite
from interlock.spec.language.variables import Site

WORKER = Site.WORKER


_ENDED = transfer_state(r).eq(transfer_states["ended"])


def _computes(r_: Term, b_: Term) -> Term:
    return role(r_, t, b_).eq(roles["computed"])


def _reads(r_: Term, b_: Term) -> Term:
    return role(r_, t, b_).eq(roles["read"])


def _loaded(b_: Term) -> Term:
    """Block ``b_`` is right once this step has zeroed what it must and its own loads are done."""
    return (good(b_) & zero_meta(t, b_).eq(0)) | (sync_meta(t, b_) > 0)


def _right_to_read(b_: Var) -> Term:
    """What a request finds in ``b_`` in this step: what was there, or what another computes there first."""
    others = forall(r3, b3, (_computes(r3, b_) & _reads(r3, b3) & ~exists(r2, _computes(r2, b3))) >> _loaded(b3))
    return ite(exists(r3, _computes(r3, b_)), others, _loaded(b_))


def _attends_to_right(r_: Term) -> Term:
    return forall(b2, _reads(r_, b2) >> _right_to_read(b2))


run_forward = Action(
    name="run_forward", event="run_forward", params=(t,), site=WORKER, observed=False,
    receives=(
        receive(step_meta, t),
        receive_all(sync_meta, t, b, over=(b,)),
        receive_all(zero_meta, t, b, over=(b,)),
    ),
    fires=(Fire(lifecycle="transfer", entity=(r,), over=(r,)),),
    sends=(
        send(step_output, t),
        send(invalid_msg, t, b, over=(b,), when=bad(b) & ~withheld(b)),
        send(recv_msg, t, r, over=(r,), when=_ENDED),
        send(failed_msg, t, r, over=(r,), when=_ENDED & broke(r)),
    ),
    updates=(
        assign_all(r, to=broke(r), value=False),
        assign_all(b, to=bad(b), value=False, when=~withheld(b)),
        assign_all(b, to=delayed(b), value=False, when=~withheld(b)),
        assign_all(b, to=withheld(b), value=False),
        assign_all(
            b, to=good(b),
            value=ite(
                exists(r, _computes(r, b)),
                ~foreign(t, b) & exists(r, _computes(r, b) & _attends_to_right(r)),
                _loaded(b),
            ),
        ),
        assign_all(r, to=tainted(r, t), value=exists(b, _computes(r, b)) & ~_attends_to_right(r)),
        assign_all(r, b, to=role(r, t, b), value=roles["none"]),
        assign_all(b, to=foreign(t, b), value=False),
    ),
    fairness=Fairness.WEAK, fairness_why="workers run the steps that they are given",
    source="contract 6.1 worker step, R-33, R-43, R-44",
    doc="The worker loads what must be loaded now, runs the forward, and reports what it knows of loads.",
)  # fmt: skip

sync_block_fails = Action(
    name="sync_block_fails", event="sync_block_fails", params=(t, b), site=WORKER, observed=False, fault=True,
    receives=(receive(sync_meta, t, b),),
    guard=(need("step-is-here", step_meta(t) > 0),),
    updates=(assign(bad(b), True),),
    source="contract R-44",
    doc="The load of a block that this step needs fails: the block keeps what was in it.",
)  # fmt: skip

block_load_fails = Action(
    name="block_load_fails", event="block_load_fails", params=(r, b), site=WORKER, observed=False, fault=True,
    receives=(receive(load_meta, r, b),),
    updates=(assign(bad(b), True),),
    source="contract R-43",
    doc="One block of an asynchronous load fails.",
)  # fmt: skip

load_arrives = Action(
    name="load_arrives", event="load_arrives", params=(r,), site=WORKER, observed=False,
    receives=(receive(load_start, r), receive_all(load_meta, r, b, over=(b,))),
    fires=(fire("transfer", r),),
    updates=(assign_all(b, to=good(b), value=True, when=load_meta(r, b) > 0),),
    fairness=Fairness.WEAK, fairness_why="a load ends, unless it breaks or vanishes",
    source="contract L3, R-20",
    doc="The asynchronous load of r ends: the blocks that did not fail are filled.",
)  # fmt: skip

load_breaks = Action(
    name="load_breaks", event="load_breaks", params=(r,), site=WORKER, observed=False, fault=True,
    receives=(receive(load_start, r), receive_all(load_meta, r, b, over=(b,))),
    fires=(fire("transfer", r),),
    updates=(assign(broke(r), True),),
    source="contract Q17, R-46",
    doc="The asynchronous load of r fails as a whole.",
)  # fmt: skip

load_vanishes = Action(
    name="load_vanishes", event="load_vanishes", params=(r,), site=WORKER, observed=False, fault=True,
    receives=(receive(load_start, r), receive_all(load_meta, r, b, over=(b,))),
    fires=(fire("transfer", r),),
    source="B-122 LMCache #5047; R-20",
    doc="The other end of a load is gone, and nobody says so.",
)  # fmt: skip

expire_load = Action(
    name="expire_load", event="expire_load", params=(r,), site=WORKER, observed=False,
    fires=(fire("transfer", r),),
    updates=(assign(broke(r), True),),
    fairness=Fairness.WEAK, fairness_why="a load has a deadline",
    source="B-122 LMCache #5047; R-20, R-66",
    doc="The deadline of a load that will never end passes: it counts as failed.",
)  # fmt: skip

withhold_report = Action(
    name="withhold_report", event="withhold_report", params=(b,), site=WORKER, observed=False, fault=True,
    guard=(need("failed", bad(b)), need("only-once", ~delayed(b))),
    updates=(assign(withheld(b), True), assign(delayed(b), True), assign(late(b), True)),
    source="contract R-43, R-44: a late report; 5(b)",
    doc="The failure of a load is reported a step too late.",
)  # fmt: skip

WORKING = (
    run_forward, sync_block_fails, block_load_fails, load_arrives, load_breaks, load_vanishes, expire_load,
    withhold_report,
)  # fmt: skip
