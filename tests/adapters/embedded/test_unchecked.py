"""Without guards checked, as in production, the machine does the same: it chooses so that they hold."""

import pytest
from hypothesis import HealthCheck, given, settings
from support.scenarios import scenarios, sizes

from interlock.adapters.embedded import run
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.errors import UnsupportedSwitch
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.unsupported import refuse_what_is_not_run


def is_run(switches):
    try:
        refuse_what_is_not_run(switches)
    except UnsupportedSwitch:
        return False
    return True


SWITCHES = [{s.name: value} for s in SPECIFICATION.switches for value in s.values if is_run({s.name: value})]


@pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: "-".join((*s, *s.values())))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenario=scenarios(), sizes=sizes())
def test_a_machine_that_checks_no_guard_does_what_one_does_that_checks_all(switches, scenario, sizes):
    def played(checking):
        machine = KVOffloadScheduler(
            block_size=sizes.block_size,
            num_chunks=sizes.num_chunks,
            num_workers=sizes.num_workers,
            switches=SPECIFICATION.switch_values(changes=switches),
            checking=checking,
        )
        return run(scenario, switches, sizes, connector=machine, drain=True)

    checked, unchecked = played(True), played(False)
    assert unchecked == checked
