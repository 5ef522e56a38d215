"""The scheduler's calls, in the order in which a connector sees them, and the connector's scan and jobs."""

from __future__ import annotations

from interlock.spec.language.actions import Action, Fairness, assign, assign_all, fire, fire_all, need
from interlock.spec.language.terms import Term, card, exists, ite
from interlock.spec.language.variables import Site
from interlock.spec.mirror.vocabulary import (
    a,
    abort_asserts,
    answered,
    answers,
    b,
    b2,
    cancel_asked,
    cursor_at_resume,
    decode_block,
    executing,
    finish_range,
    half_block,
    hit,
    hit_cap,
    index_entries,
    k,
    k2,
    keys,
    known,
    listed_twice,
    mirror_row,
    placeholder,
    r,
    r2,
    refused_store,
    report_row,
    resume_blocks,
    resumed,
    save,
    save_block,
    save_for,
    save_list,
    save_state,
    save_states,
    save_table,
    seat_state,
    seat_states,
    storable,
    store_cursor,
    store_refused,
    table_row,
    tracked,
    unlaunched_save,
    whole_blocks,
)
from interlock.spec.shared.sorts import block, request

SITE = Site.SCHEDULER
_b, _r, _k = block.var("bx"), request.var("rx"), save.var("kx")


def allocated(req: Term) -> Term:
    """How many blocks the scheduler has in the table of a request."""
    return card(_b, table_row(req, _b))


def is_running(req: Term) -> Term:
    """The request is running."""
    return seat_state(req).eq(seat_states["running"])


def is_open(handle: Term) -> Term:
    """The store job is planned or in flight."""
    return save_state(handle).ne(save_states["absent"])


def scanned_range(req: Term) -> Term:
    """How many blocks of a request a store scan takes for storable."""
    counted = ite(half_block(req) & placeholder(req), whole_blocks(req) + 1, whole_blocks(req))
    return ite(storable.is_("with_placeholders"), counted, whole_blocks(req))


FREE = need("free", ~exists(r2, table_row(r2, b)))

add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SITE,
    fires=(fire("seat", r),),
    updates=(assign(keys(r), 1),),
    source="contract Q1", doc="A request arrives; the key of its prompt's block is known at once.",
)  # fmt: skip

_count = ite(
    a.eq(answers["below_zero"]), -1,
    ite(a.eq(answers["nothing"]), 0, ite(a.eq(answers["some"]), 1, ite(a.eq(answers["whole"]), 2, 3))),
)  # fmt: skip
_ANSWER = (assign(hit(r), _count), assign(answered(r), True))

answer_match = Action(
    name="answer_match", event="get_num_new_matched_tokens", params=(r, a), site=SITE,
    fires=(fire("seat", r),),
    guard=(
        need("not-yet-answered", ~answered(r)),
        need(
            "what-the-connector-answers",
            answers.one_of(a, "nothing", "some") | (a.eq(answers["whole"]) & hit_cap.is_("full")),
        ),
    ),
    updates=_ANSWER,
    source="contract R-01, R-05", doc="The connector says how many tokens of r's prompt it has.",
)  # fmt: skip

match_out_of_range = Action(
    name="match_out_of_range", event="get_num_new_matched_tokens", params=(r, a), site=SITE, fault=True,
    fires=(fire("seat", r),),
    guard=(need("out-of-range", answers.one_of(a, "below_zero", "beyond")),),
    updates=_ANSWER,
    source="B-057 vllm #43517", doc="A connector answers with a number that cannot be.",
)  # fmt: skip

_in_range = (hit(r) >= 0) & (hit(r) <= 2)
refuse_answer = Action(
    name="refuse_answer", event="refuse_answer", params=(r,), site=SITE,
    fires=(fire("seat", r),),
    guard=(need("answer-out-of-range", ~_in_range),),
    fairness=Fairness.WEAK, fairness_why="the answer is looked at when it is given",
    source="B-057 vllm #43517; contract R-04",
    doc="The boundary finds an impossible answer: that request ends with an error, there and then.",
)  # fmt: skip

admit_request = Action(
    name="admit_request", event="update_state_after_alloc", params=(r, b), site=SITE,
    fires=(fire("seat", r),),
    guard=(
        FREE,
        need("answered", answered(r)),
        need("answer-in-range", _in_range),
    ),
    updates=(assign(table_row(r, b), True), assign(report_row(r, b), True)),
    source="contract Q9, Q10, R-16", doc="r is scheduled, with a block for its prompt.",
)  # fmt: skip

