"""Names of spans and attributes.

Those of the GenAI conventions still change from release to release. They are here and nowhere else; a test compares
them with the package of the conventions.
"""

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT = "gen_ai.agent.name"
AGENT_VERSION = "gen_ai.agent.version"
CONVERSATION = "gen_ai.conversation.id"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
TOOL = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_TYPE = "gen_ai.tool.type"
# contents, which are sent only if they are asked for
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"

ERROR = "error.type"

# operations
CHAT = "chat"
EXECUTE_TOOL = "execute_tool"
INVOKE_AGENT = "invoke_agent"

# our own
RUN = "jeton.run.id"
WORKFLOW = "jeton.workflow"
VERSION = "jeton.version"
STATUS = "jeton.status"
TRIGGER = "jeton.trigger"
NODE = "jeton.node"
TOKEN = "jeton.token"
PATH = "jeton.path"
ATTEMPT = "jeton.attempt"
DELIVERIES = "jeton.deliveries"
STEP = "jeton.step"
CALLED_RUN = "jeton.called.run.id"
TURN = "jeton.turn"
MOVE = "jeton.move"
PROFILE = "jeton.model_profile"
CALLER = "jeton.caller"

PROVIDERS = {"openai": "openai", "openai_responses": "openai", "anthropic": "anthropic", "google": "gcp.gemini"}
"""The conventions' names of our providers. Others have the name that they have with us."""
