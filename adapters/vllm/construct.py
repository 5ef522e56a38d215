"""Build a real vLLM scheduler on the CPU: no weights, no tokenizer, no GPU, no download.

The shipped `tiny_model/config.json` names an architecture that this module registers with vLLM's
own `ModelRegistry.register_model`. A registered class is inspected in this process; any stock
architecture is inspected in a subprocess, which costs 12 s the first time.

Signatures differ between releases and are detected by name, never by version (contract facts, 8.5).
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from interlock.adapters.vllm import tiny_images

TINY_MODEL = Path(__file__).parent / "tiny_model"
ARCHITECTURE = "InterlockTinyForCausalLM"
PAGE = 4096
"""OffloadingConnector rounds a chunk up to a memory page (kv_offload/cpu/spec.py:117, 0.32.0)."""


class ConstructError(Exception):
    """The scheduler or its connector cannot be built; the message says what would be right."""


@dataclass(frozen=True)
class Sizes:
    """How large the scheduler's world is. One GPU block is the null block, so `gpu_blocks` usable
    blocks need a pool of one more; the harness adds it."""

    gpu_blocks: int = 16
    cpu_chunks: int = 16
    block_size: int = 16
    max_num_seqs: int = 8
    max_num_batched_tokens: int = 2048
    max_model_len: int = 2048
    depth: int = 1
    """Steps that are scheduled before the output of the first is there: 2 is vLLM's asynchronous scheduler."""
    workers: int = 1
    """Ranks of a tensor-parallel engine; each has its part of every block."""
    chunk: int = 0
    """Tokens that a prompt is computed by while another request is there (long_prefill_token_threshold); 0: all."""

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if name == "chunk" and value == 0:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConstructError(f"{name} must be a positive integer, not {value!r}")
        if self.depth not in (1, 2):
            raise ConstructError(f"depth is 1, or 2 for asynchronous scheduling, not {self.depth}")
        if self.max_num_batched_tokens < self.max_num_seqs:
            raise ConstructError("max_num_batched_tokens must be at least max_num_seqs")


@dataclass(frozen=True)
class Target:
    """Which connector, and its transfer config.

    `connector` is `vllm:NAME`, a name that vLLM has registered, or `package.module:Class`; `kind` says of what: of KV,
    or of the encoder cache (ec), for which the model takes images. `load_failures` is `kv_load_failure_policy`:
    recompute, or fail, which is vLLM's default.
    """

    connector: str
    extra: dict[str, Any] = field(default_factory=dict)
    kv_role: str = "kv_both"
    kind: str = "kv"
    load_failures: str = "fail"

    @property
    def class_name(self) -> str:
        """The name that `KVTransferConfig.kv_connector` takes."""
        return self.connector.partition(":")[2]

    @property
    def module_path(self) -> str | None:
        """The module of a connector that vLLM has not registered."""
        module = self.connector.partition(":")[0]
        return None if module == "vllm" else module

    def __post_init__(self) -> None:
        module, colon, name = self.connector.partition(":")
        if not (module and colon and name):
            raise ConstructError(f"connector {self.connector!r} is neither vllm:NAME nor package.module:Class")


@dataclass(frozen=True)
class Feature:
    """An image in a prompt. `here`: its data is there, so that it can be encoded."""

    item: str
    offset: int
    length: int
    here: bool = True

    def made(self) -> Any:
        """As vLLM has it."""
        from vllm.multimodal.inputs import MultiModalFeatureSpec, MultiModalKwargsItem, PlaceholderRange

        data = MultiModalKwargsItem.dummy() if self.here else None
        return MultiModalFeatureSpec(data, "image", self.item, PlaceholderRange(self.offset, self.length))


def keywords(function: Any, **wanted: Any) -> dict[str, Any]:
    """The wanted arguments that the function of this release takes."""
    taken = _parameters(function)
    return {name: value for name, value in wanted.items() if name in taken}


@lru_cache(maxsize=64)
def _parameters(function: Any) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def _register_tiny_model() -> None:
    import torch
    from vllm.model_executor.models.registry import ModelRegistry

    if ARCHITECTURE in ModelRegistry.get_supported_archs():
        return

    class InterlockTinyForCausalLM(torch.nn.Module):
        """Satisfies vLLM's interface of a text generation model; never executed."""

        def __init__(self, vllm_config: Any, prefix: str = "") -> None:
            super().__init__()

        def embed_input_ids(self, input_ids: Any) -> Any:
            raise NotImplementedError

        get_input_embeddings = embed_input_ids  # its name before 0.12

        def forward(self, input_ids: Any, positions: Any) -> Any:
            raise NotImplementedError

        def compute_logits(self, hidden_states: Any) -> Any:
            raise NotImplementedError

    ModelRegistry.register_model(ARCHITECTURE, InterlockTinyForCausalLM)


