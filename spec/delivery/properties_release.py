"""Properties of one engine: what is outstanding, who waits for it, and when blocks are given back."""

from __future__ import annotations

from interlock.spec.delivery.coverage import (
    AGAIN,
    BOTH,
    BY_WORKERS,
    CONTENT,
    EVERY,
    EVERY_ENGINE,
    FAILING,
    HANDING,
    LEASE,
    LOADING,
    OPERATIONS,
    READ,
    SENDING,
    SHORT,
    TRANSFERRING,
    TWO,
)
from interlock.spec.delivery.judging import at_worker, nothing_is_owed, on_hand_over, signal_comes, works_for
from interlock.spec.delivery.predicates import is_, opened
from interlock.spec.delivery.vocabulary import (
    acks_due,
    b,
    block_kv,
    cpu_copy,
    delivery_state,
    delivery_transfer_state,
    delivery_transfer_states,
    failed,
    finished,
    has_block,
    j,
    lease_race,
    load_failed,
    loads_owed,
    r,
    r2,
    receives,
    register_meta,
    registration_state,
    registration_states,
    releases,
    reports_due,
    sends_owed,
    sent,
    start_meta,
    w,
)
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Ground, Invariant, LeadsTo, Property
from interlock.spec.language.terms import Primed, Term, card, exists, forall, ite
from interlock.spec.shared.frames import unchanged


def _transfer(*states: str) -> Term:
    """Operation j at worker w is in one of these states."""
    return delivery_transfer_states.one_of(delivery_transfer_state(w, j), *states)


_ONCE = releases(r).eq(ite(is_(r, "released"), 1, 0))

RELEASED_ONCE = Invariant(
    id="released-exactly-once",
    aliases=("I-13",),
    source="contract R-41, R-51, I-13; B-053, B-161",
    doc=(
        "The blocks of a request that is released have been given back once, neither twice nor not at all; those of "
        "any other have not. (That a held one is released in the end is delivery-held-leads-to-released.)"
    ),
    slices=EVERY,
    formula=forall(r, _ONCE),
    premise=exists(r, is_(r, "released")),
)

_NOTHING_LEFT = forall(j, ~works_for(j, r)) & forall(w, ~on_hand_over(w, r))

RELEASED_LAST = Invariant(
    id="released-after-last-operation",
    source="contract R-41, R-51; B-053 vllm #46240, B-055 vllm #32255, B-151",
    doc=(
        "A request's blocks are given back exactly once, after the last of its loads and sends, in whatever order "
        "they ended, and when no worker waits any more for the peer to which it was handed over."
    ),
    slices=EVERY,
    formula=forall(r, _ONCE & (is_(r, "released") >> _NOTHING_LEFT)),
    premise=exists(r, is_(r, "released")),
    proved=True,
    proof=(
        "loads-owed-are-open-loads",
        "sends-owed-are-open-sends",
        "nothing-is-owed-before-or-after",
        "open-operation-waits-for-a-report",
        "hand-over-words-are-counted",
        "registration-comes-once",
    ),
    grounds=(
        Ground(action="release", conjunct="last-outstanding"),
        Ground(action="release_handed_over", conjunct="last-outstanding"),
        Ground(action="start_send", conjunct="request-lives"),
    ),
)

OWED_A_SIGNAL = Invariant(
    id="held-request-is-owed-a-signal",
    aliases=("I-03",),
    source="contract I-03, I-15, R-51; B-121, B-159",
    doc="For a request that is held, some completion is under way, or its end is in the hands of a worker.",
    slices=EVERY,
    formula=forall(r, is_(r, "held") >> signal_comes(r)),
    premise=exists(r, is_(r, "held")),
)

LEFT_NOTHING = Invariant(
    id="cpu-copy-is-of-a-preempted-request",
    source="B-141 sglang #18701",
    doc="KV on the CPU is of a request that waits for its blocks: one that runs or has ended left nothing there.",
    slices=(OPERATIONS, CONTENT, SHORT),
    formula=forall(r, cpu_copy(r) >> is_(r, "waiting", "loading", "loaded")),
    premise=exists(r, cpu_copy(r)),
)
FAILURE_IS_NEW = Invariant(
    id="noted-failure-is-of-the-present-loads",
    source="contract I-06, Q15",
    doc="That a load failed is noted of a request that is loading, loaded or ended, and forgotten when it is computed.",
    slices=FAILING,
    formula=forall(r, load_failed(r) >> is_(r, "loading", "loaded", "held", "released")),
    premise=exists(r, load_failed(r)),
)

