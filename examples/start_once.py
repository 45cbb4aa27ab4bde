"""A script that may be run twice: its key starts the order once, and the second call finds the first one's run.

Prints:
    {'said': 'order 42 goes to Oslo'}
    {'said': 'order 42 goes to Oslo'}
    one run
"""

from tempfile import TemporaryDirectory

import jeton

SHIPPING = {
    "workflows": {
        "ship": {
            "input_schema": {"type": "object", "required": ["order", "to"]},
            "initial_node": "ship",
            "nodes": {"ship": {"output_mapping": {"output.said": "'order ' + input.order + ' goes to ' + input.to"}}},
        }
    }
}

with TemporaryDirectory() as folder, jeton.open_sync(f"{folder}/orders.db") as engine:
    engine.deploy(SHIPPING)
    runs = [engine.start("ship", {"order": "42", "to": "Oslo"}, key="order-42") for _ in range(2)]
    for run in runs:
        print(run.result().output)
    print("one run" if runs[0].id == runs[1].id else "two runs")
