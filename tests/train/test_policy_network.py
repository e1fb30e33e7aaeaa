"""The PPO networks: shapes, the gap mapping by hand, legal draws only."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from agents.policy_net import gap_table
from thegame_env.notation import parse_position
from thegame_env.observation import observe
from thegame_env.rules import PRESETS, Rules, Table
from train.config import NetworkSection
from train.policy import ILLEGAL, draw, networks
from train.policy_network import PolicyNet, Shape, ValueNet

SMALL = NetworkSection(pile=4, context=6, deep=7, head=5, mix=3, value=3)


def small_net(table: Table) -> PolicyNet:
    torch.manual_seed(0)
    widths = SMALL.pile, SMALL.context, SMALL.deep, SMALL.head, SMALL.mix
    return PolicyNet(Shape.of(table), *widths)


def test_gap_table_by_hand():
    table = gap_table(98, 10)
    assert table.shape == (2, 99, 98)
    # An ascending pile with top 51 has room 99 - 51 = 48; card c stands at index c - 2.
    assert table[0, 48, 52 - 2] == 0
    assert table[0, 48, 99 - 2] == 47
    assert table[0, 48, 41 - 2] == 98
    assert table[0, 48, 42 - 2] == table[0, 48, 40 - 2] == table[0, 48, 51 - 2] == 99
    # A descending pile with top 49 has room 49 - 2 = 47.
    assert table[1, 47, 48 - 2] == 0
    assert table[1, 47, 2 - 2] == 46
    assert table[1, 47, 59 - 2] == 98
    assert table[1, 47, 58 - 2] == table[1, 47, 60 - 2] == 99
    # Untouched piles have room for all: their own first card is one step away.
    assert (table[0, 98, 0], table[1, 98, 97]) == (0, 0)


def only(net: PolicyNet, **weights) -> None:
    """Set all parameters to 0, but a path of 1 from the head's first unit to the score."""
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    with torch.no_grad():
        net.mix.weight[0, 0] = net.compare.weight[0, 0] = net.play.weight[0, 0] = 1.0
        net.end.bias.fill_(-7.0)
        for name, values in weights.items():
            getattr(net, name).weight.copy_(torch.as_tensor(values))


def scores_of(net: PolicyNet, text: str, plays) -> list[float]:
    """The logits of plays (card, pile) in a position."""
    view = parse_position(text)
    with torch.no_grad():
        logits = net(torch.from_numpy(observe(view))[None])[0]
    assert logits[view.rules.end_turn] == -7.0
    return [logits[view.rules.action(card, pile)].item() for card, pile in plays]


def test_the_head_knows_the_gap_of_a_play():
    net = small_net(Table(Rules(), 3))
    only(net, gap=np.eye(5)[0] * np.arange(99.0)[:, None])
    expected = {
        (52, 0): 0, (59, 0): 7, (41, 0): 98, (41, 1): 20, (47, 1): 26,
        (47, 2): 1, (41, 2): 7, (59, 2): 98, (59, 3): 20, (52, 3): 27,
    }  # fmt: skip
    text = "up=51,20 down=49,80 hand=41,52,59,47 others=6,6 deck=20"
    assert scores_of(net, text, expected) == list(expected.values())


def test_the_head_sees_the_cards_around_the_one_that_is_laid():
    """Own and unseen cards by their distance in the pile's direction, from the trick's on."""
    net = small_net(Table(Rules(), 3))
    around = np.zeros((5, 98))
    around[0, 0], around[0, 10], around[0, 17], around[0, 49 + 48] = 1.0, 2.0, 4.0, 8.0
    only(net, around=around)
    text = "up=14,1 down=90,100 hand=41,52,59,42 others=6,6 seen=14,79,90 deck=79"
    plays = {(52, 0): 2 + 1 + 4, (52, 2): 2, (59, 2): 2 + 4, (42, 1): 2, (41, 3): 2}
    unseen = {(52, 0): 90, (52, 2): 14, (59, 2): 21, (42, 1): 80, (41, 3): 3}
    expected = [own + 8 * (unseen[play] not in (14, 79, 90)) for play, own in plays.items()]
    assert scores_of(net, text, plays) == expected


