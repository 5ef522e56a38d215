"""The steps of a lookup, and what may happen between two of them."""

from __future__ import annotations

from interlock.spec.language.actions import Action, Conjunct, Fairness, assign, assign_all, fire, need
from interlock.spec.language.terms import Term, exists, forall, ite
from interlock.spec.language.variables import Site
from interlock.spec.lookup.predicates import (
    awaits,
    full,
    has,
    key_is,
    longest,
    matched,
    no_visit,
    nobody_asks,
    says_only_later,
    upto,
    wider,
)
from interlock.spec.lookup.vocabulary import (
    accepted,
    ahead,
    asked,
    asking_order,
    bound,
    check_deadline,
    covers,
    deferred,
    g,
    g2,
    lowered_bound,
    lowered_defer,
    p,
    p2,
    promotion_room,
    prompt_order,
    q,
    q2,
    r,
    settled,
    windowed,
)

SCHEDULER = Site.SCHEDULER

_NO_VISIT = need("no-visit", no_visit())
_PART_OF_A_VISIT = "a lookup is one call, which the visit of a request goes through to its end"

# Windows slide on: what a hit did not need because it was too far back, no later hit needs.
_stays_out = forall(q2, p2, (ahead(q2, q) & upto(p2, q2) & ~covers(g, p2, q2)) >> ahead(p2, p))

declare_windowed = Action(
    name="declare_windowed", event="declare_windowed", params=(g,), site=SCHEDULER,
    guard=(need("before-prompt", forall(p, ~prompt_order.has(p))),),
    updates=(assign(windowed(g), True),),
    source="contract 5(d)",
    doc="A group of the model is windowed; the others are full attention.",
)  # fmt: skip

lay_out = Action(
    name="lay_out", event="lay_out", params=(p,), site=SCHEDULER,
    guard=(need("not-laid", ~prompt_order.has(p)),),
    updates=prompt_order.push_back(p),
    source="contract 3.2: keys are hashes of prefixes",
    doc="The prompt has one chunk more.",
)  # fmt: skip

settle = Action(
    name="settle", event="settle", params=(g, q, p), site=SCHEDULER,
    guard=(
        need("prompt-is-laid-out", forall(p2, prompt_order.has(p2))),
        need("in-turn", ~settled(g, q) & forall(q2, ahead(q2, q) >> settled(g, q2))),
        need("starts-before-it-ends", upto(p, q)),
        need("what-has-slid-out-stays-out", _stays_out),
        need("all-of-a-full-group", windowed(g) | prompt_order.is_first(p)),
    ),
    updates=(
        assign(settled(g, q), True),
        assign_all(p2, to=covers(g, p2, q), value=upto(p, p2) & upto(p2, q)),
    ),
    source="contract 5(d); seeds 003: window in blocks",
    doc=(
        "A hit of group g that ends with q needs the chunks from p on: the first of all in a full group, q itself "
        "with Mamba, the start of a sliding window or of q's own stretch with chunked local attention."
    ),
)  # fmt: skip

add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    fires=(fire("lookup", r),),
    guard=(need("all-is-settled", forall(g, q, settled(g, q)) & forall(p, prompt_order.has(p))),),
    source="contract Q1", doc="A request arrives.",
)  # fmt: skip


def _key(
    name: str,
    doc: str,
    source: str,
    fairness: Fairness = Fairness.NONE,
    why: str = "",
    fault: bool = False,
    guard: tuple[Conjunct, ...] = (_NO_VISIT,),
) -> Action:
    return Action(
        name=name, event=name, params=(g, p), site=SCHEDULER, fault=fault, fires=(fire("key", g, p),),
        guard=guard, fairness=fairness, fairness_why=why, source=source, doc=doc,
    )  # fmt: skip


