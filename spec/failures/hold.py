"""Public failures of the family HOLD: what is acquired is released."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

HOLD = (
    Failure(
        id="B-020",
        family="HOLD",
        reference="vllm-project/vllm #49947",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("failure", "tier"),
        title="Exception in transfer clean-up loses the job result",
        scenario=(
            "Transfer finishes; entry removed from table; releasing the handle raises; no result published; CPU "
            "block stays pinned and 'pending work' stays true"
        ),
        invariant="A pin is dropped only with a published result, and a result is published exactly once",
    ),
    Failure(
        id="B-048",
        family="HOLD",
        reference="vllm-project/vllm #42085",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("hybrid",),
        title="Second long request empties the free list mid-pop",
        scenario=(
            "Same duplicate on the load side: back-trace from the block table lists one block N times; counter "
            "says free blocks exist, list has fewer"
        ),
        invariant="free count == length of free list",
        lacks=(
            "No list of free blocks: they are counted (admission) or marked as free one by one (kv-transfer), so"
            " the count cannot differ from the list."
        ),
    ),
    Failure(
        id="B-074",
        family="HOLD",
        reference="vllm-project/vllm #47505",
        outcome="leak, unwanted load",
        model="yes",
        evidence="A",
        tags=("multi",),
        title="Losing connector enters loading state and keeps its read locks",
        scenario=(
            "Connector X not chosen (0 tokens); it decides from its own hit count, goes to 'waiting for load', "
            "keeps locks until TTL"
        ),
        invariant="State after allocation depends on the granted tokens",
    ),
    Failure(
        id="B-085",
        family="HOLD",
        reference="vllm-project/vllm #58222 (PR #50789)",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("pd", "lease"),
        title="Lease reaper stops at a renewed head entry",
        scenario=(
            "Leases in insertion order; head renewed in place; entries behind it expire; reaper looks only at the"
            " head and stops; also two TTLs (30 s, 480 s) share one table"
        ),
        invariant="Every expired lease is reclaimed within one sweep",
    ),
    Failure(
        id="B-089",
        family="HOLD",
        reference="vllm-project/vllm #41269",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("abort", "pd"),
        title="Rejected decode request leaves producer blocks held",
        scenario=(
            "P done; D rejects the request before admission (bad template, unknown model); no transfer is opened,"
            " P is not told; 480 s hold"
        ),
        invariant="Each terminal path of the consumer releases the producer",
    ),
    Failure(
        id="B-102",
        family="HOLD",
        reference="vllm-project/vllm #35931",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("prefix-share",),
        title="Locks of chunks that vLLM computes itself are never released",
        scenario="Lookup locks 10 chunks; allocation finds 6 locally; only 4 are retrieved; 6 locks stay",
        invariant="locked = retrieved + explicitly freed",
    ),
    Failure(
        id="B-105",
        family="HOLD",
        reference="vllm-project/vllm #38472 (PR #38475)",
        outcome="leak-like OOM",
        model="partly",
        evidence="B",
        tags=("pd",),
        title="Received tensors are kept until the request ends",
        scenario="n running requests each keep all layers in the receive store although already copied into blocks",
        invariant="Buffer released once its content is placed",
    ),
    Failure(
        id="B-114",
        family="HOLD",
        reference="vllm-project/vllm #55733",
        outcome="unsound admission",
        model="yes",
        evidence="A",
        tags=("ec",),
        title="Encoder budget grows at each decode step",
        scenario=(
            "Encoder-decoder request: each decode step frees the same input again; free slots exceed capacity; "
            "admission unsound"
        ),
        invariant="free + used == capacity",
    ),
    Failure(
        id="B-117",
        family="HOLD",
        reference="LMCache/LMCache #2954",
        outcome="premature free",
        model="yes",
        evidence="A",
        tags=("layerwise",),
        title="Chunk is unpinned twice",
        scenario=(
            "Lookup pins; layer-wise retrieve unpins; end-of-save unpins again; count -1 is reset to 0; a later "
            "pin can be lost and the chunk freed early"
        ),
        invariant="pin count >= 0 and equals outstanding users",
    ),
    Failure(
        id="B-132",
        family="HOLD",
        reference="sgl-project/sglang #9874 and #9927",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("abort", "tier"),
        title="Prefetch of a cancelled request keeps its host memory",
        scenario=(
            "Prefetch running; R cancelled; operation never terminated, host slots leak until the prefetch limit "
            "is always hit"
        ),
        invariant="Prefetch slots are returned on every exit",
    ),
    Failure(
        id="B-141",
        family="HOLD",
        reference="sgl-project/sglang #18701",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("abort", "pd"),
        title="Abort of a retracted request keeps its CPU KV",
        scenario="Cache full, R retracted with KV on CPU; client aborts R; CPU copy not dropped",
        invariant="Terminal path frees all tiers",
    ),
    Failure(
        id="B-153",
        family="HOLD",
        reference="NVIDIA/TensorRT-LLM #12834 (issue #11879; #12297)",
        outcome="crash, corrupt counts",
        model="yes",
        evidence="A",
        tags=("tier",),
        title="Block claimed after its level changed",
        scenario=(
            "Offload on allocation swaps primary/host blocks first, then claims: erases from the wrong list, "
            "counts drift, 'used' goes negative"
        ),
        invariant="Per level: free + used == total",
    ),
    Failure(
        id="B-158",
        family="HOLD",
        reference="ai-dynamo/nixl #1722",
        outcome="leak",
        model="no",
        evidence="A",
        tags=(),
        title="Backend never deletes its handle",
        scenario="Framework calls release; backend assumes the framework deletes; nobody does",
        invariant="Exactly one owner deletes",
        lacks="Handles of transfers, and who deletes them, are not modelled.",
    ),
    Failure(
        id="B-178",
        family="HOLD",
        reference="ROCm/ATOM #2261, #2231",
        outcome="leak -> stall",
        model="yes",
        evidence="A",
        tags=("failure", "parallel", "finish"),
        title="A store report that is lost holds the blocks for ever",
        scenario=(
            "Finish says 'I keep the blocks' until all ranks reported; one rank's report is lost; quorum never "
            "completes; no time limit; measured: 0 running, 50 waiting, tier not full"
        ),
        invariant="Every deferred free has a bounded life",
    ),
    Failure(
        id="B-181",
        family="HOLD",
        reference="ROCm/ATOM #2175 (review)",
        outcome="leak, idle spin",
        model="yes",
        evidence="B",
        tags=("abort", "idle"),
        title="Lookup record of a request aborted before allocation is never removed",
        scenario=(
            "Lookup hits for R and is recorded as pending work; allocation is delayed; R is aborted on a path "
            "that only cancels allocated loads; record stays: engine spins on idle drain, worker pin lives to the"
            " timeout"
        ),
        invariant="Records are removed on every exit from the lookup state",
    ),
    Failure(
        id="B-188",
        family="HOLD",
        reference="taco-project/FlexKV #236",
        outcome="leak, wasted work",
        model="yes",
        evidence="A",
        tags=("preempt", "tier", "abort"),
        title="Cancelling a task that was planned but never launched gives nothing back",
        scenario=(
            "Lookup plans a task: locks matched nodes, takes staging blocks, inserts not-ready nodes; the request"
            " is not scheduled in this step, or is preempted; task is cancelled by dropping it from the tables; "
            "locks, staging blocks and not-ready nodes stay, and later stores skip that prefix. Reproduced on the"
            " control plane without a GPU"
        ),
        invariant="Cancel undoes every acquisition of the plan",
    ),
    Failure(
        id="B-189",
        family="HOLD",
        reference="taco-project/FlexKV #176",
        outcome="leak",
        model="yes",
        evidence="A",
        tags=("prefix-share",),
        title="Task with nothing to store is neither started nor cancelled",
        scenario=(
            "Store planning creates a task; all blocks are already stored; early return forgets the task; it "
            "lives 30 minutes in an expiring table"
        ),
        invariant="Each created task is started or cancelled",
    ),
)
