"""What happens when a program with the engine in it starts: handlers are found, and ready work is announced to Celery.

Setting BPM_CELERY_APP names the Celery app that carries wake-ups ("config.celery.app"). Without it nothing is sent from
this program; the sweeps of whoever runs beat find the work.
"""

from __future__ import annotations

from django.conf import settings
from django.utils.module_loading import autodiscover_modules, import_string

from bpm.engine.announcing import Announcement, register


def start_up() -> None:
    """Import `handlers` of every installed app, and register the announcer."""
    autodiscover_modules("handlers")
    if getattr(settings, "BPM_CELERY_APP", None):
        register("celery", tell_celery)


def tell_celery(announcement: Announcement) -> None:
    """Hand over to the sending thread. Celery is loaded by the first announcement, not by every command."""
    # The threads of a server see the default app, not the one that was current where it was made.
    import_string(settings.BPM_CELERY_APP).set_default()
    from bpm.jobs.announcer import SENDER

    SENDER.tell(announcement)