chunk_stored = _key(
    "chunk_stored", "Between two visits a chunk has been stored, from its plan to its report.", "contract 3.2"
)
chunk_planned = _key("chunk_planned", "A store of the chunk is planned.", "contract 3.2 prepare_store")
chunk_completed = _key(
    "chunk_completed", "The store of the chunk has ended on all workers.", "contract J11, 3.2 complete_store",
    Fairness.STRONG, "submitted stores end, every worker reports, and reports are heard between two visits",
)  # fmt: skip
chunk_failed = _key("chunk_failed", "The store of the chunk has failed.", "contract 3.2", fault=True)
chunk_evicted = _key("chunk_evicted", "The tier makes room.", "contract 3.2, I-40")

_EVICTS_ANY = promotion_room.is_("evicts_any")
check_begun = _key(
    "check_begun",
    "The tier lacks the chunk, and a further one is still to say whether it has it: RETRY. (The first who asks starts "
    "the check; its verdict is kept as long as somebody asks.)",
    "contract 5(d) RETRY; vLLM 0.32.0 v1/kv_offload/tiering/async_lookup.py:153-180",
    guard=(need("nobody-has-asked", nobody_asks()),),
)  # fmt: skip
check_found = _key(
    "check_found", "The further tier has the chunk, and whoever hears of it starts its promotion: HIT_PENDING.",
    "contract 3.2 prepare_store; vLLM 0.32.0 v1/kv_offload/tiering/manager.py:455-463",
    guard=(),
)  # fmt: skip
check_missed = _key(
    "check_missed", "The further tier has not got the chunk, or there is no room for it: MISS.",
    "vLLM 0.32.0 v1/kv_offload/tiering/manager.py:455-479",
)  # fmt: skip
check_expired = _key(
    "check_expired", "The further tier has not answered in time, and its answer is taken for no.", "contract V-03",
    Fairness.STRONG, "a deadline passes between two visits",
    guard=(_NO_VISIT, need("has-a-deadline", check_deadline.is_("expires")),),
)  # fmt: skip

promotion_evicts = Action(
    name="promotion_evicts", event="promotion_evicts", params=(g, p), site=SCHEDULER,
    fires=(fire("key", g, p),),
    guard=(
        need("for-a-promotion", exists(g2, p2, key_is(g2, p2, "pending"))),
        need("spares-what-is-asked-for", nobody_asks() | (_EVICTS_ANY & ~exists(r, matched(r)))),
    ),
    source="contract 3.2 prepare_store; vLLM 0.32.0 v1/kv_offload/tiering/manager.py:483-540",
    doc=(
        "To make room for a promotion the tier evicts the chunk. The further tier has that one too, as it gets "
        "whatever is stored, so whoever asks next has it promoted again."
    ),
)  # fmt: skip

begin_lookup = Action(
    name="begin_lookup", event="begin_lookup", params=(r, q), site=SCHEDULER,
    fires=(fire("lookup", r),),
    guard=(need("from-the-end", prompt_order.is_last(q)),),
    updates=(
        assign(bound(r), q),
        assign(deferred(r), False),
        assign_all(g, to=accepted(r, g), value=False),
        assign_all(g, q2, to=asked(r, g, q2), value=False),
    ),
    fairness=Fairness.WEAK, fairness_why="every schedule() visits the waiting requests",
    source="contract 5(d): max_hit starts at the end of the prompt",
    doc="The lookup of r begins: its hit may end with the last chunk, and no group has been asked.",
)  # fmt: skip

_TO_ASK = (
    need("not-accepted", ~accepted(r, g)),
    need(
        "full-groups-first",
        asking_order.is_("as_listed") | full(g) | forall(g2, full(g2) >> accepted(r, g2)),
        policy=True,
    ),
    need(
        "wider-windows-first",
        asking_order.is_("as_listed") | full(g) | forall(g2, (windowed(g2) & wider(g2, g)) >> accepted(r, g2)),
        policy=True,
    ),
)
_lowers = bound(r).ne(q)
_later = says_only_later(r, g)
_cleared = _lowers & deferred(r) & lowered_defer.is_("cleared")


