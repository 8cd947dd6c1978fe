"""How much of an answer stands word for word in another text."""

from collections.abc import Sequence


def longest_run(answer: Sequence[str], text: Sequence[str]) -> int:
    """Length in words of the longest run of `answer` that occurs in `text`."""
    best = 0
    before = [0] * (len(answer) + 1)
    known = set(answer)
    for word in text:
        if word not in known:
            if any(before):
                before = [0] * (len(answer) + 1)
            continue
        now = [0] * (len(answer) + 1)
        for i, own in enumerate(answer):
            if own == word:
                now[i + 1] = before[i] + 1
                best = max(best, now[i + 1])
        before = now
    return best


def contains(text: str, answer: str) -> bool:
    """Whether the folded `answer` stands in the folded `text` as whole words."""
    return bool(answer) and answer in text and f" {answer} " in f" {text} "
