"""Actions of a hand-over: the producer's scheduler and workers, their leases, and the consumer as environment."""

from __future__ import annotations

from interlock.spec.delivery.operations import ENVIRONMENT, SCHEDULER, WEAK, WORKER
from interlock.spec.delivery.predicates import is_, last_word, owed, registered
from interlock.spec.delivery.vocabulary import (
    acks_due,
    b,
    beaten,
    block_kv,
    cancelled,
    confirm,
    d,
    deny,
    early,
    early_ack,
    finish_answer,
    has_block,
    heartbeat,
    lease_race,
    notice_names,
    offer,
    offer_short,
    overdue,
    peer_id,
    peer_told_short,
    peer_uses,
    pulled,
    r,
    r2,
    read_after_lease,
    read_value,
    reaper,
    register_meta,
    registered_before,
    registration_state,
    registration_states,
    release_on,
    releases,
    repeated,
    sends_owed,
    sent,
    transfer_key,
    truncated,
    w,
    waited_for,
)
from interlock.spec.language.actions import (
    Action,
    Fire,
    Receive,
    Send,
    assign,
    assign_all,
    fire,
    need,
    receive,
    receive_all,
    send,
)
from interlock.spec.language.terms import Term, exists, ite
from interlock.spec.shared.sorts import worker

cut_short = Action(
    name="cut_short", event="cut_short", params=(r,), site=SCHEDULER, fault=True,
    fires=(fire("delivery", r),),
    updates=(assign(truncated(r), True),),
    source="B-142 sglang #30233", doc="The prefill of r ends before its prompt does.",
)  # fmt: skip

hand_over = Action(
    name="hand_over", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    guard=(need("no-cancel-accepted", ~cancelled(r)),),
    sends=(
        send(register_meta, w, r, over=(w,)),
        send(offer, r),
        send(offer_short, r, when=truncated(r)),
    ),
    updates=(
        assign(acks_due(r), worker.size),
        assign(sends_owed(r), sends_owed(r) + 1),
        assign(releases(r), ite(finish_answer.is_("never_keep"), releases(r) + 1, releases(r))),
    ),
    source="contract Q31, R-51; B-151, B-163",
    doc="A prefill ends: its blocks are kept, the workers expect the consumer, which gets the transfer parameters.",
)  # fmt: skip

register = Action(
    name="register", event="register", params=(w, r), site=WORKER, observed=False,
    fires=(fire("registration", w, r),),
    receives=(receive(register_meta, w, r),),
    sends=(send(sent, r, when=early(w, r)), send(confirm, w, r, when=early(w, r))),
    updates=(
        assign(early(w, r), False),
        assign_all(r2, to=registered_before(w, r2, r), value=registered(w, r2) & reaper.is_("head_only")),
    ),
    fairness=WEAK, fairness_why="metadata reaches every worker with its step",
    source="contract R-51; B-084",
    doc="A worker learns of a hand-over: its lease begins, unless the consumer's notice is already there.",
)  # fmt: skip

hear_notice = Action(
    name="hear_notice", event="hear_notice", params=(w, r), site=WORKER, observed=False,
    fires=(fire("registration", w, r),),
    receives=(receive(pulled, w, r),),
    sends=(
        send(
            sent, r,
            when=registered(w, r)
            | (lease_race.is_("two_winners") & registration_state(w, r).eq(registration_states["settled"])),
        ),
        send(confirm, w, r, when=registered(w, r)),
        send(deny, w, r, when=registration_state(w, r).eq(registration_states["settled"])),
    ),
    updates=(
        assign(overdue(w, r), False),
        assign(
            early(w, r),
            early(w, r)
            | (early_ack.is_("remember") & registration_state(w, r).eq(registration_states["unknown"])),
        ),
    ),
    fairness=WEAK, fairness_why="the worker reads its notices in every step",
    source="contract Q33, R-40; B-084, B-161",
    doc="The consumer's notice: it ends the hand-over, or is remembered, or comes too late.",
)  # fmt: skip

hear_stray_notice = Action(
    name="hear_stray_notice", event="hear_notice", params=(w, r, r2), site=WORKER, observed=False,
    fires=(fire("registration", w, r2),),
    receives=(receive(pulled, w, r),),
    sends=(send(sent, r2, when=registered(w, r2)), send(confirm, w, r, when=registered(w, r2))),
    guard=(
        need("names-an-id-only", notice_names.is_("request_id")),
        need("of-an-earlier-life", r.ne(r2) & registration_state(w, r).eq(registration_states["settled"])),
    ),
    updates=(
        assign(overdue(w, r2), False),
        assign(
            early(w, r2),
            early(w, r2)
            | (early_ack.is_("remember") & registration_state(w, r2).eq(registration_states["unknown"])),
        ),
    ),
    source="contract R-57, Q33",
    doc="A late notice about r, whose id r2 has now: the worker, which knows ids only, takes it for one about r2.",
)  # fmt: skip

