"""Schedulers of models with other KV cache groups than one of full attention, which are given as data.

A group is ``[kind, block size, window]``: ``full``, ``window`` (a token sees so many, itself included), ``local``
(chunked local attention over stretches of so many tokens) or ``mamba``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm
from typing import Any

from interlock.adapters.vllm.construct import ConstructError, Constructor, Sizes, Target

GroupSpec = Sequence[Any]
CONFIG_KEY = "kv_cache_groups"
"""Where a job has them, in the config of its connector."""


class HybridConstructor(Constructor):
    """As its base class.

    Args:
        groups: of the model.
        caching: whether the GPU's prefix cache is on. Without, all that a request finds the connector has found.
    """

    def __init__(self, target: Target, sizes: Sizes, groups: Sequence[GroupSpec], *, caching: bool = True) -> None:
        unknown = [kind for kind, *_ in groups if kind not in ("full", "window", "local", "mamba")]
        if unknown or not groups:
            raise ConstructError(f"{CONFIG_KEY} has {unknown or 'nothing'}: a group is full, window, local or mamba")
        self.groups, self._caching = groups, caching
        self.hash_tokens = gcd(*(size for _, size, _ in groups))
        self.alignment = lcm(*(size for _, size, _ in groups))
        super().__init__(target, sizes)
        self.vllm_config.cache_config.enable_prefix_caching = caching
        if any(kind == "mamba" for kind, _, _ in groups):
            self.vllm_config.cache_config.mamba_cache_mode = "align"

    def _kv_spec(self) -> Any:
        """Of the group with the largest page: a block has as much memory, whichever group has it."""
        return max((_spec(*group) for group in self.groups), key=lambda spec: spec.page_size_bytes)

    def kv_cache_config(self) -> Any:
        """A layer to each group; a block is of one group at a time, so all are at the same place in memory."""
        from vllm.v1 import kv_cache_interface as kv

        layers = [[f"layer.{n}"] for n in range(len(self.groups))]
        made = [kv.KVCacheGroupSpec(names, _spec(*group)) for names, group in zip(layers, self.groups, strict=True)]
        tensors = [self.kv_cache_tensor(names) for names in layers]
        return kv.KVCacheConfig(num_blocks=self.num_blocks, kv_cache_tensors=tensors, kv_cache_groups=made)

    def scheduler(self, scheduler_class: Any = None) -> Any:
        """See the base class."""
        from vllm.v1.core.sched.scheduler import Scheduler
        from vllm.v1.structured_output import StructuredOutputManager

        return (scheduler_class or Scheduler)(
            vllm_config=self.vllm_config,
            kv_cache_config=self.kv_cache_config(),
            structured_output_manager=StructuredOutputManager(self.vllm_config),
            block_size=self.alignment,
            hash_block_size=self.hash_tokens,
        )


def _spec(kind: str, size: int, window: int) -> Any:
    import torch
    from vllm.v1 import kv_cache_interface as kv

    heads = {"num_kv_heads": 1, "head_size": 8, "dtype": torch.float32}
    match kind:
        case "full":
            return kv.FullAttentionSpec(block_size=size, **heads)
        case "window":
            return kv.SlidingWindowSpec(block_size=size, sliding_window=window, **heads)
        case "local":
            return kv.ChunkedLocalAttentionSpec(block_size=size, attention_chunk_size=window, **heads)
        case _:
            state = {"shapes": ((4, size),), "dtypes": (torch.float32,)}
            return kv.MambaSpec(block_size=size, mamba_cache_mode="align", **state)
