"""`jeton`: finds the verb that was asked for and loads that one alone.

Help must be quick, and so must a typo: nothing is imported here but click, and no verb before it is known which.
"""

from importlib import import_module

import click

# verb: where its module lies below `verbs`, and what it does. The module holds a click command `command`.
VERBS = {
    "check": ("define.check", "Report every problem in definition files."),
    "run": ("act.run", "Start a workflow and follow it to its end."),
    "resume": ("act.resume", "Take up every unfinished run."),
    "ls": ("look.ls", "List runs."),
    "show": ("look.show", "Show how a run stands."),
    "events": ("look.events", "List what happened in a run."),
    "tokens": ("look.tokens", "List a run's tokens."),
    "context": ("look.context", "Show a run's data."),
    "explain": ("look.explain", "Say why a run did what it did."),
    "gates": ("look.gates", "List what waits for a person."),
    "answer": ("act.answer", "Answer a gate."),
    "signal": ("act.signal", "Send a run a signal."),
    "cancel": ("act.cancel", "Stop a run."),
    "pause": ("act.pause", "Have a run begin nothing new."),
    "unpause": ("act.unpause", "Have a paused run go on."),
    "retry": ("act.retry", "Do again what a run failed at, as a new run."),
    "fork": ("act.fork", "Make a new run that shares a run's history."),
    "what-if": ("look.what_if", "Say what a run would decide."),
    "triggers": ("look.triggers", "List what starts by itself."),
    "fire": ("act.fire", "Fire a trigger by hand."),
    "credits": ("look.credits", "Show what is left, and what was used."),
    "draw": ("look.draw", "Draw a workflow, with a run's state on it."),
    "simulate": ("define.simulate", "Run a workflow under many schedules and faults."),
    "verify": ("store.verify", "Say whether a store is whole."),
    "backup": ("store.backup", "Copy a store while it is in use."),
    "export": ("store.export", "Write a run to a file."),
    "import": ("store.import_", "Take in a run from a file."),
    "import-flow": ("define.import_flow", "Turn an exported graph into a library file."),
}


class Verbs(click.Group):
    """Commands that are imported when they are called; their help lines are kept here so that listing imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: object = import_module(f"jeton.cli.verbs.{VERBS[cmd_name][0]}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches  # only for those who need it

            meant = get_close_matches(args[0], VERBS, n=1)
            ctx.fail(f"there is no verb '{args[0]}'" + (f"; did you mean '{meant[0]}'?" if meant else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, does) for verb, (_, does) in VERBS.items()])


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Durable workflows and agents."""


if __name__ == "__main__":
    main()
