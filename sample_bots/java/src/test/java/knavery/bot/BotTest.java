package knavery.bot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import knavery.v1.Game;
import knavery.v1.Game.BidRequest;
import knavery.v1.Game.Decision;
import knavery.v1.Game.KnaveRules;
import knavery.v1.Game.NinetyNineRules;
import knavery.v1.Game.PlayRequest;
import knavery.v1.Game.Rules;
import knavery.v1.Game.Trump;
import knavery.v1.RefereeOuterClass.Move;
import org.junit.jupiter.api.Test;

class BotTest {
  /** A decision to play a card in classic Knave, seat 0 of 3. */
  private static Decision.Builder knave(String hand, String trick, String legal) {
    KnaveRules.Builder knave =
        KnaveRules.newBuilder()
            .setTrickValue(1)
            .addAllJacks(List.of(-1, -2, -3, -4))
            .addAllQueens(List.of(0, 0, 0, 0));
    Rules.Builder rules =
        Rules.newBuilder()
            .setPlayers(3)
            .addAllRanks(IntStream.range(0, 13).boxed().toList())
            .setKnave(knave);
    return Decision.newBuilder()
        .setId(1)
        .setRules(rules)
        .addAllHand(Cards.parse(hand))
        .addAllTrick(Cards.parse(trick))
        .addAllPlayed(Cards.parse(trick))
        .setTrump(Trump.TRUMP_NONE)
        .setPlayRequest(PlayRequest.newBuilder().addAllLegal(Cards.parse(legal)));
  }

  /** A decision of Ninety-Nine with hearts as trump, seat 0 of 3. */
  private static Decision.Builder ninetyNine(String hand, String trick) {
    NinetyNineRules.Builder ninetyNine =
        NinetyNineRules.newBuilder().addAllBidValues(List.of(3, 0, 2, 1)).setBidCards(3);
    Rules.Builder rules =
        Rules.newBuilder()
            .setPlayers(3)
            .addAllRanks(List.of(3, 5, 6, 7, 8, 9, 10, 11, 12))
            .setNinetyNine(ninetyNine);
    return knave(hand, trick, hand)
        .setRules(rules)
        .addAllTricksWon(List.of(0, 0, 0))
        .setTrump(Trump.TRUMP_HEARTS);
  }

  /** What the bot answers: cards, or an error. */
  private static String answer(Decision.Builder decision) {
    Move move = Main.decide(new Bot(), decision.build());
    return move.hasError() ? "error: " + move.getError() : Cards.text(move.getCards().getCardsList());
  }

  @Test
  void cardsAreNumbers() {
    assertEquals(List.of(0, 12, 13, 48, 51), Cards.parse("2C AC 2D JS AS"));
    assertEquals("2C AC 2D JS AS", Cards.text(List.of(0, 12, 13, 48, 51)));
  }

  @Test
  void trumpBeatsTheSuitLed() {
    Decision decision = ninetyNine("5H AS KD", "KS 9S").build();
    List<Integer> taking =
        Cards.parse("5H AS KD QS").stream().filter(card -> Cards.takes(decision, card)).toList();
    assertEquals("5H AS", Cards.text(taking));
  }

  @Test
  void throwsTheDearestJackWhereItIsNotWon() {
    assertEquals("JS", answer(knave("JC JS 3D", "AH 2H", "JC JS 3D")));
  }

  @Test
  void doesNotTakeAJackWithTheLastCard() {
    assertEquals("3S", answer(knave("3S KS", "TS JS", "3S KS")));
  }

  @Test
  void takesTricksUntilTheBidIsMade() {
    Decision.Builder decision =
        ninetyNine("5S AS", "KS 9S")
            .setBid(Game.Cards.newBuilder().addAllCards(Cards.parse("5D 7D 7S")));
    assertEquals("AS", answer(decision));
    assertEquals("5S", answer(decision.setTricksWon(0, 1)));
  }

  @Test
  void bidsWhatTheHandCanTake() {
    Decision.Builder decision = ninetyNine("5C 7C 5D 7D 8D 5S 7S 8S 5H 7H 8H 9C", "");
    assertEquals(
        "5D 7D 8D", answer(decision.setBidRequest(BidRequest.newBuilder().setChoose(3))));
  }

  @Test
  void answersWithAnErrorWhatItDoesNotKnow() {
    Decision.Builder decision = Decision.newBuilder().setId(7);
    assertTrue(answer(decision).contains("the referee asks for what this bot does not know"));
    assertEquals(7, Main.decide(new Bot(), decision.build()).getDecision());
  }

  @Test
  void aFailureCostsOnlyItsDecision() {
    assertTrue(answer(knave("2C", "", "")).startsWith("error: java.lang.IndexOutOfBounds"));
  }
}
