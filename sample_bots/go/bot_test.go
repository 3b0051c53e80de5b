package main

import (
	"reflect"
	"strings"
	"testing"

	pb "knavery-bot/knaverypb"
)

// knave is a decision to play a card in classic Knave, seat 0 of 3.
func knave(hand, trick, legal string) *pb.Decision {
	return &pb.Decision{
		Id: 1,
		Rules: &pb.Rules{
			Players: 3,
			Ranks:   []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
			Game: &pb.Rules_Knave{Knave: &pb.KnaveRules{
				TrickValue: 1, Jacks: []int32{-1, -2, -3, -4}, Queens: []int32{0, 0, 0, 0}}},
		},
		Hand:    ParseCards(hand),
		Trick:   ParseCards(trick),
		Played:  ParseCards(trick),
		Trump:   pb.Trump_TRUMP_NONE,
		Request: &pb.Decision_PlayRequest{PlayRequest: &pb.PlayRequest{Legal: ParseCards(legal)}},
	}
}

// ninetyNine is a decision of Ninety-Nine with hearts as trump, seat 0 of 3.
func ninetyNine(hand, trick string) *pb.Decision {
	return &pb.Decision{
		Id: 1,
		Rules: &pb.Rules{
			Players: 3,
			Ranks:   []uint32{3, 5, 6, 7, 8, 9, 10, 11, 12},
			Game: &pb.Rules_NinetyNine{NinetyNine: &pb.NinetyNineRules{
				BidValues: []uint32{3, 0, 2, 1}, BidCards: 3, SuccessBonus: 10, ZeroBonus: 30}},
		},
		Hand:      ParseCards(hand),
		Trick:     ParseCards(trick),
		Played:    ParseCards(trick),
		TricksWon: []uint32{0, 0, 0},
		Trump:     pb.Trump_TRUMP_HEARTS,
		Request:   &pb.Decision_PlayRequest{PlayRequest: &pb.PlayRequest{Legal: ParseCards(hand)}},
	}
}

func texts(cards []uint32) string {
	var words []string
	for _, card := range cards {
		words = append(words, Text(card))
	}
	return strings.Join(words, " ")
}

func TestCardsAreNumbers(t *testing.T) {
	if cards := ParseCards("2C AC 2D JS AS"); !reflect.DeepEqual(cards, []uint32{0, 12, 13, 48, 51}) {
		t.Error(cards)
	}
	if text := texts([]uint32{0, 12, 13, 48, 51}); text != "2C AC 2D JS AS" {
		t.Error(text)
	}
}

func TestTrumpBeatsTheSuitLed(t *testing.T) {
	decision := ninetyNine("5H AS KD", "KS 9S")
	for text, takes := range map[string]bool{"5H": true, "AS": true, "KD": false, "QS": false} {
		if Takes(decision, ParseCards(text)[0]) != takes {
			t.Errorf("%s: not %v", text, takes)
		}
	}
}

func TestThrowsTheDearestJackWhereItIsNotWon(t *testing.T) {
	if card := NewBot().ChooseCard(knave("JC JS 3D", "AH 2H", "JC JS 3D")); Text(card) != "JS" {
		t.Error(Text(card))
	}
}

func TestDoesNotTakeAJackWithTheLastCard(t *testing.T) {
	if card := NewBot().ChooseCard(knave("3S KS", "TS JS", "3S KS")); Text(card) != "3S" {
		t.Error(Text(card))
	}
}

func TestTakesTricksUntilTheBidIsMade(t *testing.T) {
	decision := ninetyNine("5S AS", "KS 9S")
	decision.Bid = &pb.Cards{Cards: ParseCards("5D 6D 7S")}
	if card := NewBot().ChooseCard(decision); Text(card) != "AS" {
		t.Error(Text(card))
	}
	decision.TricksWon = []uint32{1, 0, 0}
	if card := NewBot().ChooseCard(decision); Text(card) != "5S" {
		t.Error(Text(card))
	}
}

func TestBidsWhatTheHandCanTake(t *testing.T) {
	decision := ninetyNine("5C 7C 5D 7D 8D 5S 7S 8S 5H 7H 8H 9C", "")
	decision.Request = &pb.Decision_BidRequest{BidRequest: &pb.BidRequest{Choose: 3}}
	if bid := NewBot().ChooseBid(decision); texts(bid) != "5D 7D 8D" {
		t.Error(texts(bid))
	}
}

func TestAnswersWithAnErrorWhatItDoesNotKnow(t *testing.T) {
	move := decide(NewBot(), &pb.Decision{Id: 7})
	if move.Decision != 7 || move.GetError() == "" {
		t.Error(move)
	}
}

func TestAFailureCostsOnlyItsDecision(t *testing.T) {
	decision := knave("2C", "", "2C")
	decision.GetPlayRequest().Legal = nil
	if move := decide(NewBot(), decision); !strings.Contains(move.GetError(), "index out of range") {
		t.Error(move)
	}
}
