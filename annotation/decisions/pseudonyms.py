"""Annotators under pseudonyms: decisions, tables and releases never hold a name or an address."""

from __future__ import annotations

from collections.abc import Mapping

from mihakk.annotation.decisions.store import add, stored
from mihakk.machinery.ids import sha256
from mihakk.schemas.record import Record


class Person(Record):
    """One annotator; who it is can be told only by somebody who knows the address already."""

    pseudonym: str
    """`annotator-01`, ...; given once, in the order people were first seen."""
    address_digest: str
    """SHA-256 of the e-mail address, lower case."""


def known_as(folder: str, address: str) -> str:
    """Pseudonym of the person with that e-mail address; empty where nobody of that address was ever seen."""
    wanted = _digest(address)
    return next((one.pseudonym for one in stored(folder, Person) if one.address_digest == wanted), "")


def pseudonyms(folder: str, users: Mapping[int, str]) -> dict[int, str]:
    """Pseudonym of each member of a server; new people are added to the store of persons.

    One e-mail address is one person, on whatever server; `users` are member ids with their addresses.
    """
    known = {person.address_digest: person.pseudonym for person in stored(folder, Person)}
    digests = {user: _digest(users[user]) for user in sorted(users)}
    new = []
    for address in dict.fromkeys(digests.values()):
        if address not in known:
            known[address] = f"annotator-{len(known) + 1:02d}"
            new.append(Person(pseudonym=known[address], address_digest=address))
    add(folder, Person, new)
    return {user: known[address] for user, address in digests.items()}


def _digest(address: str) -> str:
    return sha256(address.strip().lower().encode())
