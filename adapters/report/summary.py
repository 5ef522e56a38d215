"""The table at the end of `make check`: what each verb said, from the documents that they wrote.

    python -m interlock.adapters.report.summary build/check/check.json build/check/prove.json …

Exits with the worst of the documents' exit codes: 1 over 2 over 3 over 0. A document that is not
there, because its verb ended with a usage or environment error, counts as 2: never as a pass.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError
from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.base import Document, ExitCode
from interlock.adapters.documents.check import CheckDocument
from interlock.adapters.documents.gate import GateDocument
from interlock.adapters.documents.prove import ProveDocument
from interlock.adapters.report.console import as_text, stack, table, word
from interlock.statemachine.plural import counted

KINDS: dict[str, type[Document]] = {"check": CheckDocument, "prove": ProveDocument, "gate": GateDocument}
"""The document that each file holds, by the name of the file without its suffix."""

WORST_FIRST = (ExitCode.FOUND, ExitCode.USAGE, ExitCode.INCONCLUSIVE, ExitCode.HOLDS)


def main(paths: Sequence[str]) -> int:
    """Print the table; returns the worst exit code."""
    documents = {path: read(path) for path in map(Path, paths)}
    sys.stdout.write(as_text(render(documents)))
    codes = {ExitCode.USAGE if document is None else document.exit_code for document in documents.values()}
    return next(code for code in WORST_FIRST if code in codes or code is ExitCode.HOLDS)


def read(path: Path) -> Document | None:
    """The document in a file; None where there is none, or none that can be read."""
    try:
        return KINDS[path.stem].model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def render(documents: dict[Path, Document | None]) -> RenderableType:
    """One line per document, and the total of the seconds."""
    rows = table("", "verdict", "what was done", "seconds", numbers=frozenset({"seconds"}))
    for path, document in documents.items():
        if document is None:
            rows.add_row(path.stem, word("failed"), f"wrote no document at {path}", "")
        else:
            rows.add_row(path.stem, word(document.verdict), done(document), f"{document.seconds:.1f}")
    total = sum(document.seconds for document in documents.values() if document is not None)
    rows.add_row("total", "", "", f"{total:.1f}")
    return stack(Text(), rows)


def done(document: Document) -> str:
    """The numbers that say how much a verdict stands on."""
    match document:
        case CheckDocument():
            properties = {(run.module, name) for run in document.runs for name in run.properties}
            return (
                f"{counted(len(document.runs), 'run')}, {counted(document.states, 'state')},"
                f" {counted(document.transitions, 'transition')},"
                f" {counted(len(properties), 'property', 'properties')}"
            )
        case ProveDocument():
            any_size = sum(outcome.status == "proved" and outcome.any_size for outcome in document.properties.values())
            return (
                f"{document.proved} of {document.obligations} obligations,"
                f" {any_size} of {len(document.properties)} properties for any size"
            )
        case GateDocument():
            return (
                f"{document.connector}: {counted(document.scenarios, 'scenario')},"
                f" {counted(document.steps, 'step')}, {counted(len(document.findings), 'finding')},"
                f" {counted(len(document.never_exercised), 'rule')} never exercised"
            )
        case _:
            return document.reason


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
