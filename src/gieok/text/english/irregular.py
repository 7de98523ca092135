"""Irregular English forms: sold is sell, children is child."""

from __future__ import annotations

_VERBS = """
    become became
    begin began begun
    bend bent
    bite bitten
    bleed bled
    blow blew blown
    break broke broken
    breed bred
    bring brought
    build built
    burn burnt
    buy bought
    catch caught
    choose chose chosen
    cling clung
    come came
    creep crept
    deal dealt
    dig dug
    draw drew drawn
    dream dreamt
    drink drank drunk
    drive drove driven
    eat ate eaten
    fall fell fallen
    feed fed
    feel felt
    fight fought
    find found
    flee fled
    fly flew flown
    forbid forbade forbidden
    forget forgot forgotten
    forgive forgave forgiven
    freeze froze frozen
    get got gotten
    give gave given
    go went gone
    grow grew grown
    hang hung
    hear heard
    hide hid hidden
    hold held
    keep kept
    kneel knelt
    know knew known
    lay laid
    lead led
    lean leant
    leap leapt
    learn learnt
    leave left
    lend lent
    light lit
    lose lost
    make made
    mean meant
    meet met
    pay paid
    prove proven
    ride rode ridden
    ring rang rung
    rise risen
    run ran
    say said
    see saw seen
    seek sought
    sell sold
    send sent
    sew sewn
    shake shook shaken
    shine shone
    shoot shot
    show shown
    shrink shrank shrunk
    sing sang sung
    sink sank sunk
    sit sat
    sleep slept
    slide slid
    smell smelt
    speak spoke spoken
    speed sped
    spell spelt
    spend spent
    spill spilt
    spin spun
    spoil spoilt
    stand stood
    steal stole stolen
    stick stuck
    sting stung
    strike struck stricken
    strive strove striven
    swear swore sworn
    sweep swept
    swell swollen
    swim swam swum
    swing swung
    take took taken
    teach taught
    tear tore torn
    tell told
    think thought
    throw threw thrown
    understand understood
    wake woke woken
    wear wore worn
    weave wove woven
    weep wept
    win won
    withdraw withdrew withdrawn
    write wrote written
"""
_NOUNS = """
    calf calves
    child children
    foot feet
    goose geese
    half halves
    knife knives
    loaf loaves
    man men
    mouse mice
    person people
    shelf shelves
    thief thieves
    tooth teeth
    wife wives
    wolf wolves
    woman women
"""

BASES = {
    form: base
    for base, *forms in (line.split() for line in (_VERBS + _NOUNS).strip().splitlines() if line.strip())
    for form in forms
}
"""The base form of each irregular form."""
