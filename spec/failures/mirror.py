"""Public failures of the family MIRROR: a connector's copy of state equals the scheduler's."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

MIRROR = (
    Failure(
        id="B-001",
        family="MIRROR",
        reference="vllm-project/vllm #49118",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("abort", "async-sched"),
        title="Cancelling a request that was never scheduled kills the engine",
        scenario=(
            "A takes all GPU blocks; B is queued, so B already has block hashes but no blocks; client cancels B; "
            "next metadata build treats B as finished with its full prompt storable and pairs N keys with 0 "
            "blocks"
        ),
        invariant="Storable range <= min(tokens really computed, blocks allocated, keys known)",
    ),
    Failure(
        id="B-003",
        family="MIRROR",
        reference="vllm-project/vllm #55503",
        outcome="crash",
        model="partly",
        evidence="C",
        tags=("specdec", "tier"),
        title="CPU+file tiers with speculative decoding crash at the first generated token",
        scenario=(
            "Tiered offload on; spec decode on; the first decode step makes the key list and block list of the "
            "request differ in length"
        ),
        invariant="Keys and blocks of one job have equal length",
        lacks=(
            "The cause is not known: the report says only that the keys and the blocks of one job differ in number,"
            " and a job of the models moves one block."
        ),
    ),
    Failure(
        id="B-025",
        family="MIRROR",
        reference="vllm-project/vllm #25856",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("pressure",),
        title="When one store is refused the rest of the batch loses its block tracking",
        scenario=(
            "CPU tier full: store for R1 refused; loop returns early; new block ids of R2, R3 of the same step "
            "are not recorded; a later step indexes past the mirror"
        ),
        invariant="The mirror of every scheduled request advances in every step, whatever happens to others",
    ),
    Failure(
        id="B-027",
        family="MIRROR",
        reference="vllm-project/vllm #42761",
        outcome="crash",
        model="yes",
        evidence="B",
        tags=("hybrid",),
        title="A store job that lists one block twice crashes on completion",
        scenario=(
            "Sliding-window groups share a physical id; job lists block 9 twice; index keeps a set; completion "
            "removes (9, job) twice"
        ),
        invariant="Per-job block list is a set, or removal is idempotent",
    ),
    Failure(
        id="B-035",
        family="MIRROR",
        reference="vllm-project/vllm #27648",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("async-sched",),
        title="Placeholder tokens counted as computed",
        scenario=(
            "Async scheduling adds placeholders; block count from tokens exceeds block hashes; strict check fails"
            " (or uncomputed block would be stored)"
        ),
        invariant="Storable tokens exclude placeholders",
    ),
    Failure(
        id="B-038",
        family="MIRROR",
        reference="vllm-project/vllm #41515 (also #45268)",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("hybrid", "reset"),
        title="Any external hit on a model with aligned Mamba caching kills the engine",
        scenario=(
            "Prefix evicted from GPU (or sleep/wake) but kept on CPU; second request hits externally; scheduler "
            "asserts external tokens == 0"
        ),
        invariant="Every reachable (model kind, hit kind) pair is handled or refused at start-up",
    ),
    Failure(
        id="B-078",
        family="MIRROR",
        reference="vllm-project/vllm #39500",
        outcome="crash",
        model="no",
        evidence="C",
        tags=("multi", "pd"),
        title="Offload connector segfaults on the decode side of P/D",
        scenario=(
            "Composite of network + offload connector on decode; explanation given in #39491 (sizing of the CPU region)"
        ),
        invariant="Transfers stay inside the registered region",
        lacks="Addresses, and the sizes of memory regions, are not modelled.",
    ),
    Failure(
        id="B-094",
        family="MIRROR",
        reference="vllm-project/vllm #46595",
        outcome="crash of the store thread",
        model="yes",
        evidence="A",
        tags=("preempt", "hybrid"),
        title="Resumed request's block list appended instead of replaced",
        scenario=(
            "R preempted and resumed; connector decides append/replace from its own set, which drifted; table "
            "shorter than the token count; thread indexes out of range"
        ),
        invariant="Append/replace follows the scheduler's own flag",
    ),
    Failure(
        id="B-148",
        family="MIRROR",
        reference="ai-dynamo/dynamo #8490 (root: TRT-LLM #13320)",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("decode",),
        title="Engine allocates a decode block but reports no new block",
        scenario=(
            "Decode crosses a block boundary; reported delta is empty; connector's mirror is one block short; assertion"
        ),
        invariant="Sum of reported deltas == block table",
    ),
    Failure(
        id="B-166",
        family="MIRROR",
        reference="vllm-project/vllm #52211 (same fault: local-inference-lab/vllm #133)",
        outcome="crash",
        model="yes",
        evidence="B",
        tags=("preempt",),
        title="Block list is cleared at resume but the store cursor is not moved back",
        scenario=(
            "R stored up to chunk k; R preempted and resumed; connector clears its block list, cursor stays at k;"
            " only later deltas are appended, so list and cursor no longer match; next store job has unequal "
            "lengths"
        ),
        invariant="Block list and cursor of a request are reset together",
    ),
)
