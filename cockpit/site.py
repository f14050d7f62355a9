"""The cockpit's admin site: our pages and verbs beside the read-only tables, under one login."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.forms import AuthenticationForm as PlainAuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import Resolver404, URLPattern, URLResolver, path, resolve, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from unfold.forms import AuthenticationForm
from unfold.sites import UnfoldAdminSite

from bpm.queries.paging import tag_of
from cockpit import access, actions, diagrams, pages, throttle

type View = Callable[..., Any]


class Login(AuthenticationForm):
    """Whoever has an account may log in; what they may see is asked afterwards."""

    def confirm_login_allowed(self, user: Any) -> None:
        """Past the admin's own form, which asks for is_staff."""
        PlainAuthenticationForm.confirm_login_allowed(self, user)

    def clean(self) -> dict[str, Any]:
        """Whoever tried too many wrong passwords waits, whatever the next one is."""
        name = self.cleaned_data.get("username") or ""
        if self.request is None:
            return super().clean()
        if throttle.must_wait(self.request, name):
            raise ValidationError(_("Too many wrong passwords. Try again in a few minutes."), code="throttled")
        try:
            found = super().clean()
        except ValidationError:
            throttle.note_failure(self.request, name)
            raise
        if self.get_user() is not None:  # a form without a password comes here, too
            throttle.forget(self.request, name)
        return found


class CockpitSite(UnfoldAdminSite):
    """Mounted as `path("cockpit/", cockpit.site.site.urls)`; addresses are named `cockpit:...`."""

    site_title = "Tokentrail"
    index_title = _("Overview")
    login_form = Login
    login_template = "cockpit/login.html"
    site_url = None

    def has_permission(self, request: HttpRequest) -> bool:
        """Operators and auditors; not everybody who happens to be staff."""
        return access.may_see(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Where the form names no page to go to it is the overview, not the project's own default."""
        wanted = request.POST.get(REDIRECT_FIELD_NAME, request.GET.get(REDIRECT_FIELD_NAME, ""))
        if request.method == "POST" and not _is_page(request, wanted):
            posted = request.POST.copy()
            posted[REDIRECT_FIELD_NAME] = reverse("admin:index", current_app=self.name)
            request.POST = posted  # type: ignore[assignment]
        return super().login(request, extra_context)

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """A part of a page that is asked for after the session has ended leads the whole page to the login: the form
        itself, in the place of a list that is asked for again every few seconds, would be of no use.
        """
        shown = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *arguments: Any, **named: Any) -> Any:
            if request.headers.get("HX-Request") and not self.has_permission(request):
                here = urlsplit(request.headers.get("HX-Current-URL", ""))
                back = urlencode({REDIRECT_FIELD_NAME: urlunsplit(("", "", here.path, here.query, ""))})
                login = reverse("admin:login", current_app=self.name)
                return HttpResponse(headers={"HX-Redirect": f"{login}?{back}"})
            return shown(request, *arguments, **named)

        return guarded

    def extra_urls(self) -> list[URLResolver | URLPattern]:
        """Pages, verbs and diagrams. Django's own addresses of the admin follow after them."""
        routes = [*pages.ROUTES, *actions.ROUTES, *diagrams.ROUTES]
        return [path(route, self.admin_view(self._framed(view)), name=name) for route, name, view in routes]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Made where something looks into it: each page is given it, but the sidebar shows entries of our own."""
        return SimpleLazyObject(lambda: super(CockpitSite, self).get_app_list(request, app_label))

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """The overview takes the place of the admin's list of apps."""
        return self._framed(pages.overview.page)(request)

    def _framed(self, view: View) -> View:
        """Turn what a page says into a response."""

        def framed(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
            request.current_app = self.name
            shown = view(request, **arguments)
            if isinstance(shown, HttpResponseBase):
                return shown
            may_operate = access.may_operate(request)
            if shown.fragment and shown.tag and shown.tag == request.GET.get("known"):
                return HttpResponse(status=204)
            context = {**shown.said(), "title": shown.title, "may_operate": may_operate, "tag": shown.tag}
            if shown.fragment:
                return _unless_known(request, TemplateResponse(request, shown.template, context).render(), shown.tag)
            return TemplateResponse(request, shown.template, {**self.each_context(request), **context})

        return framed


def _is_page(request: HttpRequest, address: str) -> bool:
    """Whether one can go there after the login: on this site, and no verb, whose session had run out."""
    if not url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure()):
        return False
    try:
        return resolve(urlsplit(address).path).url_name not in {name for _route, name, _view in actions.ROUTES}
    except Resolver404:
        return False


def _unless_known(request: HttpRequest, response: HttpResponse, tag: str) -> HttpResponse:
    """204 where the page shows this very fragment already (it sends the tag along): htmx then leaves it alone."""
    tag = tag or tag_of(response.content)
    if request.GET.get("known") == tag:
        return HttpResponse(status=204)
    response["X-Fragment"] = tag
    return response


site = CockpitSite(name="cockpit")
