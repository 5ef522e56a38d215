"""The import-linter contract keeps what is allowed and breaks, with its place, on what is not."""

import sys

import grimp
import pytest
from import_rule import MayImport

FILES = {
    "room/__init__.py": "import json\n",
    "room/inner.py": "import room\nfrom typing import TYPE_CHECKING\nimport pydantic\n",
    "room/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n",
    "room/lazy.py": "def f():\n    import vllm.v1.core\n",
    "roommate/__init__.py": "import vllm\n",
}


@pytest.fixture
def graph(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield grimp.build_graph("room", "roommate", include_external_packages=True, cache_dir=None)
    for name in ("room", "roommate"):
        sys.modules.pop(name, None)


def check(graph, *may_import):
    contract = MayImport(
        name="test",
        session_options={},
        contract_options={"room": "room", "may_import": list(may_import)},
    )
    result = contract.check(graph, verbose=False)
    return result.kept, [(d["importer"], d["imported"], d["line_number"]) for d in result.metadata["broken"]]


def test_keeps_what_is_listed(graph):
    assert check(graph, "pydantic", "torch", "vllm") == (True, [])


def test_names_the_place_of_what_is_not_lazy_and_typing_imports_included(graph):
    assert check(graph, "pydantic") == (False, [("room.lazy", "vllm", 2), ("room.typed", "torch", 3)])


def test_a_name_that_only_begins_alike_is_not_covered(graph):
    kept, broken = check(graph, "pydantic", "torch", "vll")

    assert not kept
    assert broken == [("room.lazy", "vllm", 2)]
