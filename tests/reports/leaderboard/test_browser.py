"""The leaderboard in a real browser, from disk: three languages, three widths, the keyboard, and hostile replies."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mihakk.evaluation.questions import questions_of_release
from mihakk.releases.assemble import assemble
from mihakk.reports.leaderboard.site import FILES, write_site
from tests.releases.release_material import hafez_items, release_arguments
from tests.reports.leaderboard.material import SYSTEMS, answered, board, older, system

pytestmark = pytest.mark.services
WIDTHS = (390, 1024, 1440)
BLIND = {
    **{"title": "Spring", "opens": "2026-03-01", "closes": "2026-06-01", "gain": {"so_far": 0.03}},
    "entries": [
        {
            **{"model": "jais", "team": "alpha", "rank_low": 1, "rank_high": 2, "figure": 0.71},
            **{"low": 0.6, "high": 0.8, "received": "2026-03-04"},
        },
        {
            **{"model": "held", "team": "beta", "rank_low": 1, "rank_high": 2, "figure": None},
            **{"low": 0.0, "high": 1.0, "received": "2026-03-05"},
        },
    ],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leaderboard")
    assemble(folder=folder / "release", **release_arguments(hafez_items(20)))
    (folder / "board.json").write_text(json.dumps(BLIND), encoding="utf-8")
    systems = (*SYSTEMS, system("never-run", kind="persian"))
    questions = questions_of_release(folder / "release", split="test")
    answered(folder / "before", older(questions, "fa_continuation_choice"))
    more = {"blind": folder / "board.json", "before": folder / "before"}
    write_site(board(folder / "release", folder / "runs", systems, **more), folder / "site")
    return folder / "site"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page without a network, that must neither complain nor ask for anything outside."""
    context = browser.new_context(viewport={"width": 1024, "height": 900}, offline=True)
    view = context.new_page()
    said: list[str] = []
    view.on("console", lambda message: said.append(message.text))
    view.on("pageerror", lambda error: said.append(str(error)))
    view.on("request", lambda asked: None if asked.url.startswith("file:") else said.append(asked.url))
    view.said = said
    yield view
    context.close()


def opened(page: Any, site: Path, language: str = "en", address: str = "") -> None:
    page.goto((site / FILES[language]).as_uri() + address)
    page.wait_for_selector("html[data-ready]")


