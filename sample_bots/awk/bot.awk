# Yours: choose the cards of a bid, choose a card to play.

# The lowest cards of the hand, as "1, 2, 3".
function bid(choose,    hand, count, text, i, best) {
    count = numbers("hand", hand)
    for (i = 0; i < choose; i++) {
        best = lowest(hand, count)
        text = text (i ? ", " : "") hand[best]
        hand[best] = hand[count--]
    }
    return text
}

# Low cards first: they take few tricks, and few jacks.
function play(    legal, count) {
    count = numbers("legal", legal)
    return legal[lowest(legal, count)]
}

# Where in a list of so many cards the one of the lowest rank is.
function lowest(cards, count,    i, best) {
    best = 1
    for (i = 2; i <= count; i++)
        if (cards[i] % 13 < cards[best] % 13) best = i
    return best
}
