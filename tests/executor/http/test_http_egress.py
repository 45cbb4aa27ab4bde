"""Where calls may go: the address that is checked is the address connected to."""

import asyncio
import ssl
import subprocess
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path

import msgspec
import pytest
from httpcore2 import SOCKET_OPTION, AsyncNetworkBackend, AsyncNetworkStream

from jeton.executor import Resources
from jeton.executor.http.backend import GuardedBackend
from jeton.executor.http.connections import Connections
from jeton.executor.http.egress import Egress, egress_of
from jeton.executor.workers.thread_pool import ThreadPool
from jeton.model.json import Json, JsonObject
from tests.executor.http.evil_server import answer, evil_server, json_answer
from tests.executor.http.given import LOOPBACK, Caller, caller

OK = json_answer({"ok": 1})


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254",
        "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1",
        "2002:7f00:1::", "2001:0:5ef5:79fb:0:0:80ff:fffe", "fe80::1", "fe80::1%lo", "fc00::1", "fd00:ec2::254",
        "fec0::1", "ff02::1", "4000::1", "2001:db8::1", "100::1",
        "192.0.0.192", "::ffff:192.0.0.192", "168.63.129.16", "64:ff9b::a83f:8110", "3fff::1", "3fff:fff::1",
    ],
)  # fmt: skip
async def test_addresses_nobody_on_the_internet_has(address: str) -> None:
    async with caller({}, resolver=lambda host, port: [address]) as project:
        failed = await project.fails("http://name.example/")
        assert failed.type == "address_refused"
        assert "'name.example' resolves to " in failed.message
        assert "project.settings.http.allow" in failed.message


@pytest.mark.parametrize(
    "address",
    [
        "168.63.129.15",
        "192.0.1.1",
        "3fff:1000::1",
        "8.8.8.8",
        "1.1.1.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::",
    ],
)
def test_public_addresses(address: str) -> None:
    assert Egress().permitted("host", [ip_address(address)]) == [ip_address(address)]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "localhost.", "LOCALHOST", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1",
        "127.1", "0", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "127。0。0。1",
    ],
)  # fmt: skip
async def test_every_way_to_write_this_machine(host: str) -> None:
    async with evil_server() as server, caller({}) as project:
        failed = await project.fails(f"http://{host}:{server.port}/echo")
        # some are no names at all to some resolvers, which is as good
        assert failed.type in ("address_refused", "http_network", "input_invalid")
        assert server.heard == []
        assert server.open == set()


@pytest.mark.parametrize(
    ("allow", "reached"),
    [
        pytest.param([], False, id="nothing"),
        pytest.param(["127.0.0.1"], True, id="an address"),
        pytest.param(["127.0.0.0/8"], True, id="a network"),
        pytest.param(["Name.Example."], True, id="a host, however it is written"),
        pytest.param(["other.example"], False, id="another host"),
        pytest.param(["10.0.0.0/8", "::1/128"], False, id="other networks"),
    ],
)
async def test_what_a_project_allows(allow: list[Json], reached: bool) -> None:
    settings: JsonObject = {"http": {"allow": allow}}
    async with evil_server() as server, caller(settings, resolver=lambda host, port: ["127.0.0.1"]) as project:
        await project.call(f"http://name.example:{server.port}/echo")
        assert bool(server.heard) == reached


@pytest.mark.parametrize(
    "settings", [{"http": {"allow": ["10.0.0.0/99"]}}, {"http": {"allow": "x"}}, {"http": []}, {"http": {"alow": []}}]
)
async def test_settings_that_make_no_sense_allow_nothing(settings: JsonObject) -> None:
    async with caller(settings) as project:
        assert (await project.fails("http://127.0.0.1/")).type == "settings_invalid"


def test_a_mapped_address_is_allowed_as_what_it_stands_for() -> None:
    mapped = ip_address("::ffff:127.0.0.1")
    assert egress_of(LOOPBACK).permitted("host", [mapped]) == [mapped]


async def test_a_name_that_is_rebound_is_resolved_once() -> None:
    answers = [["93.184.215.14"], ["127.0.0.1"], ["127.0.0.1"]]
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    connected: list[str] = []

    class Nowhere(AsyncNetworkBackend):
        """Nothing outside loopback is called by a test."""

        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[SOCKET_OPTION] | None = None,
        ) -> AsyncNetworkStream:
            connected.append(host)
            raise ConnectionRefusedError

    threads = ThreadPool(1)
    backend = GuardedBackend(Egress(), rebinding, threads, Nowhere())
    with pytest.raises(ConnectionRefusedError):
        await backend.connect_tcp("rebinding.example", 80, 1)
    threads.close()
    assert (asked, connected) == (["rebinding.example"], ["93.184.215.14"])


async def test_a_name_that_turns_private_is_refused_at_its_next_connection() -> None:
    addresses = ["127.0.0.1"]
    async with (
        evil_server() as server,
        caller({"http": {"allow": ["127.0.0.1"]}}, resolver=lambda host, port: list(addresses)) as project,
    ):
        url = server.says("/x", answer(b"", Connection="close")).replace("127.0.0.1", "name.example")
        await project.gives(url)
        addresses[:] = ["10.0.0.1"]
        assert (await project.fails(url)).type == "address_refused"


