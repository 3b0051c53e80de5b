package main

import (
	"fmt"
	"strings"

	pb "knavery-bot/knaverypb"
)

// A card is a number, 13*suit + rank: clubs 0, diamonds 1, hearts 2, spades 3; the two is rank 0
// and the ace 12. In text it is rank then suit: "TH" is the ten of hearts.

const (
	Jack  = 9
	Queen = 10
)

// NoTrump stands for a trump suit that is not there, or not known yet.
const NoTrump = -1

const (
	ranks = "23456789TJQKA"
	suits = "CDHS"
)

// Suit tells the suit of a card, 0 to 3.
func Suit(card uint32) int { return int(card / 13) }

// Rank tells the rank of a card, 0 to 12.
func Rank(card uint32) int { return int(card % 13) }

// Text writes a card as "AS".
func Text(card uint32) string {
	return ranks[Rank(card):Rank(card)+1] + suits[Suit(card):Suit(card)+1]
}

// ParseCards reads cards as in "7H QS".
func ParseCards(text string) []uint32 {
	var cards []uint32
	for _, word := range strings.Fields(text) {
		if len(word) != 2 || !strings.Contains(ranks, word[:1]) || !strings.Contains(suits, word[1:]) {
			panic(fmt.Sprintf("no card: %q", word))
		}
		cards = append(cards, uint32(13*strings.Index(suits, word[1:])+strings.Index(ranks, word[:1])))
	}
	return cards
}

// TrumpSuit tells the trump suit of a decision, NoTrump if there is none or it is not known.
func TrumpSuit(decision *pb.Decision) int {
	if decision.Trump >= pb.Trump_TRUMP_CLUBS && decision.Trump <= pb.Trump_TRUMP_SPADES {
		return int(decision.Trump - pb.Trump_TRUMP_CLUBS)
	}
	return NoTrump
}

// Takes tells whether a card, played now, would be the winning card of the trick as it stands.
func Takes(decision *pb.Decision, card uint32) bool {
	trump := TrumpSuit(decision)
	for _, other := range decision.Trick {
		if beats(other, card, Suit(decision.Trick[0]), trump) {
			return false
		}
	}
	return len(decision.Trick) == 0 || Suit(card) == Suit(decision.Trick[0]) || Suit(card) == trump
}

// beats tells whether one card of a trick is higher than another.
func beats(card, other uint32, led, trump int) bool {
	if Suit(card) == Suit(other) {
		return Rank(card) > Rank(other)
	}
	return Suit(card) == trump || (Suit(card) == led && Suit(other) != trump)
}

// Unseen tells by card number which cards of the pack this seat has not seen: they are in other
// hands, bid face down, or undealt.
func Unseen(decision *pb.Decision) (unseen [52]bool) {
	for suit := uint32(0); suit < 4; suit++ {
		for _, rank := range decision.Rules.GetRanks() {
			unseen[13*suit+rank] = true
		}
	}
	seen := [][]uint32{decision.Hand, decision.Played, decision.Bid.GetCards()}
	for _, bid := range decision.Bids {
		seen = append(seen, bid.Cards)
	}
	for _, cards := range seen {
		for _, card := range cards {
			unseen[card] = false
		}
	}
	return unseen
}

// HigherUnseen counts the unseen cards of a card's suit that are higher.
func HigherUnseen(unseen *[52]bool, card uint32) (count int) {
	for other := card + 1; other < uint32(13*(Suit(card)+1)); other++ {
		if unseen[other] {
			count++
		}
	}
	return count
}

// Combinations lists every choice of so many of the cards, each in the order of the cards.
func Combinations(cards []uint32, count int) [][]uint32 {
	if count == 0 {
		return [][]uint32{nil}
	}
	var all [][]uint32
	for first := 0; first+count <= len(cards); first++ {
		for _, rest := range Combinations(cards[first+1:], count-1) {
			all = append(all, append([]uint32{cards[first]}, rest...))
		}
	}
	return all
}
