-- Tasks can ask people something, with a schema of their own; tools of MCP servers are pinned.

alter table gates add column question text;

create table mcp_pins(
    server text not null,
    tool text not null,
    hash text not null,
    described blob not null,
    at integer not null,
    digest blob not null default x'',
    primary key(server, tool)
) strict, without rowid;
