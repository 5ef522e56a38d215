"""The slices by what they cover, under short names."""

from __future__ import annotations

OPERATIONS, BY_WORKERS, OF_TWO, CONTENT = "operations", "operations_by_workers", "operations_of_two", "loaded_content"
LEASE, BOTH, TWO, READ, SHORT = "lease", "lease_and_send", "two_leases", "handed_over_content", "handed_over_short"
AGAIN, PREFILLS = "second_life", "two_prefills"
PARTS, REPORTS, DRAIN, STORE = "composite_load", "composite_finish", "drained_ranks", "receive_store"
MERGED = "merged_reports"
LOADING = (OPERATIONS, BY_WORKERS, OF_TWO, CONTENT)
SENDING = (OPERATIONS, BY_WORKERS, BOTH)
TRANSFERRING = (*LOADING, BOTH)
FAILING = (OPERATIONS, BY_WORKERS, CONTENT)
HANDING = (LEASE, BOTH, TWO, READ, SHORT, AGAIN, PREFILLS)
EVERY = (*LOADING, *HANDING)
EVERY_ENGINE = (*LOADING, LEASE, BOTH, SHORT)
