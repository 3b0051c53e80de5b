"""What a bot may send, drawn: bytes, messages that are nearly right, and whole talks of them."""

from dataclasses import dataclass

from hypothesis import strategies as st

NUMBERS = st.integers(0, 2**32 - 1)
CARDS = st.lists(st.one_of(st.integers(0, 51), NUMBERS), max_size=5)
TEXT = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["", "\0", "\x1b[2J", "\n" * 9, "\u202e", "x" * 5000, "é" * 2000, "<b>"]),
)


@dataclass(frozen=True)
class Said:
    """One move. `which`: the k-th open decision, or the k-th that was ever sent, or this number;
    `answer`: a legal card chosen by a number, cards, an error, cards that are none, or nothing."""

    which: tuple[str, int]
    answer: tuple[str, object]
    note: str = ""


@dataclass(frozen=True)
class Message:
    """Moves in one message, with some of its bytes changed."""

    moves: tuple[Said, ...]
    changes: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Raw:
    """Bytes as they are."""

    data: bytes


@dataclass(frozen=True)
class Wait:
    """Time passes."""

    seconds: float


@dataclass(frozen=True)
class Leave:
    """The process ends, and another comes; or (`back`) its connection did and it is back."""

    back: bool


Step = Message | Raw | Wait | Leave

SAID = st.builds(
    Said,
    st.one_of(
        st.tuples(st.just("open"), st.integers(0, 9)),
        st.tuples(st.just("ever"), st.integers(0, 99)),
        st.tuples(st.just("number"), NUMBERS),
    ),
    st.one_of(
        st.tuples(st.just("legal"), st.integers(0, 51)),
        st.tuples(st.just("legal"), st.integers(0, 51)),
        st.tuples(st.just("cards"), CARDS),
        st.tuples(st.just("error"), TEXT),
        st.tuples(st.just("nothing"), st.none()),
    ),
    st.one_of(st.just(""), TEXT),
)
MESSAGE = st.builds(
    Message,
    st.lists(SAID, max_size=8).map(tuple),
    st.one_of(
        st.just(()),
        st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=3).map(tuple),
    ),
)
STEP = st.one_of(
    MESSAGE,
    MESSAGE,
    st.builds(Raw, st.binary(max_size=60)),
    st.builds(Wait, st.sampled_from([0.0, 0.001, 0.05, 1.0, 2.5, 13.0])),
    st.builds(Leave, st.booleans()),
)
TALK = st.lists(STEP, max_size=40)
GAMES = st.sampled_from(["knave", "ninety-nine"])
