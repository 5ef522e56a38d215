"""Properties of a hand-over: notices, leases, ids, and what the consumer reads."""

from __future__ import annotations

from interlock.spec.delivery.coverage import AGAIN, HANDING, LEASE, PREFILLS, READ, SHORT, TWO
from interlock.spec.delivery.predicates import registered
from interlock.spec.delivery.vocabulary import (
    acks_due,
    b,
    beaten,
    cancelled,
    delivery_state,
    delivery_states,
    deny,
    early,
    has_block,
    heartbeat,
    offer,
    offer_short,
    overdue,
    peer_state,
    peer_states,
    peer_told_short,
    peer_uses,
    pulled,
    r,
    r3,
    read_value,
    register_meta,
    registration_state,
    registration_states,
    repeated,
    transfer_key,
    truncated,
    w,
    waited_for,
)
from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, Property, witnesses_of
from interlock.spec.language.terms import Primed, Term, exists, forall


def _peer(*states: str) -> Term:
    return peer_states.one_of(peer_state(r), *states)


READS_PROMISED = Invariant(
    id="consumer-reads-what-was-promised",
    source="the content oracle; B-087 vllm #21570, B-151 TensorRT-LLM #12540",
    doc="What the consumer computes on is the KV of the request that it asked for.",
    slices=(READ, SHORT),
    formula=forall(r, b, (peer_uses(r) & has_block(r, b)) >> read_value(r, r)),
    premise=exists(r, b, peer_uses(r) & has_block(r, b)),
)
COMPLETE = Invariant(
    id="consumer-uses-complete-kv-only",
    source="B-142 sglang #30233",
    doc="The consumer does not compute on the KV of a prefill that was cut short.",
    slices=(SHORT,),
    formula=forall(r, truncated(r) >> ~peer_uses(r)),
    premise=exists(r, truncated(r)),
)
HAS_TOLD = Invariant(
    id="ended-consumer-is-known-to-the-producer",
    source="B-084 vllm #43509, B-090 vllm #36958; contract I-03",
    doc=(
        "Once the consumer has given its notice, each worker has settled the hand-over, remembers the notice, or "
        "is still to get it: no worker waits for what has already been said."
    ),
    slices=HANDING,
    formula=forall(
        w, r,
        _peer("told", "accepted", "refused", "let_go")
        >> (
            registration_state(w, r).eq(registration_states["settled"])
            | early(w, r)
            | (pulled(w, r) > 0)
        ),
    ),
    premise=exists(r, _peer("told")),
)  # fmt: skip
REMEMBERED = Invariant(
    id="remembered-notice-is-of-its-own-consumer",
    source="contract R-57; B-084 vllm #43509",
    doc="A notice that a worker remembers was given by the consumer of that very hand-over.",
    slices=HANDING,
    # Under ids of two sides a notice may name a request of somebody else: another failure.
    applies=transfer_key.is_("shared_id"),
    formula=forall(w, r, early(w, r) >> _peer("told", "accepted", "refused", "let_go")),
    premise=exists(w, r, early(w, r)),
)
_ends_here = registered(w, r3) & ~Primed(body=registered(w, r3))
OF_THIS_LIFE = ActionProperty(
    id="a-notice-ends-the-hand-over-that-it-is-about",
    source="contract R-57, Q33, R-41",
    doc="A notice ends a hand-over only if its own consumer has given one: one of an earlier life releases nothing.",
    slices=(TWO, AGAIN),
    applies=transfer_key.is_("shared_id"),
    actions=("hear_notice", "hear_stray_notice"),
    formula=forall(
        r3,
        _ends_here >> peer_states.one_of(peer_state(r3), "told", "accepted", "refused", "let_go"),
    ),
)
ID_IS_FREE = ActionProperty(
    id="an-id-comes-again-when-it-is-free",
    source="contract Q1, R-57",
    doc=(
        "A request arrives under an id only when every other one that had it has been released. (It restates the "
        "action; what comes of an id that is given away too soon other properties say, where names are ids.)"
    ),
    slices=(AGAIN,),
    actions=("add_under_same_id",),
    formula=forall(r3, r3.ne(r) >> delivery_states.one_of(delivery_state(r3), "absent", "released")),
)
RAN_BEFORE = ActionProperty(
    id="what-is-handed-over-has-run",
    source="contract R-55, Q31, R-51",
    doc="A request is handed over when it ends while it runs: of one that waits or loads there is no KV to read yet.",
    slices=HANDING,
    actions=("hand_over",),
    formula=delivery_state(r).eq(delivery_states["running"]),
)
OFFERED = ActionProperty(
    id="a-hand-over-is-offered-and-registered",
    source="contract Q31, R-51; B-142 sglang #30233",
    doc=(
        "What is handed over is offered to its consumer, as short if its prefill was cut short and only then, and "
        "every worker is told to expect that consumer."
    ),
    slices=HANDING,
    actions=("hand_over",),
    formula=Primed(body=offer(r)).eq(offer(r) + 1)
    & Primed(body=offer_short(r) > 0).eq(truncated(r))
    & forall(w, Primed(body=register_meta(w, r)).eq(register_meta(w, r) + 1)),
)
CANCEL_NOTED = ActionProperty(
    id="an-accepted-cancel-is-noted",
    source="B-163 vllm #29987",
    doc="A cancel that was accepted is known when the last output of its request comes, whatever else befell that.",
    slices=(LEASE, PREFILLS),
    actions=("accept_cancel",),
    formula=Primed(body=cancelled(r)),
)
CUT_NOTED = ActionProperty(
    id="a-prefill-that-is-cut-short-is-noted",
    source="B-142 sglang #30233",
    doc="Of a prefill that was cut short it is known until its hand-over, whatever else befell it.",
    slices=(SHORT, PREFILLS),
    actions=("cut_short",),
    formula=Primed(body=truncated(r)),
)
NOT_FOR_CANCELLED = Invariant(
    id="cancel-reaches-the-connector-as-a-cancel",
    source="B-163 vllm #29987",
    doc="Nothing is kept for the consumer of a request whose cancel was accepted before its last output.",
    slices=(LEASE, PREFILLS),
    formula=forall(r, cancelled(r) >> acks_due(r).eq(0)),
    premise=exists(r, cancelled(r)),
)
ONE_ID = ActionProperty(
    id="peer-named-by-one-id",
    source="B-090 vllm #36958; contract R-57",
    doc="The consumer's notice names the request as the producer does.",
    slices=(LEASE, TWO, SHORT, PREFILLS),
    actions=("peer_tells", "peer_lets_go", "notice_repeated"),
    formula=forall(w, Primed(body=pulled(w, r)).eq(pulled(w, r) + 1)),
)
LEASE_LIVES = ActionProperty(
    id="lease-lives-while-its-consumer-waits",
    source="B-086 vllm #53095",
    doc="A sweep ends only leases that have run out since their consumer was last heard.",
    slices=(LEASE, TWO),
    actions=("sweep_leases",),
    formula=forall(
        r, (registered(w, r) & ~Primed(body=registered(w, r))) >> (overdue(w, r) & ~waited_for(w, r))
    ),
)  # fmt: skip
RUN_OUT = ActionProperty(
    id="a-lease-that-has-run-out-is-overdue",
    source="V-02; B-085 vllm #58222",
    doc="When the lease of a hand-over runs out at a worker, its next sweep finds it, whatever others have found.",
    slices=(LEASE, TWO, AGAIN),
    actions=("lease_runs_out",),
    formula=Primed(body=overdue(w, r)),
)
ALL_RECLAIMED = ActionProperty(
    id="every-expired-lease-is-reclaimed",
    source="B-085 vllm #58222, PR 50789",
    doc="One sweep ends every lease that has run out.",
    slices=(LEASE, TWO),
    actions=("sweep_leases",),
    formula=forall(r, overdue(w, r) >> ~Primed(body=registered(w, r))),
)
OVERDUE_REGISTERED = Invariant(
    id="overdue-lease-is-a-lease",
    source="V-02; B-085",
    doc="Only a hand-over that waits for its peer can be overdue, and a remembered notice is about one to come.",
    slices=HANDING,
    formula=forall(
        w, r,
        (early(w, r) >> registration_state(w, r).eq(registration_states["unknown"]))
        & (overdue(w, r) >> registered(w, r)),
    ),
    premise=exists(w, r, overdue(w, r)),
)  # fmt: skip

