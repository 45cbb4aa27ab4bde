"""`jeton`: imports the verb that was asked for, and no other.

`jeton --help` and a misspelt verb must be fast, so nothing but click is imported here.
"""

import gc
from importlib import import_module
from types import ModuleType

import click

# By verb: its module in `verbs`, which has a click command named `command`, and its help line.
VERBS = {
    "init": ("define.init", "Write a small project to begin with."),
    "check": ("define.check", "Report every problem in definition files."),
    "simulate": ("define.simulate", "Run a workflow under many schedules and faults."),
    "import-flow": ("define.import_flow", "Convert an exported graph into a library file."),
    "run": ("act.run", "Start a workflow and follow the run to its end."),
    "start": ("act.start", "Start a run of what is deployed."),
    "chat": ("act.chat", "Talk to an agent."),
    "mcp": ("act.mcp", "Serve workflows and agents as MCP tools, and pin tools of others."),
    "resume": ("act.resume", "Drive every unfinished run."),
    "answer": ("act.answer", "Answer a gate."),
    "signal": ("act.signal", "Send a run a signal."),
    "cancel": ("act.cancel", "Cancel runs."),
    "pause": ("act.pause", "Pause runs."),
    "unpause": ("act.unpause", "Let paused runs go on."),
    "retry": ("act.retry", "Retry a failed run, as a new run."),
    "fork": ("act.fork", "Start a new run from a point in a run's history."),
    "replay": ("act.replay", "Do the turns of a conversation again, and show what differs."),
    "fire": ("act.fire", "Fire a trigger by hand."),
    "serve": ("serve.serve", "Serve the store over HTTP."),
    "keys": ("serve.keys", "Make, list and revoke the keys of a server."),
    "ls": ("look.ls", "List runs."),
    "show": ("look.show", "Show a run's record."),
    "events": ("look.events", "List a run's events."),
    "tokens": ("look.tokens", "List a run's tokens."),
    "context": ("look.context", "Show a run's data."),
    "explain": ("look.explain", "Explain why a run did what it did."),
    "what-if": ("look.what_if", "Show what a run would decide."),
    "draw": ("look.draw", "Draw a workflow, with a run's state on it."),
    "gates": ("look.gates", "List open gates."),
    "triggers": ("look.triggers", "List, deploy and change triggers."),
    "credits": ("look.credits", "Show the credit account, and what was used."),
    "memory": ("look.memory", "Look after the memory of an agent."),
    "verify": ("store.verify", "Check a store for damage."),
    "backup": ("store.backup", "Copy a store while it is in use."),
    "prune": ("store.prune", "Remove old runs."),
    "export": ("store.export", "Write a run to a file."),
    "import": ("store.import_", "Import a run from a file."),
}
SECTIONS = {"define": "Definitions", "act": "Runs", "serve": "Serving", "look": "Reading", "store": "Stores"}


class Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: object = _imported(f"jeton.cli.verbs.{VERBS[cmd_name][0]}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches  # slow to import, and rarely needed

            meant = get_close_matches(args[0], VERBS, n=1)
            ctx.fail(f"there is no verb '{args[0]}'" + (f"; did you mean '{meant[0]}'?" if meant else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for folder, title in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(verb, line) for verb, (module, line) in VERBS.items() if module.startswith(folder)]
                )


def _imported(module: str) -> ModuleType:
    """Import a module, and keep the garbage collector away from what was imported: it stays until the process ends, and
    looking through it meanwhile, and once more at the end, is a fifth of what a short command costs."""
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="jeton", prog_name="jeton", message="%(prog)s %(version)s")
def main() -> None:
    """Durable workflows and agents."""


if __name__ == "__main__":
    main()
