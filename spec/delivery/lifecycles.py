"""The lifecycle tables: a request, its operations and its hand-over, at the scheduler, the workers and the peer."""

from __future__ import annotations

from interlock.spec.delivery.predicates import kept_in, last_load, last_report, last_word
from interlock.spec.delivery.vocabulary import (
    early,
    finish_answer,
    j,
    k,
    r,
    telemetry,
    w,
)
from interlock.spec.language.lifecycles import Lifecycle, Row, row


def _stays(event: str, source: str, *states: str) -> tuple[Row, ...]:
    """Rows by which an event leaves the state as it is."""
    return tuple(row(s, event, s, source=source) for s in states)


DELIVERY = Lifecycle(
    name="delivery",
    entity=(r,),
    variable="delivery_state",
    initial="absent",
    doc="A request of one engine, as far as its blocks, its loads and its sends are concerned.",
    rows=(
        row("absent", "add_request", "waiting", source="contract Q1"),
        row("absent", "add_under_same_id", "waiting", source="contract Q1, R-57"),
        *_stays("take_block", "contract G1", "waiting"),
        row("waiting", "admit", "running", source="contract Q10, Q11"),
        row("waiting", "start_load", "loading", source="contract Q8"),
        row("loading", "start_load", "loading", source="B-072: several connectors load one request"),
        row("loading", "operation_ends", "loaded", guard=last_load(r, j), source="contract Q12"),
        row("loading", "operation_ends", "loading", source="contract I-70: others are still to report"),
        *_stays("operation_ends", "contract J11, I-70", "waiting", "loaded", "running", "held", "released"),
        row("loaded", "promote", "running", source="contract Q13"),
        row("loaded", "compute_again", "waiting", source="contract Q15"),
        row("running", "preempt", "waiting", source="contract Q22, R-60"),
        *_stays("cut_short", "B-142 sglang #30233", "running"),
        *_stays("accept_cancel", "B-163 vllm #29987", "running"),
        *(
            row(s, "finish", target, guard=guard, source="contract Q30, Q31, I-15, R-51, R-52")
            for s in ("waiting", "loading", "loaded", "running")
            for target, guard in (("held", kept_in(s, r)), ("released", ~kept_in(s, r)))
        ),
        row("running", "hand_over", "held", guard=~finish_answer.is_("never_keep"), source="contract Q31, R-51"),
        row(
            "running",
            "hand_over",
            "released",
            guard=finish_answer.is_("never_keep"),
            source="B-151 TensorRT-LLM #12540",
        ),
        row("held", "release", "released", source="contract Q32, Q33"),
        row("held", "release_handed_over", "released", source="contract Q33"),
        row("held", "stray_word", "released", guard=last_word(r), source="contract R-57; B-161"),
        *_stays("stray_word", "contract R-57; B-161", "held", "waiting", "running"),
        # Nothing in this table keeps one more completion from releasing again: that nothing is owed any more does.
        row("released", "release", "released", source="B-053 vllm #46240"),
        row("released", "release_handed_over", "released", source="B-053 vllm #46240"),
    ),
)

OPERATION = Lifecycle(
    name="delivery_operation",
    entity=(j,),
    variable="delivery_operation_state",
    initial="unused",
    doc="One transfer of one connector for one request, as the scheduler counts it; workers report one by one.",
    rows=(
        row("unused", "start_load", "open", source="contract L1"),
        row("unused", "start_send", "open", source="contract J4"),
        row("open", "operation_ends", "unused", guard=last_report(j), source="contract J11, 2.3, I-70"),
        row("open", "operation_ends", "open", source="contract 2.3, R-42"),
        row("open", "release", "unused", source="contract J11, Q32"),
    ),
)

