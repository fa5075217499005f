"""`ctx.token`: a tool gets an access token that is good, whoever else wants it, and whatever became of the last one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import anyio
import httpx
import pytest

from tests.oauth.panva import Panva
from tests.oauth.stage import SECRET, Browser, Desk, connecting, desk, sleepy
from tests.support import Clock, until
from yourcall import Agent, Context, Engine, Tool, tool
from yourcall.connect import OAuthProvider
from yourcall.errors import ProviderFailed
from yourcall.oauth.metadata import Metadata
from yourcall.oauth.tokens import Tokens, revoke
from yourcall.ports import AccountOver, Slot
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel, ScriptStep

pytestmark = pytest.mark.anyio

SLEEPY = Slot("ada", "sleepy")


def using(provider: OAuthProvider, **options: Any) -> Tool[Any]:
    """A tool that hands a token to the provider's own userinfo endpoint, and shows what it says."""

    @tool(**options)
    async def get_sleep(ctx: Context) -> str:
        """How the user slept."""
        token = (await ctx.token(provider)).get_secret_value()
        async with httpx.AsyncClient() as client:
            answer = await client.get(f"{provider.issuer}/me", headers={"Authorization": f"Bearer {token}"})
        return f"{answer.json().get('sub')} slept well; {token}"

    return get_sleep


def steps(*names: str) -> list[ScriptStep]:
    """Each name is a step that calls this tool; then the model is done."""
    return [*([(name, {})] for name in names), "Done."]


async def connected(running: Desk, browser: Browser, conversation: str = "c") -> None:
    """All of the way, for the question that is open."""
    interrupt = (await browser.client.open(conversation))[0]["id"]
    back = await browser.come(await running.come_back(browser, interrupt))
    assert back.headers["location"].endswith(f"/connect/{interrupt}")


async def results(running: Desk, browser: Browser, conversation: str = "c") -> list[str]:
    messages = (await browser.client.settled(conversation))["messages"]
    return [one["content"] for one in messages if one["role"] == "tool"]


async def begun(running: Desk, name: str = "ada") -> Browser:
    browser = await running.browser(name)
    await browser.client.create(id="c")
    await browser.client.say("c", "go")
    await browser.client.events("c")
    return browser


async def held(running: Desk) -> Tokens:
    opened = await running.engine.vault.open(SLEEPY)
    assert opened
    return Tokens.unsealed(opened.value, "sleepy")


async def aged(running: Desk) -> Tokens:
    """Time passes: the token that is kept is about to end."""
    opened = await running.engine.vault.open(SLEEPY)
    assert opened
    old = dataclasses.replace(Tokens.unsealed(opened.value, "sleepy"), stale_at=0.0)
    assert await running.engine.vault.replace(SLEEPY, opened.version, old.sealed())
    return old


async def test_a_tool_that_needs_an_account_asks_for_it(server: Panva) -> None:
    """It pauses at `ctx.token`, goes on with the token, and what it says is scrubbed of it."""
    async with desk(server, using(sleepy(server))) as running:
        ada = await begun(running)
        await connected(running, ada)
        (result,) = await results(running, ada)
        assert result.startswith("ada slept well; ")
        token = (await held(running)).access
        snapshot = str(await ada.client.snapshot("c")) + str(await running.engine.conversation("c", user="ada").log())
        assert token not in result + snapshot


async def test_L3_one_exchange_serves_every_later_call(server: Panva, tmp_path: Path) -> None:
    """Three tools after the consent, one of them in a new process: the code is redeemed once, and nothing is asked."""
    place = f"sqlite:///{tmp_path / 'c.db'}"
    provider = sleepy(server)
    async with desk(server, using(provider), store=place, steps=steps(*["get_sleep"] * 2)) as running:
        keys = running.engine.vault._keys  # type: ignore[attr-defined]  # the same keys in the next process
        ada = await begun(running)
        await connected(running, ada)
        assert len(await results(running, ada)) == 2
    model = ScriptedModel(steps("get_sleep"))
    async with Engine(Agent(model, tools=[using(provider)]), place, keys=keys) as engine:
        async for _ in engine.conversation("c", user="ada").say("again"):
            pass
        assert not await engine.conversation("c", user="ada").interrupts()
    assert server.requests() == server.granted("authorization_code") == 1


async def test_the_database_holds_no_token(server: Panva, tmp_path: Path) -> None:
    """I14: neither in its file nor in what is written ahead, before and after a refresh; the account's label is."""
    async with desk(server, store=f"sqlite:///{tmp_path / 'c.db'}") as running:
        ada = await begun(running)
        await connected(running, ada)
        first = await aged(running)
        await running.engine.accounts.token("ada", sleepy(server))
        secrets = [first.access, first.refresh, (await held(running)).access, (await held(running)).refresh, SECRET]
        files = [path async for path in anyio.Path(tmp_path).iterdir() if await path.is_file()]
        stored = b"".join([await path.read_bytes() for path in files])
        assert b"ada@example.org" in stored
        for secret in secrets:
            assert secret
            assert secret.encode() not in stored


