"""The book's fifth day with a real Label Studio: suspects go to its screens, two people's answers come back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mihakk.annotation.label_studio.project import find_project
from mihakk.evaluation.rows import read_rows
from mihakk.schemas.suspect import Suspect
from tests.annotation.pushed import chosen
from tests.docs.test_examples import DOCS, Example, examples, ran, reader

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

DECIDED = "for person in sara omar; do"
"""How the block begins in which the page decides on sheets, in the place of people."""
RIGHT = "سليم السريرة"
"""How the answer begins that is right for the idiom whose gold can be corrected."""
MENDED = "sed -i -e 's/ <br>//' -e 's/\\xef\\xbf\\xbd/ا/' -e 's/ من الدرس الثالث ص 12//' idioms.csv"
"""What the days before have corrected; the exchanged meanings are left."""
GOLDS = """
import json
from mihakk.releases.hub.load import load
print(json.dumps({one["id"]: one["gold"][0] for one in load("idioms", "0.1.0", "ar_meaning_choice", "test")}))
"""


def first_versions(example: Example) -> Example:
    """The page's example where the release before people decide is the first."""
    return replace(example, body=example.body.replace("0.3.0", "0.1.0").replace("0.4.0", "0.2.0"))


def test_suspects_reviewed_on_the_server_move_the_board(tmp_path, connection, label_studio, members):
    folder = tmp_path / "reader"
    folder.mkdir()
    environment = reader(tmp_path) | {
        "MIHAKK_LABEL_STUDIO_HOME": str(label_studio.home),
        "MIHAKK_LABEL_STUDIO_URL": label_studio.url,
    }
    met = 0
    build = [one for one in examples(DOCS / "book/build.md") if one.name in ("pick.py", "idioms.yaml")]
    made = Example("run", "", "bash", f"python pick.py\n{MENDED}\nmihakk build idioms.yaml")
    for example in (*build, made, *map(first_versions, examples(DOCS / "book/evaluate.md"))):
        if example.what == "file":
            (folder / example.name).write_text(example.body, encoding="utf-8")
        elif example.what == "run" and example.body.startswith(DECIDED):
            met += 1
            ran(replace(example, body="mihakk review push idioms.yaml"), folder, environment)
            wrong, sound = read_rows(folder / "answers/0.1.0/suspects.parquet", Suspect)[:2]
            if sound.other.startswith(RIGHT):
                wrong, sound = sound, wrong
            assert wrong.other.startswith(RIGHT)
            project = find_project(connection, "idioms", "quality_review", "ar")
            waiting = {held.sample: held.task for held in project.held()}
            assert {*wrong.items, *sound.items} <= waiting.keys(), "what answers speak against is on screens"
            golds = json.loads(ran(Example("run", "", "python", GOLDS), folder, environment))
            for person in members[:2]:
                for item in wrong.items:
                    other = chosen("fix_gold", str(1 - golds[item]))
                    person.annotate(waiting[item], [chosen("decision", "fix"), other])
                for item in sound.items:
                    person.annotate(waiting[item], [chosen("decision", "keep")])
            ran(replace(example, body="mihakk review pull idioms.yaml"), folder, environment)
            printed = ran(
                replace(example, body=example.body[example.body.index("mihakk build") :]), folder, environment
            )
        elif example.what == "run":
            printed = ran(example, folder, environment)
        elif example.what == "prints":
            missing = [line for line in example.body.splitlines() if " ".join(line.split()) not in printed]
            assert not missing
    assert met == 1
