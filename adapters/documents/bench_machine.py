"""The document of `interlock bench machine`: connectors under one real scheduler, hook by hook."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import Document, ExitCode, Part
from interlock.adapters.documents.bench_check import MachinePart


class MeasuredConnector(Part):
    """One connector; times are medians over its runs."""

    name: str
    seconds: dict[str, float] = Field(description="By what is measured: per step or per call, as its name says.")
    at_context: dict[int, float] = Field(
        description="Seconds of building a decoding step's metadata for 16 requests, by tokens of context."
    )
    context_ratio: float | None = Field(description="Of the longest context to the shortest; 1: cost does not grow.")
    by_changes: dict[int, float] = Field(
        description="Seconds of building a decoding step's metadata for 128 requests, by how many of them fill a block."
    )
    seconds_per_change: float | None = Field(
        description="What each further request that fills a block adds to a decoding step's metadata."
    )
    with_groups: dict[int, dict[str, float]] = Field(
        description="Of a model with a KV cache group of full attention and one of a sliding window, 16 requests: "
        "seconds by what is measured, by tokens of context."
    )
    groups_ratio: float | None = Field(
        description="With that model, building a decoding step's metadata at the longest context to the shortest."
    )
    stored_with_groups: dict[int, int] = Field(
        description="Blocks stored while decoding with that model, by tokens of context: which of a window are is a "
        "choice of each connector."
    )
    schedule_seconds: float = Field(ge=0, description="A whole schedule() while decoding.")
    lookups: int = Field(ge=0, description="How often it was asked for a hit when the prompts came again.")
    grown_mib: float = Field(
        description="Memory added by the end of decoding, vLLM's own included; of the first run after a warm-up."
    )
    blocks_stored: int = Field(ge=0)
    blocks_loaded: int = Field(ge=0)


class WorkloadPart(Part):
    """What was served."""

    requests: int = Field(ge=1)
    prompt: int = Field(ge=1, description="Tokens of the shortest prompt; others have up to one block more.")
    decode_steps: int = Field(ge=1)


class BenchMachineDocument(Document):
    """What `interlock bench machine` says. It judges what was moved; a ratio is a figure and no verdict."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "agree": ExitCode.HOLDS,
        "disagree": ExitCode.FOUND,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.bench-machine/1"] = Field("interlock.bench-machine/1", alias="schema")
    verdict: Literal["agree", "disagree", "inconclusive"]
    vllm: str
    workload: WorkloadPart
    build_meta_ratio: dict[str, float] = Field(description="Building metadata while decoding: ours over each peer's.")
    ratios: dict[str, dict[str, float]] = Field(description="Of each figure: ours over each peer's.")
    connectors: list[MeasuredConnector]
    machine: MachinePart
