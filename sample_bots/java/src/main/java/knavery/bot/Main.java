package knavery.bot;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.NetUtil;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import knavery.v1.Game;
import knavery.v1.Game.Decision;
import knavery.v1.RefereeGrpc;
import knavery.v1.RefereeOuterClass.Event;
import knavery.v1.RefereeOuterClass.FromBot;
import knavery.v1.RefereeOuterClass.FromReferee;
import knavery.v1.RefereeOuterClass.Hello;
import knavery.v1.RefereeOuterClass.Move;
import knavery.v1.RefereeOuterClass.Moves;

/** A bot for Knavery: this class talks with the referee, Bot decides. */
final class Main {
  private static final int PROTOCOL = 1;
  private static final String SDK = "starter-java 0.1.0";

  /** Answers that are ready wait no longer for the others. */
  private static final long FLUSH_EVERY = TimeUnit.MILLISECONDS.toNanos(5);

  /** Seconds: a connection that is lost without a word is noticed within twice as many. */
  private static final long ALIVE = 10;

  /** Of an error's text; the referee keeps 2,048 bytes. */
  private static final int ERROR_CHARACTERS = 500;

  private static final String SHARED_LIBRARIES =
      "io.grpc.netty.shaded.io.netty.native.workdir";

  private final Bot bot = new Bot();
  private final Inbox inbox = new Inbox();
  private StreamObserver<FromBot> outbox;

  public static void main(String[] arguments) {
    String address = System.getenv("KNAVERY_ADDRESS");
    String token = System.getenv("KNAVERY_TOKEN");
    if (address == null || token == null || address.isEmpty() || token.isEmpty()) {
      System.err.println("This is a bot, and a referee starts it. To see it play: knavery play .");
      System.exit(2);
    }
    try {
      new Main().play(address, token);
    } catch (NotLetIn problem) {
      System.err.println(problem.getMessage());
      System.exit(1);
    }
    System.exit(0);
  }

  /** The bot was not let in; the text says why. */
  private static final class NotLetIn extends Exception {
    NotLetIn(String why) {
      super(why);
    }
  }

  /** Messages of the referee, and at last how the stream ended. */
  private static final class Inbox implements StreamObserver<FromReferee> {
    private final BlockingQueue<Object> queue = new LinkedBlockingQueue<>();

    @Override
    public void onNext(FromReferee message) {
      queue.add(message);
    }

    @Override
    public void onError(Throwable error) {
      queue.add(Status.fromThrowable(error));
    }

    @Override
    public void onCompleted() {
      queue.add(Status.OK);
    }

    /** The next message, or the Status with which the stream ended. */
    Object take() {
      try {
        return queue.take();
      } catch (InterruptedException interrupted) {
        return Status.CANCELLED;
      }
    }
  }

  /** Talks with the referee until it says goodbye or is gone; NotLetIn if it lets no bot in. */
  private void play(String address, String token) throws NotLetIn {
    outbox = RefereeGrpc.newStub(dial(address)).play(inbox);
    greet(address, token);
    while (inbox.take() instanceof FromReferee message) {
      if (answer(message.getEnvelope().getEventsList())) {
        return;
      }
    }
  }

  /** A channel to a gRPC target: unix:/path or host:port. */
  private static ManagedChannel dial(String address) throws NotLetIn {
    ManagedChannelBuilder<?> channel =
        address.startsWith("unix:")
            ? dialSocket(address.replaceFirst("^unix:(//)?", ""))
            : Grpc.newChannelBuilder(address, security(address))
                .keepAliveTime(ALIVE, TimeUnit.SECONDS)
                .keepAliveTimeout(ALIVE, TimeUnit.SECONDS);
    return channel.maxInboundMessageSize(Integer.MAX_VALUE).build();
  }

  /**
   * None on this machine, else TLS. What certificates it trusts is in the file that KNAVERY_TLS_CA
   * names, which asks for TLS everywhere; or else what is usual.
   */
  private static ChannelCredentials security(String address) throws NotLetIn {
    String ca = System.getenv().getOrDefault("KNAVERY_TLS_CA", "");
    if (ca.isEmpty()) {
      return isLoopback(address)
          ? InsecureChannelCredentials.create()
          : TlsChannelCredentials.create();
    }
    try (InputStream file = new FileInputStream(ca)) {
      byte[] pem = file.readAllBytes();
      if (holdsCertificates(pem)) {
        InputStream roots = new ByteArrayInputStream(pem);
        return TlsChannelCredentials.newBuilder().trustManager(roots).build();
      }
    } catch (IOException problem) { // "/a/file (No such file or directory)"
      String why = problem.getMessage().replaceFirst("^.* \\((.*)\\)$", "$1");
      throw new NotLetIn("KNAVERY_TLS_CA: " + ca + ": cannot be read: " + why);
    }
    throw new NotLetIn("KNAVERY_TLS_CA: " + ca + ": holds no certificate in PEM");
  }