async def test_when_offers_a_tool_once_the_account_is_connected(server: Panva) -> None:
    """From the next step on; and no more once it is disconnected, of which the provider is told."""
    provider = sleepy(server)
    tools = (connecting(provider), using(provider, when=provider))
    async with desk(server, *tools, steps=[*steps("connect", "get_sleep"), "Nothing."]) as running:
        ada = await begun(running)
        model: Any = running.engine.agent.model
        assert [spec.name for spec in model.requests[-1].tools] == ["connect"]
        await connected(running, ada)
        assert (await results(running, ada))[1].startswith("ada slept well")
        assert [spec.name for spec in model.requests[-1].tools] == ["connect", "get_sleep"]
        token = (await held(running)).access
        assert (await ada.client.get("/credentials")).json()["credentials"] == [
            {"name": "sleepy", "conversation": None}
        ]
        assert (await ada.client.delete("/credentials/sleepy")).status_code == 204
        assert not await running.tokens()
        assert server.requests("/token/revocation") == 1
        me = await ada.client.get(f"{server.issuer}/me", headers={"Authorization": f"Bearer {token}"})
        assert me.status_code == 401
        await ada.client.say("c", "again")
        await ada.client.settled("c")
        assert [spec.name for spec in model.requests[-1].tools] == ["connect"]
        assert (await ada.client.delete("/credentials/sleepy")).status_code == 404


async def test_twenty_at_once_refresh_once(server: Panva, tmp_path: Path) -> None:
    """T6: in two processes. Each gets the same new token, the rotated pair is what is kept, and it is good again."""
    async with desk(server, store=f"sqlite:///{tmp_path / 'c.db'}") as running:
        ada = await begun(running)
        await connected(running, ada)
        before = await aged(running)
        provider = sleepy(server)
        other = Engine(
            Agent(ScriptedModel()),
            f"sqlite:///{tmp_path / 'c.db'}",
            keys=running.engine.vault._keys,  # type: ignore[attr-defined]  # of the same deployment
        )
        got: list[str | None] = []

        async def want(engine: Engine[Any]) -> None:
            got.append(await engine.accounts.token("ada", provider))

        async with other, anyio.create_task_group() as tasks:
            for n in range(20):
                tasks.start_soon(want, other if n % 2 else running.engine)
        after = await held(running)
        assert len(got) == 20
        assert set(got) == {after.access}
        assert after.access != before.access
        assert after.refresh != before.refresh
        assert server.requests() == 2
        assert server.granted("refresh_token") == 1


async def test_the_rotated_pair_is_kept_though_who_wanted_it_is_cancelled(server: Panva) -> None:
    """T6: a cancel after the request has left does not lose the refresh token that comes back."""
    async with desk(server) as running:
        ada = await begun(running)
        await connected(running, ada)
        before, provider = await aged(running), sleepy(server)
        await running.engine.accounts.token("bob", provider)  # the metadata is read
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(running.engine.accounts.token, "ada", provider)
                await until(lambda: server.requests() == 2)
                scope.cancel()
        after = await held(running)
        assert after.refresh != before.refresh
        assert await running.engine.accounts.token("ada", provider) == after.access
        assert server.requests() == 2


