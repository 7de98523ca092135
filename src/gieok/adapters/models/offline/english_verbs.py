"""English verb forms: enough to tell past from present, and to say what someone else does."""

from __future__ import annotations

from gieok.adapters.models.offline.lexicon import listed


def _pairs(table: str) -> dict[str, str]:
    """`go:went see:saw` as a dictionary."""
    return {base: past for base, _, past in (pair.partition(":") for pair in table.split())}


_PAST = _pairs("""
    be:was become:became begin:began break:broke bring:brought build:built buy:bought catch:caught
    choose:chose come:came cost:cost cut:cut do:did draw:drew drink:drank drive:drove eat:ate fall:fell
    feel:felt fight:fought find:found fly:flew forget:forgot get:got give:gave go:went grow:grew
    hang:hung have:had hear:heard hide:hid hit:hit hold:held hurt:hurt keep:kept know:knew lead:led
    leave:left lend:lent let:let lose:lost make:made mean:meant meet:met pay:paid put:put quit:quit
    read:read ride:rode ring:rang run:ran say:said see:saw sell:sold send:sent set:set shake:shook
    shut:shut sing:sang sit:sat sleep:slept speak:spoke spend:spent stand:stood steal:stole swim:swam
    take:took teach:taught tell:told think:thought throw:threw understand:understood wake:woke wear:wore
    win:won write:wrote
""")
_PAST_FORMS = frozenset(_PAST.values()) | {"were", "been", "gone", "done", "seen"}
_MODALS = listed("""
    can could will would shall should may might must can't cannot couldn't won't wouldn't shouldn't
""")
_IRREGULAR = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}
_NEGATED = {"don't": "doesn't", "haven't": "hasn't", "aren't": "isn't", "weren't": "wasn't", "ain't": "isn't"}
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")

BASE_FORMS = frozenset(_PAST) | listed("""
    want need like love hate live play watch hope feel try start stop use enjoy prefer look call help
    wait worry miss talk walk wish believe agree remember own care work study plan move visit cook
    travel practice dream
""")


_BASES = {"is": "are", "has": "have", "does": "do", "goes": "go", "was": "were"} | {
    "doesn't": "don't", "hasn't": "haven't", "isn't": "aren't", "wasn't": "weren't",
}  # fmt: skip


def base_of_third_person(verb: str) -> str:
    """The form after you: has → have, studies → study. Past forms and modals stay."""
    if verb in _BASES:
        return _BASES[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith("es") and verb[:-2].endswith(_SIBILANT):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def is_irregular_past(verb: str) -> bool:
    return verb in _PAST_FORMS


def is_past(verb: str) -> bool:
    return verb in _PAST_FORMS or (verb.endswith("ed") and verb not in ("need", "feed", "speed"))


def past_of(verb: str) -> str:
    """eat → ate, like → liked, study → studied."""
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


def third_person(verb: str, *, in_past: bool) -> str:
    """The form after he or she: have → has, study → studies. Past forms and modals stay.

    `in_past`: the sentence speaks of the past, so that a form that serves both (put, read) is left alone.
    """
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _NEGATED:
        return _NEGATED[verb]
    if verb in _MODALS or verb.endswith("n't"):
        return verb
    ambiguous = _PAST.get(verb) == verb
    if (is_past(verb) and not ambiguous) or (ambiguous and in_past):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(_SIBILANT) else f"{verb}s"
