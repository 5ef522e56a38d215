"""The source text of a model's CUDA kernels: a thread expands one state and visits its successors at once.

Guards, updates and the set of visited states are one kernel, so that nothing but states crosses the
memory of the device: each state is read once, each successor looks once into the hash table, each
new state is written once into the table and once to the next level.
"""

from __future__ import annotations

from interlock.proofs.vectorised import nodes as N
from interlock.proofs.vectorised.kernels import codes_of
from interlock.proofs.vectorised.model import Model
from interlock.proofs.vectorised.nodes import Node
from interlock.proofs.vectorised.scalar import ScalarEmitter
from interlock.proofs.vectorised.successor import Successor
from interlock.proofs.vectorised.visited import EMPTY, MIX, POSITIVE

NEW, TRANSITIONS, ALARMS, OVERFLOW, RESTS = STATISTICS = range(5)
"""Places in the kernels' statistics, u64 [5]; then come the bits of enabled instances and of findings."""
FLAG_BITS = 32
PROBES_MAX = 1 << 16
"""A longer search for a place means that the table is full, which the host must not let happen."""


def flag_words(bits: int) -> int:
    """How many u32 hold so many flags."""
    return max(1, -(-bits // FLAG_BITS))


def source(model: Model, findings: list[tuple[str, Node]]) -> str:
    """The text: kernels ``expand``, ``inspect`` and ``rehash``.

    Args:
        findings: what ``inspect`` looks for in new states; it sets one flag each.
    """
    return "\n".join([_prelude(model), _expand(model), _inspect(model, findings), _REHASH])


def _parameters(model: Model, text: str) -> str:
    """``text`` for every word, as in ``const i64* in@``."""
    return ", ".join(text.replace("@", str(w)) for w in range(model.packing.words))


def _prelude(model: Model) -> str:
    words = _parameters(model, "i64 w@")
    appended = " ".join(f"out{w}[at] = w{w};" for w in range(model.packing.words))
    if model.packing.words == 1:
        key = "return w0;"
    else:
        steps = [f"u64 h = (u64)w0 * {_u64(MIX[0])} + 1;"]
        steps += [
            f"h = (h ^ (u64)((i64)h >> 31 & 0x1FFFFFFFFLL)) * {_u64(MIX[1])} + (u64)w{w};"
            for w in range(1, model.packing.words)
        ]
        steps += [f"h = (h ^ (u64)((i64)h >> 32 & 0xFFFFFFFFLL)) * {_u64(m)};" for m in MIX[2:]]
        steps.append(f"return (i64)((h ^ (u64)((i64)h >> 29 & 0x7FFFFFFFFLL)) & 0x{POSITIVE:x}ULL);")
        key = "\n    ".join(steps)
    return f"""
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;

#ifndef LANE
#define LANE(lane) asm("mov.u32 %0, %%laneid;" : "=r"(lane))
#endif

struct Sink {{
    i64* table;
    int shift;
    u64 last;
    u64* stats;
    {" ".join(f"i64* out{w};" for w in range(model.packing.words))}
}};

__device__ __forceinline__ i64 key_of({words}) {{
    {key}
}}

__device__ __forceinline__ u64 home_of(i64 key, int shift, u64 last) {{
    return (u64)((i64)((u64)(key ^ (key >> 32)) * {_u64(MIX[0])}) >> shift) & last;
}}

/* True once for each key: for the thread that puts it into the table. */
__device__ __forceinline__ bool put(i64* table, int shift, u64 last, i64 key, u64* stats) {{
    u64 at = home_of(key, shift, last);
    for (int probe = 0; probe < {PROBES_MAX}; ++probe) {{
        const i64 here = __ldcg(table + at);
        if (here == key) return false;
        if (here == {EMPTY}) {{
            const i64 old = (i64)atomicCAS((u64*)(table + at), (u64){EMPTY}LL, (u64)key);
            if (old == {EMPTY}) return true;
            if (old == key) return false;
        }}
        at = (at + 1) & last;
    }}
    stats[{OVERFLOW}] = 1;
    return false;
}}

__device__ __noinline__ void visit(const Sink& sink, {words}) {{
    if (!put(sink.table, sink.shift, sink.last, key_of({_parameters(model, "w@")}), sink.stats)) return;
    /* One atomic for all threads of the warp that come here together. */
    const u32 active = __activemask();
    u32 lane;
    LANE(lane);
    const int leader = __ffs(active) - 1;
    u64 at = 0;
    if ((int)lane == leader) at = atomicAdd(sink.stats + {NEW}, (u64)__popc(active));
    at = __shfl_sync(active, at, leader) + __popc(active & ((1u << lane) - 1u));
    {" ".join(f"i64* out{w} = sink.out{w};" for w in range(model.packing.words))}
    {appended}
}}
"""


def _expand(model: Model) -> str:
    g = model.lowering.graph
    alarm = g.or_(a.condition for a in model.alarms)
    at_rest = g.or_(model.at_rest.values())
    moves = model.moves or {}
    live = live_instances(model)
    codes = {s.number: codes_of(model, s) for s in live}
    roots = [n for s in live for n in (s.enabled, *(node for _, node in codes[s.number]))]
    emitter = ScalarEmitter(model.packing, [*roots, *moves.values(), alarm, at_rest], "        ")
    if model.moves is not None:
        emitter.line("bool moved = false;")
    order = {s.number: k for k, s in enumerate(live)}
    for s in model.successors:
        if s.number in moves:
            emitter.line(f"moved |= {emitter.take(moves[s.number])};")
            emitter.give(moves[s.number])
        if s.number in order:
            _instance(model, s, order[s.number], emitter)
    wrong = emitter.take(alarm)
    if model.moves is not None:
        emitter.line("resting += !moved;")
        wrong = f"{wrong} | !moved & {emitter.take(at_rest)}"
    if alarm is not g.false or at_rest is not g.false:
        emitter.line(f"if ({wrong}) alarms[atomicAdd(stats + {ALARMS}, 1ULL)] = i;")
    flags = flag_words(len(live))
    return f"""
extern "C" __global__ void __launch_bounds__(256) expand(
    {_parameters(model, "const i64* in@")}, i64 count, {_parameters(model, "i64* out@")},
    i64* table, int shift, u64 last, u64* stats, u32* enabled, i64* alarms) {{
    __shared__ u64 taken_by_block, resting_by_block;
    if (threadIdx.x == 0) taken_by_block = resting_by_block = 0;
    __syncthreads();
    Sink sink;
    sink.table = table; sink.shift = shift; sink.last = last; sink.stats = stats;
    {" ".join(f"sink.out{w} = out{w};" for w in range(model.packing.words))}
    u64 taken = 0, resting = 0;
    u32 {", ".join(f"e{k} = 0" for k in range(flags))};
    for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < count; i += (i64)gridDim.x * blockDim.x) {{
        {" ".join(f"const i64 w{w} = in{w}[i];" for w in range(model.packing.words))}
{chr(10).join(emitter.lines)}
    }}
    {_raise_flags("enabled", flags)}
    atomicAdd(&taken_by_block, taken);
    if (resting) atomicAdd(&resting_by_block, resting);
    __syncthreads();
    if (threadIdx.x == 0 && taken_by_block) atomicAdd(stats + {TRANSITIONS}, taken_by_block);
    if (threadIdx.x == 0 && resting_by_block) atomicAdd(stats + {RESTS}, resting_by_block);
}}
"""


def live_instances(model: Model) -> list[Successor]:
    """The instances that can be enabled; the flags of ``expand`` count them."""
    return [s for s in model.successors if s.enabled is not model.lowering.graph.false]


def _instance(model: Model, s: Successor, order: int, emitter: ScalarEmitter) -> None:
    """One instance: where it is enabled, its new words, and the visit."""
    codes = codes_of(model, s)
    varying = [node for _, node in codes if node.op != N.CONST]
    guard = emitter.take(s.enabled)
    emitter.give(s.enabled)
    emitter.prepare(varying)
    emitter.line(f"if ({guard}) {{")
    emitter.indent("    ")
    emitter.line(f"++taken; e{order // FLAG_BITS} |= 1u << {order % FLAG_BITS};")
    if s.changes:
        new: list[str] = []
        for word in range(model.packing.words):
            mask = sum(place.mask for place, _ in codes if place.word == word)
            parts = [f"(w{word} & {~mask}LL)" if mask else f"w{word}"]
            constant = 0
            for place, node in codes:
                if place.word != word:
                    continue
                if node.constant is not None:
                    constant |= node.constant << place.shift
                else:
                    parts.append(f"((i64){emitter.take(node)} << {place.shift})")
            if constant:
                parts.append(f"{constant}LL")
            new.append(" | ".join(parts))
        emitter.line(f"visit(sink, {', '.join(new)});")
        emitter.give(*varying)
    emitter.indent("")
    emitter.line("}")


def _inspect(model: Model, findings: list[tuple[str, Node]]) -> str:
    emitter = ScalarEmitter(model.packing, [node for _, node in findings], "        ")
    for order, (_, node) in enumerate(findings):
        if node is model.lowering.graph.false:
            continue
        emitter.line(f"if ({emitter.take(node)}) f{order // FLAG_BITS} |= 1u << {order % FLAG_BITS};")
        emitter.give(node)
    flags = flag_words(len(findings))
    return f"""
extern "C" __global__ void __launch_bounds__(256) inspect(
    {_parameters(model, "const i64* in@")}, const u64* stats, u32* found) {{
    const i64 count = (i64)stats[{NEW}];
    u32 {", ".join(f"f{k} = 0" for k in range(flags))};
    for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < count; i += (i64)gridDim.x * blockDim.x) {{
        {" ".join(f"const i64 w{w} = in{w}[i];" for w in range(model.packing.words))}
{chr(10).join(emitter.lines)}
    }}
    {_raise_flags("found", flags, "f")}
}}
"""


def _raise_flags(array: str, count: int, name: str = "e") -> str:
    """Flags into global memory; after the first few threads there is nothing new to write."""
    return "\n    ".join(
        f"if ({name}{k} & ~*(volatile u32*)({array} + {k})) atomicOr({array} + {k}, {name}{k});" for k in range(count)
    )


def _u64(value: int) -> str:
    return f"0x{value & ((1 << 64) - 1):x}ULL"


_REHASH = f"""
extern "C" __global__ void rehash(
    const i64* old, i64 size, i64* table, int shift, u64 last, u64* stats) {{
    for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < size; i += (i64)gridDim.x * blockDim.x) {{
        const i64 key = old[i];
        if (key != {EMPTY}) put(table, shift, last, key, stats);
    }}
}}
"""