class Constructor:
    """Builds schedulers of one target and size; the expensive config is built once and shared.

    Each `scheduler()` is fresh: its own pool, its own connector. What is shared is read-only for
    the scheduler: VllmConfig and the structured output manager.
    """

    def __init__(self, target: Target, sizes: Sizes | None = None) -> None:
        self.target = target
        self.sizes = sizes or Sizes()
        self.num_blocks = self.sizes.gpu_blocks + 1
        self.kv_spec = self._kv_spec()
        self.extra = {**self._default_extra(), **target.extra}
        self.vllm_config = self._vllm_config()
        self._structured: Any = None
        self.hasher = self._hasher()

    # -- configs ---------------------------------------------------------------------------------

    def _kv_spec(self) -> Any:
        import torch
        from vllm.v1.kv_cache_interface import FullAttentionSpec

        hidden = json.loads((TINY_MODEL / "config.json").read_text())
        return FullAttentionSpec(
            block_size=self.sizes.block_size,
            num_kv_heads=hidden["num_key_value_heads"],
            head_size=hidden["head_dim"],
            dtype=torch.float32,
        )

    def _default_extra(self) -> dict[str, Any]:
        """Defaults for the known connectors, so that exactly `cpu_chunks` chunks are usable."""
        page = self.kv_spec.page_size_bytes
        rounded = -(-page // PAGE) * PAGE
        chunks, workers = self.sizes.cpu_chunks, self.sizes.workers  # vLLM shares cpu_bytes_to_use out to them
        known: dict[str, dict[str, Any]] = {
            # offload_prompt_only hides stores of decoded blocks (0.23+; ignored before).
            "OffloadingConnector": {"cpu_bytes_to_use": chunks * rounded * workers, "offload_prompt_only": False},
            # Its CPU pool is a BlockPool, whose block 0 is a null block.
            "SimpleCPUOffloadConnector": {"cpu_bytes_to_use": (chunks + 1) * page * workers},
            "InterlockShim": {"num_chunks": chunks},
        }
        # A subclass takes what its parent takes, as it is read by its parent's observer.
        return next((known[name] for name in self._class_names() if name in known), {})

    def _class_names(self) -> list[str]:
        """The connector's class and those that it derives from, by name."""
        if self.target.module_path is None:
            return [self.target.class_name]
        try:
            module = importlib.import_module(self.target.module_path)
        except Exception as error:  # whatever the module raises, the name is what was wrong
            wrong = f"cannot import {self.target.module_path}: {type(error).__name__}: {_first_line(error)}"
            raise ConstructError(f"{wrong} (is its folder on PYTHONPATH?)") from error
        found = getattr(module, self.target.class_name, None)
        if not isinstance(found, type):
            raise ConstructError(f"{self.target.module_path} has no class {self.target.class_name}")
        return [cls.__name__ for cls in found.__mro__]

    def _vllm_config(self) -> Any:
        from vllm.config import (
            CacheConfig,
            DeviceConfig,
            ModelConfig,
            ParallelConfig,
            SchedulerConfig,
            VllmConfig,
        )

        _register_tiny_model()
        sizes = self.sizes
        changed: dict[str, Any] = {}
        if self.target.kind == "ec":
            tiny_images.register()
            changed["architectures"] = [tiny_images.ARCHITECTURE]
        if sizes.workers > 1:
            changed |= {"num_attention_heads": sizes.workers, "num_key_value_heads": sizes.workers}  # one for each
        fields = {f.name for f in dataclasses.fields(SchedulerConfig)}
        scheduler_wanted: dict[str, Any] = {
            "max_num_seqs": sizes.max_num_seqs,
            "max_num_batched_tokens": sizes.max_num_batched_tokens,
            "max_model_len": sizes.max_model_len,
            "enable_chunked_prefill": True,
            "async_scheduling": sizes.depth == 2,
            "watermark": 0.0,
            "is_encoder_decoder": False,
            "long_prefill_token_threshold": sizes.chunk,
        }
        init_only = set(inspect.signature(SchedulerConfig).parameters)
        scheduler_config = SchedulerConfig(**{k: v for k, v in scheduler_wanted.items() if k in fields | init_only})
        cache_config = CacheConfig(block_size=sizes.block_size, enable_prefix_caching=True)
        try:
            vllm_config = VllmConfig(
                model_config=ModelConfig(
                    model=str(TINY_MODEL),
                    skip_tokenizer_init=True,
                    dtype="float32",
                    max_model_len=sizes.max_model_len,
                    enforce_eager=True,
                    **({"hf_overrides": changed} if changed else {}),
                ),
                cache_config=cache_config,
                parallel_config=ParallelConfig(
                    tensor_parallel_size=sizes.workers, distributed_executor_backend="mp" if sizes.workers > 1 else None
                ),
                scheduler_config=scheduler_config,
                device_config=DeviceConfig("cpu"),
                **self._transfer_config(),
            )
        except Exception as error:
            raise ConstructError(f"vLLM refuses the config: {_first_line(error)}") from error
        # The platform may have changed what was asked for; the harness relies on both.
        cache_config.block_size = sizes.block_size
        vllm_config.scheduler_config.async_scheduling = sizes.depth == 2
        cache_config.num_gpu_blocks = self.num_blocks
        if hasattr(cache_config, "kv_cache_layout"):
            cache_config.kv_cache_layout = "LBHNC"  # the engine core sets it (gate-targets, 3)
        if hasattr(cache_config, "hash_block_size"):
            cache_config.hash_block_size = sizes.block_size
        return vllm_config

    def _transfer_config(self) -> dict[str, Any]:
        """The connector, as vLLM's config names it."""
        from vllm.config import KVTransferConfig

        if self.target.kind == "ec":
            from vllm.config import ECTransferConfig

            made = ECTransferConfig(
                ec_connector=self.target.class_name,
                ec_role="ec_consumer",
                ec_connector_module_path=self.target.module_path,
                ec_connector_extra_config=self.extra,
            )
            return {"ec_transfer_config": made}
        config = KVTransferConfig(
            kv_connector=self.target.class_name,
            kv_role=self.target.kv_role,
            kv_connector_module_path=self.target.module_path,
            kv_connector_extra_config=self.extra,
            # /dev/shm files are named after it and survive a crash: never reuse one.
            engine_id=f"interlock-{uuid.uuid4().hex}",
            kv_load_failure_policy=self.target.load_failures,
        )
        return {"kv_transfer_config": config}

    def kv_cache_config(self) -> Any:
        """One full-attention group with one layer."""
        from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheGroupSpec

        names = ["model.layers.0.self_attn.attn"]
        return KVCacheConfig(
            num_blocks=self.num_blocks,
            kv_cache_tensors=[self.kv_cache_tensor(names)],
            kv_cache_groups=[KVCacheGroupSpec(names, self.kv_spec)],
        )

    def kv_cache_tensor(self, layers: list[str]) -> Any:
        """The memory of all blocks, as a page of each of these layers is in it."""
        from vllm.v1.kv_cache_interface import KVCacheTensor

        page = self.kv_spec.page_size_bytes
        return KVCacheTensor(
            **keywords(
                KVCacheTensor,
                size=page * self.num_blocks,
                shared_by=layers,  # up to 0.28
                layers=layers,  # since 0.29, with the strides
                layer_stride=page * self.num_blocks,
                block_stride=page,
                offset=0,
            )
        )

    def _hasher(self) -> Any:
        from vllm.utils.hashing import sha256
        from vllm.v1.core import kv_cache_utils

        kv_cache_utils.init_none_hash(sha256)
        return kv_cache_utils.get_request_block_hasher(self.sizes.block_size, sha256)

    # -- what the harness uses -------------------------------------------------------------------

    def scheduler(self, scheduler_class: Any = None) -> Any:
        """A fresh scheduler, vLLM's or one made from it, with a fresh connector, made by vLLM's own factory."""
        from vllm.v1.core.sched.async_scheduler import AsyncScheduler
        from vllm.v1.core.sched.scheduler import Scheduler
        from vllm.v1.structured_output import StructuredOutputManager

        if self._structured is None:
            self._structured = StructuredOutputManager(self.vllm_config)
        wanted = keywords(
            Scheduler.__init__,
            vllm_config=self.vllm_config,
            kv_cache_config=self.kv_cache_config(),
            structured_output_manager=self._structured,
            block_size=self.sizes.block_size,
            hash_block_size=self.sizes.block_size,
        )
        try:
            scheduler = (scheduler_class or (AsyncScheduler if self.sizes.depth == 2 else Scheduler))(**wanted)
        except Exception as error:
            raise ConstructError(
                f"{self.target.connector} cannot be built with transfer config "
                f"{json.dumps(self.extra)}: {type(error).__name__}: {_first_line(error)}"
            ) from error
        made = scheduler.ec_connector if self.target.kind == "ec" else scheduler.connector
        if made is None:
            raise ConstructError(f"vLLM built no connector for {self.target.connector}")
        return scheduler

    def request(self, request_id: str, prompt: list[int], max_tokens: int, features: Sequence[Feature] = ()) -> Any:
        """A request that stops only by length."""
        from vllm import SamplingParams
        from vllm.v1.request import Request

        return Request(
            **keywords(
                Request.__init__,
                request_id=request_id,
                prompt_token_ids=prompt,
                sampling_params=SamplingParams(max_tokens=max_tokens, ignore_eos=True, temperature=0.0),
                pooling_params=None,
                eos_token_id=None,  # up to 0.18
                block_hasher=self.hasher,
                **({"mm_features": [f.made() for f in features]} if features else {}),
            )
        )


def _first_line(error: BaseException) -> str:
    """The line of an error that says something; of a pydantic error that is not the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    line = lines[1] if "validation error" in lines[0] and len(lines) > 1 else lines[0]
    return line.partition(" [type=")[0].removeprefix("Value error, ")
