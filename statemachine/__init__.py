"""WHAT RUNS: compiled tables, ledger, trace schema, ConnectorPort.

Machines for an engine: ``machine.KVOffloadScheduler`` (its calls: ``port``), ``encoder.EncoderCacheScheduler``
(``encoder.port``) and ``recovery.LoadRecovery``. docs/embedding.md calls the first two, in order.
"""
