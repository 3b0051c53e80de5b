#include "referee.h"

#include <grpcpp/grpcpp.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "knavery/v1/referee.grpc.pb.h"

using knavery::v1::Decision;
using knavery::v1::Envelope;
using knavery::v1::Event;
using knavery::v1::FromBot;
using knavery::v1::FromReferee;
using knavery::v1::Move;
using knavery::v1::Referee;
using Clock = std::chrono::steady_clock;
using Stream = grpc::ClientReaderWriter<FromBot, FromReferee>;

namespace {

constexpr int kProtocol = 1;
constexpr char kSdk[] = "starter-cpp 0.1.0";
// Answers that are ready wait no longer for the others.
constexpr std::chrono::milliseconds kFlushEvery(5);
// Of an error's text; the referee keeps 2,048 bytes.
constexpr std::size_t kErrorBytes = 2000;
// Lets a connection that is lost without a word be noticed within 20 s.
constexpr int kAliveMilliseconds = 10'000;

bool isSocket(const std::string& address) { return address.rfind("unix:", 0) == 0; }

// Whether the host of an address is this machine itself, by how it is written.
bool isLoopback(const std::string& address) {
  const std::regex loopback(R"(localhost|127\.[\d.]+|\[?::1\]?)", std::regex::icase);
  return std::regex_match(address.substr(0, address.rfind(':')), loopback);
}

// The certificates in a file.
std::string trusted(const std::string& path) {
  std::ostringstream pem;
  errno = 0;
  pem << std::ifstream(path).rdbuf();
  std::string problem;
  if (!pem && errno != 0) {
    problem = std::string("cannot be read: ") + std::strerror(errno);
  } else if (pem.str().find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    problem = "holds no certificate in PEM";
  }
  if (!problem.empty()) throw std::runtime_error("KNAVERY_TLS_CA: " + path + ": " + problem);
  return pem.str();
}

// None on this machine, else TLS. What certificates it trusts is in the file that KNAVERY_TLS_CA
// names, which asks for TLS everywhere; or else what is usual.
std::shared_ptr<grpc::ChannelCredentials> security(const std::string& address) {
  const char* variable = std::getenv("KNAVERY_TLS_CA");
  const std::string ca = variable ? variable : "";
  if (isSocket(address) || (ca.empty() && isLoopback(address))) {
    return grpc::InsecureChannelCredentials();
  }
  grpc::SslCredentialsOptions options;
  if (!ca.empty()) options.pem_root_certs = trusted(ca);
  return grpc::SslCredentials(options);
}

// Opens a channel to a gRPC target: unix:/path or host:port.
std::shared_ptr<grpc::Channel> dial(const std::string& address) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // what it would print of a failure, the error says too
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  if (!isSocket(address)) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kAliveMilliseconds);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kAliveMilliseconds);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  return grpc::CreateCustomChannel(address, security(address), arguments);
}

// Says hello; std::runtime_error unless the answer is a welcome.
void greet(Stream& stream, const std::string& address, const std::string& token) {
  FromBot message;
  auto& hello = *message.mutable_hello();
  hello.set_token(token);
  hello.set_protocol(kProtocol);
  hello.set_sdk(kSdk);
  hello.set_language("cpp " + std::to_string(__cplusplus));
  FromReferee answer;
  if (!stream.Write(message) || !stream.Read(&answer)) {
    const auto cause = stream.Finish().error_message();
    throw std::runtime_error("no referee at " + address + ": " +
                             (cause.empty() ? "it hung up before its welcome" : cause));
  }
  if (answer.has_rejected()) {
    throw std::runtime_error("the referee turned this bot away: " + answer.rejected().reason());
  }
}

// Passes news on. What goes wrong there costs nothing; it is in the bot's log.
void hear(Bot& bot, const Event& event) {
  try {
    bot.hear(event);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
  }
}

// Sends the moves and takes them out of the message.
void flush(Stream& stream, FromBot& message) {
  if (message.moves().moves().empty()) return;
  stream.Write(message);  // when the referee is gone, reading tells
  message.mutable_moves()->clear_moves();
}

// Goes through the events of an envelope in order and sends the moves in lots; true after a
// goodbye.
bool answer(Stream& stream, Bot& bot, const Envelope& envelope) {
  FromBot message;
  auto since = Clock::now();
  bool goodbye = false;
  for (const Event& event : envelope.events()) {
    if (event.has_decision()) {
      *message.mutable_moves()->add_moves() = decide(bot, event.decision());
    } else if (event.has_goodbye()) {
      goodbye = true;
    } else if (event.event_case() != Event::EVENT_NOT_SET) {
      hear(bot, event);
    }
    if (Clock::now() - since >= kFlushEvery) {
      flush(stream, message);
      since = Clock::now();
    }
  }
  flush(stream, message);
  return goodbye;
}

}  // namespace

void play(const std::string& address, const std::string& token, Bot& bot) {
  const auto stub = Referee::NewStub(dial(address));
  grpc::ClientContext context;
  const auto stream = stub->Play(&context);
  greet(*stream, address, token);
  FromReferee message;
  while (stream->Read(&message)) {
    if (answer(*stream, bot, message.envelope())) break;
  }
  context.TryCancel();
  stream->Finish();
}

Move decide(Bot& bot, const Decision& decision) {
  Move move;
  move.set_decision(decision.id());
  try {
    if (decision.has_bid_request()) {
      const Cards bid = bot.chooseBid(decision);
      move.mutable_cards()->mutable_cards()->Add(bid.begin(), bid.end());
    } else if (decision.has_play_request()) {
      move.mutable_cards()->add_cards(bot.chooseCard(decision));
    } else {
      move.set_error("the referee asks for what this bot does not know: take newer protos");
    }
  } catch (const std::exception& error) {
    move.set_error(std::string(error.what()).substr(0, kErrorBytes));
  }
  return move;
}
