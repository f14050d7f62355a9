"""The example as a Django app: being installed is all it takes for its handlers to be found."""

from __future__ import annotations

from django.apps import AppConfig


class InvoiceConfig(AppConfig):
    """The app has no models: the engine keeps the state of every invoice."""

    name = "examples.invoice"
    label = "examples_invoice"
    verbose_name = "Example: invoice"
