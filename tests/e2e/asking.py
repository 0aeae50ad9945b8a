"""A provider whose tools, resource and prompt ask the client."""

from typing import Any, Literal

from pydantic import BaseModel
from scigate import Call, Input, InputRequest, Output, hookimpl, prompt, resource, tool

scigate_api = ">=1,<2"


class Many(Input):
    sample: str = "A-1"


class Said(Output):
    text: str


class Order(BaseModel):
    plates: int
    kind: Literal["deep", "flat"] = "flat"


class Sure(BaseModel):
    sure: bool


@tool("lab_order", title="Order", read_only=False, idempotent=False)
async def order(args: Many, client: object, call: Call) -> Said:
    """Order plates for a sample, after asking how many and whether that is meant."""
    wanted = await call.elicit("order", f"How many plates for {args.sample}?", Order)
    if wanted.values is None:
        return Said(text=f"not ordered: {wanted.action}")
    sure = await call.elicit("sure", f"Order {wanted.values.plates} plates?", Sure)
    return Said(text=f"{wanted.values.plates} {wanted.values.kind} plates for {args.sample}: {sure.values}")


@tool("lab_discard", title="Discard", read_only=False)
async def discard(args: Many, client: object, call: Call) -> Said:
    """Discard a sample, after asking whether that is meant."""
    return Said(text=(await call.elicit("order", f"How many plates for {args.sample}?", Order)).action)


@tool("lab_roots", title="Roots")
async def roots(args: Many, client: object, call: Call) -> Said:
    """Name the client's roots."""
    return Said(text=str((await call.ask({"roots": InputRequest("roots/list")}))["roots"]["roots"]))


@resource("lab://{sample}", name="lab-sample", title="Sample")
async def sample(args: Many, client: object, call: Call) -> Said:
    """A sample, of the kind that is asked for."""
    return Said(text=f"{args.sample} {(await call.elicit('order', 'How many?', Order)).action}")


@prompt("lab_plan", title="Plan")
async def plan(args: Many, client: object, call: Call) -> str:
    """A plan for as many plates as are asked for."""
    return f"Plan {args.sample} {(await call.elicit('order', 'How many?', Order)).action}."


@hookimpl
def register_tools() -> list[Any]:
    return [order, discard, roots]


@hookimpl
def register_resources() -> list[Any]:
    return [sample]


@hookimpl
def register_prompts() -> list[Any]:
    return [plan]


@hookimpl
def build_client() -> object:
    return object()
