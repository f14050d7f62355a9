"""What the verbs say no with. Every one carries a code that programs read and a sentence that people read; nothing has
changed when one is raised."""

from __future__ import annotations

from collections.abc import Sequence

from bpm.compiler import Diagnostic


class EngineError(Exception):
    """Something the engine was asked for and does not do. `code` is stable, `message` says why."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class NotFound(EngineError):
    """There is no such thing."""

    code = "not_found"


class Invalid(EngineError):
    """The arguments make no sense."""

    code = "invalid"


class InvalidVariables(Invalid):
    """The variables are not JSON values, or too large."""

    code = "invalid_variables"


class EvaluationFailed(EngineError):
    """The decision cannot be evaluated with these variables."""

    code = "evaluation_failed"


class DeployRefused(EngineError):
    """The files cannot be run. `diagnostics` holds everything that was found in all of them, errors first."""

    code = "deploy_refused"

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        errors = [found for found in diagnostics if found.severity == "error"]
        super().__init__("\n".join(str(found) for found in errors))
        self.diagnostics = tuple(sorted(diagnostics, key=lambda found: found.severity != "error"))