TRANSFER = Lifecycle(
    name="delivery_transfer",
    entity=(w, j),
    variable="delivery_transfer_state",
    initial="idle",
    doc="An operation at one worker.",
    rows=(
        row("idle", "begin_transfer", "active", source="contract L2, J6"),
        row("active", "transfer_ends", "ended", source="contract L3, J10"),
        row("active", "remote_transfer_fails", "broken", source="contract R-43; B-096"),
        row("active", "remote_engine_dies", "stranded", source="B-096 vllm #35943"),
        row("expired", "late_end", "expired", source="B-154 TensorRT-LLM #14633: a late end changes no verdict"),
        row("ended", "telemetry_raises", "ended", guard=telemetry.is_("is_ignored"), source="B-091 vllm #58038"),
        row("ended", "telemetry_raises", "broken", guard=telemetry.is_("decides"), source="B-091 vllm #58038"),
        row("stranded", "load_expires", "expired", source="B-096: the consumer's own deadline"),
        row("ended", "filter_report", "idle", source="B-159 vllm-ascend #16662"),
        row("ended", "report_transfer", "idle", source="contract R-40, R-49"),
        row("broken", "report_failed_transfer", "idle", source="contract R-43, R-46"),
        row("expired", "report_failed_transfer", "idle", source="contract R-46; B-096"),
    ),
)

REGISTRATION = Lifecycle(
    name="registration",
    entity=(w, r),
    variable="registration_state",
    initial="unknown",
    doc="A request that was handed over, at one worker of the producer, between its notice and its lease.",
    rows=(
        row("unknown", "register", "settled", guard=early(w, r), source="B-084: the notice was remembered"),
        row("unknown", "register", "registered", source="contract R-51"),
        row("unknown", "hear_notice", "unknown", source="B-084 vllm #43509"),
        row("registered", "hear_notice", "settled", source="contract Q33"),
        row("settled", "hear_notice", "settled", source="B-161: late or repeated"),
        row("unknown", "hear_stray_notice", "unknown", source="contract R-57; B-084 vllm #43509"),
        row("registered", "hear_stray_notice", "settled", source="contract R-57"),
        row("registered", "sweep_leases", "settled", source="B-085 vllm #58222; V-02"),
    ),
)

PEER = Lifecycle(
    name="peer",
    entity=(r,),
    variable="peer_state",
    initial="unaware",
    doc="The consumer's request for which r is prefilled, as the producer's environment.",
    rows=(
        row("unaware", "peer_hears", "waiting", source="contract Q31: transfer parameters"),
        row("waiting", "peer_reads", "reading", source="B-087"),
        row("reading", "peer_tells", "told", source="contract Q33"),
        row("told", "peer_accepts", "accepted", source="B-087: a read after lease end fails visibly"),
        row("told", "peer_finds_it_short", "refused", source="B-142 sglang #30233"),
        row("told", "peer_refuses", "refused", source="B-087: a read after lease end fails visibly"),
        row("waiting", "peer_rejects", "rejected", source="B-089 vllm #41269"),
        row("rejected", "peer_lets_go", "let_go", source="B-089 vllm #41269"),
        *_stays("peer_beats", "B-086 vllm #53095", "waiting"),
        row("waiting", "peer_dies", "dead", source="B-096; V-02"),
        *_stays("notice_repeated", "contract R-40", "told", "let_go"),
    ),
)

PART = Lifecycle(
    name="part",
    entity=(k, r),
    variable="part_state",
    initial="aside",
    doc="A request in one sub-connector of a composite.",
    rows=(
        row("aside", "sub_hit", "locked", source="contract R-12; B-074"),
        *_stays("grant", "contract R-12", "locked"),
        row("locked", "sub_enters", "entered", source="B-074 vllm #47505"),
        row("locked", "sub_unlocks", "done", source="contract R-11, R-15"),
        row("entered", "sub_loaded", "done", source="contract L4"),
    ),
)

DRAIN = Lifecycle(
    name="drain",
    entity=(r,),
    variable="drain_state",
    initial="calm",
    doc="The producer's push of r's KV into the consumer's memory.",
    rows=(
        row("calm", "push_starts", "writing", source="B-139 sglang #38961"),
        row("writing", "push_ends", "over", source="B-139 sglang #38961"),
    ),
)

BUFFER = Lifecycle(
    name="buffer",
    entity=(r,),
    variable="buffer_state",
    initial="unwanted",
    doc="A received tensor of r in the receive store.",
    rows=(
        row("unwanted", "await_tensor", "awaited", source="B-104 vllm #42839"),
        row("awaited", "receive_tensor", "full", source="B-106 vllm #28779"),
        row("full", "place_tensor", "placed", source="B-105 vllm #38472"),
        row("placed", "free_buffer", "freed", source="B-105 vllm #38472"),
    ),
)

LIFECYCLES = (DELIVERY, OPERATION, TRANSFER, REGISTRATION, PEER, PART, DRAIN, BUFFER)
