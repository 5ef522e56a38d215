"""What docs/embedding.md shows is what the machines do."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "embedding.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(code):
    lines = []
    test = doctest.DocTestParser().get_doctest(code, {}, "docs/embedding.md", None, 0)
    doctest.DocTestRunner().run(test, out=lines.append)
    return "".join(lines)


def test_all_code_of_the_page_is_run():
    code = [line for block in BLOCKS for line in block.splitlines() if line.startswith((">>> ", "... "))]

    assert PAGE.count("```") == 2 * len(BLOCKS)
    assert len(re.findall(r"^(?:>>>|\.\.\.) ", PAGE, re.MULTILINE)) == len(code)
    assert len(code) <= 60


def test_it_shows_what_the_machines_answer():
    assert run("\n".join(BLOCKS)) == ""


@pytest.mark.parametrize(
    ("call", "what_fails"),
    [
        ("kv.on_new_request(b)", "UnknownRequest"),
        ("kv.update_state_after_alloc(b, [4, 5, 6], 0)", "NotLetIn: build_connector_meta: request 'B'"),
        ("kv.update_connector_output(ConnectorOutput(completed={1: 1}))", "Expected:\n    False\nGot:\n    True"),
        ("ec.update_state_after_alloc(c, 0)", "NameError"),
    ],
)
def test_a_call_that_is_left_out_is_missed(call, what_fails):
    lines = "\n".join(BLOCKS).splitlines(keepends=True)
    others = [line for line in lines if not line.startswith(f">>> {call}")]
    assert len(lines) == len(others) + 1

    assert what_fails in run("".join(others))
