"""Charts are well-formed pictures of the figures given."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.card.charts import Mark, bars, grid, scatter, spans
from mihakk.releases.card.similarity import cluster_similarities, letter_spreads
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.rejection import Cluster
from tests.releases.release_material import hafez_items

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_bars_are_as_long_as_their_share() -> None:
    picture = bars("Items <a & b>", [("one", {"dev": 1, "test": 3}), ("two", {"test": 2})])
    widths = [
        float(box.get("width", "0").rstrip("%")) for box in ElementTree.fromstring(picture).iter(f"{SVG}rect")
    ][1:]
    assert widths[2:] == [105.0, 315.0, 210.0]
    assert {"Items <a & b>", "one", "two", "4", "2", "dev", "test"} <= set(texts(picture))


def test_a_grid_names_rows_columns_and_counts() -> None:
    picture = grid("Eras", {("abbasid", "praise"): 12, ("modern", "love"): 3})
    assert set(texts(picture)) == {"Eras", "abbasid", "modern", "praise", "love", "12", "3"}


def test_no_rows_are_no_error() -> None:
    assert texts(bars("Nothing", [])) == ["Nothing"]


def test_spans_show_each_series_on_one_axis_widened_where_a_mark_lies_outside() -> None:
    rows = [
        ("clarity", {"auditors": Mark(0.5), "people": Mark(-0.4, -0.5, 0.2)}),
        ("wording", {"auditors": Mark(1.0, 0.6, 1.0, (0.8, 1.0))}),
    ]
    drawn = spans("Agreement", rows)
    assert {"auditors", "people", "clarity", "wording", "0.50 / -0.40", "1.00", "-0.5", "0", "1"} <= set(
        texts(drawn)
    )
    middle = [float(dot.get("cx", "0")) for dot in ElementTree.fromstring(drawn).iter(f"{SVG}circle")]
    assert middle == [300 + 420 * 1.0 / 1.5, pytest.approx(300 + 420 * 0.1 / 1.5, abs=0.06)]


def test_points_stand_at_the_logarithm_of_their_size_and_labels_do_not_meet() -> None:
    drawn = scatter("Left out", [("small", 10, 50), ("large", 1000, 100), ("twin", 1000, 100)], "records")
    dots = [float(dot.get("cx", "0")) for dot in ElementTree.fromstring(drawn).iter(f"{SVG}circle")]
    assert dots == [pytest.approx(60 + 560 / 3, abs=0.06), 620, 620]
    named = {one.text: float(one.get("y", "0")) for one in ElementTree.fromstring(drawn).iter(f"{SVG}text")}
    assert abs(named["large 100.0"] - named["twin 100.0"]) >= 14


def test_hostile_words_stay_words() -> None:
    words = "\x00\x1b</text><script>alert(1)</script>&\"'"
    for drawn in (
        bars(words, [(words, {words: 1, "b": 2})]),
        grid(words, {(words, words): 3}),
        spans(words, [(words, {words: Mark(0.1)})]),
        scatter(words, [(words, 3, 3)], words),
    ):
        names = {one.tag for one in ElementTree.fromstring(drawn).iter()}
        assert names <= {f"{SVG}{name}" for name in ("svg", "rect", "text", "g", "line", "circle")}


def test_clusters_are_counted_by_likeness_level_and_fate() -> None:
    def cluster(method: str, similarity: float) -> Cluster:
        return Cluster(kept="a", merged=("b",), level="couplet", method=method, similarity=similarity)

    counted = dict(
        cluster_similarities([cluster("exact", 1.0), cluster("half", 0.93), cluster("similar", 0.9)])
    )
    assert counted == {
        "90 to 94 %": {"couplet, all kept": 2},
        "95 to 99 %": {},
        "100 %": {"couplet, merged": 1},
    }
    assert cluster_similarities([]) == []


def test_spreads_are_of_the_wrong_options_alone_and_one_order_of_a_pair() -> None:
    (one,) = letter_spreads([item for item in hafez_items(2) if item.task == "continuation_choice"])
    assert one.config == "fa_continuation_choice"
    pairs = {item.pair_id for item in hafez_items(2) if isinstance(item, ChoiceItem) and item.pair_id}
    assert one.options == 2 * len(pairs)
    assert 0 < one.p05 <= one.median <= one.p95 < 1


def test_every_chart_of_a_release_stands_in_its_card(first_release: AssembledRelease) -> None:
    card = (first_release.folder / "README.md").read_text(encoding="utf-8")
    charts = sorted((first_release.folder / "charts").glob("*.svg"))
    assert [chart.name for chart in charts] == [
        "agreement.svg",
        "audit_totals.svg",
        "discard_rate.svg",
        "discard_size.svg",
        "funnel.svg",
        "items.svg",
        "near_duplicates.svg",
        "options_letters.svg",
        "removed.svg",
    ]
    for chart in charts:
        assert f"](charts/{chart.name})" in card
        ElementTree.fromstring(chart.read_text(encoding="utf-8"))
