"""What must happen, and what must be able to happen."""

from __future__ import annotations

from interlock.spec.admission.coverage import (
    AGAIN,
    EVERY,
    LOAD,
    LOADING,
    LOOKUP,
    LOSING,
    MIXED,
    ONE,
    PREEMPT,
    PREEMPTING,
    STORES,
    TWO,
    VICTIM,
)
from interlock.spec.admission.judging import (
    blockless,
    goes_on,
    holds_for_load,
    is_kept_stepping,
    is_short,
    lacks,
    parked,
    told_later,
)
from interlock.spec.admission.predicates import entry, is_, phase, somebody, total
from interlock.spec.admission.steps import whole
from interlock.spec.admission.vocabulary import (
    FIRST,
    PART,
    STEP,
    WHOLE,
    ahead,
    fenced_victim,
    free,
    freed_in_flight,
    load_admission,
    lookup_deadline,
    older_step,
    r,
    r2,
    scheduled_now,
    scheduling_policy,
    step_slots,
    store_hold,
    store_order,
    store_report,
    storing_off,
    visited,
)
from interlock.spec.language.properties import LeadsTo, Property, Witness, witnesses_of
from interlock.spec.language.terms import TRUE, Primed, Term, Var, exists

_witness = witnesses_of("admission")


def _leads_to(
    id_: str, premise: Term, conclusion: Term, doc: str, *slices: str,
    vars_: tuple[Var, ...] = (r,), source: str, aliases: tuple[str, ...] = (), witness: str, applies: Term = TRUE,
) -> tuple[LeadsTo, Witness]:  # fmt: skip
    """A leads-to property and the witness of its premise."""
    return (
        LeadsTo(
            id=id_, premise=premise, conclusion=conclusion, doc=doc, slices=slices, vars=vars_, source=source,
            aliases=aliases, applies=applies,
        ),
        _witness(
            witness, exists(*vars_, premise) if vars_ else premise, f"The premise of {id_}.", *slices,
            applies=applies,
        ),
    )  # fmt: skip


LIVENESS: tuple[Property, ...] = (
    *_leads_to(
        "loading-request-runs", holds_for_load(r), is_(r, "running", "held_for_load", "finished"),
        "A request that holds blocks for a load runs in the end, or ends.",
        *LOADING,
        source="contract V-01, V-10, V-12; B-058 vllm #45388, B-059 vllm #57104",
        witness="somebody-loads",
    ),
    *_leads_to(
        "deferred-by-lookup-is-answered-or-expires", told_later(r), ~told_later(r),
        "'Ask later' is followed by another answer, or its deadline passes.",
        LOOKUP, AGAIN, TWO, ONE,
        source="R-02, contract V-03; B-017 vllm #49829",
        witness="somebody-is-deferred",
    ),
    *_leads_to(
        "preempted-request-is-resumed", is_(r, "preempted"), is_(r, "running", "finished"),
        "A preempted request runs again, or ends.",
        *PREEMPTING,
        source="contract V-14",
        aliases=("V-14",),
        witness="somebody-is-preempted",
    ),
    *_leads_to(
        "parked-blocks-return", parked() > 0, parked().eq(0),
        "Blocks that are parked behind a step return, though nothing more is scheduled.",
        PREEMPT, MIXED, ONE,
        vars_=(),
        source="contract V-08; B-170 unified-cache-management #1350",
        aliases=("V-08",),
        witness="blocks-are-parked",
        applies=freed_in_flight.is_("parked"),
    ),
    *_leads_to(
        "held-blocks-return", is_(r, "held_for_store"), is_(r, "finished"),
        "A request that has ended and whose blocks are kept for a store gives them back.",
        STORES, AGAIN, TWO, ONE,
        source="R-51, contract V-02; B-178 ROCm/ATOM #2261",
        witness="blocks-are-held-for-a-store",
        applies=~store_hold.is_("nothing"),
    ),
    *_leads_to(
        "aborted-load-gives-back", is_(r, "held_for_load"), is_(r, "finished"),
        "A request that was aborted while it loaded gives its blocks back.",
        LOAD, MIXED, ONE,
        source="R-20, contract V-02, Q32",
        witness="blocks-are-held-for-a-load",
    ),
    *_leads_to(
        "waiting-request-is-admitted", is_(r, "waiting"), ~is_(r, "waiting"),
        "A request that waits is admitted, or ends.",
        *EVERY,
        source="contract V-03, V-10; B-058 vllm #45388",
        witness="somebody-waits",
    ),
    *_leads_to(
        "behind-a-deferral-is-served",
        told_later(r) & is_(r2, "waiting") & ahead(r, r2) & entry(r2, "absent"),
        ~is_(r2, "waiting"),
        "Who waits behind a deferred request and needs no load is admitted, though the other stays deferred.",
        LOOKUP,
        vars_=(r, r2),
        source="R-02, contract Q4",
        witness="somebody-waits-behind-a-deferral",
    ),
    *_leads_to(
        "wanted-block-comes", is_short(r), ~is_short(r),
        "A running request that needs a block gets it, is preempted, or ends: promised frees are transient.",
        *PREEMPTING, STORES,
        source="R-59, contract Q21",
        aliases=("R-59",),
        witness="somebody-wants-a-block",
    ),
    *_leads_to(
        "storing-comes-back", storing_off(), ~storing_off(),
        "After a store was given up, storing is taken up again.",
        *LOSING,
        vars_=(),
        source="B-182 ROCm/ATOM #2053",
        witness="storing-is-off",
        applies=lookup_deadline.is_("expires"),
    ),
    *_leads_to(
        "ended-work-comes-to-rest",
        is_kept_stepping() & ~somebody(goes_on), ~is_kept_stepping() | somebody(goes_on),
        "When all requests have ended, the engine finds no more work in the end, and does not spin.",
        *LOSING,
        vars_=(),
        source="R-58, contract V-11; B-182 ROCm/ATOM #2053",
        witness="work-is-left-when-all-have-ended",
    ),
)  # fmt: skip