async def test_only_the_permitted_addresses_of_a_name_are_tried() -> None:
    async with (
        evil_server() as server,
        caller(
            {"http": {"allow": ["127.0.0.1"]}}, resolver=lambda host, port: ["10.0.0.1", "::1", "127.0.0.1"]
        ) as project,
    ):
        assert await project.gives(server.says("/x", OK).replace("127.0.0.1", "name.example"))


async def test_an_address_that_does_not_answer_is_not_the_end() -> None:
    async with (
        evil_server() as server,
        caller(LOOPBACK, resolver=lambda host, port: ["127.0.0.9", "127.0.0.1"]) as project,
    ):
        assert await project.gives(server.says("/x", OK).replace("127.0.0.1", "name.example"))


async def test_projects_do_not_share_connections() -> None:
    async with evil_server() as server, caller() as allowed:
        url = server.says("/x", OK)
        await allowed.gives(url)
        refused = Caller(allowed.resources, allowed.clock, {})
        assert (await refused.fails(url)).type == "address_refused"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    async with evil_server() as server, evil_server() as proxy, caller() as project:
        monkeypatch.setenv(variable, proxy.url)
        await project.gives(server.says("/x", OK))
        assert proxy.heard == []


REDIRECT = "302 Found"


@pytest.mark.parametrize(
    ("given", "then"),
    [
        pytest.param("http://127.0.0.1:{port}/echo", "followed", id="a host of the list"),
        pytest.param("http://127.0.0.1:{other}/echo", "address_refused", id="another port is another host"),
        pytest.param("http://localhost:{port}/echo", "address_refused", id="another name is another host"),
        pytest.param("http://evil.example/?127.0.0.1:{port}", "address_refused", id="the host in the query"),
        pytest.param("http://127.0.0.1:{port}@evil.example/", "input_invalid", id="the host as a user's name"),
        pytest.param("http://127.0.0.1:{port}\\@evil.example/", "input_invalid", id="a backslash"),
        pytest.param("file:///etc/passwd", "input_invalid", id="a file"),
        pytest.param("/echo", "input_invalid", id="a path alone"),
        pytest.param("", "input_invalid", id="nothing"),
        pytest.param(None, "input_invalid", id="null"),
        pytest.param(["http://127.0.0.1:{port}/echo"], "input_invalid", id="a list"),
    ],
)
async def test_a_whole_url_from_input(given: Json, then: str) -> None:
    async with evil_server() as server, evil_server() as other, caller() as project:
        url: Json = given.format(port=server.port, other=other.port) if isinstance(given, str) else given
        result = await project.call("{to.url}", {"to": {"url": url}}, hosts=["api.example", f"127.0.0.1:{server.port}"])
        assert getattr(result, "type", "followed") == then
        assert (len(server.heard), len(other.heard)) == (then == "followed", 0)


async def test_a_url_from_input_is_redirected_to_hosts_of_the_list_alone() -> None:
    async with evil_server() as server, evil_server() as other, caller() as project:
        url = server.says("/x", answer(b"", REDIRECT, Location=f"http://127.0.0.1:{other.port}/y"))
        other.says("/y", OK)
        own, both = f"127.0.0.1:{server.port}", [f"127.0.0.1:{each.port}" for each in (server, other)]
        assert (await project.fails("{url}", {"url": url}, hosts=[own])).type == "redirect_refused"
        assert (await project.gives("{url}", {"url": url}, hosts=[*both]))["status"] == 200
        assert (await project.fails("{url}", {"url": url}, hosts=[*both], redirects=[])).type == "redirect_refused"


async def test_a_host_of_the_list_with_a_private_address_is_refused() -> None:
    async with evil_server() as server, caller({}, resolver=lambda host, port: ["127.0.0.1"]) as project:
        given: JsonObject = {"url": f"http://inner.example:{server.port}/echo"}
        failed = await project.fails("{url}", given, hosts=[f"inner.example:{server.port}"])
        assert (failed.type, server.heard) == ("address_refused", [])


