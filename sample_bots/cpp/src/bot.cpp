#include "bot.h"

#include <array>
#include <cmath>
#include <stdexcept>

using knavery::v1::Decision;
using knavery::v1::KnaveRules;
using knavery::v1::NinetyNineRules;

namespace {

// How likely a card takes a trick, by how many unseen cards of its suit are higher.
const std::vector<double> kAsTrump = {1, 0.81, 0.6, 0.46, 0.3, 0.15};
const std::vector<double> kAsPlain = {0.69, 0.35, 0.18, 0.11, 0.06};
const std::vector<double> kAsEither = {0.8, 0.47, 0.28, 0.2, 0.1};  // trump unknown, or none

// What a point is worth that another seat gets.
constexpr double kOthers = -0.35;

double chanceToTake(const Decision& decision, const Unseen& unseen, Card card) {
  const auto trump = trumpSuit(decision);
  const auto& chances = !trump ? kAsEither : *trump == suit(card) ? kAsTrump : kAsPlain;
  const auto higher = static_cast<std::size_t>(higherUnseen(unseen, card));
  return higher < chances.size() ? chances[higher] : 0;
}

// The points for taking a card in Knave.
int worth(const KnaveRules& rules, Card card) {
  if (rank(card) == kJack) return rules.jacks(suit(card));
  if (rank(card) == kQueen) return rules.queens(suit(card));
  return 0;
}

// What a card is worth in Knave, in points: of the trick, if it takes it, and the other way round
// if another does. Jacks are thrown where they are not won.
double knaveMerit(const Decision& decision, const Unseen& unseen, Card card) {
  const KnaveRules& rules = decision.rules().knave();
  const Card led = suit(decision.trick().empty() ? card : decision.trick(0));
  const double later = static_cast<int>(decision.rules().players()) - 1 - decision.trick_size();
  double points = rules.trick_value() + worth(rules, card);
  for (Card other : decision.trick()) points += worth(rules, other);
  for (Card jack : {13 * led + kJack, 13 * led + kQueen}) {
    if (unseen[jack]) points += 0.2 * later * worth(rules, jack);
  }
  const double chance =
      takes(decision, card) ? std::pow(0.8, later * higherUnseen(unseen, card)) : 0;
  return points * (chance + kOthers * (1 - chance)) + 0.02 * rank(card) * (1 - chance);
}

template <typename Numbers>
int tricksBid(const NinetyNineRules& rules, const Numbers& bid) {
  int tricks = 0;
  for (Card card : bid) tricks += static_cast<int>(rules.bid_values(suit(card)));
  return tricks;
}

// Whether a seat of Ninety-Nine still lacks tricks; partners count together as far as the
// partner's bid is turned up.
bool wantsTricks(const Decision& decision) {
  const NinetyNineRules& rules = decision.rules().ninety_nine();
  const auto won = [&](int seat) { return static_cast<int>(decision.tricks_won(seat)); };
  const auto partner = (decision.seat() + 2) % 4;
  int lacks = tricksBid(rules, decision.bid().cards()) - won(decision.seat());
  for (const auto& bid : decision.bids()) {
    if (decision.rules().teams() && bid.seat() == partner) {
      lacks += tricksBid(rules, bid.cards()) - won(partner);
    }
  }
  return lacks > 0;
}

// Prefers the card that most likely takes the trick, and the lowest if none can; or, with the bid
// made, the highest card that does not take it.
double ninetyNineMerit(const Decision& decision, const Unseen& unseen, Card card, bool wants) {
  const bool last = decision.trick_size() == static_cast<int>(decision.rules().players()) - 1;
  double chance = 0;
  if (takes(decision, card)) chance = last ? 1 : 0.2 + 0.8 * chanceToTake(decision, unseen, card);
  const double height = 0.01 * rank(card);
  return wants ? chance - height : height - chance;
}

// The first of the choices with the highest merit.
template <typename Choice, typename Merit>
Choice best(const std::vector<Choice>& choices, Merit merit) {
  if (choices.empty()) throw std::invalid_argument("there is nothing to choose from");
  std::size_t best = 0;
  double highest = merit(choices[0]);
  for (std::size_t place = 1; place < choices.size(); ++place) {
    const double each = merit(choices[place]);
    if (each > highest) {
      best = place;
      highest = each;
    }
  }
  return choices[best];
}

}  // namespace

void Bot::hear(const knavery::v1::Event&) {}

Cards Bot::chooseBid(const Decision& decision) {
  const Cards hand(decision.hand().begin(), decision.hand().end());
  const auto choose = decision.bid_request().choose();
  if (!decision.rules().has_ninety_nine()) return Cards(hand.begin(), hand.begin() + choose);
  const Unseen unseen = unseenCards(decision);
  std::array<double, 52> strength{};
  double total = 0;
  for (Card card : hand) total += strength.at(card) = chanceToTake(decision, unseen, card);
  return best(combinations(hand, choose), [&](const Cards& bid) {
    double misfit = tricksBid(decision.rules().ninety_nine(), bid) - total;
    for (Card card : bid) misfit += strength[card];
    return -std::abs(misfit);
  });
}

Card Bot::chooseCard(const Decision& decision) {
  const auto& request = decision.play_request();
  const Unseen unseen = unseenCards(decision);
  const bool wants = decision.rules().has_ninety_nine() && wantsTricks(decision);
  return best(Cards(request.legal().begin(), request.legal().end()), [&](Card card) {
    if (decision.rules().has_knave()) return knaveMerit(decision, unseen, card);
    if (decision.rules().has_ninety_nine()) return ninetyNineMerit(decision, unseen, card, wants);
    return 0.0;
  });
}
