"""A Label Studio server, local or remote, spoken to through its SDK's authenticated transport."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

from mihakk.machinery.errors import ExternalFailure, UsageError

LEAST_VERSION = (1, 20)
_RETRIED = (408, 429, 500, 502, 503, 504)
_TRIES = 4


class Gone(UsageError):
    """What was asked for isn't on the server any more."""


class Connection:
    """Calls to one server; every failure becomes an error that says what to do.

    The SDK signs the calls and renews short-lived tokens. Its own methods are passed by: they repeat a failed
    POST, which would import tasks twice, and parse every task of a listing into objects.

    Args:
        url: Address, e.g. `http://127.0.0.1:8090`.
        token: Access token of a member, from the account page or from `serve`.
        timeout: Seconds a call may take; an import of 1,000 tasks takes a few.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 600) -> None:
        from label_studio_sdk import LabelStudio

        if urlsplit(url).scheme not in ("http", "https"):
            raise UsageError(
                f"{url!r} is not the address of a Label Studio: it starts with http:// or https://"
            )
        self.url = url.rstrip("/")
        self._sdk = LabelStudio(base_url=self.url, api_key=token, timeout=timeout)
        self._http = httpx.Client(base_url=self.url, timeout=timeout)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; it can't be used any more."""
        self._http.close()

    def check(self) -> str:
        """The server's version.

        Raises:
            UsageError: The token is refused, or the server is too old.
            ExternalFailure: The server doesn't answer.
        """
        try:
            release = str(self.get("/api/version").get("release", ""))
        except (Gone, AttributeError) as error:
            raise self._not_label_studio() from error
        self.get("/api/current-user/whoami")
        parts = tuple(int(part) for part in release.split(".")[:2] if part.isdigit())
        if parts < LEAST_VERSION:
            raise UsageError(
                f"Label Studio at {self.url} is {release or 'of no known version'}; 1.20 or newer is needed"
            )
        return release

    def get(self, path: str, **params: Any) -> Any:
        """JSON of a GET; repeated with a pause where the server is busy."""
        try:
            return orjson.loads(self.read(path, **params))
        except orjson.JSONDecodeError as error:
            raise self._not_label_studio() from error

    def read(self, path: str, **params: Any) -> bytes:
        """Body of a GET; repeated with a pause where the server is busy."""
        return self._repeated("GET", path, params=params).content

    def patch(self, path: str, body: Any) -> Any:
        """JSON of a PATCH; it sets values, so repeating it is safe."""
        return self._repeated("PATCH", path, content=orjson.dumps(body)).json()

    def delete(self, path: str) -> None:
        """Deletes; what is gone already is no error."""
        try:
            self._repeated("DELETE", path)
        except Gone:
            return

    def post(self, path: str, body: Any) -> Any:
        """JSON of a POST; sent once, since whatever it creates would be there twice."""
        response = self._send("POST", path, content=orjson.dumps(body))
        return response.json() if response.content else None

    def users(self) -> dict[int, str]:
        """Members' ids and e-mail addresses."""
        return {int(user["id"]): str(user["email"]) for user in self.get("/api/users")}

    def remove_user(self, member: int) -> None:
        """Deletes a member's account; their annotations stay, without an author."""
        self.delete(f"/api/users/{member}/")

    def invitation(self) -> str:
        """Address at which an annotator signs up; anybody who has it can."""
        return f"{self.url}{self.get('/api/invite')['invite_url']}"

    def _not_label_studio(self) -> UsageError:
        return UsageError(
            f"what answers at {self.url} is no Label Studio; set MIHAKK_LABEL_STUDIO_URL to one"
        )

    def _repeated(self, method: str, path: str, **options: Any) -> httpx.Response:
        for attempt in range(1, _TRIES):
            try:
                return self._send(method, path, **options)
            except ExternalFailure:
                time.sleep(0.5 * 2**attempt)
        return self._send(method, path, **options)

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            headers = self._sdk._client_wrapper.get_headers() | {"Content-Type": "application/json"}
            response = self._http.request(method, path, headers=headers, **options)
        except httpx.TransportError as error:
            raise ExternalFailure(
                f"Label Studio at {self.url} does not answer ({type(error).__name__}); "
                "start it with `mihakk review serve` or set MIHAKK_LABEL_STUDIO_URL, then run this again"
            ) from error
        if response.is_success:
            return response
        raise self._error(method, path, response)

    def _error(self, method: str, path: str, response: httpx.Response) -> Exception:
        said = " ".join(response.text.split())[:300]
        if response.status_code in (401, 403):
            return UsageError(
                f"Label Studio at {self.url} refuses the token ({response.status_code} for {path}); "
                "set MIHAKK_LABEL_STUDIO_TOKEN to a member's access token"
            )
        if response.status_code == 404:
            return Gone(f"Label Studio at {self.url} has no {path.rstrip('/')}; was it deleted there?")
        if response.status_code in _RETRIED:
            return ExternalFailure(
                f"Label Studio could not do {method} {path} ({response.status_code}): {said}"
            )
        return UsageError(f"Label Studio does not accept {method} {path} ({response.status_code}): {said}")
