"""A compiled template."""

from typing import Final

from jeton.model.json import JsonObject

MAX_TEXT: Final = 65_536
"""The bytes of a rendered template (UTF-8)."""


class TemplateProblem(Exception):
    """A template is not valid, or could not be rendered."""

    def __init__(self, message: str) -> None:
        """`message`: what is wrong."""
        super().__init__(message)
        self.message = message


class Template:
    """A template that was compiled once. Undefined names are errors; fuel bounds the time it takes.

    `problem`: what is wrong with it. Such a template fails when it is rendered, and not before: a stored definition may
    be older than a rule."""

    def __init__(self, source: str, fuel: int) -> None:
        """Compile a template."""
        from jeton.expression.templates import engine  # loaded with the first template: most definitions have none

        self._environment, self.problem = engine.compiled(source, fuel)

    def render(self, names: JsonObject) -> str:
        """Render it. Raises TemplateProblem, and nothing else."""
        if self.problem is not None:
            raise TemplateProblem(self.problem)
        try:
            text = self._environment.render_template("template", **names)
        except Exception as error:
            raise TemplateProblem(str(getattr(error, "message", error))) from None
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # how a bug of the engine arrives
                raise
            raise TemplateProblem("the template engine failed") from None
        if len(text.encode()) > MAX_TEXT:
            raise TemplateProblem(f"it makes more than {MAX_TEXT:,} bytes")
        return text


def names_read(source: str) -> frozenset[str]:
    """The names that a valid template reads and does not set itself."""
    from jeton.expression.templates.engine import undeclared

    return undeclared(source)