PARAMETERS = Invariant(
    id="transfer-parameters-travel-together",
    source="B-142 sglang #30233",
    doc="That a prefill is incomplete is said with the transfer parameters, and only with them.",
    slices=(SHORT, PREFILLS),
    formula=forall(r, (offer_short(r) > 0) >> (offer(r) > 0)),
    premise=exists(r, offer_short(r) > 0),
)
HEARD_AS_SAID = ActionProperty(
    id="a-consumer-knows-whether-its-prefill-was-short",
    source="B-142 sglang #30233",
    doc="A consumer takes its own prefill for one that was cut short if its parameters say so, and not otherwise.",
    slices=(SHORT, PREFILLS),
    actions=("peer_hears",),
    formula=Primed(body=peer_told_short(r)).eq(offer_short(r) > 0),
)
ENVIRONMENT_BOUND = Invariant(
    id="consumer-says-little",
    source="scope of the environment",
    doc="So that states are finite, a consumer repeats its notice at most once and beats once.",
    slices=(LEASE, SHORT),
    formula=forall(w, r, (pulled(w, r) <= 2) & (heartbeat(w, r) <= 1)),
)
REFUSAL = ActionProperty(
    id="refusal-has-a-reason",
    source="B-087 vllm #21570",
    doc="A consumer refuses what it read if a worker of the producer denies that the lease still held.",
    slices=(READ, SHORT),
    actions=("peer_refuses",),
    formula=deny(w, r) > 0,
)
DENIAL_IS_TRUE = ActionProperty(
    id="a-denial-comes-after-the-end-of-a-lease",
    source="B-087 vllm #21570",
    doc="A worker denies that the lease held only if it had ended the hand-over before the notice came.",
    slices=(READ, SHORT),
    actions=("hear_notice", "register"),
    formula=registration_state(w, r).eq(registration_states["settled"]) | Primed(body=deny(w, r)).eq(deny(w, r)),
)
SHORT_REFUSED = ActionProperty(
    id="complete-kv-is-not-refused-as-short",
    source="B-142 sglang #30233",
    doc="A consumer that finds KV too short is right.",
    slices=(SHORT,),
    actions=("peer_finds_it_short",),
    formula=truncated(r),
)

