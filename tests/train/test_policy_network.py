"""The PPO networks: shapes, what the action head knows by hand, legal draws only."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from agents.afterstate_features import FITS
from agents.play_features import AROUND, FACTS
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


def test_the_head_compares_a_play_with_those_of_all_other_cards():
    net = small_net(Table(Rules(), 3))
    only(net, gap=np.eye(5)[0] * np.arange(99.0)[:, None], compare=np.zeros((3, 3)))
    with torch.no_grad():
        net.others.weight[0, 0] = 1.0
    text = "up=51,98 down=49,3 hand=41,52 others=6,6 deck=20"
    sums = {41: 98 + 7, 52: 0}  # the trick on up1 and gap 8 on down1; gap 1 on up1
    expected = [0.1 * sums[41], 0.1 * sums[52]]
    assert scores_of(net, text, [(52, 0), (41, 0)]) == pytest.approx(expected)


def test_the_head_sees_what_lies_around_and_how_the_cards_fit_then():
    """Own and unseen cards by their distance in the pile's direction; stranded ones, by 1000s."""
    net = small_net(Table(Rules(), 3))
    around, after = np.zeros((5, 2 * AROUND)), np.zeros((5, FACTS))
    around[0, 0], around[0, 10], around[0, 17], around[0, AROUND + 15] = 1.0, 2.0, 4.0, 8.0
    after[0, FITS - 1], after[0, 2 * FITS - 1] = 8_000.0, 160_000.0
    only(net, around=around, after=after)
    text = "up=60,90 down=40,20 hand=50,58,65,30,95 others=2,2 deck=0 played=0 seen="
    unseen, hand = {41, 61, 88, 3, 70, 72}, {50, 58, 65, 30, 95}
    text += ",".join(str(card) for card in range(2, 100) if card not in unseen | hand)
    expected = {
        (65, 0): 2 + 8 + 1_000 + 20_000,  # 70 is unseen; 58 is stranded, 41 and 61
        (30, 2): 2 + 1_000 + 10_000,
        (95, 1): 2 + 1_000 + 10_000,
        (50, 0): 2 + 10_000,
    }
    found = scores_of(net, text.replace("others=2,2", "others=3,3"), expected)
    assert found == pytest.approx(list(expected.values()))


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
