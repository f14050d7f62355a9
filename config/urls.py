"""Addresses of the ready-made site."""

from __future__ import annotations

from django.templatetags.static import static
from django.urls import include, path
from django.views.generic import RedirectView

from cockpit.site import site

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="cockpit:index")),
    path("favicon.ico", RedirectView.as_view(url=static("cockpit/icon.svg"))),
    path("", include("bpm.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("cockpit/", site.urls),
]
