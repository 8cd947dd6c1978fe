"""What sources write into fields of labels: numbers inside phrases, countries in the place of eras."""

from __future__ import annotations

import re

from mihakk.machinery.text import key
from mihakk.machinery.text.digits import convert

_ERA = re.compile(
    r"العصر|عصر|مخضرم|جاهلي|قبل ال[إا]سلام|[إا]سلامي|[أا]موي|عباسي|[أا]ندلس|[أا]يوبي|فاطمي|مملوكي|عثماني"
    r"|حديث|معاصر"
)
_COUNTRIES = """
    سوريا، سورية، فلسطين، العراق، مصر، لبنان، الأردن، السعودية، المملكة العربية السعودية، اليمن،
    الكويت، البحرين، قطر، الإمارات، الإمارات العربية المتحدة، عمان، سلطنة عمان، ليبيا، تونس،
    الجزائر، المغرب، موريتانيا، السودان، الصومال، جيبوتي، جزر القمر، إيران، تركيا، الهند، إسبانيا،
    أفغانستان، باكستان، تشاد، إريتريا، السنغال، نيجيريا، مالي، الأحواز، المهجر
"""
COUNTRIES = frozenset(key(name, "ar") for name in _COUNTRIES.split("،"))


def number(text: object) -> int | None:
    """The first number of a text (`عدد الأبيات: 5`) in any digits, or None; separators are dropped."""
    found = re.search(r"\d[\d,٬]*", convert(str(text), "western"))
    return int(re.sub(r"\D", "", found[0])) if found else None


def is_country(label: str) -> bool:
    """The label names a country, where sites put one in the place of a modern poet's era."""
    return key(label, "ar") in COUNTRIES


def names_era(label: str) -> bool:
    """The label names an era of literature."""
    return _ERA.search(label) is not None


def with_country(labels: dict[str, str]) -> dict[str, str]:
    """Labels with a country given as an era under `country`."""
    era = labels.get("era", "")
    if not is_country(era):
        return labels
    rest = {name: value for name, value in labels.items() if name != "era"}
    return {"country": era} | rest
