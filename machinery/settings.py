"""Settings: paths, and the secrets in the environment."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from platformdirs import user_data_path
from pydantic import BeforeValidator, Field, SecretBytes, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from mihakk.machinery.errors import UsageError

PACKAGE = Path(str(files("mihakk")))
"""The package as it is imported: code, configs, reference data and samples lie in it."""
REFERENCE = PACKAGE / "data" / "reference"
SAMPLES = PACKAGE / "data" / "samples"
CHECK_SAMPLES = PACKAGE / "data" / "checks"


def _root() -> Path:
    """The checkout that `src/mihakk` stands in; of an installed copy the package itself, laid out like it."""
    checkout = PACKAGE.parent.parent
    return checkout if PACKAGE.parent.name == "src" and (checkout / "pyproject.toml").is_file() else PACKAGE


ROOT = _root()
"""Where folders of code and configs lie by their names: the checkout, or the installed package."""
WORKSPACE_FILE = "mihakk.toml"


def workspace() -> Path:
    """The folder that lake, embedded Hub, cache and reports lie in unless settings say otherwise.

    That of the nearest `mihakk.toml` at or above the working folder; else the checkout that this code is run
    from; else the user's data folder. Never the place of an installation.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / WORKSPACE_FILE).is_file():
            return folder
    return user_data_path("mihakk") if ROOT == PACKAGE else ROOT


def _runs() -> Path:
    here = Path("runs")
    return here if workspace() in (ROOT, Path.cwd()) else workspace() / here


def _in_workspace(*parts: str) -> Any:
    return Field(default_factory=lambda: workspace().joinpath(*parts))


def _as_bytes(value: Any) -> Any:
    """The bytes of a variable, valid text or not."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


class Settings(BaseSettings):
    """Read from `MIHAKK_*` environment variables; secrets never leave this object as plain text."""

    model_config = SettingsConfigDict(env_prefix="MIHAKK_", extra="ignore", env_ignore_empty=True)

    lake: str = Field(default_factory=lambda: str(workspace() / "data" / "lake"))
    """Folder or fsspec URL of the stage tables."""
    hub: Path = _in_workspace("data", "hub")
    """Folder of the embedded Hub's git repositories."""
    errata: Path = _in_workspace("errata")
    """Folder of the defects that consumers report, one folder a benchmark; in the repository, for review."""
    runs: Path = Field(default_factory=_runs)
    """Where reports of runs, audits and evaluations go; in a checkout relative to the working folder."""
    cache: Path = _in_workspace("data", "cache")
    """Assembled weights, embeddings and other things that can be made again."""
    contact: str = ""
    """E-mail or page named in the scrapers' user agent."""
    engine: str = "processes"
    """Where shards are worked on: `processes`, `dask`, or `dask:ADDRESS` of a scheduler."""
    workers: int = 0
    """Processes for shards; 0: as many as the machine has cores."""
    data_docs: bool = True
    """Whether Great Expectations, where it is installed, checks the tables' suites and makes pages of them,
    the Data Docs. Off, a build takes some seconds and 150 MB less, and the same suites are checked."""
    embeddings_key: SecretStr | None = None
    """Key of the embeddings server (`embeddings: openai:<url>#<model>`), where it asks for one."""
    smtp: SecretStr | None = None
    """Server that mails the digest: `smtps://USER:PASSWORD@HOST:465` or `smtp://HOST:25`."""
    digest_webhook: SecretStr | None = None
    """Address that gets the digest as JSON."""
    hf_token: SecretStr | None = None
    blind_key: Annotated[SecretBytes | None, BeforeValidator(_as_bytes)] = None
    """Secret that keys the ids, digests and option orders of a blind release; one for all its versions."""
    blind_key_file: Path | None = None
    """File whose bytes, all of them, are that secret."""
    answers_identity_file: Path | None = None
    """File with the age secret key (`AGE-SECRET-KEY-1...`) that encrypted golds are opened with."""
    aldiwan_token: SecretStr | None = None
    label_studio_url: str = "http://127.0.0.1:8090"
    label_studio_token: SecretStr | None = None
    label_studio_home: Path = _in_workspace("data", "labelstudio")
    """Where `mihakk review serve` keeps its database, secrets and log."""
    relay_secret: SecretStr | None = None
    """What Label Studio's webhooks show `mihakk review relay`; one is made up per run where it is not set."""
    camel_data: Path = Field(
        default_factory=lambda: Path.home() / ".camel_tools", validation_alias="CAMELTOOLS_DATA"
    )
    """camel-tools' own variable: where `camel_data` puts what it downloads."""
    prefect_api_url: str = Field(default="", validation_alias="PREFECT_API_URL")
    """Prefect's own variable: the relay tells that server of annotations instead of pulling them itself."""
    prefect_api_key: SecretStr | None = Field(default=None, validation_alias="PREFECT_API_KEY")
    prefect_api_auth_string: SecretStr | None = Field(
        default=None, validation_alias="PREFECT_API_AUTH_STRING"
    )


def install_command(extra: str) -> str:
    """The command that installs an extra: a checkout's in locked versions, those of `gpu` built for CUDA."""
    if ROOT == PACKAGE:
        return f"pip install 'mihakk[{extra}]'"
    lock = "requirements/cuda.txt" if extra == "gpu" else "requirements/cpu.txt --torch-backend=cpu"
    return f".venv/bin/uv pip install -c {lock} -e '.[{extra}]'"


def extra_of(module: str) -> str | None:
    """The smallest extra that brings the distribution of a module; None where no extra of ours does."""
    named = module.partition(".")[0].replace("_", "-").lower()
    extras = _extras()
    sizes = Counter(extra for extra, _ in extras)
    bringing = [extra for extra, distribution in extras if distribution == named]
    return min(bringing, key=lambda extra: sizes[extra], default=None)


def _extras() -> list[tuple[str, str]]:
    """Each extra with each distribution that it brings."""
    return [
        (extra.strip(" '\""), re.split(r"[^\w.-]", line, maxsplit=1)[0].lower())
        for line in requires("mihakk") or ()
        for _, mark, extra in [line.rpartition("extra ==")]
        if mark
    ]


def require(*extras: str) -> None:
    """Sees to it that all packages of the extras are there.

    Raises:
        UsageError: Some are not; the message names them all, and the command that installs them.
    """
    missing = []
    for distribution in (name for of, name in _extras() if of in extras):
        try:
            version(distribution)
        except PackageNotFoundError:
            missing.append(distribution)
    if missing:
        raise UsageError(f"this needs {', '.join(missing)}: run `{install_command(','.join(extras))}`")


@cache
def settings() -> Settings:
    """The settings of this process, read once, when first asked for."""
    return Settings()
