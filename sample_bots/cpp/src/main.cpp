// A bot for Knavery: referee.cpp talks with the referee, bot.cpp decides.

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "referee.h"

int main() {
  const char* address = std::getenv("KNAVERY_ADDRESS");
  const char* token = std::getenv("KNAVERY_TOKEN");
  if (!address || !token || !*address || !*token) {
    std::cerr << "This is a bot, and a referee starts it. To see it play: knavery play ."
              << std::endl;
    return 2;
  }
  try {
    Bot bot;
    play(address, token, bot);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
  return 0;
}
