//! The bot itself: this file is yours.

use crate::cards::{
    combinations, higher_unseen, rank, suit, takes, trump_suit, unseen, Unseen, JACK, QUEEN,
};
use crate::proto::{event, rules::Game, Decision, KnaveRules, NinetyNineRules};

/// Change it as you like. There is one for the whole process, which sits at many tables at once,
/// so what it remembers it must keep by match (`decision.r#match`).
///
/// A decision holds all that your seat may know; every field is explained in
/// protos/knavery/v1/game.proto.
#[derive(Default)]
pub struct Bot {}

impl Bot {
    /// What needs no answer: matches that start and end, finished deals, faults.
    pub fn hear(&mut self, _event: event::Event) {}

    /// The cards of a bid in Ninety-Nine: those whose number of tricks comes nearest to what the
    /// cards that are left can be expected to take.
    pub fn choose_bid(&mut self, decision: &Decision, choose: usize) -> Vec<u32> {
        let Some(Game::NinetyNine(rules)) = game(decision) else {
            return decision.hand[..choose].to_vec();
        };
        let unseen = unseen(decision);
        let chance = |card: &u32| chance_to_take(decision, &unseen, *card);
        let total: f64 = decision.hand.iter().map(chance).sum();
        let misfit = |bid: &Vec<u32>| {
            let lost: f64 = bid.iter().map(chance).sum();
            (f64::from(tricks_bid(rules, bid)) + lost - total).abs()
        };
        combinations(&decision.hand, choose)
            .into_iter()
            .min_by(|one, other| misfit(one).total_cmp(&misfit(other)))
            .expect("a hand holds the cards of a bid")
    }

    /// One of the legal cards.
    pub fn choose_card(&mut self, decision: &Decision, legal: &[u32]) -> u32 {
        let unseen = unseen(decision);
        let wants = wants_tricks(decision);
        let merit = |card: u32| match game(decision) {
            Some(Game::Knave(rules)) => knave_merit(decision, rules, &unseen, card),
            Some(Game::NinetyNine(_)) => ninety_nine_merit(decision, &unseen, card, wants),
            None => 0.0,
        };
        let best =
            legal.iter().copied().reduce(
                |best, card| {
                    if merit(card) > merit(best) {
                        card
                    } else {
                        best
                    }
                },
            );
        best.expect("some card is legal")
    }
}

fn game(decision: &Decision) -> Option<&Game> {
    decision.rules.as_ref()?.game.as_ref()
}

fn players(decision: &Decision) -> usize {
    decision.rules.as_ref().map_or(3, |rules| rules.players as usize)
}

// How likely a card takes a trick, by how many unseen cards of its suit are higher.
const AS_TRUMP: &[f64] = &[1.0, 0.81, 0.6, 0.46, 0.3, 0.15];
const AS_PLAIN: &[f64] = &[0.69, 0.35, 0.18, 0.11, 0.06];
/// While trump is unknown, or without trump.
const AS_EITHER: &[f64] = &[0.8, 0.47, 0.28, 0.2, 0.1];

/// What a point is worth that another seat gets.
const OTHERS: f64 = -0.35;

fn chance_to_take(decision: &Decision, unseen: &Unseen, card: u32) -> f64 {
    let chances = match trump_suit(decision) {
        None => AS_EITHER,
        Some(trump) if trump == suit(card) => AS_TRUMP,
        Some(_) => AS_PLAIN,
    };
    chances.get(higher_unseen(unseen, card)).copied().unwrap_or(0.0)
}

/// What a card is worth in Knave, in points: of the trick, if it takes it, and the other way round
/// if another does. Jacks are thrown where they are not won.
fn knave_merit(decision: &Decision, rules: &KnaveRules, unseen: &Unseen, card: u32) -> f64 {
    let led = suit(*decision.trick.first().unwrap_or(&card)) as u32;
    let later = (players(decision) - 1 - decision.trick.len()) as f64;
    let on_table: i32 = decision.trick.iter().map(|&other| worth(rules, other)).sum();
    let mut points = f64::from(rules.trick_value + worth(rules, card) + on_table);
    for jack in [13 * led + JACK, 13 * led + QUEEN] {
        if unseen[jack as usize] {
            points += 0.2 * later * f64::from(worth(rules, jack));
        }
    }
    let chance = if takes(decision, card) {
        0.8_f64.powf(later * higher_unseen(unseen, card) as f64)
    } else {
        0.0
    };
    points * (chance + OTHERS * (1.0 - chance)) + 0.02 * f64::from(rank(card)) * (1.0 - chance)
}

/// The points for taking a card in Knave.
fn worth(rules: &KnaveRules, card: u32) -> i32 {
    match rank(card) {
        JACK => rules.jacks[suit(card)],
        QUEEN => rules.queens[suit(card)],
        _ => 0,
    }
}

/// Whether a seat of Ninety-Nine still lacks tricks; partners count together as far as the
/// partner's bid is turned up.
fn wants_tricks(decision: &Decision) -> bool {
    let (Some(Game::NinetyNine(rules)), Some(bid)) = (game(decision), &decision.bid) else {
        return false;
    };
    let lacks = |bid: &[u32], seat: u32| {
        i64::from(tricks_bid(rules, bid)) - i64::from(decision.tricks_won[seat as usize])
    };
    let teams = decision.rules.as_ref().is_some_and(|rules| rules.teams);
    let partner = (decision.seat + 2) % 4;
    let partners = decision.bids.iter().filter(|each| teams && each.seat == partner);
    let partner_lacks: i64 = partners.map(|each| lacks(&each.cards, partner)).sum();
    lacks(&bid.cards, decision.seat) + partner_lacks > 0
}

fn tricks_bid(rules: &NinetyNineRules, bid: &[u32]) -> u32 {
    bid.iter().map(|&card| rules.bid_values[suit(card)]).sum()
}

/// Prefers the card that most likely takes the trick, and the lowest if none can; or, with the bid
/// made, the highest card that does not take it.
fn ninety_nine_merit(decision: &Decision, unseen: &Unseen, card: u32, wants: bool) -> f64 {
    let last = decision.trick.len() == players(decision) - 1;
    let chance = match takes(decision, card) {
        true if last => 1.0,
        true => 0.2 + 0.8 * chance_to_take(decision, unseen, card),
        false => 0.0,
    };
    let height = 0.01 * f64::from(rank(card));
    if wants {
        chance - height
    } else {
        height - chance
    }
}
