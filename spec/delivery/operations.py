"""Actions of one engine: a request, its loads and sends, their reports, and the release of its blocks."""

from __future__ import annotations

from interlock.spec.delivery.predicates import (
    is_,
    is_free,
    kept_at_finish,
    last_report,
    owed,
    releases_now,
    serves,
)
from interlock.spec.delivery.vocabulary import (
    abort_completion,
    b,
    block_kv,
    cancelled,
    cpu_copy,
    delivery_state,
    ended_in,
    failed,
    finished,
    has_block,
    j,
    load_counting,
    load_failed,
    loads_owed,
    operation_of,
    r,
    r2,
    r3,
    receives,
    release_on,
    releases,
    reports_due,
    sends_owed,
    start_meta,
    unlist_meta,
    w,
)
from interlock.spec.language.actions import (
    Action,
    Fairness,
    Update,
    assign,
    assign_all,
    fire,
    need,
    receive,
    receive_all,
    send,
)
from interlock.spec.language.terms import exists, forall, ite
from interlock.spec.language.variables import Site
from interlock.spec.shared.sorts import worker

SCHEDULER, WORKER, ENVIRONMENT = Site.SCHEDULER, Site.WORKER, Site.ENVIRONMENT
WEAK = Fairness.WEAK


add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    source="contract Q1", doc="A request arrives.",
)  # fmt: skip

add_under_same_id = Action(
    name="add_under_same_id", event="add_request", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    guard=(need("id-is-free", forall(r2, r2.ne(r) >> is_(r2, "absent", "released"))),),
    source="contract Q1, R-57",
    doc="A request arrives under an id that others had before it, all of which have been released.",
)  # fmt: skip

take_block = Action(
    name="take_block", event="allocate", params=(r, b), site=SCHEDULER,
    fires=(fire("delivery", r),),
    guard=(need("block-is-free", is_free(b)),),
    updates=(assign(has_block(r, b), True),),
    source="contract G1, I-22",
    doc="A waiting request gets a block that no living request has; what is in it stays until it is overwritten.",
)  # fmt: skip

admit = Action(
    name="admit", event="admit", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    updates=(
        assign(cpu_copy(r), False),
        assign_all(b, r2, to=block_kv(b, r2), value=r2.eq(r), when=has_block(r, b)),
    ),
    source="contract Q10, Q11", doc="A waiting request is scheduled; the step computes its KV, or brings it back.",
)  # fmt: skip


def _opens(is_load: bool) -> tuple[Update, ...]:
    """What opening any operation sets."""
    return (
        assign(operation_of(j), r),
        assign(receives(j), is_load),
        assign(reports_due(j), worker.size),
    )


start_load = Action(
    name="start_load", event="update_state_after_alloc", params=(r, j), site=SCHEDULER,
    fires=(fire("delivery", r), fire("delivery_operation", j)),
    sends=(send(start_meta, w, j, over=(w,)),),
    updates=(
        *_opens(True),
        assign(loads_owed(r), ite(load_counting.is_("first_report"), 1, loads_owed(r) + 1)),
    ),
    source="contract Q8, L1", doc="A connector is to load KV for r; another one may do so too.",
)  # fmt: skip

start_send = Action(
    name="start_send", event="start_send", params=(r, j), site=SCHEDULER,
    fires=(fire("delivery_operation", j),),
    sends=(send(start_meta, w, j, over=(w,)),),
    guard=(need("request-lives", is_(r, "loading", "running")),),
    updates=(*_opens(False), assign(sends_owed(r), sends_owed(r) + 1)),
    source="contract J1, J4; B-053", doc="A connector is to send blocks of r somewhere.",
)  # fmt: skip

begin_transfer = Action(
    name="begin_transfer", event="begin_transfer", params=(w, j), site=WORKER, observed=False,
    fires=(fire("delivery_transfer", w, j),),
    receives=(receive(start_meta, w, j),),
    fairness=WEAK, fairness_why="metadata reaches every worker with its step",
    source="contract L2, J6", doc="A worker starts an operation.",
)  # fmt: skip