def test_the_head_compares_a_play_with_those_of_all_other_cards():
    net = small_net(Table(Rules(), 3))
    only(net, gap=np.eye(5)[0] * np.arange(99.0)[:, None], compare=np.zeros((3, 3)))
    with torch.no_grad():
        net.others.weight[0, 0] = 1.0
    text = "up=51,98 down=49,3 hand=41,52 others=6,6 deck=20"
    sums = {41: 98 + 7, 52: 0}  # the trick on up1 and gap 8 on down1; gap 1 on up1
    expected = [0.1 * sums[41], 0.1 * sums[52]]
    assert scores_of(net, text, [(52, 0), (41, 0)]) == pytest.approx(expected)


def test_the_head_sees_the_cards_that_no_pile_takes_any_more():
    """With tops 60 and 90, 40 and 20 the cards 40..60 are stranded; a play can only add to them."""
    net = small_net(Table(Rules(), 3))
    after = np.zeros((5, 5))
    after[0] = 80.0, 8000.0, 0.0, 0.0, 98e6
    only(net, after=after)
    text = "up=60,90 down=40,20 hand=50,58,65,30,95 others=2,2 deck=0 played=0 seen="
    unseen = {41, 61, 88, 3}
    hand = {50, 58, 65, 30, 95}
    text += ",".join(str(card) for card in range(2, 100) if card not in unseen | hand)
    # (own, unseen, values) between the tops after the play: 41 stays out of reach, 61 becomes so.
    expected = {
        (65, 0): 10 * 2 + 1000 * 2 + 1e6 * 26,
        (30, 2): 10 * 2 + 1000 * 1 + 1e6 * 31,
        (95, 1): 10 * 2 + 1000 * 1 + 1e6 * 21,
        (50, 0): 10 * 0 + 1000 * 1 + 1e6 * 11,
    }
    found = scores_of(net, text, expected)
    assert found == pytest.approx(list(expected.values()), rel=1e-6)


def test_piles_of_a_kind_share_their_scores():
    """Swapping two piles of a kind swaps their logits, where the context has no say."""
    net = small_net(Table(Rules(), 3))
    torch.nn.init.zeros_(net.head_context.weight)
    one, other = (
        parse_position(f"up={up} down=77,60 hand=12,34,45 others=6,6 deck=20")
        for up in ("23,40", "40,23")
    )
    with torch.no_grad():
        a, b = (net(torch.from_numpy(observe(view))[None])[0] for view in (one, other))
    assert torch.allclose(a[:98], b[98:196])
    assert torch.allclose(a[196:392], b[196:392])


def test_shapes_at_every_table():
    for rules in PRESETS.values():
        shape = Shape.of(Table(rules, 2))
        value = ValueNet(shape, SMALL.pile, SMALL.context, SMALL.deep, SMALL.value)
        obs = torch.zeros(7, 4 * shape.pile + shape.shared)
        assert small_net(Table(rules, 2))(obs).shape == (7, 393)
        assert value(obs).shape == (7, 1)


@pytest.mark.parametrize("kind", ["piles", "mlp"])
def test_only_the_critic_sees_what_is_hidden(kind):
    shape = replace(Shape.of(Table(Rules(), 3)), hidden=10)
    torch.manual_seed(0)
    network = SMALL.model_copy(update={"kind": kind, "widths": (12,)})
    actor, critic = networks(shape, network, 393)
    obs = torch.rand(5, shape.seen + 10)
    other = obs.clone()
    other[:, shape.seen :] = 0.0
    assert torch.equal(actor(obs), actor(other))
    assert not torch.equal(critic(obs), critic(other))


@pytest.mark.parametrize("kind", ["piles", "mlp"])
def test_sharpening_multiplies_the_logits(kind):
    network = SMALL.model_copy(update={"kind": kind, "widths": (12,)})
    actor, _ = networks(Shape.of(Table(Rules(), 3)), network, 393)
    obs = torch.rand(5, actor.shape.seen if kind == "piles" else actor.inputs)
    obs[:, Shape.of(Table(Rules(), 3)).room] = 0.5
    with torch.no_grad():
        before = actor(obs)
        actor.sharpen(3.0)
        assert torch.allclose(actor(obs), 3.0 * before, atol=1e-6)


def test_draws_are_legal_and_follow_the_probabilities():
    logits = torch.full((20_000, 9), ILLEGAL)
    logits[:, 3], logits[:, 8] = np.log(0.25), np.log(0.75)
    torch.manual_seed(1)
    drawn = draw(logits)
    assert set(drawn.tolist()) == {3, 8}
    assert abs((drawn == 3).float().mean().item() - 0.25) < 0.02
