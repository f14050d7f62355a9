"""The shop's pages, its own admin, and Tokentrail's API and cockpit."""

from django.contrib import admin
from django.urls import include, path

from cockpit.site import site as cockpit_site
from orders import views

urlpatterns = [
    path("", views.orders, name="orders"),
    path("orders/<str:reference>/", views.order, name="order"),
    path("admin/", admin.site.urls),
    path("", include("bpm.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("cockpit/", cockpit_site.urls),
]
