"""A script that may be run twice: its key starts the order once, and the second call finds the first one's run.

Prints:
    order 42 shipped to Oslo
    order 42 shipped to Oslo
    one run
"""

from tempfile import TemporaryDirectory

import jeton

SHIPPING = {
    "workflows": {
        "ship": {
            "input_schema": {"type": "object", "required": ["order", "to"]},
            "initial_node": "ship",
            "nodes": {"ship": {"output_mapping": {"output.said": "'order ' + string(input.order) + ' shipped to ' + input.to"}}},
        }
    }
}

with TemporaryDirectory() as folder, jeton.open_sync(f"{folder}/orders.db") as engine:
    engine.deploy(SHIPPING)
    runs = [engine.start("ship", {"order": 42, "to": "Oslo"}, key="order-42") for _ in range(2)]
    for run in runs:
        output = run.result().output
        print(output["said"] if isinstance(output, dict) else output)
    print("one run" if runs[0].id == runs[1].id else "two runs")
