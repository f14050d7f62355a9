"""Who may do what in the cockpit: seeing needs the right to view instances, the verbs need the right to operate, those
of auditors (exports, verifying) the right to audit."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

SEE = "bpm.view_processinstance"
OPERATE = "bpm.operate"
AUDIT = "bpm.audit"


def may_see(request: HttpRequest) -> bool:
    """Whether the person may look at pages."""
    return bool(request.user.is_active and request.user.has_perm(SEE))


def may_operate(request: HttpRequest) -> bool:
    """Whether the person may use the verbs."""
    return bool(request.user.is_active and request.user.has_perm(OPERATE))


def may_audit(request: HttpRequest) -> bool:
    """Whether the person may export history and verify its seals."""
    return bool(request.user.is_active and request.user.has_perm(AUDIT))


def actor_of(request: HttpRequest) -> str:
    """Who history says it was."""
    return request.user.get_username()


def operators_only[**P, R](view: Callable[P, R]) -> Callable[P, R]:
    """The view answers operators only. Raises PermissionDenied for others."""
    return _only(may_operate, view)


def auditors_only[**P, R](view: Callable[P, R]) -> Callable[P, R]:
    """The view answers those who may audit only. Raises PermissionDenied for others."""
    return _only(may_audit, view)


def _only[**P, R](may: Callable[[HttpRequest], bool], view: Callable[P, R]) -> Callable[P, R]:
    @wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> R:
        if not may(args[0]):
            raise PermissionDenied
        return view(*args, **kwargs)

    return guarded
