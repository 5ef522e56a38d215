"""What must be able to happen in one engine: a guard against properties that hold because nothing happens."""

from __future__ import annotations

from interlock.spec.delivery.coverage import BOTH, BY_WORKERS, EVERY, FAILING, LEASE, LOADING, OF_TWO, OPERATIONS, SHORT
from interlock.spec.delivery.predicates import is_
from interlock.spec.delivery.properties_release import HELD, LOAD_IS_OPEN, REQUEST_IS_LOADED, SEND_IS_OPEN
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
    receives,
    sends_owed,
    w,
)
from interlock.spec.language.properties import witnesses_of
from interlock.spec.language.terms import exists

_witness = witnesses_of("delivery")

RELEASE_WITNESSES = (
    _witness("some-request-is-held", exists(r, HELD), "A request is held.", *EVERY),
    _witness("some-load-is-open", exists(j, LOAD_IS_OPEN), "A load is open.", *LOADING),
    _witness("some-send-is-open", exists(j, SEND_IS_OPEN), "A send is open.", OPERATIONS, BY_WORKERS, BOTH),
    _witness("some-request-is-loaded", exists(r, REQUEST_IS_LOADED), "A request is loaded.", *LOADING),
    _witness(
        "some-loads-all-succeed", exists(r, REQUEST_IS_LOADED & ~load_failed(r)),
        "All loads of a request have succeeded.", *LOADING, source="contract Q13",
    ),
    _witness(
        "two-loads-of-one-request", exists(r, is_(r, "loading") & (loads_owed(r) > 1)),
        "Two connectors load one request.", OPERATIONS, source="B-072 vllm #51786",
    ),
    *(
        _witness(
            f"transfer-{s}", exists(w, j, delivery_transfer_state(w, j).eq(delivery_transfer_states[s])),
            f"A transfer is {s}.", *FAILING, source="B-096 vllm #35943; contract R-43",
        )
        for s in ("stranded", "broken", "expired")
    ),
    *(
        _witness(
            f"ends-{s}-and-is-{end}", exists(r, ended_in(r).eq(delivery_states[s]) & is_(r, end)),
            f"A request that is {s} ends and is {end}.", *slices, source="contract Q30, Q31, R-52",
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
    _witness(
        "load-and-send-outstanding-at-the-end", exists(r, HELD & (loads_owed(r) > 0) & (sends_owed(r) > 0)),
        "A cancelled request has a load and a send outstanding.", OPERATIONS, source="B-053 vllm #46240",
    ),
    _witness(
        "hand-over-and-send-outstanding", exists(r, HELD & (acks_due(r) > 0) & (sends_owed(r) > 1)),
        "A hand-over and another connector's send are outstanding.", BOTH, source="contract R-41",
    ),
    _witness(
        "the-hand-over-ends-before-the-last-send", acks_due(r).eq(1),
        "Of a hand-over the last word is heard while another connector's send is outstanding: nothing is released yet.",
        BOTH, actions=("worker_acknowledges",), source="contract R-41, R-51",
    ),
    _witness(
        "a-load-succeeds-beside-one-that-failed", load_failed(r) & receives(j) & failed(j).eq(0),
        "Of two loads of a request one was reported as failed, and then comes the report of the other.",
        OPERATIONS, actions=("operation_ends",), source="contract R-43; B-072 vllm #51786",
    ),
    _witness(
        "some-request-is-computed-after-a-failed-load", exists(j, failed(j) > 0), "A load fails and is reported.",
        *FAILING, source="contract R-43",
    ),
)  # fmt: skip