  private static boolean holdsCertificates(byte[] pem) {
    InputStream stream = new ByteArrayInputStream(pem);
    try {
      return !CertificateFactory.getInstance("X.509").generateCertificates(stream).isEmpty();
    } catch (CertificateException unreadable) {
      return false;
    }
  }

  /** Whether the host of an address is this machine itself, by how it is written. */
  private static boolean isLoopback(String address) {
    String host = address.substring(0, Math.max(0, address.lastIndexOf(':')));
    InetAddress ip = NetUtil.createInetAddressFromIpAddressString(host);
    return host.equalsIgnoreCase("localhost") || (ip != null && ip.isLoopbackAddress());
  }

  private static NettyChannelBuilder dialSocket(String path) {
    String scratch = System.getenv("TMPDIR");
    if (scratch != null) { // Netty unpacks its native part to there
      System.setProperty(SHARED_LIBRARIES, scratch);
    }
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(path))
        .usePlaintext()
        .overrideAuthority("localhost")
        .withOption(ChannelOption.SO_KEEPALIVE, null) // such a socket has no such option
        .eventLoopGroup(new EpollEventLoopGroup(1))
        .channelType(EpollDomainSocketChannel.class, DomainSocketAddress.class);
  }

  /** Says hello; NotLetIn unless the answer is a welcome. */
  private void greet(String address, String token) throws NotLetIn {
    Hello hello =
        Hello.newBuilder()
            .setToken(token)
            .setProtocol(PROTOCOL)
            .setSdk(SDK)
            .setLanguage("java " + System.getProperty("java.version"))
            .build();
    outbox.onNext(FromBot.newBuilder().setHello(hello).build());
    Object first = inbox.take();
    if (first instanceof Status status) {
      String why = status.isOk() ? "it hung up before its welcome" : words(status);
      throw new NotLetIn("no referee at " + address + ": " + why);
    }
    if (first instanceof FromReferee message && message.hasRejected()) {
      throw new NotLetIn(
          "the referee turned this bot away: " + message.getRejected().getReason());
    }
  }

  private static String words(Status status) {
    Throwable cause = status.getCause();
    while (cause != null && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause == null ? status.toString() : cause.getMessage();
  }

  /**
   * Goes through the events of an envelope in order and sends the moves in lots; true after a
   * goodbye.
   */
  private boolean answer(List<Event> events) {
    Moves.Builder moves = Moves.newBuilder();
    long since = System.nanoTime();
    boolean goodbye = false;
    for (Event event : events) {
      switch (event.getEventCase()) {
        case DECISION -> moves.addMoves(decide(bot, event.getDecision()));
        case GOODBYE -> goodbye = true;
        case EVENT_NOT_SET -> {} // news that a later version of the protocol has
        default -> hear(event);
      }
      if (System.nanoTime() - since >= FLUSH_EVERY) {
        flush(moves);
        since = System.nanoTime();
      }
    }
    flush(moves);
    return goodbye;
  }

  /** Sends the moves, if there are any, and takes them out. */
  private void flush(Moves.Builder moves) {
    if (moves.getMovesCount() > 0) {
      outbox.onNext(FromBot.newBuilder().setMoves(moves.build()).build());
      moves.clear();
    }
  }

  /** Asks the bot. What goes wrong in it costs this one decision: the referee is told why. */
  static Move decide(Bot bot, Decision decision) {
    Move.Builder move = Move.newBuilder().setDecision(decision.getId());
    try {
      return switch (decision.getRequestCase()) {
        case BID_REQUEST -> move.setCards(cards(bot.chooseBid(decision))).build();
        case PLAY_REQUEST -> move.setCards(cards(List.of(bot.chooseCard(decision)))).build();
        default -> throw new UnsupportedOperationException(
            "the referee asks for what this bot does not know: take newer protos");
      };
    } catch (RuntimeException error) {
      String text = error.toString();
      return move.setError(text.substring(0, Math.min(text.length(), ERROR_CHARACTERS))).build();
    }
  }

  private static Game.Cards cards(List<Integer> cards) {
    return Game.Cards.newBuilder().addAllCards(cards).build();
  }

  /** Passes news on. What goes wrong there costs nothing; it is in the bot's log. */
  private void hear(Event event) {
    try {
      bot.hear(event);
    } catch (RuntimeException error) {
      error.printStackTrace();
    }
  }
}
