"""Templates in definitions."""

from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, shown
from jeton.expression.templates.template import Template


def check_template(what: str, source: str, location: SourceLocation, report: Report) -> None:
    """Check that a text is a template."""
    template = Template(source, fuel=0)
    if template.problem is not None:
        problem = f"the {what} {shown(source)} is not a valid template: {template.problem}"
        report.error(location, "template_invalid", problem, "write '{{ input.name }}' for what varies")
