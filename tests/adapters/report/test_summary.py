"""The table at the end of `make check` never turns something else into a pass."""

import pytest
from support import documents

from interlock.adapters.documents.write import to_json
from interlock.adapters.report.summary import main


@pytest.fixture
def written(tmp_path):
    def write(**verdicts: str) -> list[str]:
        paths = []
        for name, verdict in verdicts.items():
            path = tmp_path / f"{name}.json"
            paths.append(str(path))
            if verdict != "absent":
                document = getattr(documents, name)().model_copy(update={"verdict": verdict})
                path.write_text(to_json(document))
        return paths

    return write


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ({"check": "holds", "prove": "proved", "gate": "clean"}, 0),
        ({"check": "holds", "prove": "inconclusive", "gate": "clean"}, 3),
        ({"check": "holds", "prove": "inconclusive", "gate": "absent"}, 2),
        ({"check": "violated", "prove": "inconclusive", "gate": "absent"}, 1),
        ({"check": "holds", "prove": "proved", "gate": "findings"}, 1),
        ({"check": "absent", "prove": "absent", "gate": "absent"}, 2),
    ],
)
def test_exits_with_the_worst(written, verdicts, code):
    assert main(written(**verdicts)) == code


def test_half_a_document_is_no_document(tmp_path, capsys):
    path = tmp_path / "check.json"
    path.write_text(to_json(documents.check())[:200])

    assert main([str(path)]) == 2
    assert "wrote no document" in capsys.readouterr().out


def test_shows_what_verdicts_stand_on(written, capsys):
    main(written(check="holds", prove="proved", gate="clean"))
    out = capsys.readouterr().out

    assert "12,345 states" in out
    assert "11 of 12 obligations" in out
    assert "10 scenarios" in out
    assert "3.8" in out  # three times 1.25 s
