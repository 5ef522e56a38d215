"""WHERE it meets the world: command line, documents, reports, gate, engines, vLLM."""
