"""A trace as a test: a file that pytest collects, with the trace in it and the verdict that it has now."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

TEST = '''"""{title}

Written by `interlock replay --pytest`. The trace below has to be judged as it was then: {reason}
"""

from interlock.proofs.replay import run_replay_as_written
from interlock.spec.modules import named

TRACE = r"""
{trace}
"""


def test_{name}(tmp_path):
    trace = tmp_path / "{file}"
    trace.write_text(TRACE.lstrip(), encoding="utf-8")

    result = run_replay_as_written(trace, spec=named("{module}"))

    assert result.verdict == "{verdict}", result.reason
    assert {{v.property for v in result.violations}} == {violations}
    assert result.longest_prefix == {longest_prefix}
'''


def to_pytest(
    trace: Path, module: str, *, verdict: str, reason: str, violations: Collection[str], longest_prefix: int
) -> str:
    """The text of the file.

    Args:
        module: whose behaviours the trace is judged by.
        verdict, reason, violations, longest_prefix: what replay says of it.
    """
    name = re.sub(r"\W+", "_", trace.name.removesuffix(".jsonl")).strip("_").lower() or "trace"
    broken = f"{{{', '.join(repr(p) for p in sorted(set(violations)))}}}" if violations else "set()"
    return TEST.format(
        title=f"The trace {trace.name}.",
        reason=reason.rstrip(".") + ".",
        trace=trace.read_text(encoding="utf-8").strip(),
        name=name,
        file=f"{name}.jsonl",
        module=module,
        verdict=verdict,
        violations=broken.replace("'", '"'),
        longest_prefix=longest_prefix,
    )
