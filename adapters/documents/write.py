"""Files that are whole or not there: written beside their place, then renamed into it."""

import json
import os
import tempfile
from pathlib import Path

from interlock.adapters.documents.base import Document


def to_json(document: Document) -> str:
    """The document as indented JSON with a newline at the end; keys in the order of the model."""
    return document.model_dump_json(by_alias=True, indent=2) + "\n"


def schema_json(kind: type[Document]) -> str:
    """The JSON schema of a verb's documents, as indented JSON."""
    return json.dumps(kind.model_json_schema(by_alias=True, mode="serialization"), indent=2) + "\n"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace the file at `path` by a text or by bytes, so that no reader ever sees half of it.

    A link is followed, and what is not a regular file (/dev/stdout, a pipe) is written to, as a
    shell's `>` does. An existing file keeps its permissions.

    Raises:
        OSError: it cannot be written; `path` is then as it was.
    """
    written = content.encode() if isinstance(content, str) else content
    if path.is_relative_to("/dev") or (path.exists() and not path.is_file()):
        path.write_bytes(written)
        return
    path = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _umask() -> int:
    # There is no way to read it but to set it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
