"""What the definitions of scenarios name: a server's process for definitions imports it as it would a user's app."""

from tests.conformance import flow_nodes as flow_nodes
from tests.conformance.rows import questions as questions
