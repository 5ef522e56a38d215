"""The report of `interlock explain`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.explain import ExplainDocument
from interlock.adapters.report.console import block, conclusion, stack


def render(document: ExplainDocument) -> RenderableType:
    """What could happen before the step, why the rest could not, what changed."""
    changes = [f"{change.variable}: {change.before} -> {change.after}" for change in document.changed]
    why_not = [f"{disabled.action}: {', '.join(disabled.false_conjuncts)}" for disabled in document.disabled]
    return stack(
        block(f"Enabled before step {document.step}:", document.enabled or ["nothing"]),
        block("Not enabled, because these conjuncts are false:", why_not) if why_not else None,
        block("Changed by it:", changes or ["nothing"]),
        Text(),
        conclusion(document),
    )
