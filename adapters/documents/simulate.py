"""The document of `interlock simulate`: one workload, without offload and with it."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import Document, ExitCode, Part


class SimulatedWorkload(Part):
    """What was served."""

    name: str = Field(description="Of a workload that ships, or the path of a file.")
    doc: str
    requests: int | None = Field(description="As many at most; null: all of the file.")
    rate: float | None = Field(description="Arrivals per second on average; null: at the file's own times.")
    seed: int


class SimulatedEncoder(Part):
    """What images take. Without offload steps encode them; with it an encoder elsewhere does, and they are fetched."""

    encode_tokens_s: float = Field(description="Tokens that stand for images, of either encoder.")
    fetch_bytes_s: float = Field(description="From the encoder elsewhere.")
    token_bytes: int = Field(ge=1)
    slots: int = Field(ge=1, description="Images that the encoder cache has room for.")
    cells: int = Field(ge=1, description="Images that the pool has room for.")


class SimulatedEngine(Part):
    """What served it: sizes, and the speeds that were modelled."""

    model: str
    gpu_blocks: int = Field(ge=1)
    cpu_blocks: int = Field(ge=1)
    block_size: int = Field(ge=1, description="Tokens per block.")
    block_bytes: int = Field(ge=1)
    max_tokens_per_step: int = Field(ge=1, description="Longer prompts are computed in parts.")
    max_running: int = Field(ge=1, description="Requests that may run at once.")
    depth: int = Field(ge=1, le=2, description="Steps that may be scheduled and not yet processed.")
    load_failures: float = Field(0.0, ge=0, le=1, description="Share of blocks that fail to be loaded.")
    prompt_only: bool = Field(False, description="Only blocks that hold no token of an answer are stored.")
    blocks_per_request: int | None = Field(None, ge=1, description="The first so many are stored; null: all.")
    store_threshold: int = Field(1, ge=1, description="Requests that have to come to a prefix before it is stored.")
    preset: str
    switches: dict[str, str] = Field(description="Those that differ from the preset.")
    step_s: float
    prefill_tokens_s: float
    decode_tokens_s: float
    to_gpu_bytes_s: float
    from_gpu_bytes_s: float
    encoder: SimulatedEncoder | None = Field(None, description="Where there are images in prompts.")


class SimulatedRun(Part):
    """One run in numbers. Tokens, bytes and blocks are sums; times are virtual, except for `cpu_s`."""

    requests: int = Field(ge=0, description="That ended.")
    refused: int = Field(ge=0, description="Larger than all GPU blocks, or a turn after one that is.")
    prompt_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    gpu_hit_tokens: int = Field(ge=0, description="Of prompts, found on the GPU when first needed.")
    cpu_hit_tokens: int = Field(ge=0, description="Of prompts, loaded from the CPU tier when first needed.")
    computed: int = Field(ge=0, description="Tokens of prompts. Hits and computed together are all prompt tokens.")
    decoded: int = Field(ge=0, description="Tokens of answers.")
    recomputed: int = Field(ge=0, description="Computed again after a preemption, or for a load that failed.")
    gpu_hit_rate: float = Field(ge=0, le=1)
    cpu_hit_rate: float = Field(ge=0, le=1)
    first_token_s: dict[str, float] = Field(description="Arrival to first output token: p50, p90, p99.")
    bytes_to_gpu: int = Field(ge=0)
    bytes_from_gpu: int = Field(ge=0)
    loads: int = Field(ge=0, description="Requests that waited for a load.")
    failed_loads: int = Field(0, ge=0, description="Of these, how many did not get all that they waited for.")
    load_wait_s: float = Field(ge=0, description="Of all requests together, from the plan of loads to their end.")
    idle_s: float = Field(ge=0, description="The GPU had nothing to run while some request waited for its loads.")
    flush_s: float = Field(ge=0, description="Steps waited for copies that had to end before them.")
    preemptions: int = Field(ge=0)
    items_found: int = Field(0, ge=0, description="Images that a step needed and the encoder cache had.")
    items_encoded: int = Field(0, ge=0, description="Images that a step encoded.")
    items_loaded: int = Field(0, ge=0, description="Images that came from the pool.")
    items_fetched: int = Field(0, ge=0, description="Images that came into the pool, from an encoder elsewhere.")
    item_waits: int = Field(0, ge=0, description="Requests that were put off for images.")
    item_wait_s: float = Field(0, ge=0, description="Of all these together, until they went on.")
    steps: int = Field(ge=0)
    total_s: float = Field(ge=0, description="Virtual time at the end.")
    open_jobs: int = Field(ge=0, description="Copies whose end nobody has heard of when the engine rests.")
    cpu_s: float = Field(ge=0, description="Processor time that the simulation took.")
    simulated_tokens_per_s: float = Field(ge=0, description="Prompt and output tokens per second of `cpu_s`.")


class SimulateDocument(Document):
    """What `interlock simulate` says."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "simulated": ExitCode.HOLDS,
        "violated": ExitCode.FOUND,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.simulate/1"] = Field("interlock.simulate/1", alias="schema")
    verdict: Literal["simulated", "violated", "inconclusive"]
    workload: SimulatedWorkload
    engine: SimulatedEngine
    runs: dict[str, SimulatedRun] = Field(description="`without offload` and `with offload`; what was run so far.")
    plot: str | None = None
    trace: str | None = None
    perfetto: str | None = None