ONE_OWNER = Invariant(
    id="block-has-one-living-owner",
    source="contract I-21, I-22; B-150 TensorRT-LLM #12542",
    doc="No block is in the tables of two requests that have not been released.",
    slices=(CONTENT, READ, SHORT),
    formula=forall(
        r, r2, b,
        (has_block(r, b) & has_block(r2, b) & ~is_(r, "released") & ~is_(r2, "released")) >> r.eq(r2),
    ),
    premise=exists(r, b, has_block(r, b) & ~is_(r, "released")),
)  # fmt: skip

OWN_KV = Invariant(
    id="running-request-has-its-own-kv",
    source="the content oracle; contract I-24, I-25; B-055, B-154",
    doc="The block of a running request holds that request's KV, computed or loaded, and nothing of another one.",
    slices=(CONTENT, READ, SHORT),
    formula=forall(r, b, (is_(r, "running") & has_block(r, b)) >> block_kv(b, r)),
    premise=exists(r, b, is_(r, "running") & has_block(r, b)),
)

TAKEN_IS_HELD = ActionProperty(
    id="a-block-that-is-taken-is-in-the-table",
    source="contract G1, I-20",
    doc="A request that is given a block has it in its table, whatever others have.",
    slices=(CONTENT, READ, SHORT),
    actions=("take_block",),
    formula=Primed(body=has_block(r, b)),
)
ONE_KV = Invariant(
    id="block-holds-the-kv-of-one-request",
    source="the content oracle",
    doc="What is in a block is the KV of one request, or of none.",
    slices=(CONTENT, READ, SHORT),
    formula=forall(b, r, r2, (block_kv(b, r) & block_kv(b, r2)) >> r.eq(r2)),
    premise=exists(b, r, block_kv(b, r)),
)

LOADED_IS_LOADED = Invariant(
    id="loaded-request-has-no-open-load",
    source="B-072 vllm #51786; contract I-14, I-70",
    doc="A request that counts as loaded, or runs, or waits, has no load outstanding.",
    slices=LOADING,
    formula=forall(r, j, (is_(r, "loaded", "running", "waiting") & works_for(j, r)) >> ~receives(j)),
    premise=exists(r, is_(r, "loaded")),
)

# Lemmas: what the scheduler's counters mean.