allocate_decode = Action(
    name="allocate_decode", event="allocate_slots", params=(r, b), site=SITE,
    fires=(fire("seat", r),),
    guard=(FREE, need("at-a-boundary", whole_blocks(r).eq(allocated(r)))),
    updates=(
        assign(table_row(r, b), True),
        assign(report_row(r, b), decode_block.is_("reported")),
    ),
    source="contract Q20, R-24", doc="Decoding crosses a block boundary: r gets one more block.",
)  # fmt: skip

schedule_token = Action(
    name="schedule_token", event="schedule_token", params=(r,), site=SITE, observed=False,
    fires=(fire("seat", r),),
    guard=(need("has-room", whole_blocks(r) < allocated(r)),),
    updates=(assign(placeholder(r), True),),
    source="contract R-25, R-54", doc="A token of r is scheduled: a placeholder until its output comes.",
)  # fmt: skip

token_computed = Action(
    name="token_computed", event="update_from_output", params=(r,), site=SITE,
    fires=(fire("seat", r),),
    guard=(need("executing", executing(r)),),
    updates=(
        assign(placeholder(r), False),
        assign(executing(r), False),
        assign(half_block(r), ~half_block(r)),
        assign(whole_blocks(r), ite(half_block(r), whole_blocks(r) + 1, whole_blocks(r))),
        assign(
            keys(r),
            ite(half_block(r) & (keys(r) <= whole_blocks(r)), whole_blocks(r) + 1, keys(r)),
        ),
    ),
    source="contract R-25", doc="The output of a step comes in: the token is computed, and a full block has a key.",
)  # fmt: skip

_LOSE_BLOCKS = (
    assign_all(b, to=table_row(r, b), value=False),
    assign_all(b, to=report_row(r, b), value=False),
    assign(whole_blocks(r), 0),
    assign(half_block(r), False),
    assign(placeholder(r), False),
    assign(executing(r), False),
)
preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SITE,
    fires=(fire("seat", r), fire_all("save", k, when=save_for(k, r))),
    guard=(
        need("its-stores-are-flushed", ~exists(k2, save_for(k2, r) & save_state(k2).eq(save_states["in_flight"]))),
    ),
    updates=(
        *_LOSE_BLOCKS,
        assign_all(k, to=tracked(r, k), value=tracked(r, k) & ~unlaunched_save.is_("cancelled")),
        assign_all(
            b2, to=index_entries(b2),
            value=index_entries(b2)
            - ite(unlaunched_save.is_("cancelled"), card(_k, is_open(_k) & save_for(_k, r) & save_block(_k).eq(b2)), 0),
        ),
        assign_all(k, to=save_for(k, r), value=save_for(k, r) & ~unlaunched_save.is_("cancelled")),
    ),
    source="contract Q22, R-26; Q27", doc="r loses its blocks; what was planned and not launched is cancelled.",
)  # fmt: skip

resume_request = Action(
    name="resume_request", event="resume_request", params=(r, b), site=SITE,
    fires=(fire("seat", r),),
    guard=(FREE,),
    updates=(assign(table_row(r, b), True), assign(report_row(r, b), True), assign(resumed(r), True)),
    source="contract R-26, R-27", doc="r is scheduled again, with a table of its own from the start.",
)  # fmt: skip

cancel = Action(
    name="cancel", event="cancel", params=(r,), site=SITE,
    guard=(
        need("alive", seat_states.one_of(seat_state(r), "queued", "running", "preempted")),
    ),
    updates=(assign(cancel_asked(r), True),),
    source="contract Q30, R-52", doc="The client cancels r.",
)  # fmt: skip

