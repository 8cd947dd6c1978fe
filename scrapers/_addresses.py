"""Which addresses a crawl may reach: a public site has no business to send it into a private network."""

from __future__ import annotations

import ipaddress
from typing import Any, ClassVar

from scrapy import exceptions as scrapy_errors
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.error import DNSLookupError


class PrivateAddressError(scrapy_errors.IgnoreRequest):  # type: ignore[misc]
    """A host is in a private network, where the crawl of a public site may not go."""


def check_address(address: str, *, allow_loopback: bool) -> None:
    """Refuses addresses that are not public.

    Raises:
        PrivateAddressError: Private, link-local, loopback (unless allowed) or otherwise reserved.
    """
    ip = ipaddress.ip_address(address)
    inner = getattr(ip, "ipv4_mapped", None) or ip
    public = inner.is_global and not inner.is_multicast
    if not (public or (allow_loopback and inner.is_loopback)):
        raise PrivateAddressError(f"{address} is not a public address")


class PublicResolver(CachingThreadedResolver):  # type: ignore[misc]
    """Resolves names, and refuses those that lead into a private network."""

    allow_loopback = False
    refused: ClassVar[dict[str, str]] = {}
    """Host to reason."""

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: N802 - Twisted's name
        found = super().getHostByName(name, timeout)
        found.addCallback(self._checked, name)
        return found

    def _checked(self, address: str, name: str) -> str:
        try:
            check_address(address, allow_loopback=self.allow_loopback)
        except PrivateAddressError as error:
            self.refused[name] = str(error)
            # Twisted waits for ever on any other error of a resolver.
            raise DNSLookupError(str(error)) from error
        return address
