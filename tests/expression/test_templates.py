"""Templates: what they may use, and that none makes more than it may."""

import json
import resource
import subprocess
import sys
from itertools import product

import minijinja
import pytest

from jeton.expression.templates.allowed import FILTERS, METHODS, TESTS
from jeton.expression.templates.template import MAX_TEXT, Template, TemplateProblem, names_read
from jeton.model.json import JsonObject

FUEL = 10_000
NAMES: JsonObject = {
    "input": {"text": "a b <c>", "n": 3, "f": 1.5, "one": 1.0, "yes": True, "list": [3, 1.0, "x"], "o": {"k": [1, 2]}}
}


@pytest.mark.parametrize(
    "source",
    [
        "Ship {{ input.n }} boxes?\n",
        "{{ input.text|replace(' ', '-') }}{{ input.n|replace(3, 4) }}",
        "{{ input.list|join(', ') }} {{ input.list|join }}",
        "{{ input.one + input.n }} {{ input.one * 2 }} {{ input.n - 1 + 2 * 3 % 4 }} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }}",
        "{{ 'n: ' ~ input.n ~ input.one ~ none ~ true }} {{ input.text + 'x' + input.text }}",
        "{{ '-' * 3 }} {{ 3 * '-' }}",
        "{{ input.n / 2 }} {{ input.n // 2 }} {{ (1 + 2) ~ 'a' }} {{ -input.n|abs }}",
        "{{ 'yes' if input.n > 2 and not input.n in [4, 5] else 'no' }} {{ 'a' if false }} {{ 1 not in [1] }}",
        "{% for k, v in input.o.items() %}{{ loop.index }}{{ k }}={{ v }}{% else %}none{% endfor %}",
        "{% for x in input.list if x is number %}{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}",
        "{% set x = 1 %}{% for i in range(3) %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}",
        "{% set x %}a{{ input.n }}{% endset %}{{ x|upper }}{% with a = 1, b = input.n %}{{ a + b }}{% endwith %}",
        "a  {%- if input.yes -%}  b  {%- elif input.n %} c {% endif +%}  d {# no #} {{- 1 -}}  e\n\n",
        '{% raw %}{{ x }} "\\ {% endraw %} }} \\n " {{ \'}}\' }}{{ "%}" }}',
        "{{ input.o.k[0] }} {{ input.list[1:] }} {{ input.text[::2] }} {{ input['n'] }}",
        "{{ {'a': 1}.a }} {{ [1, [2]] }}",
        "{{ input.n is odd }} {{ input.n is divisibleby 3 }} {{ x is not defined }}",
        "{{ '%05.1f|%s'|format(input.f, input.text) }} {{ input|tojson }}",
        "{{ input.o|tojson(indent=2) }} {{ input.text|e }}",
        "{{ 'a\nb\n\nc'|indent }}|{{ 'a\nb'|indent(2, true) }}",
        "{{ input.text|truncate(length=3) }}|{{ input.text|urlencode }}",
        "{{ input.list|map('string')|list }} {{ x|default(input.n) }} {{ input.text.upper().split(' ') }}",
    ],
)
def test_a_template_means_what_it_means_to_the_engine(source: str) -> None:
    assert Template(source, FUEL).render(NAMES) == minijinja.Environment().render_str(source, **NAMES)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("{{ input.gone }}", "undefined"),
        ("{{ input.gone|replace('a', 'b') }}", "undefined"),
        ("{{ input.gone ~ 'a' }}", "undefined"),
        ("{{ input.n", "syntax error"),
        ("{% macro m(x) %}{{ x }}{% endmacro %}", "no tag 'macro'"),
        ("{% include 'template' %}", "no tag 'include'"),
        ("{% set x = namespace(a=1) %}", "no function 'namespace'"),
        ("{% for x in input.list recursive %}{% endfor %}", "unexpected 'recursive'"),
        ("{{ [input.list, input.list] }}", "literals only"),
        ("{{ input.list|map(attribute='a', default=input.list) }}", "literals only"),
        ("{{ input.list|map('tojson') }}", "map takes"),
        ("{{ input.list|tojson(900000000) }}", "indent of at most 8"),
        ("{{ input.text|chain(input.text) }}", "no filter 'chain'"),
        ("{{ input.text.replace('a', 'b') }}", "'|replace"),
        ("{{ input.text is escaped }}", "no test 'escaped'"),
        ("{{ input.text + 1 }}", "invalid operation"),
        ("{{ input.text * 2 }}", "invalid operation"),
        ("{{ '%9999d'|format(1) }}", "widths below 1,000"),
        ("{{ " + "(" * 70 + "1" + ")" * 70 + " }}", "nested too deeply"),
        ("x" * 65_537, "65,536 characters"),
        ("{{ input.text|join('" + "x" * 60_000 + "') }}", "65,536 bytes"),
        ("{% for i in range(99) %}" + "x" * 20_000 + "{% endfor %}", "1,048,576 bytes on the way"),
        ("{% for i in range(100000) %}{% endfor %}", "fuel"),
    ],
)
def test_a_template_that_is_refused(source: str, says: str) -> None:
    with pytest.raises(TemplateProblem, match=says.replace("|", r"\|")):
        Template(source, FUEL).render(NAMES)


