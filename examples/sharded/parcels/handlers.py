"""What the processes ask for. A handler runs on the shard of its task; what it tells others goes to theirs."""

from bpm import TaskContext, external_task
from parcels.models import Parcel
from sharded import verbs


@external_task("parcels.weigh")
def weigh(task: TaskContext) -> dict[str, int]:
    """Put it on the scales. The row is on this shard, beside the instance."""
    grams = 100 * len(task.variables["recipient"])
    Parcel.objects.filter(number=task.business_key).update(grams=grams)
    return {"grams": grams}


@external_task("parcels.hand-over")
def hand_over(task: TaskContext) -> None:
    """Tell the recipient, who gets a process of their own, perhaps on another shard. With a key it is one message,
    however often this runs.
    """
    told, key = {"parcel": task.business_key}, f"handed over/{task.business_key}"
    verbs.publish("parcel-handed-over", task.variables["recipient"], told, actor="carrier", key=key)


@external_task("parcels.notify")
def notify(task: TaskContext) -> dict[str, str]:
    """Write to the recipient."""
    return {"letter": f"{task.business_key}: your parcel {task.variables['parcel']} is here"}
