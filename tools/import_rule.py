"""The import-linter contract `may_import`: a room imports what its row lists, and nothing else.

import-linter's own `forbidden` contract names what must not be imported, so it is silent about a
dependency that nobody thought of. This one is the other way round::

    [[tool.importlinter.contracts]]
    name = "spec imports nothing but pydantic"
    type = "may_import"
    room = "interlock.spec"
    may_import = ["pydantic"]

The standard library and the room itself are always allowed. Imports under `TYPE_CHECKING` count:
a type that comes from another room is still a dependency on it.
"""

import sys
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class MayImport(Contract):  # type: ignore[misc]
    """Every import out of `room` goes to the standard library or into `may_import`."""

    room = fields.StringField()
    may_import = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Collect the imports that no entry of the room's list covers."""
        allowed = (self.room, *self.may_import)
        broken: list[dict[str, Any]] = []
        for importer in sorted(graph.modules):
            if not is_within(importer, self.room):
                continue
            for imported in sorted(graph.find_modules_directly_imported_by(importer)):
                if imported.partition(".")[0] in sys.stdlib_module_names:
                    continue
                if any(is_within(imported, prefix) for prefix in allowed):
                    continue
                broken.extend(
                    graph.get_import_details(importer=importer, imported=imported)
                    or [{"importer": importer, "imported": imported, "line_number": 0}]
                )
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print one line per import: who, where, what, and what would be right."""
        for detail in check.metadata["broken"]:
            output.print_error(
                f"{detail['importer']}:{detail['line_number']} imports {detail['imported']}",
                bold=True,
            )
        output.print_error(f"{self.room} may import: {', '.join(self.may_import)}")


def is_within(module: str, package: str) -> bool:
    """Whether `module` is `package` or lies in it."""
    return module == package or module.startswith(f"{package}.")
