"""The report of `interlock bisect`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.bisect import BisectDocument, Carried
from interlock.adapters.report.console import block, conclusion, stack, table, word


def render(document: BisectDocument) -> RenderableType:
    """The releases, then each finding with those that carry it, and the conclusion."""
    releases = table("release", "verdict", "scenarios", "seconds", "", numbers=frozenset({"scenarios", "seconds"}))
    for r in document.releases:
        why = ", ".join(r.found) or ("" if r.verdict == "clean" else r.reason)
        releases.add_row(r.vllm, word(r.verdict), f"{r.scenarios:,}", f"{r.seconds:.1f}", why)
    tried = [r.vllm for r in document.releases]
    return stack(
        Text(f"{document.connector}, profile {document.profile}, seed {document.seed}"),
        Text(),
        releases if tried else None,
        *(_finding(f, tried) for f in document.findings),
        Text(),
        conclusion(document),
    )


def _finding(finding: Carried, tried: list[str]) -> RenderableType:
    facts = [f"in {', '.join(runs(finding.releases, tried))}", finding.summary]
    facts += [f"rule: {finding.rule}"] if finding.rule else []
    return block(f"{finding.id} ({finding.side})", [*facts, f"again: {finding.repro}"])


def runs(some: list[str], of: list[str]) -> list[str]:
    """Runs of neighbours, for a person.

    >>> runs(["b", "c", "e"], ["a", "b", "c", "d", "e"])
    ['b to c', 'e']
    """
    found: list[list[str]] = []
    for name in some:
        if found and of.index(name) == of.index(found[-1][-1]) + 1:
            found[-1].append(name)
        else:
            found.append([name])
    return [run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in found]
