# Talks with the referee: a line of JSON for each event, a line for each move.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use Player;

$| = 1;    # each line leaves as it is printed
my $json = JSON::PP->new->utf8->canonical;
while (my $line = <STDIN>) {
    my $decision = decode_json($line)->{decision} or next;
    my $move = { decision => $decision->{id} };
    my $cards = eval {
          $decision->{bidRequest}  ? Player::bid($decision)
        : $decision->{playRequest} ? [Player::play($decision)]
        :                            die "a request that this bot does not know\n";
    };
    if ($cards) { $move->{cards} = { cards => $cards } }
    else        { $move->{error} = "$@" }
    print $json->encode($move), "\n";
}
