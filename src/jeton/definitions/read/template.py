"""Templates in definitions."""

from collections.abc import Collection

from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.expression.templates.template import Template, names_read


def check_template(
    what: str, source: str, location: SourceLocation, report: Report, given: Collection[str] | None = None
) -> None:
    """Check that a text is a template. `given`: the names that it may read; of others a warning says that they fail."""
    template = Template(source, fuel=0)
    if template.problem is not None:
        problem = f"the {what} {shown(source)} is not a valid template: {template.problem}"
        example = "input.name" if given is None or "input" in given else f"{sorted(given)[0]}.name"
        report.error(location, "template_invalid", problem, f"write '{{{{ {example} }}}}' for what varies")
    elif given is not None:
        for name in sorted(names_read(source) - set(given)):
            problem = f"the {what} reads {shown(name)}, which it is not given"
            report.warning(location, "template_invalid", problem, did_you_mean(name, sorted(given), "leave it out"))
