"""The example as a Django app: being installed is all it takes for its handlers to be found."""

from __future__ import annotations

from django.apps import AppConfig


class OrdersConfig(AppConfig):
    """The app has no models: the engine keeps the state of every order."""

    name = "examples.orders"
    label = "examples_orders"
    verbose_name = "Example: orders"
