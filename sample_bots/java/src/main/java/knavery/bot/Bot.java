package knavery.bot;

import static knavery.bot.Cards.rank;
import static knavery.bot.Cards.suit;

import java.util.List;
import java.util.function.ToDoubleFunction;
import knavery.v1.Game.Decision;
import knavery.v1.Game.KnaveRules;
import knavery.v1.Game.NinetyNineRules;
import knavery.v1.Game.RevealedBid;
import knavery.v1.RefereeOuterClass.Event;

/**
 * The bot itself: this file is yours. There is one Bot for the whole process, which sits at many
 * tables at once, so what it remembers it must keep by match ({@code decision.getMatch()}).
 *
 * <p>A decision holds all that your seat may know; every field is explained in
 * protos/knavery/v1/game.proto.
 */
class Bot {
  /** How likely a card takes a trick, by how many unseen cards of its suit are higher. */
  private static final double[] AS_TRUMP = {1, 0.81, 0.6, 0.46, 0.3, 0.15};

  private static final double[] AS_PLAIN = {0.69, 0.35, 0.18, 0.11, 0.06};

  /** While trump is unknown, or without trump. */
  private static final double[] AS_EITHER = {0.8, 0.47, 0.28, 0.2, 0.1};

  /** What a point is worth that another seat gets. */
  private static final double OTHERS = -0.35;

  /** What needs no answer: matches that start and end, finished deals, faults. */
  void hear(Event event) {}

  /**
   * The cards of a bid in Ninety-Nine: those whose number of tricks comes nearest to what the cards
   * that are left can be expected to take.
   */
  List<Integer> chooseBid(Decision decision) {
    int choose = decision.getBidRequest().getChoose();
    List<Integer> hand = decision.getHandList();
    if (!decision.getRules().hasNinetyNine()) {
      return hand.subList(0, choose);
    }
    boolean[] unseen = Cards.unseen(decision);
    double[] strength = new double[52];
    double total = 0;
    for (int card : hand) {
      strength[card] = chanceToTake(decision, unseen, card);
      total += strength[card];
    }
    double expected = total;
    return best(
        Cards.combinations(hand, choose),
        bid -> {
          double lost = bid.stream().mapToDouble(card -> strength[card]).sum();
          return -Math.abs(tricksBid(decision.getRules().getNinetyNine(), bid) + lost - expected);
        });
  }

  /** One of the legal cards. */
  int chooseCard(Decision decision) {
    boolean[] unseen = Cards.unseen(decision);
    boolean wants = decision.getRules().hasNinetyNine() && wantsTricks(decision);
    return best(
        decision.getPlayRequest().getLegalList(),
        card ->
            switch (decision.getRules().getGameCase()) {
              case KNAVE -> knaveMerit(decision, unseen, card);
              case NINETY_NINE -> ninetyNineMerit(decision, unseen, card, wants);
              default -> 0;
            });
  }

  /** The first of the choices with the highest merit. */
  private static <T> T best(List<T> choices, ToDoubleFunction<T> merit) {
    T best = choices.get(0);
    double highest = merit.applyAsDouble(best);
    for (T choice : choices.subList(1, choices.size())) {
      double each = merit.applyAsDouble(choice);
      if (each > highest) {
        best = choice;
        highest = each;
      }
    }
    return best;
  }

  private static double chanceToTake(Decision decision, boolean[] unseen, int card) {
    int trump = Cards.trumpSuit(decision).orElse(-1);
    double[] asPlain = trump < 0 ? AS_EITHER : AS_PLAIN;
    double[] chances = trump == suit(card) ? AS_TRUMP : asPlain;
    int higher = Cards.higherUnseen(unseen, card);
    return higher < chances.length ? chances[higher] : 0;
  }

  /**
   * What a card is worth in Knave, in points: of the trick, if it takes it, and the other way round
   * if another does. Jacks are thrown where they are not won.
   */
  private static double knaveMerit(Decision decision, boolean[] unseen, int card) {
    KnaveRules rules = decision.getRules().getKnave();
    List<Integer> trick = decision.getTrickList();
    int led = suit(trick.isEmpty() ? card : trick.get(0));
    int later = decision.getRules().getPlayers() - 1 - trick.size();
    double points = rules.getTrickValue() + worth(rules, card);
    for (int other : trick) {
      points += worth(rules, other);
    }
    for (int jack : new int[] {13 * led + Cards.JACK, 13 * led + Cards.QUEEN}) {
      points += unseen[jack] ? 0.2 * later * worth(rules, jack) : 0;
    }
    int higher = Cards.higherUnseen(unseen, card);
    double chance = Cards.takes(decision, card) ? Math.pow(0.8, later * higher) : 0;
    return points * (chance + OTHERS * (1 - chance)) + 0.02 * rank(card) * (1 - chance);
  }

  /** The points for taking a card in Knave. */
  private static int worth(KnaveRules rules, int card) {
    return switch (rank(card)) {
      case Cards.JACK -> rules.getJacks(suit(card));
      case Cards.QUEEN -> rules.getQueens(suit(card));
      default -> 0;
    };
  }

  /**
   * Whether a seat of Ninety-Nine still lacks tricks; partners count together as far as the
   * partner's bid is turned up.
   */
  private static boolean wantsTricks(Decision decision) {
    NinetyNineRules rules = decision.getRules().getNinetyNine();
    int seat = decision.getSeat();
    int partner = (seat + 2) % 4;
    int lacks = tricksBid(rules, decision.getBid().getCardsList()) - decision.getTricksWon(seat);
    for (RevealedBid bid : decision.getBidsList()) {
      if (decision.getRules().getTeams() && bid.getSeat() == partner) {
        lacks += tricksBid(rules, bid.getCardsList()) - decision.getTricksWon(partner);
      }
    }
    return lacks > 0;
  }

  private static int tricksBid(NinetyNineRules rules, List<Integer> bid) {
    return bid.stream().mapToInt(card -> rules.getBidValues(suit(card))).sum();
  }

  /**
   * Prefers the card that most likely takes the trick, and the lowest if none can; or, with the bid
   * made, the highest card that does not take it.
   */
  private static double ninetyNineMerit(
      Decision decision, boolean[] unseen, int card, boolean wants) {
    boolean last = decision.getTrickCount() == decision.getRules().getPlayers() - 1;
    double chance = 0;
    if (Cards.takes(decision, card)) {
      chance = last ? 1 : 0.2 + 0.8 * chanceToTake(decision, unseen, card);
    }
    double height = 0.01 * rank(card);
    return wants ? chance - height : height - chance;
  }
}
