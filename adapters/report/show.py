"""The report of `interlock show`, as tables or as Markdown."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from interlock.adapters.documents.show import ShowDocument, ShownRule, ShownVerdict
from interlock.adapters.report.console import stack, table

Section = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
"""A title, the names of the columns, and the rows."""


RECORDS = frozenset({"action", "id", "values", "rule", "row", "failure"})
"""First columns of sections whose cells are sentences and commands: as a table they need a very wide terminal."""


def render(document: ShowDocument) -> RenderableType:
    """Each section as a table, or, where its cells are sentences, as one record after the other."""
    parts: list[RenderableType] = []
    for title, columns, rows in _sections(document):
        parts.append(Text(title, style="bold"))
        if columns[0] in RECORDS:
            parts += [_record(columns, row) for row in rows]
        else:
            shown = table(*columns)
            for row in rows:
                shown.add_row(*row)
            parts.append(shown)
        parts.append(Text())
    return stack(*parts)


def _record(columns: tuple[str, ...], row: tuple[str, ...]) -> RenderableType:
    """The first cell as a head, the others below it; commands are whole, and on one line, however long."""
    lines: list[RenderableType] = [Text(), Text(" ".join(row[0].split("\n")), style="bold")]
    for column, cell in zip(columns[1:], row[1:], strict=True):
        for number, line in enumerate(cell.split("\n") if cell else ()):
            said = line if number else f"{column}: {line}"
            indent = 4 if number else 2
            if line.startswith("interlock "):
                # Not padded: padding cuts at the terminal's edge what is not to be broken.
                lines.append(Text(" " * indent + said, no_wrap=True, overflow="ignore"))
            else:
                lines.append(Padding(Text(said), (0, 0, 0, indent), expand=False))
    return Group(*lines)


def markdown(document: ShowDocument) -> str:
    """Each section as a Markdown table."""
    lines: list[str] = []
    for title, columns, rows in _sections(document):
        lines += [f"## {title}", "", _row(columns), _row(("---",) * len(columns)), *map(_row, rows), ""]
    return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    # A formula's own bar would end the cell.
    return "| " + " | ".join(cell.replace("|", r"\|").replace("\n", "<br>") for cell in cells) + " |"


def _sections(document: ShowDocument) -> Iterator[Section]:
    for lifecycle in document.lifecycles or ():
        yield (
            f"{lifecycle.module}, {lifecycle.name}: {', '.join(lifecycle.states)} (starts {lifecycle.initial})",
            ("from", "event", "guard", "to", "effects", "source"),
            [
                (row.source_state, row.event, row.guard, row.target_state, "; ".join(row.effects), row.source)
                for row in lifecycle.rows
            ],
        )
    if document.derived_states:
        yield (
            "States that relations say, beside those of the tables: one entity may be in several",
            ("of what", "state", "module", "if", "means", "source"),
            [
                (f"{d.entity} {', '.join(d.of)}", d.state, d.module, d.formula, d.doc, d.source)
                for d in document.derived_states
            ],
        )
    if document.actions is not None:
        yield (
            "Actions",
            (
                *("action", "module", "parameters", "site", "fairness", "what happens"),
                *("needs", "fires", "receives", "changes", "sends", "source"),
            ),
            [
                (
                    a.name if a.event == a.name else f"{a.name}\n(event {a.event})",
                    a.module,
                    ", ".join(f"{name}: {sort}" for name, sort in a.parameters.items()),
                    ", ".join([a.site, *(["hidden"] if not a.observed else []), *(["a fault"] if a.fault else [])]),
                    f"{a.fairness}: {a.fairness_why}" if a.fairness_why else a.fairness,
                    a.doc,
                    "\n".join(
                        f"{name}{' (policy)' if name in a.policy else ''}: {term}" for name, term in a.needs.items()
                    ),
                    *("\n".join(texts) for texts in (a.fires, a.receives, a.changes, a.sends)),
                    a.source,
                )
                for a in document.actions
            ],
        )
    if document.invariants is not None:
        yield (
            "Properties",
            ("id", "module", "kind", "slices", "says", "source"),
            [
                (
                    p.id,
                    p.module,
                    f"{p.kind}, proved for any size" if p.proved else p.kind,
                    ", ".join(p.slices),
                    p.doc,
                    p.source,
                )
                for p in document.invariants
            ],
        )
    if document.switches is not None:
        yield (
            "Switches",
            ("switch", "module", "values", "presets", "meaning"),
            [
                (s.name, s.module, ", ".join(s.values), ", ".join(f"{k}={v}" for k, v in s.presets.items()), s.doc)
                for s in document.switches
            ],
        )
    if document.verdicts is not None:
        yield "Verdicts", ("values", "fails", "holds"), list(_verdicts(document.verdicts))
    if document.presets is not None:
        yield (
            "Presets",
            ("preset", "module", "switches that differ", "is"),
            [
                (p.name, p.module, "\n".join(f"{k}={v}" for k, v in p.differs.items()) or "none", p.doc)
                for p in document.presets
            ],
        )
    if document.slices is not None:
        yield (
            "Slices",
            ("slice", "module", "scope", "actions", "properties", "explored by", "is about"),
            [
                (
                    s.name,
                    s.module,
                    ", ".join(f"{k}={v}" for k, v in s.scope.items()),
                    str(len(s.actions)),
                    str(len(s.properties)),
                    "check --quick" if s.quick else "check" if s.default else "its name only",
                    s.doc,
                )
                for s in document.slices
            ],
        )
    if document.rules is not None:
        yield (
            "Rules" if document.rules else "Rules: nothing in this module checks one",
            ("rule", "says", "standing", "checked by", "source"),
            [
                (
                    r.id,
                    r.text,
                    ", ".join(r.standing),
                    "\n".join(_checked(r)),
                    r.source,
                )
                for r in document.rules
            ],
        )
    if document.rows_outside:
        yield (
            "Rows of the study of released code that the specification leaves out",
            ("row", "says", "why", "source"),
            [(row.id, row.text, row.why, row.source) for row in document.rows_outside],
        )
    yield from _failures(document)


def _verdicts(verdicts: list[ShownVerdict]) -> Iterator[tuple[str, ...]]:
    """What fails under the same values of the switches, each with its command, and what holds."""
    together: dict[str, list[ShownVerdict]] = {}
    for v in verdicts:
        values = ", ".join(f"{name}={value}" for name, value in v.values.items())
        preset = f"preset {v.preset}" if v.preset != "interlock" or not values else ""
        together.setdefault(f"{v.module}: {', '.join(x for x in (preset, values) if x)}", []).append(v)
    for head, rows in together.items():
        said = [(v, f"{v.property} in {v.slice}: {v.why}") for v in rows]
        yield (
            head,
            "\n".join(f"{text}\n{v.setting}" for v, text in said if v.verdict == "fails"),
            "\n".join(text for v, text in said if v.verdict == "holds"),
        )


def _checked(rule: ShownRule) -> Iterator[str]:
    yield from rule.checked_by
    if rule.outside:
        yield f"{'not checked' if rule.checked_by else 'out of scope'}: {rule.outside}"


def _failures(document: ShowDocument) -> Iterator[Section]:
    if document.failures is None or document.failure_counts is None:
        return
    n = document.failure_counts
    yield (
        f"Public failures: {n.core_demonstrated} of {n.core} core ones demonstrated, "
        f"{n.disaggregated_demonstrated} of {n.disaggregated} of disaggregated prefill and decode",
        ("failure", "what happened", "must hold", "found by", "in these steps"),
        [
            (
                f"{f.id}\n{f.reference}",
                f.title,
                f.invariant,
                "\n".join(d.setting for d in f.demonstrations) or f"not shown: {f.lacks}",
                "\n".join(d.story for d in f.demonstrations),
            )
            for f in document.failures
        ],
    )
