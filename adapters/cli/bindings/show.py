"""`interlock show` and `interlock.spec`: declarations as rows of text."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import digest, modules, named
from interlock.adapters.documents.show import (
    FailureCounts,
    Lifecycle,
    Row,
    ShowDocument,
    ShownAction,
    ShownDemonstration,
    ShownFailure,
    ShownPreset,
    ShownProperty,
    ShownRow,
    ShownRule,
    ShownSlice,
    ShownState,
    ShownSwitch,
    ShownVerdict,
)
from interlock.spec.language.actions import Update
from interlock.spec.language.properties import Invariant, LeadsTo, Property, Quiescence
from interlock.spec.language.render import render as term_text
from interlock.spec.language.settings import Demonstration, Expectation
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE, Term, Var


@dataclass(slots=True)
class ShowBinding:
    """Shows parts of the specification."""

    parts: list[str]
    form: str
    module: str | None
    session: Session

    def run(self) -> ShowDocument:
        """Read the specification; no engine is needed."""
        self.session.spec_digest = digest()
        specs = self._modules()
        failures = _failures(specs) if "failures" in self.parts else None
        if failures is not None and self.module is not None:
            failures = [f for f in failures if f.demonstrations]
        return ShowDocument(
            **self.session.common(),
            verdict="shown",
            reason=f"{', '.join(self.parts)} of {', '.join(m.name for m in specs)}",
            lifecycles=[x for m in specs for x in _lifecycles(m)] if "lifecycles" in self.parts else None,
            derived_states=_derived(specs) if "lifecycles" in self.parts else None,
            actions=[x for m in specs for x in _actions(m)] if "actions" in self.parts else None,
            invariants=[_property(m, p) for m in specs for p in m.properties] if "invariants" in self.parts else None,
            switches=[x for m in specs for x in _switches(m)] if "switches" in self.parts else None,
            verdicts=[x for m in specs for x in _verdicts(m)] if "verdicts" in self.parts else None,
            presets=[x for m in specs for x in _presets(m)] if "presets" in self.parts else None,
            slices=[x for m in specs for x in _slices(m)] if "slices" in self.parts else None,
            rules=_rules(None if self.module is None else specs) if "rules" in self.parts else None,
            rows_outside=_rows_outside() if "rules" in self.parts and self.module is None else None,
            failures=failures,
            failure_counts=None if failures is None else _counts(failures),
        )

    def _modules(self) -> list[Specification]:
        return list(modules()) if self.module is None else [named(self.module)]

    def partial(self, reason: str) -> ShowDocument:
        """Nothing is shown before the end."""
        return ShowDocument(**self.session.common(), verdict="inconclusive", reason=reason)

    def render(self, document: ShowDocument) -> RenderableType:
        """Tables, Markdown, or diagrams."""
        if self.form == "mermaid":
            from interlock.adapters.report.mermaid import mermaid

            specs = {m.name: m for m in self._modules()}
            return "\n".join(mermaid(specs[shown.module], shown.name) for shown in document.lifecycles or ())
        from interlock.adapters.report import show

        return show.markdown(document) if self.form == "markdown" else show.render(document)


def _lifecycles(spec: Specification) -> list[Lifecycle]:
    return [
        Lifecycle(
            module=spec.name,
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


def _derived(specs: list[Specification]) -> list[ShownState]:
    """The states that relations say, of the modules that are shown."""
    from interlock.spec.rules.derived import DERIVED

    return [
        ShownState(
            module=d.module,
            entity=d.entity,
            of={v.name: v.sort for v in d.of},
            state=d.state,
            formula=term_text(d.formula),
            doc=d.doc,
            source=d.source,
        )
        for d in DERIVED
        if any(d.module == m.name for m in specs)
    ]


def _rows_outside() -> list[ShownRow]:
    from interlock.spec.rules.studied import OUTSIDE

    return [ShownRow(**row.model_dump()) for row in OUTSIDE]


def _update(update: Update) -> str:
    return _of_many(update.symbol, update.args, update.over, update.when, f" := {term_text(update.value)}")


def _of_many(name: str, args: Sequence[Term], over: Sequence[Var], when: Term = TRUE, rest: str = "") -> str:
    """``name(args)`` and the rest, for all ``over`` that satisfy ``when``."""
    text = f"{name}({', '.join(map(term_text, args))}){rest}" if args else f"{name}{rest}"
    if over:
        text += f" for all {', '.join(f'{v.name}: {v.sort}' for v in over)}"
    return text if when == TRUE else f"{text} where {term_text(when)}"


def _actions(spec: Specification) -> list[ShownAction]:
    return [
        ShownAction(
            module=spec.name,
            name=a.name,
            event=a.event,
            parameters={p.name: p.sort for p in a.params},
            site=a.site.value,
            observed=a.observed,
            fault=a.fault,
            fairness=a.fairness.value,
            fairness_why=a.fairness_why,
            needs={c.id: term_text(c.term) for c in a.guard},
            policy=[c.id for c in a.guard if c.policy],
            fires=[_of_many(f.lifecycle, f.entity, f.over, f.when) for f in a.fires],
            receives=[_of_many(r.channel, r.args, r.over) for r in a.receives],
            changes=[_update(u) for u in a.updates],
            sends=[_of_many(s.channel, s.args, s.over, s.when) for s in a.sends],
            source=a.source,
            doc=a.doc,
        )
        for a in spec.actions
    ]


def _property(spec: Specification, declared: Property) -> ShownProperty:
    match declared:
        case LeadsTo():
            formula = f"{term_text(declared.premise)} leads to {term_text(declared.conclusion)}"
        case Quiescence():
            formula = f"where no fair action can change anything: {term_text(declared.formula)}"
        case _:
            formula = term_text(declared.formula)
    return ShownProperty(
        module=spec.name,
        id=declared.id,
        kind=declared.kind,
        aliases=list(declared.aliases),
        slices=list(declared.slices),
        formula=formula,
        doc=declared.doc,
        source=declared.source,
        proved=isinstance(declared, Invariant) and declared.proved,
        only_in_slices=declared.only_in_slices,
    )


def _switches(spec: Specification) -> list[ShownSwitch]:
    return [
        ShownSwitch(
            module=spec.name,
            name=switch.name,
            values=list(switch.values),
            doc=switch.doc,
            presets={preset.name: preset.values[switch.name] for preset in spec.presets},
        )
        for switch in spec.switches
    ]


def _presets(spec: Specification) -> list[ShownPreset]:
    usual = spec.presets[0].values
    return [
        ShownPreset(
            module=spec.name,
            name=p.name,
            differs={switch: value for switch, value in p.values.items() if value != usual[switch]},
            doc=p.doc,
        )
        for p in spec.presets
    ]


def _slices(spec: Specification) -> list[ShownSlice]:
    return [
        ShownSlice(
            module=spec.name,
            name=s.name,
            scope=s.scope,
            actions=[a.name for a in spec.actions if a.name not in s.remove],
            properties=[p.id for p in spec.properties if s.name in p.slices],
            default=s.default,
            quick=s.quick,
            doc=s.doc,
        )
        for s in spec.slices
    ]


def _rules(specs: list[Specification] | None) -> list[ShownRule]:
    """All rules; of some modules only, those that something in them checks, with what does."""
    from interlock.spec.rules import RULES

    names = None if specs is None else {m.name for m in specs}
    own = {name for m in specs or () for name in m.properties_by_name()}
    rules = [
        ShownRule(
            id=r.id,
            topic=r.topic,
            text=r.text,
            source=r.source,
            standing=list(r.standing),
            checked_by=[
                *(p for p in r.properties if names is None or p in own),
                *(str(g) for g in r.guards if names is None or g.module in names),
            ],
            outside=r.outside,
        )
        for r in RULES
    ]
    return rules if names is None else [r for r in rules if r.checked_by]


def _failures(specs: list[Specification]) -> list[ShownFailure]:
    from interlock.spec.failures import FAILURES

    shown: dict[str, list[ShownDemonstration]] = {}
    for m in specs:
        for d in m.demonstrations:
            shown.setdefault(d.failure, []).append(
                ShownDemonstration(
                    module=m.name, slice=d.slice, property=d.property, setting=_setting(d), story=d.story
                )
            )
    return [
        ShownFailure(
            **f.model_dump(exclude={"lacks", "tags"}),
            tags=list(f.tags),
            demonstrations=shown.get(f.id, []),
            lacks="" if f.id in shown else f.lacks,
        )
        for f in FAILURES
    ]


def _verdicts(spec: Specification) -> list[ShownVerdict]:
    return [
        ShownVerdict(
            module=spec.name,
            preset=e.preset,
            values=e.set,
            slice=e.slice,
            property=e.property,
            verdict=e.verdict,
            why=e.why,
            setting=_setting(e),
        )
        for e in spec.expectations
    ]


def _setting(d: Demonstration | Expectation) -> str:
    parts = [f"--set {name}={value}" for name, value in d.set.items()]
    if d.preset != "interlock":
        parts.insert(0, f"--preset {d.preset}")
    if d.scope:
        parts.append(f"--scope {','.join(f'{sort}={size}' for sort, size in d.scope.items())}")
    if isinstance(d, Demonstration) and d.change:
        parts.append(f"--change {d.change}")
    return " ".join([f"interlock check --slice {d.slice} --property {d.property}", *parts])


def _counts(failures: list[ShownFailure]) -> FailureCounts:
    core = [f for f in failures if f.model == "yes" and "pd" not in f.tags]
    apart = [f for f in failures if "pd" in f.tags]
    return FailureCounts(
        core=len(core),
        core_demonstrated=sum(bool(f.demonstrations) for f in core),
        disaggregated=len(apart),
        disaggregated_demonstrated=sum(bool(f.demonstrations) for f in apart),
    )
