"""Placing an order: the order and the instance that delivers it are there together, or neither is."""

import secrets

from django.db import IntegrityError, transaction
from django.db.models import F

from bpm import engine
from orders.models import Order, Product


class SoldOut(Exception):
    """There is not enough on the shelf; nothing was ordered and nothing has started."""


def place_order(customer: str, product: Product, quantity: int) -> Order:
    """Save the order and start its process in one transaction. Raises SoldOut."""
    order = Order(reference=secrets.token_hex(4), customer=customer, product=product, quantity=quantity)
    try:
        with transaction.atomic():
            started = engine.start(
                "delivery",
                business_key=order.reference,
                variables={"customer": customer, "amount": order.amount},
                actor=customer,
            )
            order.instance = started.thread_id
            order.save()
            # Last, since others wait for this row. Is there too little, its CHECK refuses, and all of it never was.
            Product.objects.filter(pk=product.pk).update(stock=F("stock") - quantity)
    except IntegrityError:
        raise SoldOut(f"there are no {quantity} of {product} left") from None
    return order
