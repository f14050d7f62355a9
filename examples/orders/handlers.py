"""What the service tasks of `order.bpmn` do. The shop around it is make-believe; how handlers are written is not.

A handler gets a frozen TaskContext, works outside of any transaction, and returns the variables it brings back. It may
run more than once for one task (a killed worker, a lost lock), so it asks the outside world in a way that can be
repeated: here the business key of the order is the key of every booking.

Try it with other cards: "declined" takes the error path; "flaky" fails once and then works; "unreachable" fails until
the retries are used up, and works when an operator lets it be tried again.
"""

from __future__ import annotations

from typing import Any

from bpm import BpmnError, TaskContext, TaskFailure, external_task

# What lies on the shelves.
ON_STOCK = 10

# How often the payment gateway does not answer before it does, by card.
TIMEOUTS = {"flaky": 1, "unreachable": 3}


@external_task("orders.check-stock")
def check_stock(task: TaskContext) -> dict[str, Any]:
    """Whether what was ordered is there; a delivery of the supplier counts."""
    there = ON_STOCK + task.variables.get("delivered", 0)
    return {"in_stock": there >= task.variables.get("quantity", 1)}


@external_task("orders.order-from-supplier")
def order_from_supplier(task: TaskContext) -> dict[str, Any]:
    """The supplier brings a crate at a time, so the loop may go round more than once."""
    return {"delivered": task.variables.get("delivered", 0) + 10}


@external_task("payments.charge")
def charge(task: TaskContext) -> dict[str, Any]:
    """Take the money: a declined card is an error of the model's, a silent gateway a failure that is tried again."""
    card = task.variables.get("card", "valid")
    if card == "declined":
        raise BpmnError("CARD_DECLINED", "the bank declined the card")
    attempts = task.variables.get("payment_attempts", 0)
    if attempts < TIMEOUTS.get(card, 0):
        raise TaskFailure("timeout: the payment gateway did not answer", variables={"payment_attempts": attempts + 1})
    return {"payment": f"paid-{task.business_key or task.instance_id}"}


@external_task("orders.tell-customer")
def tell_customer(task: TaskContext) -> dict[str, Any]:
    """Write to the customer why nothing will come."""
    reason = task.variables.get("decline_reason", "unknown")
    return {"told": f"{task.variables.get('customer', 'customer')}: your order was not accepted ({reason})"}


@external_task("orders.remind-warehouse")
def remind_warehouse(task: TaskContext) -> None:
    """Nothing to bring back: a handler need not return anything."""


@external_task("orders.ship")
def ship(task: TaskContext) -> dict[str, Any]:
    """Hand the parcel to the carrier."""
    return {"tracking": f"parcel-{task.business_key or task.instance_id}"}