def test_a_template_may_make_64_kibibytes() -> None:
    assert len(Template("{{ t }}", FUEL).render({"t": "x" * MAX_TEXT})) == MAX_TEXT
    with pytest.raises(TemplateProblem, match="65,536 bytes"):
        Template("{{ t }}", FUEL).render({"t": "é" * (MAX_TEXT // 2 + 1)})


def growing() -> list[str]:
    """Templates that would grow: all filters, methods and tests with long texts and large numbers, and what doubles."""
    arguments = ["", "(t)", "(' ', t)", "(n)", "(n, t)"]
    single = [f"{{{{ {value}|{name}{given} }}}}" for name, value, given in product(FILTERS, ("t", "l", "n"), arguments)]
    single += [f"{{{{ {value}.{name}{given or '()'} }}}}" for name, value, given in product(METHODS, "tl", arguments)]
    single += [f"{{{{ {value} is {name}{given} }}}}" for name, value, given in product(TESTS, "tl", arguments)]
    single += [f"{{{{ {a} {sign} {b} }}}}" for a, sign, b in product("tnl", ("*", "**", "+", "~", "%", "//"), "tnl")]
    grows = [
        "x ~ x",
        "x + x",
        "x|replace(' ', x)",
        "x|tojson",
        "x|string|e",
        "x|urlencode",
        "x|list|join(x)",
        "x|indent(n)",
    ]
    grows += [
        "'%s%s'|format(x, x)",
        "x|list|string",
        "x|split(' ')|join(t)",
        "[x, x]",
        "x * 9",
        "x|pprint",
        "x|list + x|list",
    ]
    double = ["{% set x = t %}" + f"{{% set x = {grow} %}}" * 60 + "{{ x }}{{ x|length }}" for grow in grows]
    loops = [
        f"{{% set x = t %}}{{% for i in range(9999) %}}{{% set x = {grow} %}}{{{{ t }}}}{{% endfor %}}"
        for grow in grows
    ]
    caught = "{% set x = t %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 60
    return [*single, *double, *loops, caught, "{% for a in t %}{% for b in t %}{{ t }}{% endfor %}{% endfor %}"]


CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
from jeton.expression.templates.template import Template, TemplateProblem
names = {"t": 'a \\\\"' * 25000, "n": 2000000000, "l": ["a b"] * 20000}
for source in json.load(sys.stdin):
    print(source[:80], flush=True)
    try:
        text = Template(source, 200000).render(names)
        assert len(text.encode()) <= 65536
    except TemplateProblem:
        pass
print("done")
"""


def test_no_template_takes_the_process_with_it() -> None:
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(growing()),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert child.stdout.splitlines()[-1:] == ["done"], child.stdout[-200:] + child.stderr[-2000:]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2**20


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("{{ agent }} {{ run.id }}", {"agent", "run"}, id="what it writes"),
        pytest.param(
            "{% for x in items %}{{ x }}{{ loop.index }}{% endfor %}", {"items"}, id="not what it sets itself"
        ),
        pytest.param("{% set x = y %}{{ x }}", {"y"}, id="nor a variable of its own"),
        pytest.param("{% for x in range(3) %}{{ x }}{% endfor %}", set[str](), id="nor a function"),
        pytest.param("plain", set[str](), id="nothing"),
    ],
)
def test_the_names_that_a_template_reads(source: str, names: set[str]) -> None:
    assert names_read(source) == names
