"""The BPMN diagram in the browser, with tokens and incidents drawn on it."""
