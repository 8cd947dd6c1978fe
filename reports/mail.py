"""Sends a text by mail, through the server in `MIHAKK_SMTP`, or JSON to a webhook."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from urllib.parse import unquote, urlsplit

import httpx

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import settings

SECONDS = 30
FORM = "MIHAKK_SMTP=smtps://USER:PASSWORD@HOST:465, or smtp://HOST:25"


def mail(subject: str, text: str, to: Sequence[str]) -> None:
    """Send a text to people, in one message.

    `smtps` is encrypted from the first byte; `smtp` switches to TLS where the server offers it, and always
    before a password is sent.

    Raises:
        UsageError: No server is named, its address or a person's has no such form, or it refuses the user.
        ExternalFailure: The server did not answer, or refused the message; its address is not shown.
    """
    known = settings().smtp
    address = urlsplit(known.get_secret_value() if known else "")
    if address.scheme not in ("smtp", "smtps") or not address.hostname:
        raise UsageError(f"mail needs a server: set {FORM}")
    wrong = [one for one in to if one.count("@") != 1 or any(letter.isspace() for letter in one)]
    if wrong:
        raise UsageError(f"--mail {wrong[0]!r} is not an address: write NAME@HOST")
    user, password = unquote(address.username or ""), unquote(address.password or "")
    sender = user if "@" in user else f"mihakk@{address.hostname}"
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, sender, ", ".join(to)
    message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain="mihakk.invalid")
    message.set_content(text)
    try:
        with _connected(address.scheme, address.hostname, address.port) as server:
            if user:
                _require_tls(server)
                server.login(user, password)
            server.send_message(message)
    except smtplib.SMTPAuthenticationError as error:
        raise UsageError(
            f"the mail server refuses the user ({error.smtp_code}): correct MIHAKK_SMTP"
        ) from None
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise ExternalFailure(
            f"the mail was not sent ({type(error).__name__}): correct MIHAKK_SMTP, or run again later"
        ) from None


def _require_tls(server: smtplib.SMTP) -> None:
    """smtplib would send the password in the clear."""
    if not isinstance(server.sock, ssl.SSLSocket):
        raise UsageError(
            "the mail server offers no TLS, and a password is never sent without it: use smtps://"
        )


def _connected(scheme: str, host: str, port: int | None) -> smtplib.SMTP:
    trust = ssl.create_default_context()
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port or 465, timeout=SECONDS, context=trust)
    server = smtplib.SMTP(host, port or 25, timeout=SECONDS)
    server.ehlo()
    if server.has_extn("starttls"):
        server.starttls(context=trust)
    return server


def post(address: str, body: dict[str, object]) -> None:
    """Send JSON to a webhook.

    Raises:
        ExternalFailure: Nobody answered there, or not with success; the address, a secret, is not shown.
    """
    try:
        httpx.post(address, json=body, timeout=30).raise_for_status()
    except httpx.HTTPStatusError as error:
        raise ExternalFailure(
            f"the webhook answered {error.response.status_code}: correct MIHAKK_DIGEST_WEBHOOK or --webhook"
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ExternalFailure(
            f"the webhook did not answer ({type(error).__name__}): correct --webhook, or run again later"
        ) from None