LOADS_OWED = Invariant(
    id="loads-owed-are-open-loads",
    source="contract I-70",
    doc="A request waits for as many loads as are open for it.",
    slices=LOADING,
    formula=forall(r, loads_owed(r).eq(card(j, works_for(j, r) & receives(j)))),
    lemma=True,
)
SENDS_OWED = Invariant(
    id="sends-owed-are-open-sends",
    source="contract I-70, R-41",
    doc="A request waits for as many sends as are open for it, and one more while its hand-over lasts.",
    slices=(*SENDING, LEASE),
    formula=forall(
        r, sends_owed(r).eq(card(j, works_for(j, r) & ~receives(j)) + ite(acks_due(r) > 0, 1, 0))
    ),
    lemma=True,
)  # fmt: skip
NOTHING_OWED = Invariant(
    id="nothing-is-owed-before-or-after",
    source="contract I-03, I-14",
    doc=(
        "Nothing is owed to a request that is absent or released, no load to one that is not loading or held, "
        "and no word on a hand-over to one that is not held."
    ),
    slices=EVERY,
    formula=forall(
        r,
        (is_(r, "absent", "released") >> nothing_is_owed(r))
        & (is_(r, "waiting", "loaded", "running") >> loads_owed(r).eq(0))
        & ((acks_due(r) > 0) >> is_(r, "held")),
    ),
    lemma=True,
)  # fmt: skip
REPORT_DUE = Invariant(
    id="open-operation-waits-for-a-report",
    source="contract I-46",
    doc="An operation is open exactly as long as a worker's report on it is due.",
    slices=TRANSFERRING,
    formula=forall(j, opened(j).eq(reports_due(j) > 0)),
    lemma=True,
)
REPORTS_COUNTED = Invariant(
    id="operation-reports-are-counted",
    source="contract I-46, I-70, R-42",
    doc="An open operation waits for exactly the workers that still have it and the reports under way.",
    slices=TRANSFERRING,
    formula=forall(
        j, opened(j) >> reports_due(j).eq(card(w, at_worker(w, j)) + finished(j))
    ),
    premise=exists(j, opened(j)),
)  # fmt: skip
ENDED_LEFT_NOTHING = Invariant(
    id="ended-operations-left-nothing",
    source="contract I-58, R-23, R-40",
    doc=(
        "An operation that is not open has no report under way and is at no worker; metadata names one to a "
        "worker once, and only before the worker has it."
    ),
    slices=TRANSFERRING,
    formula=forall(j, ~opened(j) >> finished(j).eq(0))
    & forall(
        w, j,
        (~opened(j) >> ~at_worker(w, j))
        & (start_meta(w, j) <= 1)
        & ((start_meta(w, j) > 0) >> delivery_transfer_state(w, j).eq(delivery_transfer_states["idle"])),
    ),
    premise=exists(j, opened(j)),
)  # fmt: skip
FAILED_IS_FINISHED = Invariant(
    id="failed-load-is-also-finished",
    aliases=("I-71",),
    source="contract R-46, I-71",
    doc="No report says that an operation has failed without one that says that it has ended.",
    slices=FAILING,
    formula=forall(j, (failed(j) > 0) >> (finished(j) > 0)),
    premise=exists(j, failed(j) > 0),
)
ACKS_COUNTED = Invariant(
    id="hand-over-words-are-counted",
    aliases=("I-70",),
    source="contract I-70, 2.3",
    doc="A hand-over waits for exactly the workers that still have it and the words under way.",
    slices=HANDING,
    formula=forall(
        r,
        acks_due(r).eq(card(w, on_hand_over(w, r)) + sent(r)),
    ),
    lemma=True,
)  # fmt: skip
REGISTERED_ONCE = Invariant(
    id="registration-comes-once",
    source="contract R-23, R-50",
    doc=(
        "Metadata names a hand-over to a worker once, and only before the worker knows of it; no worker knows of "
        "a request that has not been handed over."
    ),
    slices=HANDING,
    formula=forall(
        w, r,
        (register_meta(w, r) <= 1)
        & ((register_meta(w, r) > 0) >> registration_state(w, r).eq(registration_states["unknown"]))
        & (
            ((register_meta(w, r) > 0) | registration_state(w, r).ne(registration_states["unknown"]))
            >> is_(r, "held", "released")
        ),
    ),
    lemma=True,
)  # fmt: skip

# Boundary clauses and action properties.

