"""Chat templates for sweeps without data: each has a feature of published templates, and its oracle."""

from __future__ import annotations

from fuzz.turns import MISSING, Chat, Part, Written, json_parts, shown, text_at

PLAIN = """\
{%- if date %}{{ date }} {{ (tools or []) | length }}
{% endif %}
{%- for message in messages -%}
{{ message.role }}: {{ message.content }}
{%- if message.tool_calls %} {{ message.tool_calls | tojson }}{% endif %}
{{ '\\n' }}
{%- endfor -%}
{%- if add_generation_prompt %}assistant: {% endif %}"""
"""A template without marks, so that tokens cross the seams of content and template."""

MARKED = """\
{{- bos_token }}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'assistant' %}
{%- generation %}
{{- (message.content + '') | trim }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>' ~ call.function.name ~ '(' ~ call.function.arguments | tojson ~ ')</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>' }}
{%- endgeneration %}
{%- else %}
{{- message.content }}
{%- if message.name %} ({{ message.name }}){% endif %}
{{- '<|im_end|>' }}
{%- endif %}
{{- '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- endif %}"""
"""A template that declares the generated part itself: a turn and the mark at its end."""

NAMED = """\
{%- for message in messages -%}
<|{{ message.role }}|>
{{ message['content'] }}<|end|>
{% endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""
"""A template whose marks are spelled with the role, which is content."""


def plain(chat: Chat) -> Written:
    """The oracle of PLAIN."""
    out = Written()
    if chat.variables.get("date"):
        out += [Part(chat.variables["date"], None, "variables/date"), Part(f" {len(chat.tools or ())}\n")]
    for at, message in enumerate(chat.messages):
        out += [shown(message.get("role", MISSING), at, "role"), Part(": ")]
        out.append(shown(message.get("content", MISSING), at, "content"))
        if message.get("tool_calls"):
            out += [Part(" "), *json_parts(message["tool_calls"], at, "tool_calls")]
        out.put("\n")
    out.put("assistant: " if chat.add_generation_prompt else "")
    return out


def marked(chat: Chat) -> Written:
    """The oracle of MARKED."""
    out = Written([Part(chat.variables.get("bos_token", ""))])
    for at, message in enumerate(chat.messages):
        out.put("<|im_start|>")
        out.say(text_at(message, "role"), at, "role")
        out.put("\n")
        content = message.get("content", MISSING)
        first = len(out)
        if message["role"] == "assistant":
            out.say(text_at(message, "content").strip(), at, "content")
            for number, call in enumerate(message.get("tool_calls") or ()):
                path = f"tool_calls/{number}/function"
                out += [
                    Part("<tool_call>"),
                    shown(call["function"].get("name", MISSING), at, f"{path}/name"),
                    Part("("),
                ]
                out += json_parts(call["function"].get("arguments", MISSING), at, f"{path}/arguments")
                out.put(")</tool_call>")
            out.put("<|im_end|>")
            out[first:] = [part._replace(generated=True) for part in out[first:]]
        else:
            out.append(shown(content, at, "content"))
            if message.get("name"):
                out += [Part(" ("), shown(message["name"], at, "name"), Part(")")]
            out.put("<|im_end|>")
        out.put("\n")
    out.put("<|im_start|>assistant\n" if chat.add_generation_prompt else "")
    return out


def named(chat: Chat) -> Written:
    """The oracle of NAMED."""
    out = Written()
    for at, message in enumerate(chat.messages):
        out += [Part("<|"), shown(message.get("role", MISSING), at, "role"), Part("|>\n")]
        out += [shown(message.get("content", MISSING), at, "content"), Part("<|end|>\n")]
    out.put("<|assistant|>" if chat.add_generation_prompt else "")
    return out
