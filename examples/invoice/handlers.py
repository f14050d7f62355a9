"""What the service tasks of `invoice.bpmn` do; the people's part is in the cockpit's task list."""

from __future__ import annotations

from typing import Any

from bpm import TaskContext, external_task


@external_task("invoice.remind-approver")
def remind_approver(task: TaskContext) -> dict[str, Any]:
    """Count the reminders; a real one would write a mail."""
    return {"reminders": task.variables.get("reminders", 0) + 1}


@external_task("invoice.pay")
def pay(task: TaskContext) -> dict[str, Any]:
    """Pay. The business key is the payment's own key, so that paying again after a crash pays once."""
    return {"transfer": f"transfer-{task.business_key or task.instance_id}"}