lease_runs_out = Action(
    name="lease_runs_out", event="lease_runs_out", params=(w, r), site=WORKER, observed=False,
    guard=(need("registered", registered(w, r)),),
    updates=(assign(overdue(w, r), True), assign(waited_for(w, r), False)),
    fairness=WEAK, fairness_why="time passes",
    source="V-02; B-087", doc="The lease of r runs out at a worker.",
)  # fmt: skip

renew = Action(
    name="renew", event="renew", params=(w, r), site=WORKER, observed=False,
    receives=(receive(heartbeat, w, r),),
    updates=(assign(overdue(w, r), False), assign(waited_for(w, r), registered(w, r))),
    source="B-086 vllm #53095", doc="The consumer's heartbeat renews the lease.",
)  # fmt: skip


def expired(w: Term, r: Term) -> Term:
    """The lease of request r at worker w has run out and is to be reclaimed."""
    return registered(w, r) & overdue(w, r)


_behind_a_live_one = exists(r2, registered_before(w, r2, r) & registered(w, r2) & ~overdue(w, r2))
_seen = expired(w, r) & (reaper.is_("every_expired") | ~_behind_a_live_one)

sweep_leases = Action(
    name="sweep_leases", event="sweep_leases", params=(w,), site=WORKER, observed=False,
    # At one worker: for every request there, not for every pair.
    fires=(Fire(lifecycle="registration", entity=(w, r), over=(r,), when=_seen),),
    sends=(send(sent, r, over=(r,), when=_seen),),
    updates=(assign_all(r, to=overdue(w, r), value=False, when=_seen),),
    fairness=WEAK, fairness_why="the worker sweeps its leases in every step",
    source="V-02; B-085", doc="The worker ends the hand-overs whose lease has run out.",
)  # fmt: skip

_ACKNOWLEDGED = (
    assign(acks_due(r), acks_due(r) - 1),
    assign(sends_owed(r), ite(acks_due(r).eq(1), sends_owed(r) - 1, sends_owed(r))),
)

worker_acknowledges = Action(
    name="worker_acknowledges", event="finished_sending", params=(r,), site=SCHEDULER,
    receives=(receive(sent, r),),
    guard=(need("releases-nothing", ~last_word(r)),),
    updates=_ACKNOWLEDGED,
    fairness=WEAK, fairness_why="the scheduler handles the reports of every step",
    source="contract Q33, 2.3, R-42, I-70",
    doc="A worker says that the hand-over has ended there: others are still to say so.",
)  # fmt: skip

release_handed_over = Action(
    name="release_handed_over", event="finished_sending", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    receives=(receive(sent, r),),
    guard=(
        need("last-worker", acks_due(r).eq(1)),
        need("last-outstanding", release_on.is_("any_signal") | owed(r).eq(1)),
    ),
    updates=(*_ACKNOWLEDGED, assign(releases(r), releases(r) + 1)),
    fairness=WEAK, fairness_why="the scheduler handles the reports of every step",
    source="contract Q33, R-39, R-51; B-053",
    doc="The last worker says so, and nothing else is outstanding: the blocks are given back.",
)  # fmt: skip

stray_word = Action(
    name="stray_word", event="finished_sending", params=(r, r2), site=SCHEDULER,
    fires=(fire("delivery", r2),),
    receives=(receive(sent, r),),
    guard=(
        need("says-it-twice", lease_race.is_("two_winners")),
        need("of-an-earlier-life", is_(r, "released") & ~is_(r2, "absent", "released")),
    ),
    updates=(
        assign(acks_due(r2), ite(acks_due(r2) > 0, acks_due(r2) - 1, 0)),
        assign(sends_owed(r2), ite(acks_due(r2).eq(1), sends_owed(r2) - 1, sends_owed(r2))),
        assign(releases(r2), ite(acks_due(r2).eq(0) | last_word(r2), releases(r2) + 1, releases(r2))),
    ),
    fairness=WEAK, fairness_why="the scheduler handles the reports of every step",
    source="contract R-57, R-39; B-161; vLLM 0.32.0 v1/core/sched/scheduler.py:3232-3235 (whoever has the id is freed)",
    doc="A second word on r, whose id r2 has now: the scheduler, which knows ids only, counts it for r2.",
)  # fmt: skip

