"""An export of Label Studio as a file: what people decided on a server that is not ours to ask."""

from __future__ import annotations

from pathlib import Path

from annotation.decisions.pseudonyms import pseudonyms
from annotation.decisions.stores import Stores
from annotation.decisions.words import add_split
from annotation.label_studio.answers import Reader
from annotation.label_studio.exported import exported
from annotation.label_studio.pull import Pulled, all_answers
from annotation.screens.labelling import Labelling
from annotation.screens.ratings import Label
from mihakk.errors import ExternalFailure, RecordRejected, UsageError
from schemas.rejection import Rejection


def read_export(file: Path, labelling: Labelling, stores: Stores) -> Pulled:
    """Adds the labels of an export in Label Studio's JSON, for people who work on a server of their own.

    Members are told apart by their numbers alone, so one store should hold the exports of one server.

    Raises:
        UsageError: The file is no such export.
    """
    pulled = Pulled()
    try:
        found = exported(file.read_bytes())
    except (OSError, ExternalFailure) as error:
        raise UsageError(
            f"{file} is not a JSON export of Label Studio ({error}): export the project with its format JSON"
        ) from error
    answers = list(all_answers(found, pulled, "export"))
    people = {answer.person: f"member {answer.person}" for answer in answers if answer.person is not None}
    annotators = pseudonyms(stores.people, people)
    reader = Reader(labelling)
    read: list[Label] = []
    malformed = [one.rejection(file.name, annotators) for one in found.malformed]
    add_split(stores, stores.rejected, Rejection, malformed)
    for answer in answers:
        try:
            if answer.person is None:
                raise RecordRejected("unknown_annotator", "the annotation names nobody")
            read += [one for one in reader.read(answer, annotators[answer.person]) if isinstance(one, Label)]
        except RecordRejected as rejected:
            pulled.rejected[rejected.reason] += not answer.superseded
            continue
        pulled.read += not answer.superseded
    pulled.labels = add_split(stores, stores.labels, Label, read)
    return pulled
