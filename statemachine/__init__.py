"""WHAT RUNS: compiled tables, ledger, trace schema, ConnectorPort."""
