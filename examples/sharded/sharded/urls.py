"""The cockpit and the API of one shard."""

from django.urls import include, path

from cockpit.site import site as cockpit_site

urlpatterns = [
    path("", include("bpm.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("cockpit/", cockpit_site.urls),
]
