"""huggingface_hub as this project uses it: one endpoint, our errors, no token in any message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import settings

if TYPE_CHECKING:
    from huggingface_hub import HfApi

OFFICIAL = "huggingface.co"
_REFUSED = (401, 403)


class StaleParent(Exception):
    """Somebody else committed since the parent commit was read (412)."""


class Unavailable(ExternalFailure):
    """The Hub can't be reached, or failed in a way that may pass."""


def hub_api(endpoint: str | None = None) -> HfApi:
    """Client of a Hub; the token comes from the environment (`MIHAKK_HF_TOKEN`, else the client's own)."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    address = endpoint or constants.ENDPOINT
    if (urlsplit(address).hostname or "").removeprefix("www.") != OFFICIAL:
        # Other Hubs have no Xet store, and the client does not fall back when its token is not found.
        constants.HF_HUB_DISABLE_XET = True
    token = settings().hf_token
    return HfApi(endpoint=address, token=token.get_secret_value() if token else None)


@contextmanager
def asking(endpoint: str, purpose: str) -> Iterator[None]:
    """Turn the client's errors into ours.

    Raises:
        UsageError: The Hub refuses the token, or what is asked for is not there.
        StaleParent: The parent commit is no longer the newest.
        Unavailable: The Hub can't be reached or answers 408, 429 or 5xx.
        ExternalFailure: It answers with another error.
    """
    import httpx2
    from huggingface_hub.errors import (
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except RepositoryNotFoundError as error:
        raise UsageError(
            f"{purpose}: {endpoint} knows no such repository, or does not show it without a token; "
            "check the name, and set MIHAKK_HF_TOKEN for private ones"
        ) from error
    except RevisionNotFoundError as error:
        raise UsageError(f"{purpose}: {endpoint} knows no such version") from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status == 412:
            raise StaleParent from error
        if status in _REFUSED:
            raise UsageError(
                f"{purpose}: {endpoint} refuses the token ({status}); "
                "set MIHAKK_HF_TOKEN to one that may write"
            ) from error
        failure = Unavailable if status in (408, 429) or status >= 500 else ExternalFailure
        raise failure(f"{purpose}: {endpoint} answered {status}; run it again later") from error
    except (httpx2.TransportError, LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        raise Unavailable(
            f"{purpose}: {endpoint} can't be reached ({type(error).__name__}); nothing is lost, run it again"
        ) from error
    except RuntimeError as error:
        if not isinstance(error.__cause__, httpx2.HTTPError | OSError):
            raise
        raise Unavailable(f"{purpose}: the upload to {endpoint} broke off; run it again") from error
