"""What must be able to happen in one engine: a guard against properties that hold because nothing happens."""

from __future__ import annotations

from interlock.spec.delivery.predicates import is_
from interlock.spec.delivery.properties_release import (
    BOTH,
    BY_WORKERS,
    EVERY,
    FAILING,
    HELD,
    LEASE,
    LOAD_IS_OPEN,
    LOADING,
    OF_TWO,
    OPERATIONS,
    REQUEST_IS_LOADED,
    SEND_IS_OPEN,
    SHORT,
)
from interlock.spec.delivery.vocabulary import (
    acks_due,
    delivery_states,
    delivery_transfer_state,
    delivery_transfer_states,
    ended_in,
    failed,
    j,
    load_failed,
    loads_owed,
    r,
    sends_owed,
    w,
)
from interlock.spec.language.properties import Witness
from interlock.spec.language.terms import exists

RELEASE_WITNESSES = (
    Witness(
        id="delivery-some-request-is-held", formula=exists(r, HELD), slices=EVERY, source="vacuity guard",
        doc="A request is held.",
    ),
    Witness(
        id="delivery-some-load-is-open", formula=exists(j, LOAD_IS_OPEN), slices=LOADING, source="vacuity guard",
        doc="A load is open.",
    ),
    Witness(
        id="delivery-some-send-is-open", formula=exists(j, SEND_IS_OPEN), slices=(OPERATIONS, BY_WORKERS, BOTH),
        source="vacuity guard", doc="A send is open.",
    ),
    Witness(
        id="delivery-some-request-is-loaded", formula=exists(r, REQUEST_IS_LOADED), slices=LOADING,
        source="vacuity guard", doc="A request is loaded.",
    ),
    Witness(
        id="delivery-some-loads-all-succeed", formula=exists(r, REQUEST_IS_LOADED & ~load_failed(r)), slices=LOADING,
        source="contract Q13", doc="All loads of a request have succeeded.",
    ),
    Witness(
        id="delivery-two-loads-of-one-request", formula=exists(r, is_(r, "loading") & (loads_owed(r) > 1)),
        slices=(OPERATIONS,), source="B-072 vllm #51786", doc="Two connectors load one request.",
    ),
    *(
        Witness(
            id=f"delivery-transfer-{s}",
            formula=exists(w, j, delivery_transfer_state(w, j).eq(delivery_transfer_states[s])),
            slices=FAILING, source="B-096 vllm #35943; contract R-43", doc=f"A transfer is {s}.",
        )
        for s in ("stranded", "broken", "expired")
    ),
    *(
        Witness(
            id=f"delivery-ends-{s}-and-is-{end}",
            formula=exists(r, ended_in(r).eq(delivery_states[s]) & is_(r, end)),
            slices=slices, source="contract Q30, Q31, R-52", doc=f"A request that is {s} ends and is {end}.",
        )
        for s, end, slices in (
            ("waiting", "held", (OPERATIONS,)),
            ("waiting", "released", (OPERATIONS, BY_WORKERS, LEASE)),
            ("loading", "held", LOADING),
            ("loaded", "held", (OPERATIONS,)),
            ("loaded", "released", (BY_WORKERS, OF_TWO)),
            ("running", "held", (BY_WORKERS,)),
            ("running", "released", (LEASE, SHORT)),
        )
    ),
    Witness(
        id="delivery-load-and-send-outstanding-at-the-end",
        formula=exists(r, HELD & (loads_owed(r) > 0) & (sends_owed(r) > 0)),
        slices=(OPERATIONS,), source="B-053 vllm #46240", doc="A cancelled request has a load and a send outstanding.",
    ),
    Witness(
        id="delivery-hand-over-and-send-outstanding",
        formula=exists(r, HELD & (acks_due(r) > 0) & (sends_owed(r) > 1)),
        slices=(BOTH,), source="contract R-41", doc="A hand-over and another connector's send are outstanding.",
    ),
    Witness(
        id="delivery-some-request-is-computed-after-a-failed-load",
        formula=exists(j, failed(j) > 0), slices=FAILING, source="contract R-43", doc="A load fails and is reported.",
    ),
)  # fmt: skip
