"""Claims: a key is reserved while it is worked on."""

import pickle

import pytest

import seen


def window(**more):
    return seen.Window("sliding:1h filter=exact items=1000 claims=2", **more)


def test_a_claim_is_new_for_one_worker_and_seen_after_its_ack():
    f = window()
    first, second = f.claim("order", lease=30), seen.claim(f, b"order")
    assert first and first.state == "new" and not second and second.state == "pending" and 29 < second.wait <= 30
    assert "order" not in f and first.ack() and not first.ack() and "order" in f
    assert f.claim("order").state == "seen" and not f.add("order")
    assert f.claims()[:5] == (2, 0, 1, 0, 1)


def test_a_block_acks_and_one_that_raises_nacks():
    f = window()
    with f.claim("a") as c:
        assert c
    assert "a" in f
    with pytest.raises(ZeroDivisionError):
        with f.claim("b"):
            1 / 0
    assert f.claim("b") and f.claims().nacked == 1
    with f.claim("b") as c:
        assert c.state == "pending"  # another has it: leaving the block changes nothing
    assert f.claim("b").state == "pending"


def test_a_lease_that_ends_gives_the_key_back():
    now = [1.7e9]
    f = window(clock=lambda: now[0])
    late = f.claim("a", lease=10)
    now[0] += 10
    again = f.claim("a", lease=10)
    assert again and again.token > late.token and not late.ack() and again.nack() and f.claim("a")


def test_claims_go_by_the_times_that_are_given_and_survive_a_pickle():
    f = window()
    c = f.claim("a", lease=10, time=100)
    g = pickle.loads(pickle.dumps(f))
    assert g.claim("a", time=105).wait == 5 and g.ack("a", c.token, time=106) and g.contains(["a"])[0]
    with pytest.raises(ValueError, match="give times"):
        g.claim("b")
    counted = seen.Window("landmark items=100 claims=5")
    assert counted.claim("a").ack() and "a" in counted


def test_claims_that_cannot_be_are_refused():
    f = window()
    f.claim("a"), f.claim("b")
    with pytest.raises(ValueError):
        f.claim("c")
    for lease in (0, -1):
        with pytest.raises(ValueError, match="above 0"):
            f.claim("d", lease=lease)
    plain = seen.Window("landmark items=100")
    for use in (lambda: plain.claim("a"), lambda: plain.ack("a", 1), lambda: plain.nack("a", 1)):
        with pytest.raises(ValueError, match="add claims=N"):
            use()
    with pytest.raises(TypeError):
        f.claim(1.5)
