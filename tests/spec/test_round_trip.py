"""A specification is data: its JSON says all of it."""

import pytest

from interlock.spec.language.specification import Specification
from interlock.spec.modules import modules


@pytest.mark.parametrize("spec", modules(), ids=lambda spec: spec.name)
def test_json_reads_back_as_the_same_specification(spec: Specification) -> None:
    read = Specification.model_validate_json(spec.model_dump_json())

    assert read == spec
    assert read.digest == spec.digest


def test_a_change_is_seen_in_the_json_and_in_the_digest() -> None:
    spec = modules()[0]
    changed = spec.model_copy(update={"actions": spec.actions[1:]})

    assert Specification.model_validate_json(changed.model_dump_json()) == changed != spec
    assert changed.digest != spec.digest