@pytest.mark.parametrize(
    ("redirects", "location", "then"),
    [
        pytest.param("same_host", "/y", "followed", id="the same host is the default"),
        pytest.param("same_host", "//127.0.0.1:{port}/y", "followed", id="written without a scheme"),
        pytest.param("same_host", "http://127.0.0.1:{other}/y", "redirect_refused", id="another port is another host"),
        pytest.param("same_host", "http://localhost:{port}/y", "redirect_refused", id="another name is another host"),
        pytest.param(["127.0.0.1:{other}"], "http://127.0.0.1:{other}/y", "followed", id="a host that is named"),
        pytest.param(["127.0.0.1"], "http://127.0.0.1:{other}/y", "redirect_refused", id="named without its port"),
        pytest.param(["localhost"], "https://127.0.0.1:{port}/y", "redirect_refused", id="another scheme"),
        pytest.param(["localhost"], "file:///etc/passwd", "redirect_refused", id="a file"),
        pytest.param(["localhost"], "gopher://127.0.0.1:{port}/y", "redirect_refused", id="gopher"),
        pytest.param("same_host", "http://user@127.0.0.1:{port}/y", "redirect_refused", id="a user's name"),
        pytest.param("same_host", "http://[::1/y", "redirect_refused", id="no address"),
        pytest.param(False, "/y", "result", id="none is followed: the redirect is the result"),
    ],
)
async def test_redirects(redirects: Json, location: str, then: str) -> None:
    async with evil_server() as server, evil_server() as other, caller() as project:
        ports = {"port": server.port, "other": other.port}
        server.says("/y", OK)
        other.says("/y", OK)
        url = server.says("/x", answer(b"", REDIRECT, Location=location.format(**ports)))
        named: Json = [str(each).format(**ports) for each in redirects] if isinstance(redirects, list) else redirects
        match await project.call(url, redirects=named):
            case {"status": 200}:
                assert then == "followed"
            case {"status": 302}:
                assert then == "result"
            case failed:
                assert getattr(failed, "type", None) == then


async def test_a_redirect_to_a_private_address_is_refused_even_if_its_host_is_named() -> None:
    settings: JsonObject = {"http": {"allow": ["name.example"]}}
    async with evil_server() as server, caller(settings, resolver=lambda host, port: ["127.0.0.1"]) as project:
        inner = f"inner.example:{server.port}"
        url = server.says("/x", answer(b"", REDIRECT, Location=f"http://{inner}/echo")).replace(
            "127.0.0.1", "name.example"
        )
        failed = await project.fails(url, redirects=[inner])
        assert (failed.type, len(server.heard)) == ("address_refused", 1)


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        pytest.param("301 Moved Permanently", "POST", ("GET", b""), id="301 turns a POST into a GET"),
        pytest.param("302 Found", "POST", ("GET", b""), id="so does 302"),
        pytest.param("303 See Other", "PUT", ("GET", b""), id="303 does so with every method"),
        pytest.param("302 Found", "PUT", ("PUT", b"7"), id="302 leaves the others"),
        pytest.param("307 Temporary Redirect", "POST", ("POST", b"7"), id="307 changes nothing"),
        pytest.param("308 Permanent Redirect", "POST", ("POST", b"7"), id="308 changes nothing"),
    ],
)
async def test_what_a_redirect_makes_of_a_request(status: str, method: str, then: tuple[str, bytes]) -> None:
    async with evil_server() as server, caller() as project:
        server.says("/y", OK)
        await project.gives(server.says("/x", answer(b"", status, Location="/y")), method=method, json=7)
        assert (server.heard[1].method, server.heard[1].body) == then
        assert ("content-type" in server.heard[1].headers) == bool(then[1])


async def test_credentials_and_headers_stay_with_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_TEST_TOKEN", "token-of-the-author")
    settings: JsonObject = {**LOOPBACK, "secrets": {"T": {"env": "HTTP_TEST_TOKEN"}}}
    async with evil_server() as server, evil_server() as other, caller(settings) as project:
        back = other.says("/back", answer(b"", REDIRECT, Location=f"{server.url}/echo"))
        server.says("/out", answer(b"", REDIRECT, Location=back))
        url = server.says("/in", answer(b"", REDIRECT, Location="/out"))
        await project.gives(
            url,
            auth={"bearer": {"secret": "T"}},
            headers={"X-Key": {"secret": "T"}, "Cookie": "a=b"},
            redirects=[f"127.0.0.1:{other.port}"],
        )
        own = {"authorization", "x-key", "cookie"}
        assert [own <= heard.headers.keys() for heard in server.heard] == [True, True, False]
        assert not any(own & heard.headers.keys() for heard in (server.heard[2], *other.heard))


async def test_the_name_of_the_host_is_what_a_certificate_is_checked_against(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=name.example"
    names = "subjectAltName=DNS:name.example"
    subprocess.run(
        [*command.split(), "-addext", names, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
        timeout=20,
    )
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(certificate, key)
    asked: list[str | None] = []
    theirs.sni_callback = lambda socket, name, context: asked.append(name)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=theirs)
    port = server.sockets[0].getsockname()[1]
    ours = ssl.create_default_context(cafile=str(certificate))
    async with caller(LOOPBACK) as project:
        connections = Connections(lambda host, port: ["127.0.0.1"], ours)
        trusting = Caller(_with(project, connections), project.clock, LOOPBACK)
        assert (await trusting.gives(f"https://name.example:{port}/"))["status"] == 200
        assert (await trusting.fails(f"https://other.example:{port}/")).type == "http_certificate"
        await connections.close()
        strangers = Connections(lambda host, port: ["127.0.0.1"])
        failed = await Caller(_with(project, strangers), project.clock, LOOPBACK).fails(f"https://name.example:{port}/")
        await strangers.close()
    server.close()
    await server.wait_closed()
    assert (failed.type, failed.transient) == ("http_certificate", False)
    assert asked == ["name.example", "other.example", "name.example"]


def _with(project: Caller, connections: Connections) -> Resources:
    return msgspec.structs.replace(project.resources, connections=connections)
