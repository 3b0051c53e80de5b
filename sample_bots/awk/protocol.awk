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
    if ($0 ~ /"bidRequest"/) answer = move(bid(number("choose")))
    else if ($0 ~ /"playRequest"/) answer = move(play())
    else answer = "\"error\": \"a request that this bot does not know\""
    printf "{\"decision\": %d, %s}\n", number("id"), answer
    fflush()
}

function move(text) {
    return "\"cards\": {\"cards\": [" text "]}"
}
