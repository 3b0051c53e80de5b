use crate::bot::Bot;
use crate::cards::takes;
use crate::decide;
use crate::proto::{
    decision::Request, r#move::Answer, rules::Game, BidRequest, Cards, Decision, KnaveRules,
    NinetyNineRules, PlayRequest, Rules, Trump,
};

const RANKS: &str = "23456789TJQKA";
const SUITS: &str = "CDHS";

/// Cards as in "7H QS".
fn cards(text: &str) -> Vec<u32> {
    let place = |places: &str, letter: &str| places.find(letter).expect("a card") as u32;
    text.split_whitespace()
        .map(|word| 13 * place(SUITS, &word[1..]) + place(RANKS, &word[..1]))
        .collect()
}

fn texts(cards: &[u32]) -> String {
    let letter = |places: &str, place: u32| places[place as usize..=place as usize].to_string();
    let words: Vec<String> =
        cards.iter().map(|card| letter(RANKS, card % 13) + &letter(SUITS, card / 13)).collect();
    words.join(" ")
}

/// A decision to play a card in classic Knave, seat 0 of 3.
fn knave(hand: &str, trick: &str, legal: &str) -> Decision {
    let game = KnaveRules { trick_value: 1, jacks: vec![-1, -2, -3, -4], queens: vec![0; 4] };
    let rules = Rules {
        players: 3,
        ranks: (0..13).collect(),
        game: Some(Game::Knave(game)),
        ..Rules::default()
    };
    Decision {
        id: 1,
        rules: Some(rules),
        hand: cards(hand),
        trick: cards(trick),
        played: cards(trick),
        trump: Trump::None.into(),
        request: Some(Request::PlayRequest(PlayRequest { legal: cards(legal) })),
        ..Decision::default()
    }
}

/// A decision of Ninety-Nine with hearts as trump, seat 0 of 3.
fn ninety_nine(hand: &str, trick: &str) -> Decision {
    let game = NinetyNineRules {
        bid_values: vec![3, 0, 2, 1],
        bid_cards: 3,
        success_bonus: 10,
        zero_bonus: 30,
        open_bids: false,
    };
    let rules = Rules {
        players: 3,
        ranks: vec![3, 5, 6, 7, 8, 9, 10, 11, 12],
        game: Some(Game::NinetyNine(game)),
        ..Rules::default()
    };
    Decision {
        rules: Some(rules),
        tricks_won: vec![0, 0, 0],
        trump: Trump::Hearts.into(),
        ..knave(hand, trick, hand)
    }
}

/// What the bot answers: cards, or an error.
fn answer(decision: &Decision) -> String {
    match decide(&mut Bot::default(), decision).answer {
        Some(Answer::Cards(Cards { cards })) => texts(&cards),
        Some(Answer::Error(error)) => format!("error: {error}"),
        None => "nothing".to_string(),
    }
}

#[test]
fn cards_are_numbers() {
    assert_eq!(cards("2C AC 2D JS AS"), [0, 12, 13, 48, 51]);
    assert_eq!(texts(&[0, 12, 13, 48, 51]), "2C AC 2D JS AS");
}

#[test]
fn trump_beats_the_suit_led() {
    let decision = ninety_nine("5H AS KD", "KS 9S");
    for (card, expected) in [("5H", true), ("AS", true), ("KD", false), ("QS", false)] {
        assert_eq!(takes(&decision, cards(card)[0]), expected, "{card}");
    }
}

#[test]
fn throws_the_dearest_jack_where_it_is_not_won() {
    assert_eq!(answer(&knave("JC JS 3D", "AH 2H", "JC JS 3D")), "JS");
}

#[test]
fn does_not_take_a_jack_with_the_last_card() {
    assert_eq!(answer(&knave("3S KS", "TS JS", "3S KS")), "3S");
}

#[test]
fn takes_tricks_until_the_bid_is_made() {
    let mut decision = ninety_nine("5S AS", "KS 9S");
    decision.bid = Some(Cards { cards: cards("5D 7D 7S") });
    assert_eq!(answer(&decision), "AS");
    decision.tricks_won[0] = 1;
    assert_eq!(answer(&decision), "5S");
}

#[test]
fn bids_what_the_hand_can_take() {
    let mut decision = ninety_nine("5C 7C 5D 7D 8D 5S 7S 8S 5H 7H 8H 9C", "");
    decision.request = Some(Request::BidRequest(BidRequest { choose: 3 }));
    assert_eq!(answer(&decision), "5D 7D 8D");
}

#[test]
fn answers_with_an_error_what_it_does_not_know() {
    let decision = Decision { id: 7, ..Decision::default() };
    assert!(answer(&decision).starts_with("error: the referee asks"));
    assert_eq!(decide(&mut Bot::default(), &decision).decision, 7);
}

#[test]
fn a_failure_costs_only_its_decision() {
    assert_eq!(answer(&knave("2C", "", "")), "error: some card is legal");
}
