package knavery.bot;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import knavery.v1.Game.Decision;
import knavery.v1.Game.RevealedBid;

/**
 * A card is a number, 13 * suit + rank: clubs 0, diamonds 1, hearts 2, spades 3; the two is rank 0
 * and the ace 12. In text it is rank then suit: "TH" is the ten of hearts.
 */
final class Cards {
  static final int JACK = 9;
  static final int QUEEN = 10;

  private static final String RANKS = "23456789TJQKA";
  private static final String SUITS = "CDHS";

  private Cards() {}

  /** The suit of a card, 0 to 3. */
  static int suit(int card) {
    return card / 13;
  }

  /** The rank of a card, 0 to 12. */
  static int rank(int card) {
    return card % 13;
  }

  /** Cards as "AS TH". */
  static String text(List<Integer> cards) {
    return cards.stream()
        .map(card -> "" + RANKS.charAt(rank(card)) + SUITS.charAt(suit(card)))
        .collect(Collectors.joining(" "));
  }

  /** Cards as in "7H QS". */
  static List<Integer> parse(String text) {
    return Stream.of(text.split(" ")).filter(word -> !word.isEmpty()).map(Cards::one).toList();
  }

  private static Integer one(String word) {
    int rank = RANKS.indexOf(word.charAt(0));
    int suit = word.length() == 2 ? SUITS.indexOf(word.charAt(1)) : -1;
    if (rank < 0 || suit < 0) {
      throw new IllegalArgumentException("no card: " + word);
    }
    return 13 * suit + rank;
  }

  /** The trump suit of a decision, empty if there is none or it is not known. */
  static OptionalInt trumpSuit(Decision decision) {
    return switch (decision.getTrump()) {
      case TRUMP_CLUBS -> OptionalInt.of(0);
      case TRUMP_DIAMONDS -> OptionalInt.of(1);
      case TRUMP_HEARTS -> OptionalInt.of(2);
      case TRUMP_SPADES -> OptionalInt.of(3);
      default -> OptionalInt.empty();
    };
  }

  /** Whether a card, played now, would be the winning card of the trick as it stands. */
  static boolean takes(Decision decision, int card) {
    List<Integer> trick = decision.getTrickList();
    if (trick.isEmpty()) {
      return true;
    }
    int led = suit(trick.get(0));
    int trump = trumpSuit(decision).orElse(-1);
    boolean beaten = trick.stream().anyMatch(other -> beats(other, card, led, trump));
    return !beaten && (suit(card) == led || suit(card) == trump);
  }

  /** Whether one card of a trick is higher than another. */
  private static boolean beats(int card, int other, int led, int trump) {
    if (suit(card) == suit(other)) {
      return rank(card) > rank(other);
    }
    return suit(card) == trump || (suit(card) == led && suit(other) != trump);
  }

  /**
   * By card number, whether it is a card of the pack that this seat has not seen: in another hand,
   * bid face down, or undealt.
   */
  static boolean[] unseen(Decision decision) {
    boolean[] unseen = new boolean[52];
    for (int rank : decision.getRules().getRanksList()) {
      for (int suit = 0; suit < 4; suit++) {
        unseen[13 * suit + rank] = true;
      }
    }
    Stream<Integer> bids =
        decision.getBidsList().stream().map(RevealedBid::getCardsList).flatMap(List::stream);
    Stream.of(
            decision.getHandList().stream(),
            decision.getPlayedList().stream(),
            decision.getBid().getCardsList().stream(),
            bids)
        .flatMap(cards -> cards)
        .forEach(card -> unseen[card] = false);
    return unseen;
  }

  /** How many unseen cards of a card's suit are higher. */
  static int higherUnseen(boolean[] unseen, int card) {
    int count = 0;
    for (int other = card + 1; other < 13 * (suit(card) + 1); other++) {
      count += unseen[other] ? 1 : 0;
    }
    return count;
  }

  /** Every choice of so many of the cards, each in the order of the cards. */
  static List<List<Integer>> combinations(List<Integer> cards, int count) {
    if (count == 0) {
      return List.of(List.of());
    }
    List<List<Integer>> all = new ArrayList<>();
    for (int first = 0; first < cards.size(); first++) {
      for (List<Integer> rest : combinations(cards.subList(first + 1, cards.size()), count - 1)) {
        List<Integer> choice = new ArrayList<>(List.of(cards.get(first)));
        choice.addAll(rest);
        all.add(choice);
      }
    }
    return all;
  }
}
