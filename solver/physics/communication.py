"""How long collectives take on the links that their ranks really span.

A group of r ranks, each `stride` ranks from the next, has `local` members in a scale-up domain and spans
`nodes` of them. The network belongs to the machine: the groups that a machine's ranks belong to share its
network cards, and a ring with k members in a machine has the cards of k ranks to itself. Sizes are bytes;
every array is (N,).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from solver.layout import Ints
from solver.physics.hardware import Floats, Network, Number

HOP_S = 3.4e-6  # that a ring's step takes between two ranks of a domain, beside what it moves
FAR_HOP_S = 9.6e-6  # the same through the network


class Span(NamedTuple):
    """Where the ranks of a group sit: members in one scale-up domain, domains spanned. (N,)"""

    ranks: Ints
    local: Ints
    nodes: Ints


def span(ranks: Ints, stride: Ints, network: Network) -> Span:
    """The group of `ranks` members, `stride` ranks apart, on the network. (N,)"""
    local = np.minimum(ranks, np.maximum(network.domain // stride, 1))
    return Span(ranks, local, -(-ranks // local))


def link_share(local: Ints, network: Network) -> Floats:
    """Share of a rank's scale-up bandwidth that a ring of `local` neighbours can use. (N,)

    switch, host: all of it. mesh: the links to the ring's own members, (r - 1) of (domain - 1).
    torus: the axes that the group covers, both ways where they close to a ring and one way where they do not.

    Source: JAX "How to scale your model" (torus: 2 links an axis); RCCL figures of MI300X in
    catalogs/fabrics.
    """
    if network.topology == "mesh":
        return np.where(local < 2, 1.0, (local - 1) / max(network.domain - 1, 1))
    if network.topology == "torus":
        axes: Floats = np.ceil(np.log(np.maximum(local, 2)) / np.log(max(network.edge, 2.0)) - 1e-9)
        covered: Floats = np.minimum(axes / network.dimensions, 1.0)
        return covered * (0.5 + 0.5 * network.wrapped)
    return np.ones(np.shape(local))


def ring_bytes_per_s(group: Span, network: Network) -> Floats:
    """Bandwidth of a ring over the group: the scale-up link, or `local` ranks' share of the network cards.
    (N,)
    """
    inside = network.link_bytes_per_s * link_share(group.local, network)
    across = np.minimum(network.fabric_bytes_per_s * group.local, network.link_bytes_per_s)
    return np.where(group.nodes > 1, np.where(group.local > 1, np.minimum(across, inside), across), inside)


def latency_s(group: Span, network: Network) -> Floats:
    """Latency of one pass through the group: its start, a hop to each local member, a tree over the domains.
    [s], (N,)

    Source: NCCL 2.4 release notes (double binary trees).
    """
    inside = (group.local - 1) * network.link_latency_s
    across = np.ceil(np.log2(group.nodes)) * network.fabric_latency_s
    return (group.ranks > 1) * network.link_start_s + inside + across


def far_hop_s(network: Network) -> float:
    """A ring's step from domain to domain. [s]"""
    return max(FAR_HOP_S, network.fabric_latency_s)


def hops_s(group: Span, network: Network) -> Floats:
    """What a ring through several domains waits for its steps, each the hop of one rank. [s], (N,)

    Inside of one domain the start of a collective holds them (latency_s). None on a torus: its compiler
    gathers along one axis after the other.

    Source: NCCL 2.10, src/graph/tuning.cc, hwLat of rings with large messages. Its logarithmic gathers (2.23)
    need one rank a machine: github.com/NVIDIA/nccl/issues/1473.
    """
    steps = (group.ranks - group.nodes) * HOP_S + (group.nodes - 1) * far_hop_s(network)
    return np.where((group.nodes > 1) & (network.topology != "torus"), steps, 0.0)


def broadcasts_s(owners: Ints, group: Span, network: Network) -> Floats:
    """What the members wait for hops while each of the owners sends what it has to all, in turn. [s], (N,)

    Source: NCCL 2.10, src/graph/tuning.cc: a broadcast takes as many steps as ranks, each the slowest hop.
    """
    hop: Floats = np.where(group.nodes > 1, far_hop_s(network), HOP_S)
    return owners * group.ranks * hop


