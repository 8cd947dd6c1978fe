"""Lists held as columns say what lists of Python would."""

from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.ragged import Growing, Ragged

LISTS = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=4), min_size=1, max_size=5)


def held(lists: list[list[int]]) -> Ragged:
    growing = Growing()
    for numbers in lists:
        growing.add(numbers)
    return growing.ragged()


def told(ragged: Ragged) -> list[list[int]]:
    return [list(numbers) for numbers in ragged.arrays()]


@given(LISTS)
def test_lists_are_sorted_made_sets_and_thinned(lists: list[list[int]]) -> None:
    ragged = held(lists)
    assert told(ragged) == lists
    assert told(ragged.ascending()) == [sorted(numbers) for numbers in lists]
    assert told(ragged.sets()) == [sorted(set(numbers)) for numbers in lists]
    assert told(ragged.where(ragged.values % 2 == 1)) == [[n for n in one if n % 2] for one in lists]


@given(LISTS, st.data())
def test_lists_are_taken_and_joined_by_their_places(lists: list[list[int]], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.lists(st.integers(0, len(lists) - 1), max_size=3), min_size=1, max_size=4))
    ragged = held(lists)
    assert told(ragged.take(places[0])) == [lists[place] for place in places[0]]
    joined = [[number for place in some for number in lists[place]] for some in places]
    assert told(ragged.joined(held(places))) == joined
