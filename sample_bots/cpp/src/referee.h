// The talk with the referee.
#pragma once

#include <string>

#include "bot.h"

// Talks with the referee until it says goodbye or is gone; std::runtime_error if it lets no bot in.
void play(const std::string& address, const std::string& token, Bot& bot);

// Asks the bot. What goes wrong in it costs this one decision: the referee is told why.
knavery::v1::Move decide(Bot& bot, const knavery::v1::Decision& decision);