KNOWN_LOAD = BoundaryClause(
    id="no-report-for-unknown-request",
    aliases=("R-38",),
    source="contract R-38, R-40, R-41; B-053, B-072",
    doc="A completed load finds its request loading or held, a completed send finds it not yet released.",
    slices=TRANSFERRING,
    action="operation_ends",
    formula=ite(receives(j), is_(r, "loading", "held"), ~is_(r, "absent", "released")),
    invariant="released-after-last-operation",
)
KNOWN_HAND_OVER = BoundaryClause(
    id="no-word-on-an-unknown-hand-over",
    aliases=("R-39",),
    source="contract R-39, R-41; B-053, B-161",
    doc="finished_sending finds its request held, and a worker's word on it still due.",
    slices=(LEASE, BOTH, TWO, AGAIN),
    # There nothing but one hand-over of one worker is owed to a request: each word that is due releases it.
    applies_in={TWO: lease_race.is_("two_winners")},
    action="worker_acknowledges",
    formula=is_(r, "held") & (acks_due(r) > 0),
    invariant="released-after-last-operation",
)
FINISHED_ONCE = BoundaryClause(
    id="request-finished-comes-once",
    aliases=("I-11",),
    source="contract I-11, R-50, R-52",
    doc="A request is finished once: while it waits, loads or runs, and before its blocks are given back.",
    slices=EVERY_ENGINE,
    action="finish",
    formula=is_(r, "waiting", "loading", "loaded", "running"),
    invariant="released-exactly-once",
)
HELD_IF_OWED = ActionProperty(
    id="cancelled-load-holds-while-it-is-owed",
    aliases=("I-15",),
    source="contract I-15, Q31; B-055 vllm #32255",
    doc="A request that ends while it loads is held; one whose loads have ended, with nothing owed, is not.",
    slices=LOADING,
    actions=("finish",),
    formula=(is_(r, "loading") >> Primed(body=is_(r, "held")))
    & ((is_(r, "loaded") & nothing_is_owed(r)) >> Primed(body=is_(r, "released"))),
)
NO_LATE_VERDICT = ActionProperty(
    id="terminal-state-is-set-once",
    source="B-154 TensorRT-LLM #14633",
    doc=(
        "The end of a transfer that has already failed, or of which no word could come, does not make it a success; "
        "nor does a failure that comes later undo one."
    ),
    slices=FAILING,
    actions=("late_end", "transfer_ends", "remote_transfer_fails", "remote_engine_dies", "load_expires"),
    formula=(~_transfer("active") >> Primed(body=~_transfer("ended")))
    & (_transfer("ended", "broken", "expired") >> unchanged(delivery_transfer_state(w, j))),
)
FAILURES_ARE_TRUE = ActionProperty(
    id="a-failure-is-reported-of-what-has-failed",
    source="contract R-43, R-46; B-091, B-096",
    doc="A worker reports as failed what has failed there or has passed its deadline, and nothing else.",
    slices=FAILING,
    actions=("report_failed_transfer",),
    formula=_transfer("broken", "expired"),
)
FAILED_IS_REPORTED = ActionProperty(
    id="what-has-failed-is-reported-as-failed",
    source="contract R-43, R-46, I-71; B-096 vllm #35943, B-160 vllm-ascend #13099",
    doc="A worker reports an operation that has failed there as ended and as failed, whatever it has become elsewhere.",
    slices=FAILING,
    actions=("report_failed_transfer",),
    formula=Primed(body=finished(j)).eq(finished(j) + 1) & Primed(body=failed(j)).eq(failed(j) + 1),
)
RELEASES_HELD = ActionProperty(
    id="a-completion-releases-what-has-finished",
    source="contract R-39, Q32, Q33, I-11",
    doc="A completion gives back the blocks of a request that has finished: never those of one that runs or waits.",
    slices=SENDING,
    actions=("release",),
    formula=is_(r, "held", "released"),
)
ARRIVES_ONCE = ActionProperty(
    id="a-delivered-request-arrives-once",
    source="contract Q1, I-01, R-57",
    doc="A request arrives that was not there: it is neither under way, nor held for its operations, nor released.",
    slices=EVERY,
    actions=("add_request", "add_under_same_id"),
    formula=is_(r, "absent"),
)
BOOKKEEPING = ActionProperty(
    id="bookkeeping-changes-no-verdict",
    source="B-091 vllm #58038",
    doc="A transfer that has ended is still ended when its statistics cannot be read.",
    slices=FAILING,
    actions=("telemetry_raises",),
    formula=Primed(body=delivery_transfer_state(w, j)).eq(delivery_transfer_states["ended"]),
)
LAST_OF_ALL = ActionProperty(
    id="an-operation-ends-with-its-last-report",
    source="contract J11, I-46, I-70",
    doc="A report ends an operation exactly if no other worker's report was due.",
    slices=TRANSFERRING,
    actions=("operation_ends", "release"),
    formula=reports_due(j).eq(1).eq(~Primed(body=opened(j))),
)