def drilled(page: Any, config: str) -> None:
    value = page.locator("#column option", has_text=config).first.get_attribute("value")
    page.select_option("#column", value)
    page.locator("#systems tbody button").first.click()
    page.wait_for_selector("#detail table")
    page.locator("#items .open").click()
    page.locator("#items tbody button").first.click()
    page.wait_for_selector("#item .cards li")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_plain_tables_fit(page: Any, site: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((site / "tables.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("language", FILES)
def test_every_part_reads_well(page: Any, site: Path, language: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": width, "height": 900})
    opened(page, site, language)
    drilled(page, "fa_continuation_choice")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("html").get_attribute("dir") == ("ltr" if language == "en" else "rtl")
    digits = set(re.findall(r"\d", page.inner_text("body")))
    assert all(map(str.isascii, digits)), "two kinds of digits on one page"
    assert page.said == []
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found] == []
    if kept := os.environ.get("MIHAKK_SCREENSHOTS"):
        page.screenshot(path=Path(kept) / f"leaderboard-{language}-{width}.png", full_page=True)


def test_sorting_filtering_and_drilling_need_nothing_but_the_keyboard(page: Any, site: Path) -> None:
    opened(page, site)
    page.select_option(
        "#column",
        page.locator("#column option", has_text="fa_continuation_choice").first.get_attribute("value"),
    )
    names = page.locator("#systems tbody th bdi")

    def reach(selector: str) -> None:
        for _ in range(60):
            if page.evaluate(f"document.activeElement.matches({json.dumps(selector)})"):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"the keyboard does not reach {selector}")

    reach("#name")
    page.keyboard.type("jais")
    assert names.all_inner_texts() == ["jais-2-8b"]
    assert "1 of 4" in page.locator("#count").inner_text()
    for _ in "jais":
        page.keyboard.press("Backspace")
    assert names.first.inner_text() == "closed-one"
    reach("[data-sort=figure]")
    page.keyboard.press("Enter")
    assert names.first.inner_text() == "tiny-135m"
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Figure")
    assert page.evaluate("document.activeElement.dataset.sort") == "figure"
    # Every row keeps its interval and rank range when rows are sorted.
    for row in page.locator("#systems tbody tr").all():
        assert row.locator("svg line.reach").count() == 1
        assert "–" in row.locator("td").first.inner_text()
    reach("#systems tbody button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail table")
    assert page.evaluate("document.activeElement.id") == "detail"
    reach("#items .open")
    page.keyboard.press("Enter")
    page.wait_for_selector("#items tbody button")
    reach("#items tbody button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#item .cards li")
    assert page.evaluate("document.activeElement.id") == "item"
    assert page.locator("#item .cards li").count() == 4
    assert page.said == []


def test_ranks_moved_since_the_version_before_and_a_corrected_item_opens(page: Any, site: Path) -> None:
    opened(page, site)
    assert "is not compared" in page.locator("#moves").inner_text(), "averages have no items of their own"
    config = page.locator("#column option", has_text="fa_continuation_choice").first
    page.select_option("#column", config.get_attribute("value"))
    systems, items = page.locator("#moves table").all()
    assert systems.locator("tbody tr").count() == len(SYSTEMS)
    assert all("→" in row.locator("td").first.inner_text() for row in systems.locator("tbody tr").all())
    assert systems.locator("svg line.reach").count() == len(SYSTEMS)
    assert sorted(items.locator("tbody td:nth-child(2)").all_inner_texts()) == ["Corrected", "New", "Removed"]
    corrected = items.locator("tbody tr", has_text="Corrected").locator("button")
    name = corrected.inner_text()
    corrected.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#item .cards li")
    assert name in page.locator("#item-title").inner_text()
    assert page.evaluate("document.activeElement.id") == "item"
    assert page.said == []


def test_filters_by_kind_weights_and_size_leave_what_fits(page: Any, site: Path) -> None:
    opened(page, site)
    page.select_option(
        "#column",
        page.locator("#column option", has_text="fa_continuation_choice").first.get_attribute("value"),
    )

    def shown() -> set[str]:
        return set(page.locator("#systems tbody th bdi").all_inner_texts())

    page.select_option("#weights", "closed")
    assert shown() == {"closed-one"}
    page.select_option("#weights", "open")
    page.select_option("#size", "10")
    assert shown() == {"jais-2-8b", "tiny-135m"}
    page.select_option("#kind", "english")
    assert shown() == {"tiny-135m"}


def test_a_reply_with_markup_stays_text_and_an_address_opens_its_item(page: Any, site: Path) -> None:
    text = (site / "data" / "board.js").read_text("utf-8")
    columns = json.loads(text[text.index(",") + 1 : -3])["columns"]
    hostile = None
    for one in columns:
        for path in sorted((site / "data" / one["id"]).glob("*.js")) if one["drill"] else ():
            found = json.loads(path.read_text("utf-8").split(",", 1)[1][:-3])
            for place, item in enumerate(found):
                if any("onerror" in reply.get("reply", "") for reply in item["replies"].values()):
                    index = json.loads(
                        (site / "data" / f"{one['id']}-items.js").read_text("utf-8").split(",", 1)[1][:-3]
                    )
                    hostile = (one["id"], index["items"][int(path.stem) * 25 + place])
    assert hostile is not None
    opened(page, site, "en", f"#figure={hostile[0]}&item={hostile[1]}")
    page.wait_for_selector("#item .cards li")
    assert "<img src=x onerror" in page.locator("#item .cards").inner_text()
    assert page.locator("#item .cards img").count() == 0
    assert page.evaluate("window.__ran") is None
    assert page.said == []


def test_items_are_filtered_by_what_systems_made_of_them(page: Any, site: Path) -> None:
    opened(page, site)
    drilled(page, "fa_continuation_choice")
    everything = int(page.locator("#items [role=status]").inner_text().split()[0].replace(",", ""))
    page.select_option("#which", "nobody")
    nobody = int(page.locator("#items [role=status]").inner_text().split()[0])
    assert 0 < nobody < everything
    assert set(page.locator("#items tbody td").all_inner_texts()) == {"0.00"}
    page.locator("#items tbody button").first.click()
    page.wait_for_selector("#item .cards li")
    assert {one.inner_text() for one in page.locator("#item h4 bdi:last-child").all()} == {"0.00"}


def test_a_folder_without_its_data_says_so(page: Any, site: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(site, tmp_path / "site")
    for path in (tmp_path / "site" / "data").glob("c*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    opened(page, tmp_path / "site")
    page.select_option("#column", "c0")
    page.locator("#items .open").click()
    page.wait_for_selector("#items .mark")
    assert "keep the folder data beside this page" in page.locator("#items").inner_text()