transfer_ends = Action(
    name="transfer_ends", event="transfer_ends", params=(w, j), site=WORKER, observed=False,
    fires=(fire("delivery_transfer", w, j),),
    updates=(
        assign_all(
            b, r2, to=block_kv(b, r2), value=serves(j, r2),
            when=receives(j) & exists(r3, serves(j, r3) & has_block(r3, b)),
        ),
    ),
    fairness=WEAK, fairness_why="a transfer between living engines ends",
    source="contract L3, J10", doc="All bytes of an operation are where they belong.",
)  # fmt: skip

late_end = Action(
    name="late_end", event="transfer_ends", params=(w, j), site=WORKER, observed=False, fault=True,
    fires=(fire("delivery_transfer", w, j),),
    source="B-154 TensorRT-LLM #14633", doc="The end of a transfer comes after the worker's deadline for it.",
)  # fmt: skip

remote_transfer_fails = Action(
    name="remote_transfer_fails", event="remote_transfer_fails", params=(w, j), site=WORKER, observed=False, fault=True,
    fires=(fire("delivery_transfer", w, j),),
    source="contract R-43; B-096", doc="A transfer fails, and the worker is told so.",
)  # fmt: skip

telemetry_raises = Action(
    name="telemetry_raises", event="telemetry_raises", params=(w, j), site=WORKER, observed=False, fault=True,
    fires=(fire("delivery_transfer", w, j),),
    source="B-091 vllm #58038", doc="Reading the statistics of a transfer that has ended raises.",
)  # fmt: skip

remote_engine_dies = Action(
    name="remote_engine_dies", event="remote_engine_dies", params=(w, j), site=WORKER, observed=False, fault=True,
    fires=(fire("delivery_transfer", w, j),),
    source="B-096 vllm #35943", doc="The remote engine is gone in the middle of a transfer: no word comes.",
)  # fmt: skip

load_expires = Action(
    name="load_expires", event="load_expires", params=(w, j), site=WORKER, observed=False,
    fires=(fire("delivery_transfer", w, j),),
    fairness=WEAK, fairness_why="the deadline of a transfer passes",
    source="B-096 vllm #35943", doc="The worker's own deadline ends an operation of which nothing is heard.",
)  # fmt: skip

report_transfer = Action(
    name="report_transfer", event="report_transfer", params=(w, j), site=WORKER, observed=False,
    fires=(fire("delivery_transfer", w, j),),
    sends=(send(finished, j),),
    fairness=WEAK, fairness_why="the worker is polled in every step",
    source="contract R-40, R-42; B-159", doc="A worker reports an operation that has ended.",
)  # fmt: skip

report_failed_transfer = Action(
    name="report_failed_transfer", event="report_failed_transfer", params=(w, j), site=WORKER, observed=False,
    fires=(fire("delivery_transfer", w, j),),
    sends=(send(finished, j), send(failed, j)),
    fairness=WEAK, fairness_why="the worker is polled in every step",
    source="contract R-43, R-46, I-71; B-096",
    doc="A worker reports an operation that has failed: as ended, and as failed.",
)  # fmt: skip

filter_report = Action(
    name="filter_report", event="filter_report", params=(w, j), site=WORKER, observed=False,
    fires=(fire("delivery_transfer", w, j),),
    receives=(receive(unlist_meta, w, j),),
    guard=(need("filters", abort_completion.is_("filtered")),),
    source="B-159 vllm-ascend #16662",
    doc="A worker that filters completions swallows the report on an operation whose request was aborted.",
)  # fmt: skip

_ITS_OPERATION = need("its-operation", serves(j, r))
_ENDED = (
    assign(reports_due(j), reports_due(j) - 1),
    # Where loads are not counted, a second report finds nothing to take off.
    assign(
        loads_owed(r),
        ite(
            last_report(j) & receives(j) & (load_counting.is_("per_connector") | (loads_owed(r) > 0)),
            loads_owed(r) - 1,
            loads_owed(r),
        ),
    ),
    assign(sends_owed(r), ite(last_report(j) & ~receives(j), sends_owed(r) - 1, sends_owed(r))),
)