ONE_STEP = ActionProperty(
    id="a-report-moves-only-a-loading-request",
    source="contract Q12, Q13, I-14",
    doc="A report that releases nothing leaves its request as it is, or makes a loading one loaded.",
    slices=TRANSFERRING,
    actions=("operation_ends",),
    formula=Primed(body=delivery_state(r)).eq(delivery_state(r)) | (is_(r, "loading") & Primed(body=is_(r, "loaded"))),
)
ONLY_FAILED = ActionProperty(
    id="only-a-failed-load-is-computed-again",
    source="contract Q15",
    doc="A request is computed again after its loads only if one of them failed.",
    slices=FAILING,
    actions=("compute_again",),
    formula=load_failed(r),
)
FAILURE_STAYS = ActionProperty(
    id="a-failed-load-is-noted-whatever-the-others-say",
    source="contract R-43, Q15, Q16; B-096 vllm #35943",
    doc="A load of several that was reported as failed stays noted: the reports of the others do not take that back.",
    slices=FAILING,
    actions=("operation_ends",),
    formula=(load_failed(r) | (receives(j) & (failed(j) > 0))) >> Primed(body=load_failed(r)),
)
PREEMPTED = ActionProperty(
    id="preemption-gives-back-idle-blocks",
    aliases=("R-60",),
    source="contract R-60, I-08",
    doc="A preempted request gives all its blocks back, and no operation of it reads or writes them.",
    slices=(OPERATIONS, CONTENT, SHORT),
    actions=("preempt",),
    formula=forall(j, ~works_for(j, r)) & forall(b, ~Primed(body=has_block(r, b))),
)
PREEMPTED_LEFT_A_COPY = ActionProperty(
    id="a-preempted-request-has-its-kv-on-the-cpu",
    source="contract Q22; B-141 sglang #18701",
    doc="The KV of a request that is preempted waits for it on the CPU, whatever others do meanwhile.",
    slices=(OPERATIONS, CONTENT, SHORT),
    actions=("preempt",),
    formula=Primed(body=cpu_copy(r)),
)

# Liveness.

HELD = is_(r, "held")
HELD_RELEASED = LeadsTo(
    id="delivery-held-leads-to-released",
    source="contract V-02, R-51; the lease is the deadline",
    doc="A request that is held gives its blocks back: by its completions, its peer, or its lease.",
    slices=EVERY,
    vars=(r,),
    premise=HELD,
    conclusion=is_(r, "released"),
)
LOAD_IS_OPEN = opened(j) & receives(j)
SEND_IS_OPEN = opened(j) & ~receives(j)
REQUEST_IS_LOADED = is_(r, "loaded")
SENDS_END = LeadsTo(
    id="every-started-send-ends",
    source="contract R-42, V-06",
    doc="Each started send ends, whether its request still runs or not.",
    slices=(OPERATIONS, BY_WORKERS, BOTH),
    vars=(j,),
    premise=SEND_IS_OPEN,
    conclusion=~SEND_IS_OPEN,
)
LOADED_GOES_ON = LeadsTo(
    id="loaded-request-goes-on",
    source="contract V-01, Q13, Q15",
    doc="A request whose loads have been reported runs, is computed again, or ends.",
    slices=LOADING,
    vars=(r,),
    premise=REQUEST_IS_LOADED,
    conclusion=~REQUEST_IS_LOADED,
)
LOADS_END = LeadsTo(
    id="every-started-load-ends",
    source="contract V-01, R-20, R-42; B-096 vllm #35943, B-159",
    doc="Each started load ends in success or failure, also if the remote engine dies.",
    slices=LOADING,
    vars=(j,),
    premise=LOAD_IS_OPEN,
    conclusion=~LOAD_IS_OPEN,
)

RELEASE_PROPERTIES: tuple[Property, ...] = (
    RELEASED_ONCE,
    RELEASED_LAST,
    OWED_A_SIGNAL,
    LEFT_NOTHING,
    FAILURE_IS_NEW,
    ONE_OWNER,
    OWN_KV,
    TAKEN_IS_HELD,
    ONE_KV,
    LOADED_IS_LOADED,
    LOADS_OWED,
    SENDS_OWED,
    NOTHING_OWED,
    REPORT_DUE,
    REGISTERED_ONCE,
    REPORTS_COUNTED,
    ENDED_LEFT_NOTHING,
    FAILED_IS_FINISHED,
    ACKS_COUNTED,
    KNOWN_LOAD,
    KNOWN_HAND_OVER,
    FINISHED_ONCE,
    HELD_IF_OWED,
    NO_LATE_VERDICT,
    FAILURES_ARE_TRUE,
    FAILED_IS_REPORTED,
    RELEASES_HELD,
    ARRIVES_ONCE,
    BOOKKEEPING,
    LAST_OF_ALL,
    ONE_STEP,
    ONLY_FAILED,
    FAILURE_STAYS,
    PREEMPTED,
    PREEMPTED_LEFT_A_COPY,
    HELD_RELEASED,
    LOADS_END,
    SENDS_END,
    LOADED_GOES_ON,
)
