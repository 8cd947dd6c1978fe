"""Annotators with accounts on a real server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import httpx

from tests.servers import LOOPBACK


@dataclass
class Member:
    """An annotator with an account of their own."""

    id: int
    email: str
    password: str
    token: str
    url: str

    def annotate(self, task: int, result: list[dict[str, Any]], **more: Any) -> int:
        """Submits an annotation as this person; returns its id."""
        answer = LOOPBACK.post(
            f"{self.url}/api/tasks/{task}/annotations/",
            json={"result": result, "lead_time": 12.5, **more},
            headers={"Authorization": f"Token {self.token}"},
        )
        answer.raise_for_status()
        return int(answer.json()["id"])

    def next_task(self, project: int) -> int | None:
        """The task the label stream would give this person."""
        answer = LOOPBACK.get(
            f"{self.url}/api/projects/{project}/next",
            headers={"Authorization": f"Token {self.token}"},
        )
        return None if answer.status_code == 404 else int(answer.json()["id"])


def sign_up(invitation: str, email: str, password: str = "a-long-enough-passphrase") -> Member:
    """Signs an annotator up by the invitation link, as a person would."""
    url = invitation.partition("/user/")[0]
    with httpx.Client(base_url=url, follow_redirects=False, timeout=60, verify=False) as page:
        form = page.get(invitation).text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert token, "the sign-up page has no form"
        fields = {
            "email": email,
            "password": password,
            "csrfmiddlewaretoken": token[1],
            "allow_newsletters": "false",
        }
        answer = page.post(invitation, data=fields, headers={"Referer": invitation})
        assert answer.status_code == 302, answer.text[:300]
        told = page.get("/api/current-user/token")
        assert told.status_code == 200, f"{told.status_code}: {told.text[:300]}"
        own = told.json()["token"]
        who = page.get("/api/current-user/whoami").json()
    return Member(who["id"], email, password, own, url)
