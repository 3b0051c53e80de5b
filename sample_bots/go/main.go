// A bot for Knavery: this file talks with the referee, bot.go decides.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	pb "knavery-bot/knaverypb"
)

const (
	protocol   = 1
	sdk        = "starter-go 0.1.0"
	flushEvery = 5 * time.Millisecond // answers that are ready wait no longer for the others
	errorBytes = 2000                 // of an error's text; the referee keeps 2,048
)

// alive lets a connection that is lost without a word be noticed within 20 s.
var alive = keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 10 * time.Second}

func main() {
	address, token := os.Getenv("KNAVERY_ADDRESS"), os.Getenv("KNAVERY_TOKEN")
	if address == "" || token == "" {
		fmt.Fprintln(os.Stderr, "This is a bot, and a referee starts it. To see it play: knavery play .")
		os.Exit(2)
	}
	if err := play(address, token, NewBot()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play talks with the referee until it says goodbye or is gone; an error if it lets no bot in.
func play(address, token string, bot *Bot) error {
	conn, err := dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	stream, err := pb.NewRefereeClient(conn).Play(context.Background())
	if err != nil {
		return fmt.Errorf("no referee at %s: %w", address, err)
	}
	if err := greet(stream, token); err != nil {
		return err
	}
	for {
		message, err := stream.Recv()
		if err != nil { // the referee is gone, which is a goodbye too
			return nil
		}
		if goodbye, err := answer(stream, bot, message.GetEnvelope().GetEvents()); goodbye || err != nil {
			stream.CloseSend()
			return nil
		}
	}
}

// dial opens a channel to a gRPC target: unix:/path or host:port.
func dial(address string) (*grpc.ClientConn, error) {
	secured, err := security(address)
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(secured),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
	}
	if !isSocket(address) {
		options = append(options, grpc.WithKeepaliveParams(alive))
	}
	conn, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("no referee at %s: %w", address, err)
	}
	return conn, nil
}

// security is none on this machine, else TLS. What certificates it trusts is in the file that
// KNAVERY_TLS_CA names, which asks for TLS everywhere; or else what is usual.
func security(address string) (credentials.TransportCredentials, error) {
	ca := os.Getenv("KNAVERY_TLS_CA")
	if isSocket(address) || (ca == "" && isLoopback(address)) {
		return insecure.NewCredentials(), nil
	}
	if ca == "" {
		return credentials.NewTLS(nil), nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("KNAVERY_TLS_CA: %s: cannot be read: %w", ca, errors.Unwrap(err))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("KNAVERY_TLS_CA: %s: holds no certificate in PEM", ca)
	}
	return credentials.NewTLS(&tls.Config{RootCAs: roots}), nil
}

func isSocket(address string) bool {
	return strings.HasPrefix(address, "unix:")
}

// isLoopback tells whether the host of an address is this machine itself, by how it is written.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback())
}

// greet says hello; an error unless the answer is a welcome.
func greet(stream pb.Referee_PlayClient, token string) error {
	hello := &pb.Hello{
		Token:    token,
		Protocol: protocol,
		Sdk:      sdk,
		Language: "go " + strings.TrimPrefix(runtime.Version(), "go"),
	}
	// An error of Send is io.EOF only; Recv tells what is wrong.
	_ = stream.Send(&pb.FromBot{Message: &pb.FromBot_Hello{Hello: hello}})
	message, err := stream.Recv()
	if err == io.EOF {
		return fmt.Errorf("the referee hung up before its welcome")
	}
	if err != nil {
		return fmt.Errorf("no referee: %w", err)
	}
	if rejected := message.GetRejected(); rejected != nil {
		return fmt.Errorf("the referee turned this bot away: %s", rejected.Reason)
	}
	return nil
}

// answer goes through the events of an envelope in order and sends the moves in lots; true after
// a goodbye, an error if the referee is gone.
func answer(stream pb.Referee_PlayClient, bot *Bot, events []*pb.Event) (goodbye bool, err error) {
	var moves []*pb.Move
	since := time.Now()
	for _, event := range events {
		switch kind := event.Event.(type) {
		case *pb.Event_Decision:
			moves = append(moves, decide(bot, kind.Decision))
		case *pb.Event_Goodbye:
			goodbye = true
		case nil: // news that a later version of the protocol has
		default:
			hear(bot, event)
		}
		if len(moves) > 0 && time.Since(since) >= flushEvery {
			if err := send(stream, moves); err != nil {
				return goodbye, err
			}
			moves, since = nil, time.Now()
		}
	}
	if len(moves) > 0 {
		err = send(stream, moves)
	}
	return goodbye, err
}

func send(stream pb.Referee_PlayClient, moves []*pb.Move) error {
	return stream.Send(&pb.FromBot{Message: &pb.FromBot_Moves{Moves: &pb.Moves{Moves: moves}}})
}

// decide asks the bot. What goes wrong in it costs this one decision: the referee is told why.
func decide(bot *Bot, decision *pb.Decision) (move *pb.Move) {
	move = &pb.Move{Decision: decision.Id}
	defer func() {
		if problem := recover(); problem != nil {
			move.Answer = failure(fmt.Sprint(problem))
		}
	}()
	switch decision.Request.(type) {
	case *pb.Decision_BidRequest:
		move.Answer = &pb.Move_Cards{Cards: &pb.Cards{Cards: bot.ChooseBid(decision)}}
	case *pb.Decision_PlayRequest:
		card := bot.ChooseCard(decision)
		move.Answer = &pb.Move_Cards{Cards: &pb.Cards{Cards: []uint32{card}}}
	default:
		move.Answer = failure("the referee asks for what this bot does not know: take newer protos")
	}
	return move
}

func failure(text string) *pb.Move_Error {
	if len(text) > errorBytes {
		text = text[:errorBytes]
	}
	return &pb.Move_Error{Error: strings.ToValidUTF8(text, "?")}
}

// hear passes news on. What goes wrong there costs nothing; it is in the bot's log.
func hear(bot *Bot, event *pb.Event) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintln(os.Stderr, problem)
		}
	}()
	bot.Hear(event)
}