def _beside(blocks: int) -> Term:
    """A request that loads needs so many blocks more."""
    return exists(r2, holds_for_load(r2) & r2.ne(r) & lacks(r2).eq(blocks))


_RESERVE = "contract Q8, V-10; B-059 vllm #57104"
_reserve = total(lacks, lambda q: holds_for_load(q) & q.ne(r)) + STEP
_takes_all_but_the_reserve = Primed(body=free()).eq(_reserve)
_lacks_one = blockless(r) & entry(r, "ready") & (free() + 1).eq(_reserve + WHOLE)
_with_reserve = load_admission.is_("reserve")


WITNESSES: tuple[Property, ...] = (
    _witness(
        "a-whole-load-takes-all-but-the-reserve", _takes_all_but_the_reserve & whole,
        "A load of a whole prompt takes every block that is not reserved: the reserve is no larger than it must be.",
        TWO, LOAD, actions=("admit_load",), source=_RESERVE, applies=_with_reserve,
    ),
    *(
        _witness(
            f"a-load-takes-all-but-the-reserve-beside-a-{name}", _takes_all_but_the_reserve & _beside(blocks),
            f"A load takes every block that is not reserved for a {name}, which lacks {blocks}.", TWO, LOAD,
            actions=("admit_load",), source=_RESERVE, applies=_with_reserve,
        )
        for name, blocks in (("whole-load", FIRST - WHOLE), ("partial-load", FIRST - PART))
    ),
    *(
        _witness(
            f"a-scan-stops-for-one-block-beside-a-{name}", _lacks_one & _beside(blocks),
            f"The waiting loop stops at a load for which one block beside the reserve for a {name} is missing.", LOAD,
            actions=("stop_scan",), source=_RESERVE, applies=_with_reserve,
        )
        for name, blocks in (("whole-load", FIRST - WHOLE), ("partial-load", FIRST - PART))
    ),
    _witness(
        "a-store-is-lost", entry(r, "pending") & Primed(body=(store_order(r) + store_report(r)).eq(0)),
        "A prefix is being stored, as lookup sees it, and nothing will be heard of it.", LOOKUP, STORES, AGAIN, ONE,
        actions=("lose_store_report",), source="B-017 vllm #49829, B-178 ROCm/ATOM #2261",
    ),
    _witness(
        "two-load-beside-each-other", exists(r, r2, r.ne(r2) & is_(r, "loading") & is_(r2, "loading")),
        "Two loads fit beside the reserve.", LOAD, LOOKUP,
    ),
    _witness(
        "a-deferred-one-is-passed", exists(r, r2, told_later(r) & is_(r2, "running") & visited(r) & scheduled_now(r2)),
        "A request is admitted in the pass that has skipped one before it.", LOOKUP,
    ),
    _witness(
        "a-running-one-is-denied-a-block", phase("waiting_loop", "building") & exists(r, is_short(r)),
        "The victim's blocks could not come back, so nobody is preempted and somebody waits for a block.", PREEMPT,
        applies=freed_in_flight.is_("parked") & fenced_victim.is_("wait"),
    ),
    _witness(
        "a-victim-was-scheduled-in-this-pass", scheduled_now(r),
        "Whom this pass has scheduled already loses its blocks to one of a higher priority, visited later.", VICTIM,
        actions=("preempt",), applies=scheduling_policy.is_("priority"), source="contract Q22, section 10",
    ),
    _witness(
        "a-late-report-is-owed", exists(r, entry(r, "expired")), "A store was given up before its report.", LOOKUP,
        STORES, applies=lookup_deadline.is_("expires"),
    ),
    _witness(
        "a-step-is-made-for-a-store-alone", ~exists(r, ~is_(r, "absent", "finished")) & exists(r, entry(r, "pending")),
        "No request is left that goes on or is held, and the engine steps so as to hear of a store.", *LOSING,
        actions=("begin_step",), source="R-58, contract V-11, V-15",
    ),
    _witness(
        "a-step-is-made-for-kept-blocks-alone",
        ~exists(r, goes_on(r)) & exists(r, is_(r, "held_for_store")) & ~exists(r, entry(r, "pending")),
        "All requests have ended and no store is under way, and the engine steps so that held blocks come back.",
        *LOSING, actions=("begin_step",), source="R-51, R-58, contract V-02",
        applies=~store_hold.is_("nothing") & lookup_deadline.is_("expires"),
    ),
    _witness(
        "an-empty-step-is-in-flight", older_step().eq(step_slots["empty"]), "A step without tokens is dispatched.",
        *EVERY,
    ),
)  # fmt: skip
