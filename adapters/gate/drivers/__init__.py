"""What plays scenarios: our embedded engine, or a child process with a real vLLM scheduler."""
