"""Whether an embedded model runs on this machine, and how fast: found out by having it say a few words."""

from __future__ import annotations

from contextlib import aclosing
from typing import Final

from ..config import OperatorPolicy, ProviderSettings
from ..local import LocalModels
from ..messages import ApiMessage
from ..providers import ModelRequest, open_client

__all__ = ["try_embedded_model"]

_LONGEST: Final = 24
# Long enough that its reading can be timed, and nothing that a cache has from before.
_TEXT: Final = (
    "A data set has the columns date, region, product, price, quantity and discount. Each row is one sale. Some prices are "
    "missing, some dates are written in another form, and a few quantities are negative because goods were sent back. "
    "What would you look at first, and which cells would you add to a notebook to find out? Answer in one sentence."
)


async def try_embedded_model(settings: ProviderSettings, policy: OperatorPolicy, local: LocalModels) -> None:
    """Start the model and time it; the runtime's status has the figures then. Raises why it cannot be run."""
    client = await open_client(settings, policy=policy, local=local)
    request = ModelRequest(
        system="You help with notebooks.",
        messages=[ApiMessage(role="user", content=_TEXT)],
        max_output=_LONGEST,
    )
    try:
        async with aclosing(client.stream(request)) as events:  # type: ignore[type-var]  # adapters are generators
            async for _ in events:
                pass
    finally:
        await client.close()
