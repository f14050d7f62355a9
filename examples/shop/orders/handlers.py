"""What the delivery process asks of the shop. Found because the app is installed; run by `celery -A shop worker`.

A handler may run more than once for one task (a worker was killed, a lock ran out), so each does its part only where it
has not been done.
"""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from bpm import BpmnError, TaskContext, external_task
from orders.models import Order, Product

# Nobody pays more than this with our make-believe bank.
LIMIT = 5_000


@external_task("shop.charge")
def charge(task: TaskContext) -> dict[str, str]:
    """Take the money. What the bank refuses is an error that the process catches."""
    if task.variables["amount"] > LIMIT:
        raise BpmnError("PAYMENT_REFUSED", f"the bank pays at most {LIMIT}")
    Order.objects.filter(reference=task.business_key, paid_at=None).update(paid_at=timezone.now())
    return {"payment": f"payment-{task.business_key}"}


@external_task("shop.ship")
def ship(task: TaskContext) -> dict[str, str]:
    """Hand the parcel to the carrier."""
    Order.objects.filter(reference=task.business_key, shipped_at=None).update(shipped_at=timezone.now())
    return {"parcel": f"parcel-{task.business_key}"}


@external_task("shop.take-back")
def take_back(task: TaskContext) -> None:
    """Put the goods back on the shelf: once, however often this runs."""
    with transaction.atomic():
        order = Order.objects.select_for_update().get(reference=task.business_key)
        if order.taken_back_at is None:
            order.taken_back_at = timezone.now()
            order.save(update_fields=["taken_back_at"])
            Product.objects.filter(pk=order.product_id).update(stock=F("stock") + order.quantity)