@pytest.mark.parametrize("when", ["before they are kept", "after they were looked for"])
async def test_a_refresh_does_not_bring_back_what_was_disconnected(
    server: Panva, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever comes first, nothing is kept, and the provider is told of the tokens that came last."""
    async with desk(server) as running:
        ada = await begun(running)
        await connected(running, ada)
        await aged(running)
        provider, accounts, vault = sleepy(server), running.engine.accounts, running.engine.vault
        replace, opened = vault.replace, vault.open
        last: list[Tokens] = []
        told: list[str | None] = []

        async def telling(provider: OAuthProvider, metadata: Metadata, tokens: Tokens) -> None:
            told.append(tokens.refresh)
            await revoke(provider, metadata, tokens)

        async def overtaken(slot: Slot, version: str, value: bytes) -> bool:
            last.append(Tokens.unsealed(value, "sleepy"))
            if when == "before they are kept":
                assert await accounts.forget("ada", provider)
            return await replace(slot, version, value)

        async def looked(slot: Slot) -> Any:
            found = await opened(slot)
            monkeypatch.setattr(vault, "open", opened)
            await accounts.token("ada", provider)
            return found

        monkeypatch.setattr("yourcall.oauth.accounts.revoke", telling)
        monkeypatch.setattr(vault, "replace", overtaken)
        if when == "before they are kept":
            with pytest.raises(AccountOver):
                await accounts.token("ada", provider)
        else:
            monkeypatch.setattr(vault, "open", looked)
            assert await accounts.forget("ada", provider)
        assert not await running.tokens()
        assert told[-1] == last[0].refresh


async def test_a_claim_of_a_dead_process_is_over_in_time(server: Panva) -> None:
    """T6: whoever died in the middle of a refresh holds the others up for a while, and not for good."""
    clock = Clock()
    async with desk(server, store=SQLiteStore(":memory:", clock=clock)) as running:
        ada = await begun(running)
        await connected(running, ada)
        await aged(running)
        opened = await running.engine.vault.open(SLEEPY)
        assert opened
        assert await running.engine.vault.claim(SLEEPY, opened.version, 20)  # and then nothing more of it
        got: list[str | None] = []

        async def want() -> None:
            got.append(await running.engine.accounts.token("ada", sleepy(server)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(want)
            await anyio.sleep(0.2)
            assert not got
            clock.now += 21
        assert got == [(await held(running)).access]


@pytest.mark.parametrize("offered", [False, True], ids=["always", "when-connected"])
async def test_an_account_that_is_over_is_asked_for_again(server: Panva, offered: bool) -> None:
    """`invalid_grant`: it is forgotten, the same call pauses, and goes on with the new one; also if it was offered for
    the account, which the user has not taken back here."""
    provider = sleepy(server)
    tools = (connecting(provider), using(provider, **({"when": provider} if offered else {})))
    async with desk(server, *tools, steps=[*steps("connect"), *steps("get_sleep", "get_sleep")]) as running:
        ada = await begun(running)
        await connected(running, ada)
        await ada.client.settled("c")
        old = await aged(running)  # and as the user may do it in their settings at the provider:
        form = {"token": old.refresh, "client_id": "desk"}
        auth = httpx.BasicAuth("desk", quote_plus(SECRET))
        answer = await ada.client.post(f"{server.issuer}/token/revocation", data=form, auth=auth)
        assert answer.status_code == 200
        await ada.client.say("c", "how did I sleep?")
        await ada.client.settled("c")
        assert not await running.tokens()
        await connected(running, ada)
        told = await results(running, ada)
        assert [one.startswith("ada slept well") for one in told] == [False, True, True]


async def test_a_token_that_lasts_for_seconds_is_used_all_the_same(server: Panva) -> None:
    """It is refreshed at half of its time, and not for ever."""
    server.set(seconds=20)
    async with desk(server, using(sleepy(server)), steps=steps("get_sleep")) as running:
        ada = await begun(running)
        await connected(running, ada)
        assert (await results(running, ada))[0].startswith("ada slept well")
        await aged(running)
        assert await running.engine.accounts.token("ada", sleepy(server)) == (await held(running)).access
        assert server.granted("refresh_token") == 1


async def test_L4_one_no_answers_all_who_want_the_account(server: Panva) -> None:
    """L4: two parallel tools, one consent page, a denial for both; in this turn the user is not asked again."""
    script: list[ScriptStep] = [
        [("get_sleep", {}), ("get_sleep", {})],
        [("get_sleep", {})],
        "Done.",
        [("get_sleep", {})],
        "Done.",
    ]
    async with desk(server, using(sleepy(server)), steps=script) as running:
        ada = await begun(running)
        first, second = await ada.client.open("c")
        back = await ada.come(await running.come_back(ada, first["id"], refuse=True))
        assert back.status_code == 303
        told = await results(running, ada)
        assert len(told) == 3
        assert all("The user declined." in one for one in told)
        assert await ada.client.open("c") == []
        assert "You declined." in (await ada.page(second["id"])).text
        await ada.client.say("c", "well, now do")
        await ada.client.settled("c")
        assert len(await ada.client.open("c")) == 1


async def test_one_yes_answers_all_who_want_the_account(server: Panva) -> None:
    """One code, one exchange, and both tools go on."""
    async with desk(server, using(sleepy(server)), steps=[[("get_sleep", {}), ("get_sleep", {})], "Done."]) as running:
        ada = await begun(running)
        url = await running.come_back(ada, (await ada.client.open("c"))[1]["id"])
        await ada.come(url)
        assert [one.startswith("ada slept well") for one in await results(running, ada)] == [True, True]
        assert server.requests() == 1


async def test_a_provider_that_does_not_answer_is_told_to_the_model(server: Panva) -> None:
    """Nothing is lost by it: the account is there, and good when the provider is."""
    provider = sleepy(server)
    async with desk(server, connecting(provider), using(provider), steps=steps("connect", "get_sleep")) as running:
        ada = await begun(running)
        url = await running.come_back(ada, (await ada.client.open("c"))[0]["id"])
        await ada.come(url)
        assert (await results(running, ada))[1].startswith("ada")
        await aged(running)
        server.set(silent=True)
        with pytest.raises(ProviderFailed):
            await running.engine.accounts.token("ada", provider)
        assert await running.tokens()
