"""The KV cache groups of a vLLM model, as our machine knows them. Imports vLLM, so only the shim loads it."""

from __future__ import annotations

from typing import Any

from vllm.v1 import kv_cache_interface as kv

from interlock.statemachine.errors import UnsupportedGroups
from interlock.statemachine.lookup import ChunkedLocal, FullAttention, LookupGroup, Mamba, SlidingWindow

_NOT_A_PREFIX = ("RSWASpec", "CircularBufferSpec", "SinkFullAttentionSpec", "HiddenStateCacheSpec")
"""Kinds of attention, derived from full attention in some releases, whose blocks are not those of a prefix."""


def groups_of(vllm_config: Any, kv_cache_config: Any) -> tuple[int, tuple[LookupGroup, ...]]:
    """Tokens to one hash of a request, and the groups.

    Raises:
        UnsupportedGroups: a group is of a kind whose blocks cannot be found by what they hold.
    """
    block_size = vllm_config.cache_config.block_size
    if kv_cache_config is None:  # releases that do not tell a connector
        return block_size, (FullAttention(block_size),)
    specs = [group.kv_cache_spec for group in kv_cache_config.kv_cache_groups]
    if len(specs) == 1:
        return block_size, (_kind(specs[0], block_size),)
    if vllm_config.parallel_config.decode_context_parallel_size > 1:
        raise UnsupportedGroups(
            "decode context parallelism with several KV cache groups is not run",
            "set it to 1, or leave our machine out",
        )
    hash_tokens = _hash_tokens(vllm_config, kv_cache_config)
    kinds = tuple(_kind(spec, spec.block_size) for spec in specs)
    for spec in specs:
        if isinstance(spec, kv.MambaSpec) and spec.block_size != hash_tokens:
            raise UnsupportedGroups(
                f"Mamba blocks of {spec.block_size} tokens with hashes of {hash_tokens} are shared in part, and copied "
                f"where no connector is told",
                f"set prefix_match_unit={spec.block_size}",
            )
    return hash_tokens, kinds


def _hash_tokens(vllm_config: Any, kv_cache_config: Any) -> int:
    try:
        from vllm.v1.core.kv_cache_utils import resolve_kv_cache_block_sizes
    except ImportError:  # up to 0.19, where there is one size for all
        return int(vllm_config.cache_config.block_size)
    _, hash_tokens = resolve_kv_cache_block_sizes(kv_cache_config, vllm_config)
    return int(hash_tokens)


def _kind(spec: Any, block_size: int) -> LookupGroup:
    if isinstance(spec, kv.UniformTypeKVCacheSpecs):
        spec = next(iter(spec.kv_cache_specs.values()))
    name = type(spec).__name__
    match spec:
        case _ if any(cls.__name__ in _NOT_A_PREFIX for cls in type(spec).__mro__):
            pass
        case kv.SlidingWindowSpec():
            # vLLM counts the token itself; what it keeps beyond the window, a hit brings back.
            return SlidingWindow(block_size, spec.sliding_window - 1 + getattr(spec, "extra_retained_tokens", 0))
        case kv.ChunkedLocalAttentionSpec():
            return ChunkedLocal(block_size, spec.attention_chunk_size)
        case kv.FullAttentionSpec():
            return FullAttention(block_size)
        case kv.MambaSpec():
            if spec.mamba_cache_mode == "none":
                raise UnsupportedGroups("a Mamba group keeps no state but the last", "set mamba_cache_mode=align")
            if spec.num_speculative_blocks or getattr(spec, "num_prefill_checkpoint_blocks", 0):
                raise UnsupportedGroups(
                    "Mamba blocks of speculative tokens, or of checkpoints, change their place", "leave those out"
                )
            return Mamba(block_size)
        case _:
            pass
    raise UnsupportedGroups(f"a KV cache group of {name} is not run", "leave our machine out for such a model")
