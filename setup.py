"""Finds the packages of the four rooms; everything else is in pyproject.toml.

The rooms are top-level folders (`spec/`) but import as `interlock.spec`, and setuptools'
automatic discovery cannot put a prefix before what it finds. Listing the subpackages by hand
would work until someone forgets one, and then only a wheel would miss it.
"""

from setuptools import find_packages, setup

ROOMS = ("spec", "statemachine", "proofs", "adapters")

setup(
    packages=[
        package
        for room in ROOMS
        for package in (
            f"interlock.{room}",
            *(f"interlock.{room}.{child}" for child in find_packages(room)),
        )
    ],
)
