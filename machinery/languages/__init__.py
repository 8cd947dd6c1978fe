"""Languages as data: a folder with a `pack.yaml` each, our own beside this file, others from other packages.

Code asks a language's pack what it needs to know and never compares codes. A language without a pack has a
default one: what Unicode tells, and no words.
"""

from mihakk.machinery.languages.pack import (
    Items,
    Level,
    Options,
    Pack,
    Planted,
    Probes,
    Stems,
    Stereotypes,
    Tells,
    Verse,
    Writing,
)
from mihakk.machinery.languages.packs import (
    ByLanguage,
    found_script,
    language_name,
    language_named,
    languages,
    pack,
    require_level,
    stand_in,
    unfit,
    written_in,
)

__all__ = [
    "ByLanguage",
    "Items",
    "Level",
    "Options",
    "Pack",
    "Planted",
    "Probes",
    "Stems",
    "Stereotypes",
    "Tells",
    "Verse",
    "Writing",
    "found_script",
    "language_name",
    "language_named",
    "languages",
    "pack",
    "require_level",
    "stand_in",
    "unfit",
    "written_in",
]
