# What an event says, and how a move is written. Cards are 13 * suit + rank: see docs/protocol.md.

# The list of numbers called `name` in this event, from cards[1] on; how many there are.
function numbers(name, cards,    text) {
    if (!match($0, "\"" name "\": *\\[[^]]*\\]")) return 0
    text = substr($0, RSTART, RLENGTH)
    sub(/^[^[]*\[ */, "", text)
    sub(/ *\]$/, "", text)
    return split(text, cards, / *, */)
}

# The number called `name` in this event; the first, if there are several.
function number(name,    text) {
    if (!match($0, "\"" name "\": *-?[0-9]+")) return -1
    text = substr($0, RSTART, RLENGTH)
    sub(/.*: */, "", text)
    return text + 0
}

# Events that are not decisions need no answer.
/^\{"decision"/ {
    answer = ($0 ~ /"bidRequest"/) ? bid(number("choose")) : play()
    printf "{\"decision\": %d, \"cards\": {\"cards\": [%s]}}\n", number("id"), answer
    fflush()
}
