package main

import (
	"math"

	pb "knavery-bot/knaverypb"
)

// Bot is yours: change it as you like. There is one for the whole process, which sits at many
// tables at once, so what it remembers it must keep by match (decision.Match).
//
// A decision holds all that your seat may know; every field is explained in
// protos/knavery/v1/game.proto.
type Bot struct{}

// NewBot is called once, before the first match.
func NewBot() *Bot { return &Bot{} }

// Hear tells what needs no answer: matches that start and end, finished deals, faults.
func (bot *Bot) Hear(event *pb.Event) {}

// ChooseBid chooses the cards of a bid in Ninety-Nine: those whose number of tricks comes nearest
// to what the cards that are left can be expected to take.
func (bot *Bot) ChooseBid(decision *pb.Decision) []uint32 {
	values := decision.Rules.GetNinetyNine().GetBidValues()
	unseen := Unseen(decision)
	strength := map[uint32]float64{}
	total := 0.0
	for _, card := range decision.Hand {
		strength[card] = chanceToTake(decision, &unseen, card)
		total += strength[card]
	}
	var best []uint32
	nearest := math.Inf(1)
	for _, bid := range Combinations(decision.Hand, int(decision.GetBidRequest().Choose)) {
		misfit := -total
		for _, card := range bid {
			misfit += strength[card] + float64(values[Suit(card)])
		}
		if math.Abs(misfit) < nearest {
			best, nearest = bid, math.Abs(misfit)
		}
	}
	return best
}

// ChooseCard chooses one of the legal cards.
func (bot *Bot) ChooseCard(decision *pb.Decision) uint32 {
	unseen := Unseen(decision)
	merit := func(card uint32) float64 { return 0 }
	switch game := decision.Rules.GetGame().(type) {
	case *pb.Rules_Knave:
		merit = func(card uint32) float64 { return knaveMerit(decision, game.Knave, &unseen, card) }
	case *pb.Rules_NinetyNine:
		wants := wantsTricks(decision, game.NinetyNine)
		merit = func(card uint32) float64 { return ninetyNineMerit(decision, &unseen, card, wants) }
	}
	legal := decision.GetPlayRequest().Legal
	best := legal[0]
	for _, card := range legal[1:] {
		if merit(card) > merit(best) {
			best = card
		}
	}
	return best
}

// How likely a card takes a trick, by how many unseen cards of its suit are higher.
var (
	asTrump  = []float64{1, 0.81, 0.6, 0.46, 0.3, 0.15}
	asPlain  = []float64{0.69, 0.35, 0.18, 0.11, 0.06}
	asEither = []float64{0.8, 0.47, 0.28, 0.2, 0.1} // while trump is unknown, or without trump
)

// What a point is worth that another seat gets.
const others = -0.35

func chanceToTake(decision *pb.Decision, unseen *[52]bool, card uint32) float64 {
	chances := asEither
	if trump := TrumpSuit(decision); trump == Suit(card) {
		chances = asTrump
	} else if trump != NoTrump {
		chances = asPlain
	}
	if higher := HigherUnseen(unseen, card); higher < len(chances) {
		return chances[higher]
	}
	return 0
}

// knaveMerit is what a card is worth in Knave, in points: of the trick, if it takes it, and the
// other way round if another does. Jacks are thrown where they are not won.
func knaveMerit(decision *pb.Decision, rules *pb.KnaveRules, unseen *[52]bool, card uint32) float64 {
	led := Suit(card)
	if len(decision.Trick) > 0 {
		led = Suit(decision.Trick[0])
	}
	later := int(decision.Rules.Players) - 1 - len(decision.Trick)
	points := float64(rules.TrickValue) + float64(worth(rules, card))
	for _, other := range decision.Trick {
		points += float64(worth(rules, other))
	}
	for _, jack := range []uint32{uint32(13*led + Jack), uint32(13*led + Queen)} {
		if unseen[jack] {
			points += 0.2 * float64(later) * float64(worth(rules, jack))
		}
	}
	chance := 0.0
	if Takes(decision, card) {
		chance = math.Pow(0.8, float64(later*HigherUnseen(unseen, card)))
	}
	return points*(chance+others*(1-chance)) + 0.02*float64(Rank(card))*(1-chance)
}

// worth tells the points for taking a card in Knave.
func worth(rules *pb.KnaveRules, card uint32) int32 {
	switch Rank(card) {
	case Jack:
		return rules.Jacks[Suit(card)]
	case Queen:
		return rules.Queens[Suit(card)]
	}
	return 0
}

// wantsTricks tells whether a seat of Ninety-Nine still lacks tricks; partners count together as
// far as the partner's bid is turned up.
func wantsTricks(decision *pb.Decision, rules *pb.NinetyNineRules) bool {
	lacks := tricksBid(rules, decision.Bid.GetCards()) - int(decision.TricksWon[decision.Seat])
	partner := (decision.Seat + 2) % 4
	for _, bid := range decision.Bids {
		if decision.Rules.Teams && bid.Seat == partner {
			lacks += tricksBid(rules, bid.Cards) - int(decision.TricksWon[partner])
		}
	}
	return lacks > 0
}

func tricksBid(rules *pb.NinetyNineRules, bid []uint32) (tricks int) {
	for _, card := range bid {
		tricks += int(rules.BidValues[Suit(card)])
	}
	return tricks
}

// ninetyNineMerit prefers the card that most likely takes the trick, and the lowest if none can;
// or, with the bid made, the highest card that does not take it.
func ninetyNineMerit(decision *pb.Decision, unseen *[52]bool, card uint32, wants bool) float64 {
	last := len(decision.Trick) == int(decision.Rules.Players)-1
	chance := 0.0
	if Takes(decision, card) {
		chance = 0.2 + 0.8*chanceToTake(decision, unseen, card)
		if last {
			chance = 1
		}
	}
	height := 0.01 * float64(Rank(card))
	if wants {
		return chance - height
	}
	return height - chance
}
