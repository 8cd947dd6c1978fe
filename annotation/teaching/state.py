"""What the stores say of everybody's calibration."""

from __future__ import annotations

from collections import Counter

from mihakk.annotation.decisions.store import decision_id, given, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.teaching.page import person_page
from mihakk.annotation.teaching.rounds import Gate, standings
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.calibration import CalibrationAnswer, Known, Round, Standing
from mihakk.schemas.review import Review, Voided


def calibration_state(stores: Stores) -> list[Standing]:
    """Where everybody stands with every round they have begun."""
    return standings(
        stored(stores.rounds, Round),
        stored(stores.known, Known),
        stored(stores.calibrated, CalibrationAnswer),
    )


def explained(stores: Stores, person: str, *, refresh: int = 0) -> str:
    """The page on which a person's own answers are explained, HTML; no question they have not answered."""
    mine = [row for row in stored(stores.calibrated, CalibrationAnswer) if row.annotator == person]
    states = [row for row in calibration_state(stores) if row.annotator == person]
    return person_page(mine, stored(stores.known, Known), states, refresh=refresh)


def gate(stores: Stores, config: ReviewConfig) -> Gate | None:
    """Whose answers count; None where the config asks for no calibration."""
    if config.calibration is None:
        return None
    exempt = {*config.adjudicators, *config.calibration.exempt}
    return Gate(stored(stores.rounds, Round), calibration_state(stores), exempt)


def withheld_rows(stores: Stores) -> list[Review | Label]:
    """Decisions and answers that are kept and don't count: made before passing."""
    names = {row.decision for row in stored(stores.voided, Voided) if row.by == "calibration"}
    return [row for row in given(stores) if decision_id(row) in names] if names else []


def withheld(stores: Stores) -> Counter[str]:
    """How many decisions and answers of each person are withheld."""
    return Counter(
        person for person, _ in {(row.annotator, decision_id(row)) for row in withheld_rows(stores)}
    )
