"""A mistake in the Python of the specification, such as `and` for `&`: the line to mend, without a traceback."""

import traceback
from pathlib import Path

import interlock.spec
from interlock.adapters.cli.problems import UsageProblem
from interlock.spec.language.errors import SpecificationError

SPEC = Path(interlock.spec.__path__[0]).resolve()


def mistake_in_specification(error: Exception) -> UsageProblem | None:
    """The problem with a line of the specification that cannot be imported, or None if the error is another.

    What fails while a module of `spec/` is being imported was written wrongly there, and the last
    line outside the language is where.
    """
    if isinstance(error, SpecificationError):
        return None  # it names its place and its fix itself
    frames = [(Path(f.filename).resolve(), f) for f in traceback.extract_tb(error.__traceback__)]
    written = [(path.relative_to(SPEC), f) for path, f in frames if path.is_relative_to(SPEC)]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).resolve().is_relative_to(SPEC):
        place, line = Path(error.filename).resolve().relative_to(SPEC), error.lineno
    elif any(f.name == "<module>" for _, f in written):
        place, line = [(path, f.lineno) for path, f in written if path.parts[0] != "language"][-1]
    else:
        return None
    what = error.msg if isinstance(error, SyntaxError) else str(error)
    return UsageProblem(f"spec/{place}:{line}: {type(error).__name__}: {what}", "mend that line")