peer_hears = Action(
    name="peer_hears", event="peer_hears", params=(r, d), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    receives=(receive(offer, r), receive_all(offer_short, r, over=())),
    updates=(assign(peer_id(r), d), assign(peer_told_short(r), offer_short(r) > 0)),
    source="contract Q31, R-57",
    doc="The consumer gets the transfer parameters; there, the request has an id of its own.",
)  # fmt: skip

peer_reads = Action(
    name="peer_reads", event="peer_reads", params=(r,), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    updates=(
        assign(peer_uses(r), read_after_lease.is_("unchecked")),
        assign_all(r2, to=read_value(r, r2), value=exists(b, has_block(r, b) & block_kv(b, r2))),
    ),
    source="B-087 vllm #21570", doc="The consumer reads the producer's blocks as they are at this moment.",
)  # fmt: skip


def _notice() -> Send:
    """The consumer's notice to every worker, under the id that it goes by."""
    return send(pulled, w, ite(transfer_key.is_("own_id"), peer_id(r), r), over=(w,))


peer_tells = Action(
    name="peer_tells", event="peer_tells", params=(r,), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    sends=(_notice(),),
    fairness=WEAK, fairness_why="a living consumer tells the producer when it has read",
    source="contract Q33; B-090", doc="The consumer tells the producer's workers that it has read.",
)  # fmt: skip

peer_accepts = Action(
    name="peer_accepts", event="peer_accepts", params=(r,), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    receives=(Receive(channel="confirm", args=(w, r), over=(w,)),),
    guard=(need("length-agrees", ~peer_told_short(r)),),
    updates=(assign(peer_uses(r), True),),
    fairness=WEAK, fairness_why="a living consumer goes on",
    source="B-087; B-142",
    doc="Every worker confirms that the lease held when the notice came, and the length agrees: what was read is used.",
)  # fmt: skip

peer_refuses = Action(
    name="peer_refuses", event="peer_refuses", params=(w, r), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    receives=(receive(deny, w, r),),
    fairness=WEAK, fairness_why="a living consumer goes on",
    source="B-087; B-096", doc="The lease had ended: the read fails, and the consumer computes by itself.",
)  # fmt: skip

peer_finds_it_short = Action(
    name="peer_finds_it_short", event="peer_finds_it_short", params=(r,), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    guard=(need("length-differs", peer_told_short(r)),),
    fairness=WEAK, fairness_why="a living consumer goes on",
    source="B-142 sglang #30233", doc="The KV is shorter than the prompt: the consumer computes by itself.",
)  # fmt: skip

peer_rejects = Action(
    name="peer_rejects", event="peer_rejects", params=(r,), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    source="B-089 vllm #41269", doc="The consumer ends its request before it was admitted.",
)  # fmt: skip

peer_lets_go = Action(
    name="peer_lets_go", event="peer_lets_go", params=(r,), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    sends=(_notice(),),
    fairness=WEAK, fairness_why="every end of a living consumer's request tells the producer",
    source="B-089 vllm #41269", doc="The consumer tells the producer that nobody will read.",
)  # fmt: skip

peer_dies = Action(
    name="peer_dies", event="peer_dies", params=(r,), site=ENVIRONMENT, observed=False, fault=True,
    fires=(fire("peer", r),),
    source="B-096 vllm #35943; V-02", doc="The consumer is gone without a word.",
)  # fmt: skip

notice_repeated = Action(
    name="notice_repeated", event="notice_repeated", params=(r,), site=ENVIRONMENT, observed=False, fault=True,
    fires=(fire("peer", r),),
    sends=(_notice(),),
    guard=(need("once", ~repeated(r)),),
    updates=(assign(repeated(r), True),),
    source="contract R-40", doc="The notice is sent a second time.",
)  # fmt: skip

peer_beats = Action(
    name="peer_beats", event="peer_beats", params=(r,), site=ENVIRONMENT, observed=False,
    fires=(fire("peer", r),),
    sends=(send(heartbeat, w, r, over=(w,)),),
    guard=(need("once", ~beaten(r)),),
    updates=(assign(beaten(r), True),),
    source="B-086 vllm #53095", doc="The consumer still waits and says so.",
)  # fmt: skip

HAND_OVER_ACTIONS = (
    cut_short, hand_over, register, hear_notice, hear_stray_notice, lease_runs_out, renew, sweep_leases,
    worker_acknowledges, release_handed_over, stray_word,
    peer_hears, peer_reads, peer_tells, peer_accepts, peer_refuses, peer_finds_it_short, peer_rejects, peer_lets_go,
    peer_dies, notice_repeated, peer_beats,
)  # fmt: skip
