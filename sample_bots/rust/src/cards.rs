//! A card is a number, 13 * suit + rank: clubs 0, diamonds 1, hearts 2, spades 3; the two is rank
//! 0 and the ace 12. In text it is rank then suit: "TH" is the ten of hearts.

use crate::proto::{Decision, Trump};

pub const JACK: u32 = 9;
pub const QUEEN: u32 = 10;

/// By card number, whether the card is one that this seat has not seen.
pub type Unseen = [bool; 52];

/// The suit of a card, 0 to 3.
pub fn suit(card: u32) -> usize {
    card as usize / 13
}

/// The rank of a card, 0 to 12.
pub fn rank(card: u32) -> u32 {
    card % 13
}

/// The trump suit of a decision, None if there is none or it is not known.
pub fn trump_suit(decision: &Decision) -> Option<usize> {
    match decision.trump() {
        Trump::Clubs => Some(0),
        Trump::Diamonds => Some(1),
        Trump::Hearts => Some(2),
        Trump::Spades => Some(3),
        _ => None,
    }
}

/// Whether a card, played now, would be the winning card of the trick as it stands.
pub fn takes(decision: &Decision, card: u32) -> bool {
    let Some(&first) = decision.trick.first() else {
        return true;
    };
    let (led, trump) = (suit(first), trump_suit(decision));
    let beaten = decision.trick.iter().any(|&other| beats(other, card, led, trump));
    !beaten && (suit(card) == led || Some(suit(card)) == trump)
}

/// Whether one card of a trick is higher than another.
fn beats(card: u32, other: u32, led: usize, trump: Option<usize>) -> bool {
    if suit(card) == suit(other) {
        return rank(card) > rank(other);
    }
    Some(suit(card)) == trump || (suit(card) == led && Some(suit(other)) != trump)
}

/// The cards of the pack that this seat has not seen: they are in other hands, bid face down, or
/// undealt.
pub fn unseen(decision: &Decision) -> Unseen {
    let mut unseen = [false; 52];
    for &rank in decision.rules.iter().flat_map(|rules| &rules.ranks) {
        for suit in 0..4 {
            unseen[(13 * suit + rank) as usize] = true;
        }
    }
    let own_bid = decision.bid.iter().flat_map(|bid| &bid.cards);
    let other_bids = decision.bids.iter().flat_map(|bid| &bid.cards);
    for &card in decision.hand.iter().chain(&decision.played).chain(own_bid).chain(other_bids) {
        unseen[card as usize] = false;
    }
    unseen
}

/// How many unseen cards of a card's suit are higher.
pub fn higher_unseen(unseen: &Unseen, card: u32) -> usize {
    let end = 13 * (suit(card) + 1);
    unseen[card as usize + 1..end].iter().filter(|&&is_unseen| is_unseen).count()
}

/// Every choice of so many of the cards, each in the order of the cards.
pub fn combinations(cards: &[u32], count: usize) -> Vec<Vec<u32>> {
    if count == 0 {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for (place, &first) in cards.iter().enumerate() {
        for rest in combinations(&cards[place + 1..], count - 1) {
            all.push([vec![first], rest].concat());
        }
    }
    all
}
