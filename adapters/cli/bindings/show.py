"""`interlock show` and `interlock.spec`: declarations as rows of text."""

from dataclasses import dataclass

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import specification
from interlock.adapters.documents.show import Lifecycle, Row, ShowDocument, ShownProperty, ShownSwitch
from interlock.spec.language.actions import Update
from interlock.spec.language.properties import LeadsTo, Property
from interlock.spec.language.render import render as term_text
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE


@dataclass(slots=True)
class ShowBinding:
    """Shows parts of the specification."""

    parts: list[str]
    form: str
    session: Session

    def run(self) -> ShowDocument:
        """Read the specification; no engine is needed."""
        spec = specification()
        self.session.spec_digest = spec.digest
        return ShowDocument(
            **self.session.common(),
            verdict="shown",
            reason=f"{', '.join(self.parts)} of specification {spec.name}",
            lifecycles=_lifecycles(spec) if "lifecycles" in self.parts else None,
            invariants=[_property(p) for p in spec.properties] if "invariants" in self.parts else None,
            switches=_switches(spec) if "switches" in self.parts else None,
        )

    def partial(self, reason: str) -> ShowDocument:
        """Nothing is shown before the end."""
        return ShowDocument(**self.session.common(), verdict="inconclusive", reason=reason)

    def render(self, document: ShowDocument) -> RenderableType:
        """Tables, Markdown, or diagrams drawn by the `transitions` reference."""
        if self.form == "mermaid":
            from interlock.proofs.reference import mermaid

            return "\n".join(mermaid(specification(), shown.name) for shown in document.lifecycles or ())
        from interlock.adapters.report import show

        return show.markdown(document) if self.form == "markdown" else show.render(document)


def _lifecycles(spec: Specification) -> list[Lifecycle]:
    return [
        Lifecycle(
            name=lifecycle.name,
            states=list(spec.enum(spec.variable(lifecycle.variable).result).members),
            initial=lifecycle.initial,
            rows=[
                Row.model_validate(
                    {
                        "from": row.source_state,
                        "event": row.event,
                        "guard": term_text(row.guard),
                        "to": row.target_state,
                        "effects": [_update(effect) for effect in row.effects],
                        "source": row.source,
                    }
                )
                for row in lifecycle.rows
            ],
        )
        for lifecycle in spec.lifecycles
    ]


def _update(update: Update) -> str:
    arguments = ", ".join(term_text(argument) for argument in update.args)
    text = f"{update.symbol}({arguments}) := {term_text(update.value)}"
    if update.over:
        text += f" for all {', '.join(f'{v.name}: {v.sort}' for v in update.over)}"
    return text if update.when == TRUE else f"{text} where {term_text(update.when)}"


def _property(declared: Property) -> ShownProperty:
    match declared:
        case LeadsTo():
            formula = f"{term_text(declared.premise)} leads to {term_text(declared.conclusion)}"
        case _:
            formula = term_text(declared.formula)
    return ShownProperty(
        id=declared.id,
        kind=declared.kind,
        aliases=list(declared.aliases),
        slices=list(declared.slices),
        formula=formula,
        doc=declared.doc,
        source=declared.source,
    )


def _switches(spec: Specification) -> list[ShownSwitch]:
    return [
        ShownSwitch(
            name=switch.name,
            values=list(switch.values),
            doc=switch.doc,
            presets={preset.name: preset.values[switch.name] for preset in spec.presets},
        )
        for switch in spec.switches
    ]
