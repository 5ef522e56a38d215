"""Public failures of the family LIFE: lifetimes and fences."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

LIFE = (
    Failure(
        id="B-043",
        family="LIFE",
        reference="vllm-project/vllm #44541 (with #41956)",
        outcome="corruption",
        model="yes",
        evidence="A",
        tags=("reset", "tier"),
        title="Reset leaves tier transfers in flight",
        scenario=(
            "disk->CPU load into slot 5 in flight; reset frees slot 5; new store takes slot 5; late load overwrites it"
        ),
        invariant="Reset drains or fences transfers before slots become free",
    ),
    Failure(
        id="B-044",
        family="LIFE",
        reference="vllm-project/vllm #45363",
        outcome="crash",
        model="partly",
        evidence="B",
        tags=("reset",),
        title="Sleep unmaps GPU memory with transfers in flight",
        scenario="Store in flight; sleep unmaps KV memory; copy engine touches unmapped pages",
        invariant="Sleep/unmap waits for in-flight transfers",
        lacks="GPU memory is always mapped: sleep is not modelled.",
    ),
    Failure(
        id="B-055",
        family="LIFE",
        reference="vllm-project/vllm #32255",
        outcome="corruption / leak",
        model="yes",
        evidence="A",
        tags=("abort", "pd"),
        title="Cancel during a remote load frees the destination blocks at once",
        scenario=(
            "R loading into block 8; R cancelled; block 8 given to R2; late transfer writes R's KV into R2. "
            "Mirror race: completion arrived just before the cancel, no second signal will come, so deferring "
            "would leak"
        ),
        invariant="Destination blocks stay held until the load ends; hold is taken only if a signal is still due",
    ),
    Failure(
        id="B-063",
        family="LIFE",
        reference="vllm-project/vllm #45357",
        outcome="corruption",
        model="yes",
        evidence="A",
        tags=("async-sched", "pd"),
        title="Blocks of a finished request are reused while a dispatched step can still write them",
        scenario=(
            "Step n+1 dispatched with R; output of n ends R; R's blocks freed and become the target of a remote "
            "load for R2; step n+1 writes late over the loaded KV"
        ),
        invariant="Same as #47282 for whole requests: release waits for the step fence",
    ),
    Failure(
        id="B-064",
        family="LIFE",
        reference="vllm-project/vllm #48481",
        outcome="corruption",
        model="partly",
        evidence="A",
        tags=("hybrid", "async-sched", "pd"),
        title="Zeroing of new blocks runs after the remote load filled them",
        scenario=(
            "New blocks scheduled for zeroing on the compute stream (queued behind step n); RDMA load fills them "
            "first; zeroing then wipes them; with failure+recompute the skipped blocks need zeroing again"
        ),
        invariant="Initialisation of a block precedes the load that targets it",
    ),
    Failure(
        id="B-073",
        family="LIFE",
        reference="vllm-project/vllm #53049",
        outcome="crash or silent corruption",
        model="yes",
        evidence="A",
        tags=("multi", "pd"),
        title="Late pull completes after the request has finished, its blocks already freed",
        scenario=(
            "Host-memory load wins, R runs and ends; the slow network pull is still writing; decode side says "
            "nothing is outstanding at finish; pull writes to reassigned blocks and then asserts"
        ),
        invariant="Finish waits for every load that was started",
    ),
    Failure(
        id="B-086",
        family="LIFE",
        reference="vllm-project/vllm #53095",
        outcome="hang / lost KV",
        model="partly",
        evidence="C",
        tags=("pd", "lease"),
        title="Heartbeats of the push connector do not renew leases",
        scenario=(
            "128 requests; D keeps waiting; P's 30 s lease runs out and frees blocks that were never written out"
        ),
        invariant="A lease lives while its consumer waits",
    ),
    Failure(
        id="B-087",
        family="LIFE",
        reference="vllm-project/vllm #21570 (field: aws-samples/aws-do-eks#84, aibrix#1772)",
        outcome="corruption (silent)",
        model="yes",
        evidence="A",
        tags=("pd", "lease"),
        title="Decode reads blocks whose lease ended",
        scenario=(
            "P finishes R and leases blocks for T; D is slow; T passes, blocks reused by R2; D reads R2's KV; "
            "only a log line on P; 8 of 42 answers in one field run"
        ),
        invariant="A read after lease end fails visibly",
    ),
    Failure(
        id="B-088",
        family="LIFE",
        reference="vllm-project/vllm #47021",
        outcome="corruption",
        model="yes",
        evidence="A",
        tags=("pd", "lease"),
        title="Second turn reads expired blocks in bidirectional mode",
        scenario="D keeps turn-1 blocks for a fixed time, no renewal; expired and reused; P reads them for turn 2",
        invariant="As above, with expiry time passed to the reader",
        lacks=(
            "One turn and one direction: no engine of the model is first consumer and then producer, and a hand-over"
            " states no time at which it ends. (A read after a lease, of one turn, is B-087.)"
        ),
    ),
    Failure(
        id="B-092",
        family="LIFE",
        reference="vllm-project/vllm #52360",
        outcome="corruption (persistent)",
        model="yes",
        evidence="A",
        tags=("preempt",),
        title="Queued store reads blocks after preemption gave them away",
        scenario=(
            "Store of block 6 queued on a background thread; R preempted, block 6 goes to R2; thread copies R2's "
            "KV under R's key; wrong data never heals since the key fixes the token range"
        ),
        invariant="A store job holds its own reference on its source blocks",
    ),
    Failure(
        id="B-112",
        family="LIFE",
        reference="vllm-project/vllm #45347 (issue #38551; #39544 open)",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("ec", "async-sched", "specdec"),
        title="Entry freed on an optimistic token count",
        scenario=(
            "Async scheduling + speculation: scheduler counts drafts as consumed and frees the entry; drafts "
            "rejected; next step needs it again (also after preemption)"
        ),
        invariant="Free on settled tokens only",
    ),
    Failure(
        id="B-128",
        family="LIFE",
        reference="LMCache/LMCache #5248 (and #4612)",
        outcome="corruption",
        model="yes",
        evidence="A",
        tags=("preempt",),
        title="Server-driven copy is not waited for at preemption",
        scenario=(
            "Server copies R's blocks on its own stream; R preempted; flush is a no-op on the default path; "
            "blocks overwritten while being read"
        ),
        invariant="Preemption waits for readers of the freed blocks",
    ),
    Failure(
        id="B-136",
        family="LIFE",
        reference="sgl-project/sglang #35769",
        outcome="corruption",
        model="yes",
        evidence="A",
        tags=("prefix-share",),
        title="Insert after launch frees the slots that the copy targets",
        scenario=(
            "R1 stages prefetch of P, allocates slots, queues copy; meanwhile R2 publishes P; R1's insert dedups "
            "and frees R1's slots; copy still writes there"
        ),
        invariant="Ownership of target slots is settled before the copy starts",
        lacks=(
            "No insertion into a prefix tree that frees the slots of a duplicate: in the model of tiers a key that"
            " is being written gets no second slot."
        ),
    ),
    Failure(
        id="B-150",
        family="LIFE",
        reference="NVIDIA/TensorRT-LLM #12542",
        outcome="deadlock",
        model="yes",
        evidence="A",
        tags=("pd", "failure"),
        title="Block evicted between finish and async send",
        scenario=(
            "Prefill done; block in reuse tree unpinned; evicted for R2; sender looks it up, throws, logs; decode"
            " waits for ever"
        ),
        invariant="Source blocks are pinned until sent; a failed send is announced",
        lacks=(
            "No send that looks its blocks up and throws when they are gone, and no consumer that is told nothing then:"
            " in the model what is read is what is in the block. (Blocks that nothing pins are B-151.)"
        ),
    ),
    Failure(
        id="B-151",
        family="LIFE",
        reference="NVIDIA/TensorRT-LLM #12540",
        outcome="use-after-free",
        model="yes",
        evidence="B",
        tags=("pd",),
        title="Pin dropped before the network read ended",
        scenario="Terminate-finished pass unpins; only the pin kept the block; block evictable during the transfer",
        invariant="As above",
    ),
    Failure(
        id="B-156",
        family="LIFE",
        reference="kvcache-ai/Mooncake #3139",
        outcome="wasted work",
        model="partly",
        evidence="B",
        tags=("lease", "failure"),
        title="Recovered replicas are readable without a lease",
        scenario="Remount makes an object readable again but grants no lease; eviction takes it at once",
        invariant="Becoming readable grants protection",
        lacks=(
            "No store of replicas: that an object becomes readable again after a remount, without a lease, is not"
            " modelled."
        ),
    ),
    Failure(
        id="B-157",
        family="LIFE",
        reference="ai-dynamo/nixl #1955 (also #2067, #2044, #2244)",
        outcome="use-after-free",
        model="partly",
        evidence="A",
        tags=("abort",),
        title="Releasing an active transfer frees what callbacks still use",
        scenario=(
            "post; release while in progress returns success and deletes the handle; queue later calls back into "
            "freed memory; caller may also free buffers"
        ),
        invariant="Release of an active transfer fails or waits",
        lacks="Handles of transfers, and callbacks into them, are not modelled.",
    ),
    Failure(
        id="B-183",
        family="LIFE",
        reference="ROCm/ATOM #2053 (review 2)",
        outcome="corruption",
        model="yes",
        evidence="B",
        tags=("abort", "failure"),
        title="The escape for stalled stores frees blocks that a load still writes",
        scenario=(
            "Store of R is stalled and R also has an active load; escape looks at stores only and lets R's blocks"
            " go; load writes into another request's block"
        ),
        invariant="Release asks every kind of outstanding operation",
    ),
    Failure(
        id="B-192",
        family="LIFE",
        reference="ROCm/ATOM #2146 (review 3)",
        outcome="corruption (persistent)",
        model="yes",
        evidence="B",
        tags=("preempt",),
        title="Adapter has no preemption hook, store reads blocks of the next owner",
        scenario=(
            "Store of R runs in the background; R preempted, blocks given to R2; adapter neither waits nor "
            "cancels; R2's bytes go under R's key (same fault as vLLM #52360 and #29870, in a third code base)"
        ),
        invariant="Preemption waits for readers of the freed blocks",
    ),
)
