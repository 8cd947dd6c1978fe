"""`score`: answers dropped for a blind board are scored, and the board and its pages are written anew."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.logging import get_run_logger

from mihakk.evaluation.running.suites import load_suite, load_systems, suite_folder
from mihakk.flows.deployed.artifacts import markdown_table
from mihakk.flows.deployed.job import require_deployed_code, secrets_from_blocks, told_on_page
from mihakk.pipeline.blind_scoring import BOARD_FILE, Received, open_board, score_inbox
from mihakk.releases.hub.load import named_folder
from mihakk.reports.leaderboard.site import Board, write_site


@flow(name="score", flow_run_name="score {board}")
def score(
    board: str,
    *,
    inbox: str,
    store: str,
    public: str,
    suite: str = "",
    answers: str = "",
    site: str = "",
    config: str = "",
    lake: str | None = None,
) -> int:
    """Scores every file in the inbox by the board's rules; returns how many were scored.

    Args:
        board: YAML file of the board.
        inbox: Folder where teams' files are dropped; they are filed away under it.
        store: Private folder of the log.
        public: Folder for board.json.
        suite: A suite whose leaderboard shows the board beside its own figures.
        answers: Its folder of answers; runs/evaluate/SUITE when empty.
        site: Folder of that leaderboard; it is written anew.
        config: The benchmark whose page and digest tell a failure until the same has come through.
        lake: Folder or URL of that one's lake, instead of MIHAKK_LAKE.
    """
    require_deployed_code()
    secrets_from_blocks()
    with told_on_page(f"score {board}", config, lake):
        received = score_inbox(open_board(Path(board), Path(store)), Path(inbox), Path(public))
        _show(received)
        if suite and site:
            chosen = load_suite(suite)
            folder = suite_folder(chosen, answers)
            beside = Path(public) / BOARD_FILE
            day = datetime.now(UTC).date()
            shown = Board(chosen, load_systems(chosen), folder, named_folder, day, beside)
            write_site(shown, Path(site))
    return sum(one.reply is not None for one in received)


def _show(received: Sequence[Received]) -> None:
    rows = []
    for one in received:
        told = "refused" if one.reply is None else one.reply.told
        get_run_logger().info("%s: %s", one.shown.name, told)
        rows.append((one.shown.name, told))
    table = markdown_table(("file", "told"), rows)
    create_markdown_artifact(table, key="blind-scores", description=f"{len(received)} files")
