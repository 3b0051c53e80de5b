#include "bot.h"

#include <functional>
#include <iostream>
#include <utility>

#include "referee.h"

using knavery::v1::Decision;

namespace {

int failures = 0;

template <typename Value>
void expect(const Value& value, const Value& expected) {
  if (value == expected) return;
  ++failures;
  std::cerr << "  got " << value << ", expected " << expected << "\n";
}

template <typename Field>
void set(Field* field, const Cards& cards) {
  field->Clear();
  field->Add(cards.begin(), cards.end());
}

// A decision to play a card in classic Knave, seat 0 of 3.
Decision knave(const std::string& hand, const std::string& trick, const std::string& legal) {
  Decision decision;
  decision.set_id(1);
  auto& rules = *decision.mutable_rules();
  rules.set_players(3);
  for (Card rank = 0; rank < 13; ++rank) rules.add_ranks(rank);
  rules.mutable_knave()->set_trick_value(1);
  for (int jack : {-1, -2, -3, -4}) {
    rules.mutable_knave()->add_jacks(jack);
    rules.mutable_knave()->add_queens(0);
  }
  set(decision.mutable_hand(), parseCards(hand));
  set(decision.mutable_trick(), parseCards(trick));
  set(decision.mutable_played(), parseCards(trick));
  decision.set_trump(knavery::v1::TRUMP_NONE);
  set(decision.mutable_play_request()->mutable_legal(), parseCards(legal));
  return decision;
}

// A decision of Ninety-Nine with hearts as trump, seat 0 of 3.
Decision ninetyNine(const std::string& hand, const std::string& trick) {
  Decision decision = knave(hand, trick, hand);
  auto& rules = *decision.mutable_rules();
  set(rules.mutable_ranks(), {3, 5, 6, 7, 8, 9, 10, 11, 12});
  for (Card value : {3, 0, 2, 1}) rules.mutable_ninety_nine()->add_bid_values(value);
  for (int seat = 0; seat < 3; ++seat) decision.add_tricks_won(0);
  decision.set_trump(knavery::v1::TRUMP_HEARTS);
  return decision;
}

// What the bot answers: cards, or an error.
std::string answer(const Decision& decision) {
  Bot bot;
  const auto move = decide(bot, decision);
  if (move.has_error()) return "error: " + move.error();
  return text(Cards(move.cards().cards().begin(), move.cards().cards().end()));
}

void cardsAreNumbers() {
  expect(parseCards("2C AC 2D JS AS") == Cards{0, 12, 13, 48, 51}, true);
  expect(text({0, 12, 13, 48, 51}), std::string("2C AC 2D JS AS"));
}

void trumpBeatsTheSuitLed() {
  const Decision decision = ninetyNine("5H AS KD", "KS 9S");
  for (const auto& [card, taken] : {std::pair{"5H", true}, {"AS", true}, {"KD", false}}) {
    expect(takes(decision, parseCards(card)[0]), taken);
  }
}

void throwsTheDearestJackWhereItIsNotWon() {
  expect(answer(knave("JC JS 3D", "AH 2H", "JC JS 3D")), std::string("JS"));
}

void doesNotTakeAJackWithTheLastCard() {
  expect(answer(knave("3S KS", "TS JS", "3S KS")), std::string("3S"));
}

void takesTricksUntilTheBidIsMade() {
  Decision decision = ninetyNine("5S AS", "KS 9S");
  set(decision.mutable_bid()->mutable_cards(), parseCards("5D 7D 7S"));
  expect(answer(decision), std::string("AS"));
  decision.set_tricks_won(0, 1);
  expect(answer(decision), std::string("5S"));
}

void bidsWhatTheHandCanTake() {
  Decision decision = ninetyNine("5C 7C 5D 7D 8D 5S 7S 8S 5H 7H 8H 9C", "");
  decision.mutable_bid_request()->set_choose(3);
  expect(answer(decision), std::string("5D 7D 8D"));
}

void answersWithAnErrorWhatItDoesNotKnow() {
  expect(answer(Decision()).rfind("error: the referee asks", 0), std::size_t{0});
}

void aFailureCostsOnlyItsDecision() {
  expect(answer(knave("2C", "", "")), std::string("error: there is nothing to choose from"));
}

}  // namespace

int main() {
  const std::pair<const char*, std::function<void()>> tests[] = {
      {"cards are numbers", cardsAreNumbers},
      {"trump beats the suit led", trumpBeatsTheSuitLed},
      {"throws the dearest jack where it is not won", throwsTheDearestJackWhereItIsNotWon},
      {"does not take a jack with the last card", doesNotTakeAJackWithTheLastCard},
      {"takes tricks until the bid is made", takesTricksUntilTheBidIsMade},
      {"bids what the hand can take", bidsWhatTheHandCanTake},
      {"answers with an error what it does not know", answersWithAnErrorWhatItDoesNotKnow},
      {"a failure costs only its decision", aFailureCostsOnlyItsDecision},
  };
  for (const auto& [name, test] : tests) {
    std::cout << name << std::endl;
    test();
  }
  return failures == 0 ? 0 : 1;
}