def gather_s(message_bytes: Number, group: Span, network: Network) -> Floats:
    """Time of an all-gather, or of a reduce-scatter. [s], (N,)

    t = (sqrt((r - 1)/r m/B) + sqrt(a))^2 + hops;  message_bytes m: the gathered (or the unreduced) payload. 0
    for a single rank. The payload goes in chunks that follow each other; the chunk size that weighs filling
    the ring against the latency of each chunk gives the square. Measured: 9 % off, their plain sum 18 %.

    Source: Johnsson, Ho 1989, IEEE Trans. Comput. 38(9), 1249-1268 (pipelining); Thakur, Rabenseifner, Gropp
    2005, Int. J. High Perform. Comput. Appl. 19(1), 49-66 (ring); constants: docs/kernels.md.
    """
    return gathers_s(((message_bytes, 1),), group, network)[0]


def gathers_s(messages: Iterable[tuple[Number, Number]], group: Span, network: Network) -> list[Floats]:
    """Times of gathers over one group, whose rate and latency are computed once. [s], each (N,)

    messages: bytes, and the calls that they are sent in, each of which goes around the ring.
    """
    share = (group.ranks - 1) / group.ranks
    rate, start = ring_bytes_per_s(group, network), np.sqrt(latency_s(group, network))
    hops = hops_s(group, network)
    return [np.square(np.sqrt(_over(share * sent, rate)) + start) + calls * hops for sent, calls in messages]


def all_reduce_s(message_bytes: Number, group: Span, network: Network) -> Floats:
    """Time of an all-reduce: a reduce-scatter and an all-gather. [s], (N,)

    Across n machines sums go along a tree: each sends (n - 1)/n of the payload through its cards, both ways,
    where a ring of r ranks sends (r - 1)/r; inside of one they go around its own ranks alone.

    Source: NCCL 2.4 release notes (double binary trees); measured over EFA, docs/kernels.md.
    """
    inside = network.link_bytes_per_s * link_share(group.local, network)
    near = (group.local - 1) / group.local * message_bytes
    far = (group.nodes - 1) / group.nodes * message_bytes
    across: Floats = network.fabric_bytes_per_s * np.asarray(group.local, np.float64)
    longer = np.maximum(_over(near, inside), _over(far, across))
    return np.asarray(2 * np.square(np.sqrt(longer) + np.sqrt(latency_s(group, network))), np.float64)


def domains_met(copies: float, group: Span) -> Floats:
    """Other domains that a token reaches whose `copies` go to members drawn evenly. (N,)

    (n - 1)(1 - (1 - 1/n)^k) of n domains: what is sent where a domain gets one copy and deals it out itself.
    """
    return (group.nodes - 1) * (1 - (1 - 1 / group.nodes) ** copies)


def all_to_all_s(message_bytes: Number, group: Span, network: Network, away: Number | None = None) -> Floats:
    """Time of an all-to-all in which each rank sends message_bytes, evenly to all members. [s], (N,)

    The part for members of other domains leaves by the rank's share of the network cards, the rest by the
    scale-up link; both go at once and the slower decides. away: share that leaves, if it is not even.
    """
    away = 1 - group.local / group.ranks if away is None else away
    near = (group.local - 1) / group.ranks
    inside = _over(near * message_bytes, network.link_bytes_per_s * link_share(group.local, network))
    across = _over(away * message_bytes, np.full(np.shape(away), network.fabric_bytes_per_s))
    return np.maximum(inside, across) + (group.ranks > 1) * latency_s(group, network)


def send_s(message_bytes: Number, stride: Ints, network: Network) -> Floats:
    """Time to send to the rank `stride` ranks away, all ranks of the machine sending at once. [s], (N,)"""
    near = stride < network.domain
    rate = np.where(near, network.link_bytes_per_s, network.fabric_bytes_per_s)
    link_s = network.link_start_s + network.link_latency_s
    return _over(message_bytes, rate) + np.where(near, link_s, network.fabric_latency_s)


def exposed_s(communication_s: Number, hiding_s: Number, share: Number) -> Floats:
    """What is left of a communication of which `share` may run behind `hiding_s` of other work. [s], (N,)"""
    return communication_s - np.minimum(share * communication_s, hiding_s)


def _over(message_bytes: Number, bytes_per_s: Number) -> Floats:
    """Bytes over a rate; infinite where there is no link for them, 0 where there are no bytes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(message_bytes > 0, message_bytes / bytes_per_s, 0.0)
