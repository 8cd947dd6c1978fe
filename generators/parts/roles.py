"""Wrong explanations in which exactly one semantic role differs (Kinayat, section 3)."""

from pydantic import Field

from mihakk.generators.parts.explanations import Wrong, right_explanation
from mihakk.generators.task import Context, Options
from mihakk.generators.writing.replies import same_text, wrong_language
from mihakk.generators.writing.writer import prose
from mihakk.machinery.text import key, word_keys
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.record import Language, Record


class Role(Record):
    """One semantic role of the explanation."""

    role: str = Field(description="agent, action, theme, recipient, manner, place, time, cause, quality, ...")
    text: str = prose("The words of the explanation that fill it, copied exactly.")


class Changed(Record):
    """The one role that is filled otherwise."""

    role: str
    before: str = prose("The words that filled it, as listed under roles.")
    after: str = prose("The words that fill it now.")


class Relabelled(Record):
    """The reply asked for."""

    roles: list[Role] = Field(json_schema_extra={"minItems": 2})
    changed: list[Changed] = Field(json_schema_extra={"minItems": 1, "maxItems": 1})
    sentence: str = prose("The explanation with that one role filled otherwise.")


def role_objection(reply: Relabelled, right: str, language: Language) -> str:
    """What is wrong with a reply; empty when exactly one role really changed and all else stands."""
    if problem := wrong_language(reply.sentence, language):
        return f"wrong_language: {problem}"
    if len(reply.roles) < 2:
        return "too_few_roles: list every semantic role of the explanation, two at least"
    if strange := [role.text for role in reply.roles if not _holds(right, role.text, language)]:
        return f"role_not_in_text: {strange[0]!r} does not stand in the explanation; copy its words exactly"
    if len(reply.changed) != 1:
        return f"not_one_change: {len(reply.changed)} roles changed; change exactly one"
    (changed,) = reply.changed
    named = [role for role in reply.roles if role.role == changed.role]
    if not any(key(role.text, language) == key(changed.before, language) for role in named):
        return "change_not_listed: `role` and `before` must be one of the roles listed"
    if same_text(changed.before, changed.after, language):
        return "no_change: the new words read like the old ones"
    return _rest_objection(reply, changed, right, language)


def _rest_objection(reply: Relabelled, changed: Changed, right: str, language: Language) -> str:
    """The sentence says the change, and nothing else has moved."""
    if not _holds(reply.sentence, changed.after, language):
        return "change_not_made: the sentence does not hold the new words"
    if _holds(reply.sentence, changed.before, language) and not _holds(
        changed.after, changed.before, language
    ):
        return "old_words_stay: the sentence still holds the old words"
    if key(reply.sentence, language) == key(right, language):
        return "same_text: the sentence is the explanation itself"
    kept = [
        role
        for role in reply.roles
        if key(role.text, language) != key(changed.before, language)
        and not _holds(changed.before, role.text, language)
        and not _holds(role.text, changed.before, language)
    ]
    if lost := [role.text for role in kept if not _holds(reply.sentence, role.text, language)]:
        return f"second_change: {lost[0]!r} is gone too; leave every other role as it is"
    before, after = word_keys(right, language), word_keys(reply.sentence, language)
    spare = set(word_keys(changed.before, language)) | set(word_keys(changed.after, language))
    moved = (set(before) ^ set(after)) - spare
    if len(moved) > max(2, len(before) // 4):
        return "reworded: the rest of the sentence is reworded; change nothing but the one role"
    return ""


def _holds(text: str, part: str, language: Language) -> bool:
    folded = key(part, language)
    return bool(folded) and folded in key(text, language)


def relabelled(ctx: Context[Options], idiom: Idiom) -> Wrong:
    """The explanation with one role changed by a model that never sees the idiom.

    Raises:
        Skip: There is no right explanation, or no usable reply.
    """
    right = right_explanation(ctx, idiom)

    def rule(reply: Relabelled) -> str:
        refused = ctx.refuses(idiom.id, reply.sentence, idiom.language)
        again = "refused: people found it a poor wrong answer; change another role" if refused else ""
        return role_objection(reply, right, idiom.language) or again

    reply, written = ctx.write(
        idiom.id, "meaning_choice_srl", idiom.language, Relabelled, rule, explanation=right
    )
    (changed,) = reply.changed
    return Wrong(
        right,
        (reply.sentence.strip(),),
        "srl",
        written=written,
        notes={"changed_role": changed.role},
    )
