"""What happens to one request, lease, worker or connector leaves the others as they are."""

from __future__ import annotations

from interlock.spec.delivery.coverage import AGAIN, CONTENT, DRAIN, LEASE, MERGED, OF_TWO, PREFILLS, READ, REPORTS, TWO
from interlock.spec.delivery.vocabulary import (
    answer,
    beaten,
    cancelled,
    connector,
    cpu_copy,
    drain_heard,
    drain_target,
    early,
    ended_in,
    has_block,
    k,
    merged_failed,
    merged_finished,
    overdue,
    peer_uses,
    produces,
    r,
    repeated,
    sub_failed,
    sub_finished,
    truncated,
    w,
    waited_for,
)
from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import forall
from interlock.spec.shared.frames import unchanged
from interlock.spec.shared.sorts import block, request, worker

_r, _w = request.var("rv"), worker.var("wv")
_b = block.var("bv")
_k = connector.var("kv")
_another = _w.ne(w) | _r.ne(r)

ONE_LEASE = ActionProperty(
    id="a-word-on-one-lease-changes-no-other",
    source="V-02; B-085 vllm #58222, B-086 vllm #53095",
    doc="A notice, a heartbeat or the end of a lease is of one hand-over at one worker.",
    slices=(LEASE, TWO, READ, AGAIN),
    actions=("hear_notice", "lease_runs_out", "renew"),
    formula=forall(_w, _r, _another >> unchanged(overdue(_w, _r), waited_for(_w, _r), early(_w, _r))),
)
ONE_WORKER = ActionProperty(
    id="a-sweep-is-of-one-worker",
    source="V-02; B-085 vllm #58222",
    doc="A worker that sweeps its leases leaves those of the others.",
    slices=(LEASE, AGAIN),
    actions=("sweep_leases",),
    formula=forall(_w, _r, _w.ne(w) >> unchanged(overdue(_w, _r))),
)
ONE_REQUEST = ActionProperty(
    id="what-becomes-of-one-request-changes-no-other",
    source="contract Q9, Q22, Q26, R-60; B-141",
    doc="Who is admitted, preempted or ends changes the KV and the blocks of no other request.",
    slices=(OF_TWO, CONTENT),
    actions=("admit", "promote", "preempt", "finish", "take_block"),
    formula=forall(_r, _b, _r.ne(r) >> unchanged(cpu_copy(_r), ended_in(_r), has_block(_r, _b))),
)
ONE_BEAT = ActionProperty(
    id="a-heartbeat-is-of-one-consumer",
    source="B-086 vllm #53095",
    doc="That one consumer has said that it still waits says nothing of another.",
    slices=(TWO,),
    actions=("peer_beats",),
    formula=forall(_r, _r.ne(r) >> unchanged(beaten(_r))),
)
ONE_PREFILL = ActionProperty(
    id="a-cancel-is-of-one-request",
    source="B-163 vllm #29987, B-142 sglang #30233; contract R-40",
    doc="That one request is cancelled or cut short, or its consumer repeats itself, says nothing of another.",
    slices=(PREFILLS,),
    actions=("accept_cancel", "cut_short", "notice_repeated"),
    formula=forall(_r, _r.ne(r) >> unchanged(cancelled(_r), truncated(_r), repeated(_r))),
)
ONE_CONSUMER = ActionProperty(
    id="a-consumer-reads-for-itself",
    source="B-087 vllm #21570",
    doc="That one consumer has read, or may use what it read, says nothing of another.",
    slices=(READ,),
    actions=("peer_reads", "peer_accepts"),
    formula=forall(_r, _r.ne(r) >> unchanged(peer_uses(_r))),
)
ONE_CONNECTOR = ActionProperty(
    id="a-word-of-one-connector-is-of-one-request",
    source="contract I-70, R-46, R-50; B-130 LMCache #3866, B-185 ROCm/ATOM #2000",
    doc="What a sub-connector answers or reports of a request says nothing of others, nor of other connectors.",
    slices=(REPORTS, MERGED),
    actions=("answers_empty", "answers_real", "count_producer", "sub_reports_finished", "sub_reports_failed"),
    formula=forall(
        _k,
        _r,
        (_k.ne(k) | _r.ne(r)) >> unchanged(answer(_k, _r), produces(_k, _r), sub_finished(_k, _r), sub_failed(_k, _r)),
    ),
)
ONE_MERGE = ActionProperty(
    id="reports-are-merged-by-request",
    source="B-185 ROCm/ATOM #2000; contract R-48, I-71",
    doc="Merging what is reported of one request leaves what is reported of the others.",
    slices=(MERGED,),
    actions=("merge_reports",),
    formula=forall(
        _k,
        _r,
        _r.ne(r) >> unchanged(merged_finished(_r), merged_failed(_r), sub_finished(_k, _r), sub_failed(_k, _r)),
    ),
)
ONE_DRAIN = ActionProperty(
    id="an-abort-of-a-rank-is-of-one-request",
    source="B-139 sglang #38961",
    doc="The abort of one rank stops the writes of its request alone, and only that rank is to be told.",
    slices=(DRAIN,),
    actions=("hear_abort",),
    formula=forall(_r, _r.ne(r) >> unchanged(drain_heard(_r)))
    & forall(_w, _r, _another >> unchanged(drain_target(_w, _r))),
)

OTHERS: tuple[Property, ...] = (
    ONE_LEASE, ONE_WORKER, ONE_REQUEST, ONE_BEAT, ONE_PREFILL, ONE_CONSUMER, ONE_CONNECTOR, ONE_MERGE, ONE_DRAIN,
)  # fmt: skip