_ENDING = _peer("reading", "rejected")
_TOLD = _peer("told")
READ_ANSWERED = LeadsTo(
    id="every-read-is-accepted-or-refused",
    source="B-087 vllm #21570; B-096",
    doc="A consumer that has read learns whether it may use what it read.",
    slices=(READ, SHORT),
    vars=(r,),
    premise=_TOLD,
    conclusion=_peer("accepted", "refused"),
)
CONSUMER_TELLS = LeadsTo(
    id="every-consumer-end-tells-the-producer",
    source="B-089 vllm #41269",
    doc="Each end of a living consumer's request, before or after it was admitted, tells the producer.",
    slices=(LEASE,),
    vars=(r,),
    premise=_ENDING,
    conclusion=_peer("told", "accepted", "refused", "let_go", "dead"),
)

_witness = witnesses_of("delivery")

WITNESSES = (
    _witness("some-consumer-has-told", exists(r, _TOLD), "A consumer has given its notice.", READ, SHORT),
    _witness(
        "notice-ends-a-renewed-lease",
        exists(w, r, registration_state(w, r).eq(registration_states["settled"]) & waited_for(w, r)),
        "A notice, and not the lease, ends a hand-over.", LEASE, source="B-086 vllm #53095",
    ),
    *(
        _witness(f"consumer-is-{name}", exists(r, formula), f"A consumer's request is {name}.", *slices, source=source)
        for name, formula, slices, source in (
            ("dead", _peer("dead"), (LEASE, TWO), "B-096; V-02"),
            ("rejected", _peer("rejected"), (LEASE, SHORT), "B-089 vllm #41269"),
            ("still-waiting", _peer("waiting") & beaten(r), (LEASE,), "B-086 vllm #53095"),
            ("heard-twice", _peer("told") & repeated(r), (LEASE, SHORT), "contract R-40"),
            ("let-go-twice", _peer("let_go") & repeated(r), (LEASE, SHORT), "contract R-40"),
        )
    ),
    _witness("some-consumer-is-ending", exists(r, _ENDING), "A consumer's request is about to end.", LEASE),
    _witness(
        "some-notice-is-early", exists(w, r, early(w, r)), "A notice comes before the registration and is remembered.",
        *HANDING, source="B-084 vllm #43509",
    ),
    _witness(
        "some-read-is-refused", exists(r, _peer("refused")), "A read that ended after the lease fails visibly.", READ,
        SHORT, source="B-087 vllm #21570",
    ),
)  # fmt: skip

HAND_OVER_PROPERTIES: tuple[Property, ...] = (
    READS_PROMISED,
    COMPLETE,
    HAS_TOLD,
    REMEMBERED,
    OF_THIS_LIFE,
    ID_IS_FREE,
    OFFERED,
    CANCEL_NOTED,
    CUT_NOTED,
    NOT_FOR_CANCELLED,
    ONE_ID,
    LEASE_LIVES,
    RUN_OUT,
    ALL_RECLAIMED,
    OVERDUE_REGISTERED,
    PARAMETERS,
    HEARD_AS_SAID,
    ENVIRONMENT_BOUND,
    REFUSAL,
    DENIAL_IS_TRUE,
    RAN_BEFORE,
    SHORT_REFUSED,
    CONSUMER_TELLS,
    READ_ANSWERED,
    *WITNESSES,
)
