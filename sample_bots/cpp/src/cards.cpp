#include "cards.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

using knavery::v1::Decision;

namespace {

const std::string kRanks = "23456789TJQKA";
const std::string kSuits = "CDHS";

// Whether one card of a trick is higher than another.
bool beats(Card card, Card other, int led, std::optional<int> trump) {
  if (suit(card) == suit(other)) return rank(card) > rank(other);
  return suit(card) == trump || (suit(card) == led && suit(other) != trump);
}

}  // namespace

std::string text(const Cards& cards) {
  std::string text;
  for (Card card : cards) {
    if (!text.empty()) text += ' ';
    text += kRanks[rank(card)];
    text += kSuits[suit(card)];
  }
  return text;
}

Cards parseCards(const std::string& text) {
  Cards cards;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto rank = kRanks.find(word[0]);
    const auto suit = word.size() == 2 ? kSuits.find(word[1]) : std::string::npos;
    if (rank == std::string::npos || suit == std::string::npos) {
      throw std::invalid_argument("no card: " + word);
    }
    cards.push_back(static_cast<Card>(13 * suit + rank));
  }
  return cards;
}

std::optional<int> trumpSuit(const Decision& decision) {
  const auto trump = decision.trump();
  if (trump < knavery::v1::TRUMP_CLUBS || trump > knavery::v1::TRUMP_SPADES) return std::nullopt;
  return trump - knavery::v1::TRUMP_CLUBS;
}

bool takes(const Decision& decision, Card card) {
  if (decision.trick().empty()) return true;
  const int led = suit(decision.trick(0));
  const auto trump = trumpSuit(decision);
  const bool beaten = std::any_of(decision.trick().begin(), decision.trick().end(),
                                  [&](Card other) { return beats(other, card, led, trump); });
  return !beaten && (suit(card) == led || suit(card) == trump);
}

Unseen unseenCards(const Decision& decision) {
  Unseen unseen{};
  for (Card rank : decision.rules().ranks()) {
    for (Card suit = 0; suit < 4; ++suit) unseen.at(13 * suit + rank) = true;
  }
  const auto see = [&unseen](const auto& cards) {
    for (Card card : cards) unseen.at(card) = false;
  };
  see(decision.hand());
  see(decision.played());
  see(decision.bid().cards());
  for (const auto& bid : decision.bids()) see(bid.cards());
  return unseen;
}

int higherUnseen(const Unseen& unseen, Card card) {
  const auto end = unseen.begin() + 13 * (suit(card) + 1);
  return static_cast<int>(std::count(unseen.begin() + card + 1, end, true));
}

std::vector<Cards> combinations(const Cards& cards, std::size_t count) {
  if (count == 0) return {{}};
  std::vector<Cards> all;
  for (auto first = cards.begin(); first != cards.end(); ++first) {
    for (const Cards& rest : combinations(Cards(first + 1, cards.end()), count - 1)) {
      all.push_back({*first});
      all.back().insert(all.back().end(), rest.begin(), rest.end());
    }
  }
  return all;
}