operation_ends = Action(
    name="operation_ends", event="finished", params=(r, j), site=SCHEDULER,
    fires=(fire("delivery", r), fire("delivery_operation", j)),
    receives=(receive(finished, j), receive_all(failed, j, over=())),
    guard=(_ITS_OPERATION, need("releases-nothing", ~(last_report(j) & releases_now(r)))),
    updates=(
        *_ENDED,
        assign(load_failed(r), load_failed(r) | (receives(j) & (failed(j) > 0))),
    ),
    fairness=WEAK, fairness_why="the scheduler handles the reports of every step",
    source="contract Q12, Q33, J11, 2.3",
    doc="A report on an operation arrives: others are outstanding, or the request still lives.",
)  # fmt: skip

release = Action(
    name="release", event="finished", params=(r, j), site=SCHEDULER,
    fires=(fire("delivery", r), fire("delivery_operation", j)),
    receives=(receive(finished, j), receive_all(failed, j, over=())),
    guard=(
        _ITS_OPERATION,
        need("last-report", last_report(j)),
        need("last-outstanding", release_on.is_("any_signal") | owed(r).eq(1)),
    ),
    updates=(*_ENDED, assign(releases(r), releases(r) + 1)),
    fairness=WEAK, fairness_why="the scheduler handles the reports of every step",
    source="contract Q32, Q33, R-41; B-053",
    doc="The report on the last outstanding operation of a held request arrives: its blocks are given back.",
)  # fmt: skip

promote = Action(
    name="promote", event="promote", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    guard=(need("no-load-failed", ~load_failed(r)),),
    updates=(assign(cpu_copy(r), False),),
    fairness=WEAK, fairness_why="the scheduler visits a loaded request",
    source="contract Q13", doc="The scheduler visits a request whose loads have all succeeded: it runs.",
)  # fmt: skip

compute_again = Action(
    name="compute_again", event="compute_again", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    guard=(need("some-load-failed", load_failed(r)),),
    updates=(assign(load_failed(r), False),),
    fairness=WEAK, fairness_why="the scheduler visits a loaded request",
    source="contract Q15, R-43", doc="A load of the request has failed: it waits to be computed, or to load again.",
)  # fmt: skip

preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    guard=(need("nothing-outstanding", owed(r).eq(0)),),
    updates=(
        assign(cpu_copy(r), True),
        assign_all(b, to=has_block(r, b), value=False),
    ),
    source="contract Q22, R-60; B-141",
    doc="A running request gives its blocks back and waits, with its KV on the CPU.",
)  # fmt: skip

finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    sends=(
        send(
            unlist_meta, w, j, over=(w, j),
            when=abort_completion.is_("filtered") & is_(r, "loading") & serves(j, r) & receives(j),
        ),
    ),
    updates=(
        assign(cpu_copy(r), False),
        assign(releases(r), ite(kept_at_finish(r), releases(r), releases(r) + 1)),
        assign(ended_in(r), delivery_state(r)),
    ),
    source="contract Q26, Q30, Q31, I-15, R-50 to R-52; B-121, B-055",
    doc="A request ends, by itself or by a cancel; it keeps its blocks if something is outstanding.",
)  # fmt: skip

accept_cancel = Action(
    name="accept_cancel", event="accept_cancel", params=(r,), site=SCHEDULER,
    fires=(fire("delivery", r),),
    updates=(assign(cancelled(r), True),),
    source="B-163 vllm #29987",
    doc="The client's cancel of r is accepted; the output of r's last step is still to come.",
)  # fmt: skip

OPERATION_ACTIONS = (
    add_request, add_under_same_id, take_block, admit, start_send, start_load, begin_transfer, transfer_ends, late_end,
    remote_transfer_fails, telemetry_raises, remote_engine_dies, load_expires, report_transfer, report_failed_transfer,
    filter_report, operation_ends, release,
    promote, compute_again, preempt, finish, accept_cancel,
)  # fmt: skip
