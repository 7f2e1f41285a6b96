"""The tree, against the definition and against the vectors of Certificate Transparency."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.audit.merkle import Tree, leaf, node

#: The inputs and roots that implementations of RFC 6962 share.
INPUTS = [bytes.fromhex(text) for text in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def defined(data: list[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, word for word."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return leaf(data[0])
    k = 1
    while k * 2 < len(data):
        k *= 2
    return node(defined(data[:k]), defined(data[k:]))


def test_the_roots_are_those_of_certificate_transparency():
    tree = Tree()
    roots = [tree.root.hex()]
    for data in INPUTS:
        tree.append(data)
        roots.append(tree.root.hex())
    assert roots == ROOTS


@given(st.lists(st.binary(max_size=4), max_size=70), st.integers(0, 70))
def test_a_tree_that_is_taken_up_again_ends_at_the_defined_root(data: list[bytes], at: int):
    tree = Tree()
    for one in data[:at]:
        tree.append(one)
    tree = Tree(tree.size, tree.peaks)
    for one in data[at:]:
        tree.append(one)
    assert tree.root == defined(data)


def test_peaks_that_do_not_fit_the_size_are_refused():
    with pytest.raises(ValueError, match="peaks"):
        Tree(3, [b"x" * 32])
