"""Write variables of an instance."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bpm.engine import operators
from cockpit.access import actor_of
from cockpit.actions.answering import Refused, done, reason_in, variables_in, verb


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST variables (a JSON object), reason."""
    variables = variables_in(request)
    if not variables:
        raise Refused(_("There is no variable to set."))
    operators.set_variables(id, variables, actor=actor_of(request), reason=reason_in(request))
    number = len(variables)
    said = ngettext("%(number)d variable is set.", "%(number)d variables are set.", number) % {"number": number}
    return done(request, said)
