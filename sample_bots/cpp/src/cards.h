// A card is a number, 13 * suit + rank: clubs 0, diamonds 1, hearts 2, spades 3; the two is rank 0
// and the ace 12. In text it is rank then suit: "TH" is the ten of hearts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "knavery/v1/game.pb.h"

using Card = std::uint32_t;
using Cards = std::vector<Card>;

constexpr Card kJack = 9;
constexpr Card kQueen = 10;

// By card number, whether the card is one that this seat has not seen.
using Unseen = std::array<bool, 52>;

// The suit of a card, 0 to 3.
constexpr int suit(Card card) { return static_cast<int>(card / 13); }

// The rank of a card, 0 to 12.
constexpr Card rank(Card card) { return card % 13; }

// Cards as "AS TH".
std::string text(const Cards& cards);

// Cards as in "7H QS"; std::invalid_argument if one is none.
Cards parseCards(const std::string& text);

// The trump suit of a decision, nothing if there is none or it is not known.
std::optional<int> trumpSuit(const knavery::v1::Decision& decision);

// Whether a card, played now, would be the winning card of the trick as it stands.
bool takes(const knavery::v1::Decision& decision, Card card);

// The cards of the pack that this seat has not seen: in other hands, bid face down, or undealt.
Unseen unseenCards(const knavery::v1::Decision& decision);

// How many unseen cards of a card's suit are higher.
int higherUnseen(const Unseen& unseen, Card card);

// Every choice of so many of the cards, each in the order of the cards.
std::vector<Cards> combinations(const Cards& cards, std::size_t count);
