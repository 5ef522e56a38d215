"""Connectors that are broken on purpose, one file each; `table.py` lists them."""
