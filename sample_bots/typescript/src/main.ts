// A bot for Knavery: this file talks with the referee, bot.ts decides.

import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { getSystemErrorMap } from "node:util";

import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

import { Bot } from "./bot";
import type { Decision } from "./proto/knavery/v1/Decision";
import type { Event } from "./proto/knavery/v1/Event";
import type { FromBotInput } from "./proto/knavery/v1/FromBot";
import type { FromReferee } from "./proto/knavery/v1/FromReferee";
import type { HelloInput } from "./proto/knavery/v1/Hello";
import type { MoveInput } from "./proto/knavery/v1/Move";
import type { ProtoGrpcType } from "./proto/referee";

type Stream = grpc.ClientDuplexStream<FromBotInput, FromReferee>;

const PROTOCOL = 1;
const SDK = "starter-typescript 0.1.0";
/** Milliseconds: answers that are ready wait no longer for the others. */
const FLUSH_EVERY = 5;
/** Of an error's text; the referee keeps 2,048 bytes. */
const ERROR_CHARACTERS = 500;
const PROTOS = join(__dirname, "..", "protos");
/** So that a connection which is lost without a word is noticed within 20 s. */
const ALIVE = { "grpc.keepalive_time_ms": 10_000, "grpc.keepalive_timeout_ms": 10_000 };
const OPTIONS = { enums: String, longs: String, defaults: true, oneofs: true };

/** The bot was not let in; the text says why. */
class NotLetIn extends Error {}

async function main(): Promise<number> {
  const { KNAVERY_ADDRESS: address, KNAVERY_TOKEN: token } = process.env;
  if (!address || !token) {
    console.error("This is a bot, and a referee starts it. To see it play: knavery play .");
    return 2;
  }
  try {
    await play(address, token, new Bot());
  } catch (error) {
    console.error(error instanceof NotLetIn ? error.message : error);
    return 1;
  }
  return 0;
}

/** Talks with the referee until it says goodbye or is gone; NotLetIn if it lets no bot in. */
async function play(address: string, token: string, bot: Bot): Promise<void> {
  const stream = dial(address);
  stream.write({ hello: hello(token) });
  let letIn = false;
  try {
    for await (const message of stream as AsyncIterable<FromReferee>) {
      if (message.rejected) {
        throw new NotLetIn(`the referee turned this bot away: ${message.rejected.reason}`);
      }
      letIn = true;
      if (message.envelope && (await answer(stream, bot, message.envelope.events))) {
        break;
      }
    }
  } catch (error) {
    // Once the bot is in, a stream that breaks is a goodbye too: the referee is gone.
    if (error instanceof NotLetIn || !isGrpcError(error)) {
      throw error;
    }
    if (!letIn) {
      const why = error.details.replace(/\s+/g, " "); // of one line
      throw new NotLetIn(`no referee at ${address}: ${why}`);
    }
  }
  if (!letIn) {
    throw new NotLetIn(`no referee at ${address}: it hung up before its welcome`);
  }
}

/** A stream to a gRPC target: unix:/path or host:port. */
function dial(address: string): Stream {
  const definition = loadSync("knavery/v1/referee.proto", { ...OPTIONS, includeDirs: [PROTOS] });
  const proto = grpc.loadPackageDefinition(definition) as unknown as ProtoGrpcType;
  const client = new proto.knavery.v1.Referee(address, security(address), {
    "grpc.max_receive_message_length": -1,
    ...(isSocket(address) ? {} : ALIVE),
  });
  const stream = client.play();
  stream.on("error", () => {}); // reading tells
  return stream;
}

/**
 * None on this machine, else TLS. What certificates it trusts is in the file that KNAVERY_TLS_CA
 * names, which asks for TLS everywhere; or else what is usual.
 */
function security(address: string): grpc.ChannelCredentials {
  const ca = process.env.KNAVERY_TLS_CA;
  if (isSocket(address) || (!ca && isLoopback(address))) {
    return grpc.credentials.createInsecure();
  }
  // Or Node warns that gRPC gives an IP address as the name of a server.
  Object.assign(process, { noDeprecation: true });
  if (!ca) {
    return grpc.credentials.createSsl();
  }
  const roots = read(ca);
  if (!roots.includes("-----BEGIN CERTIFICATE-----")) {
    throw new NotLetIn(`KNAVERY_TLS_CA: ${ca}: holds no certificate in PEM`);
  }
  return grpc.credentials.createSsl(roots);
}

function read(ca: string): Buffer {
  try {
    return readFileSync(ca);
  } catch (error) {
    const [, why] = getSystemErrorMap().get((error as NodeJS.ErrnoException).errno!)!;
    throw new NotLetIn(`KNAVERY_TLS_CA: ${ca}: cannot be read: ${why}`);
  }
}

function isSocket(address: string): boolean {
  return address.startsWith("unix:");
}

/** Whether the host of an address is this machine itself, by how it is written. */
function isLoopback(address: string): boolean {
  const host = address.slice(0, address.lastIndexOf(":")).toLowerCase();
  return host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
}

function isGrpcError(error: unknown): error is grpc.ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}

function hello(token: string): HelloInput {
  const language = `typescript node ${process.versions.node}`;
  return { token, protocol: PROTOCOL, sdk: SDK, language };
}

/**
 * Goes through the events of an envelope in order and sends the moves in lots; true after a
 * goodbye.
 */
async function answer(stream: Stream, bot: Bot, events: readonly Event[]): Promise<boolean> {
  let moves: MoveInput[] = [];
  let since = performance.now();
  let goodbye = false;
  for (const event of events) {
    if (event.decision) {
      moves.push(decide(bot, event.decision));
    } else if (event.goodbye) {
      goodbye = true;
    } else if (event.event) {
      hear(bot, event);
    }
    if (moves.length > 0 && performance.now() - since >= FLUSH_EVERY) {
      stream.write({ moves: { moves } });
      await setImmediate(); // what is written leaves only when nothing else runs
      moves = [];
      since = performance.now();
    }
  }
  if (moves.length > 0) {
    stream.write({ moves: { moves } });
  }
  return goodbye;
}

/** Asks the bot. What goes wrong in it costs this one decision: the referee is told why. */
export function decide(bot: Bot, decision: Decision): MoveInput {
  const { id } = decision;
  try {
    switch (decision.request) {
      case "bidRequest":
        return { decision: id, cards: { cards: bot.chooseBid(decision) } };
      case "playRequest":
        return { decision: id, cards: { cards: [bot.chooseCard(decision)] } };
      default:
        return failure(id, "the referee asks for what this bot does not know: take newer protos");
    }
  } catch (error) {
    return failure(id, String(error));
  }
}

function failure(decision: number, text: string): MoveInput {
  return { decision, error: text.slice(0, ERROR_CHARACTERS) };
}

/** Passes news on. What goes wrong there costs nothing; it is in the bot's log. */
function hear(bot: Bot, event: Event): void {
  try {
    bot.hear(event);
  } catch (error) {
    console.error(error);
  }
}

if (require.main === module) {
  void main().then((status) => process.exit(status));
}
