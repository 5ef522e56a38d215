"""The report of `interlock gate`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.gate import Finding, GateDocument, GateModule
from interlock.adapters.report.console import block, conclusion, stack, table, word
from interlock.statemachine.plural import counted


def render(document: GateDocument) -> RenderableType:
    """What ran, the rules that were judged, the findings, what was not exercised, the conclusion."""
    engine = f"vLLM {document.vllm}" if document.vllm else "embedded engine"
    head = Text(
        f"{document.connector} on {engine}, profile {document.profile}, seed {document.seed}:"
        f" {counted(document.scenarios, 'scenario')}, {counted(document.steps, 'step')}"
    )
    sections = [m for m in document.modules if len(document.modules) > 1]
    alone = [m for m in document.modules if m.exercised and not sections]
    unmodelled = [f"{kind}: {count:,}" for kind, count in document.not_expressible.items()]
    return stack(
        head,
        *(_module(m) for m in sections),
        *(_exercised(m) for m in alone),
        _rules(document.rules) if document.rules and not sections else None,
        *(_finding(finding) for finding in document.findings),
        block("Never exercised:", document.never_exercised) if document.never_exercised else None,
        block("Events of kinds that are not modelled:", unmodelled) if unmodelled else None,
        Text(),
        conclusion(document),
    )


def _module(module: GateModule) -> RenderableType:
    played = f"{counted(module.scenarios, 'scenario')}, {counted(module.steps, 'step')}"
    return stack(
        Text(),
        Text.assemble((f"Module {module.module}", "bold"), f": {module.tests}, {played}: ", word(module.verdict)),
        _exercised(module) if module.exercised else None,
        _rules(module.rules) if module.rules else None,
    )


def _exercised(module: GateModule) -> RenderableType:
    """What its scenarios have exercised, so that a clean module is seen not to have been idle."""
    kinds = table("exercised", "scenarios", "share", numbers=frozenset({"scenarios", "share"}))
    for kind, count in module.exercised.items():
        kinds.add_row(kind, f"{count:,}", f"{count / max(module.scenarios, 1):.0%}")
    return kinds


def _rules(judged: dict[str, int]) -> RenderableType:
    rules = table("rule", "judged", numbers=frozenset({"judged"}))
    for rule, count in judged.items():
        rules.add_row(rule, f"{count:,}")
    return rules


def _finding(finding: Finding) -> RenderableType:
    where = f"{finding.file}:{finding.line}" if finding.file and finding.line else finding.file
    facts = {
        "rule": finding.rule,
        "at": where,
        "trace": finding.trace,
        "again": finding.repro,
    }
    lines = [finding.summary, *(f"{name}: {value}" for name, value in facts.items() if value)]
    if finding.scenario:
        lines += ["scenario:", *(f"  {line}" for line in finding.scenario)]
    if finding.told:
        lines += ["seen at the boundary:", *(f"  {line}" for line in finding.told)]
    return block(f"{finding.id} ({finding.side}): {finding.property} in {counted(finding.steps, 'step')}", lines)
