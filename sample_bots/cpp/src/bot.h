// The bot itself: bot.h and bot.cpp are yours.
#pragma once

#include "cards.h"
#include "knavery/v1/referee.pb.h"

// Change it as you like. There is one for the whole process, which sits at many tables at once, so
// what it remembers it must keep by match (decision.match()).
//
// A decision holds all that your seat may know; every field is explained in
// protos/knavery/v1/game.proto.
class Bot {
 public:
  // What needs no answer: matches that start and end, finished deals, faults.
  void hear(const knavery::v1::Event& event);

  // The cards of a bid in Ninety-Nine: those whose number of tricks comes nearest to what the cards
  // that are left can be expected to take.
  Cards chooseBid(const knavery::v1::Decision& decision);

  // One of the legal cards.
  Card chooseCard(const knavery::v1::Decision& decision);
};
