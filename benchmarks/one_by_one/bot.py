"""The random bot, asked one decision a message."""

from knavery import Bot, serve


class OneByOne(Bot):
    max_batch = 1

    def bid(self, view):
        return self.rng.sample(view.hand, 3)

    def play(self, view):
        return self.rng.choice(view.legal)


if __name__ == "__main__":
    serve(OneByOne)