def _stands(group: Term) -> Term:
    """That the group has accepted a bound says the same of the lower one, so it need not be asked again."""
    return ~_lowers | (~_cleared & (full(group) | lowered_bound.is_("accepted")))


ask = Action(
    name="ask", event="ask", params=(r, g, q), site=SCHEDULER, observed=False,
    fires=(fire("lookup", r),),
    guard=(
        *_TO_ASK,
        need("within-the-bound", upto(q, bound(r))),
        need("has-all-it-needs", ite(_later, ~_lowers, has(g, q))),
        need("rightmost", _later | longest(g, q, bound(r))),
    ),
    updates=(
        assign(bound(r), q),
        assign_all(g2, to=accepted(r, g2), value=g2.eq(g) | (accepted(r, g2) & _stands(g2))),
        assign(deferred(r), (deferred(r) & ~_cleared) | _later | awaits(g, q)),
        assign(asked(r, g, bound(r)), True),
    ),
    fairness=Fairness.WEAK, fairness_why=_PART_OF_A_VISIT,
    source="contract 5(d) _maximal_prefix_lookup, _sliding_window_lookup; vLLM PR 41228",
    doc=(
        "Group g answers with the longest hit up to the bound, by prefix or by suffix, which becomes the bound. What "
        "is still being stored, or looked for, counts, and defers. Who had accepted a higher bound is asked again: "
        "windowed groups, because a shorter hit needs other chunks of them; full groups only if an 'ask later' is "
        "cleared with it."
    ),
)  # fmt: skip

ask_in_vain = Action(
    name="ask_in_vain", event="ask_in_vain", params=(r, g), site=SCHEDULER,
    fires=(fire("lookup", r),),
    # Who has accepted the bound has something there, so it need not be said that this is asked of nobody who has.
    guard=(*_TO_ASK[1:], need("has-nothing", ~_later & forall(q, upto(q, bound(r)) >> ~has(g, q)))),
    fairness=Fairness.WEAK, fairness_why=_PART_OF_A_VISIT,
    source="contract 5(d), Q10",
    doc="Group g has no hit at all up to the bound, and so there is none.",
)  # fmt: skip

_ALL_ACCEPT = need("all-accept", forall(g, accepted(r, g)))

answer_hit = Action(
    name="answer_hit", event="answer_hit", params=(r,), site=SCHEDULER,
    fires=(fire("lookup", r),),
    guard=(_ALL_ACCEPT, need("nothing-deferred", ~deferred(r))),
    fairness=Fairness.WEAK, fairness_why=_PART_OF_A_VISIT,
    source="contract R-06, I-52; 5(d)",
    doc="The bound is stable: it is the end of the hit of r.",
)  # fmt: skip

answer_later = Action(
    name="answer_later", event="answer_later", params=(r,), site=SCHEDULER,
    fires=(fire("lookup", r),),
    guard=(_ALL_ACCEPT, need("something-deferred", deferred(r))),
    fairness=Fairness.WEAK, fairness_why=_PART_OF_A_VISIT,
    source="contract Q4, R-02; 5(d)",
    doc="The bound is stable, and part of that hit is still being stored, or looked for: r asks again later.",
)  # fmt: skip

end_visit = Action(
    name="end_visit", event="end_visit", params=(r,), site=SCHEDULER,
    fires=(fire("lookup", r),),
    fairness=Fairness.WEAK, fairness_why="a visit ends",
    source="contract Q8, Q10",
    doc="r is allocated and runs, with its hit or without: its lookup is over.",
)  # fmt: skip

ACTIONS = (
    declare_windowed, lay_out, settle, add_request,
    chunk_stored, chunk_planned, chunk_completed, chunk_failed, chunk_evicted,
    check_begun, check_found, check_missed, check_expired, promotion_evicts,
    begin_lookup, ask, ask_in_vain, answer_hit, answer_later, end_visit,
)  # fmt: skip
