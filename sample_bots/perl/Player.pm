package Player;

# Yours: choose the cards of a bid, choose a card to play. A card is 13 * suit + rank.
use strict;
use warnings;

sub rank { return $_[0] % 13 }
sub suit { return int($_[0] / 13) }

# The three lowest cards of the hand.
sub bid {
    my ($decision) = @_;
    my @hand = sort { rank($a) <=> rank($b) } @{ $decision->{hand} };
    return [@hand[0 .. $decision->{bidRequest}{choose} - 1]];
}

# The highest card that does not take the trick, or else the lowest.
sub play {
    my ($decision) = @_;
    my @legal = sort { rank($a) <=> rank($b) } @{ $decision->{playRequest}{legal} };
    my @under = grep { !takes($_, $decision) } @legal;
    return @under ? $under[-1] : $legal[0];
}

# Whether a card would win the trick as it stands.
sub takes {
    my ($card, $decision) = @_;
    my @trick = @{ $decision->{trick} } or return 1;
    my %order = (TRUMP_CLUBS => 0, TRUMP_DIAMONDS => 1, TRUMP_HEARTS => 2, TRUMP_SPADES => 3);
    my $trump = $order{ $decision->{trump} } // -1;
    my $height = sub {
        my ($one) = @_;
        return 100 + rank($one) if suit($one) == $trump;
        return suit($one) == suit($trick[0]) ? rank($one) : -1;
    };
    for my $other (@trick) {
        return 0 if $height->($other) >= $height->($card);
    }
    return 1;
}

1;
