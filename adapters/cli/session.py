"""One invocation of a verb: when it began, what was typed, and where its document goes."""

import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.cli.progress import ProgressView
from interlock.adapters.documents.base import Document

D = TypeVar("D", bound=Document)


@dataclass(slots=True)
class Session:
    """What every document of this invocation has in common.

    Args:
        argv: what was typed after `interlock`.
        json: where the document goes; None for nowhere.
        files: every other file that is read or written, by its option or argument; none may be another.
    """

    argv: list[str]
    json: Path | None
    files: Mapping[str, Path | None] = field(default_factory=dict)
    spec_digest: str = "unknown"
    """Set by the binding as soon as it has read the specification."""
    started: float = field(default_factory=time.monotonic)
    progress: ProgressView = field(init=False)

    def __post_init__(self) -> None:
        self.progress = ProgressView(self.argv[0])
        if self.json is not None:
            require_place_for(self.json, "--json")
        require_different({**self.files, "--json": self.json})

    @property
    def seconds(self) -> float:
        """Wall-clock time since the start, in seconds, to the millisecond."""
        return round(time.monotonic() - self.started, 3)

    def common(self) -> dict[str, Any]:
        """The fields of every document that no engine knows."""
        return {
            "interlock": version("interlock"),
            "spec_digest": self.spec_digest,
            "command": shlex.join(["interlock", *self.argv]),
            "seconds": self.seconds,
        }

    def document(self, kind: type[D], result: object) -> D:
        """The verb's document from an engine's result, whose fields have the document's names.

        Fields that the result lacks take the document's defaults, or fail validation here.
        """
        common = self.common()
        own = {
            name: getattr(result, name)
            for name in kind.model_fields
            if name not in common and name != "schema_" and hasattr(result, name)
        }
        return kind(**common, **own)


def require_different(files: Mapping[str, Path | None]) -> None:
    """Refuse one file for two purposes: one of them would overwrite the other.

    What is no regular file (/dev/null, /dev/stdout, a pipe) may serve for several.
    """
    seen: list[tuple[str, Path]] = []
    for option, path in files.items():
        if path is None or (path.exists() and not path.is_file()):
            continue
        for other, before in seen:
            # By its place, and by what is there: names can differ in case, or be links to one file.
            if before.resolve() == path.resolve() or (before.exists() and path.exists() and before.samefile(path)):
                raise UsageProblem(f"{other} and {option} are one file, {path}", "name two files")
        seen.append((option, path))


def require_place_for(path: Path, option: str) -> None:
    """Refuse now a file that could not be written in ten minutes' time."""
    if path.is_dir():
        raise UsageProblem(f"{option} {path} is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise UsageProblem(f"{option} {path}: there is no folder {path.parent}", "make it first")