_begun = ite(half_block(r), whole_blocks(r) + 1, whole_blocks(r))
finish = Action(
    name="finish", event="finish", params=(r,), site=SITE,
    fires=(fire("seat", r),),
    guard=(
        need("over-or-cancelled", cancel_asked(r) | is_running(r)),
        need("cancel-path", ite(abort_asserts.is_("worker_object"), known(r), True)),
    ),
    updates=(
        assign(
            store_cursor(r),
            ite(
                finish_range.is_("all_keys"), keys(r), ite(finish_range.is_("rounded_up"), _begun, whole_blocks(r))
            ),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="what is cancelled is finished before the next step",
    source="contract Q26, Q30, R-52, R-54",
    doc="r ends, and what it has computed and not stored is stored now: that is what the cursor says.",
)  # fmt: skip

scan = Action(
    name="scan", event="scan", params=(r,), site=SITE, observed=False,
    guard=(need("something-to-store", store_cursor(r) < scanned_range(r)),),
    updates=(assign(store_cursor(r), store_cursor(r) + 1),),
    source="contract J1 to J4, I-50", doc="The store scan of r passes one more block.",
)  # fmt: skip

refuse_store = Action(
    name="refuse_store", event="prepare_store", params=(r,), site=SITE,
    guard=(need("something-to-store", store_cursor(r) < scanned_range(r)),),
    updates=(assign(store_refused(r), True),),
    source="B-025 vllm #25856; contract I-45", doc="The tier is full and refuses the store of r in this step.",
)  # fmt: skip

_left_out = refused_store.is_("ends_the_loop") & exists(_r, _r.ne(r) & store_refused(_r))
_kept_rows = mirror_row(r, b) & (~resumed(r) | resume_blocks.is_("append"))
_gone = seat_state(r).eq(seat_states["done"]) & ~exists(k2, tracked(r, k2))


build_connector_meta = Action(
    name="build_connector_meta", event="build_connector_meta", site=SITE,
    fires=(fire_all("seat", r), fire_all("save", k)),
    updates=(
        assign_all(
            r, b, to=mirror_row(r, b),
            value=ite(_gone, False, ite(_left_out, mirror_row(r, b), _kept_rows | report_row(r, b))),
        ),
        assign_all(r, b, to=report_row(r, b), value=False),
        assign_all(r, to=store_cursor(r), value=0, when=_gone | (resumed(r) & cursor_at_resume.is_("reset"))),
        assign_all(r, to=resumed(r), value=False),
        assign_all(r, to=store_refused(r), value=False),
        assign_all(r, to=known(r), value=~_gone & (known(r) | is_running(r))),
        assign_all(r, to=executing(r), value=placeholder(r) & ~_gone),
        assign_all(r, b, to=table_row(r, b), value=False, when=_gone),
        assign_all(r, to=whole_blocks(r), value=0, when=_gone),
        assign_all(r, to=half_block(r), value=False, when=_gone),
        assign_all(r, to=placeholder(r), value=False, when=_gone),
        assign_all(r, to=keys(r), value=0, when=_gone),
        assign_all(r, to=cancel_asked(r), value=False, when=_gone),
        assign_all(r, to=answered(r), value=False, when=_gone),
        assign_all(r, to=hit(r), value=0, when=_gone),
    ),
    fairness=Fairness.WEAK, fairness_why="the engine keeps stepping",
    source="R-22, R-24, R-26, R-27; contract I-50",
    doc="The end of schedule(): the connector takes over new rows, launches its stores, and forgets who is done.",
)  # fmt: skip


def _plan_save(*, twice: bool) -> Action:
    name = "plan_shared_save" if twice else "plan_save"
    return Action(
        name=name, event="plan_save", params=(r, b, k), site=SITE,
        fires=(fire("save", k),),
        guard=(need("running", is_running(r)), need("in-its-table", table_row(r, b))),
        updates=(
            assign(save_block(k), b),
            assign(save_for(k, r), True),
            assign(listed_twice(k), twice),
            assign_all(k2, to=tracked(r, k2), value=k2.eq(k) | (tracked(r, k2) & save_table.is_("one_per_save"))),
            assign(index_entries(b), index_entries(b) + 1),
        ),
        source="contract J4; B-027 vllm #42761, B-126 LMCache #3640",
        doc="A store of a block that two groups share is planned." if twice else "A store of a block of r is planned.",
    )  # fmt: skip


plan_save = _plan_save(twice=False)
plan_shared_save = _plan_save(twice=True)

save_done = Action(
    name="save_done", event="save_done", params=(k,), site=SITE,
    fires=(fire("save", k),),
    updates=(
        assign_all(r, to=tracked(r, k), value=False),
        assign_all(r, to=save_for(k, r), value=False),
        assign(
            index_entries(save_block(k)),
            index_entries(save_block(k)) - ite(listed_twice(k) & save_list.is_("as_listed"), 2, 1),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="a store that was launched is done in the end",
    source="contract J11; B-027 vllm #42761", doc="A store is done: it leaves the tables and the index.",
)  # fmt: skip

ACTIONS = (
    add_request, answer_match, match_out_of_range, refuse_answer, admit_request, allocate_decode, schedule_token,
    token_computed, preempt, resume_request, cancel, finish, scan, refuse_store, build_connector_meta,
    plan_save, plan_shared_save, save_done,
)  # fmt: skip
