-- A store in PostgreSQL: the tables of the SQLite host, with what several workers need besides. Texts compare by their
-- bytes, as in SQLite, because names of runs are looked for by ranges.

create function jeton_shard(run text) returns smallint
    language sql immutable parallel safe
    return get_byte(decode(md5(split_part(run, '.', 1)), 'hex'), 0) % 64;

create table meta(key text primary key, value text not null, digest bytea not null default '');

-- A number that follows the order of transactions: the id of this one, and a count within it. `base` makes up for ids that
-- begin anew when a dump is restored elsewhere.
create function jeton_position(nth bigint) returns bigint
    language sql volatile
    return ((pg_current_xact_id()::text::bigint + (select value::bigint from meta where key = 'base')) << 16) + nth;

-- All numbers below this one are there: no transaction that may have given such a number is under way.
create function jeton_horizon() returns bigint
    language sql volatile
    return (pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        + (select value::bigint from meta where key = 'base')) << 16;

create sequence jeton_inbox;
create sequence jeton_firings;
create sequence jeton_finished;
create sequence jeton_measured;
create sequence jeton_memories;

create table definitions(
    name text collate "C" not null,
    version bigint not null,
    hash text not null,
    bundle bytea not null,
    digest bytea not null,
    deployed bigint not null,
    primary key(name, version),
    unique(name, hash)
);

create table runs(
    run text collate "C" primary key,
    workflow text collate "C" not null,
    version bigint not null,
    status text not null,
    paused smallint not null,
    submitted_at bigint not null,
    started_at bigint,
    ended_at bigint,
    wake bigint,
    busy smallint not null,
    entries bigint not null,
    hash bytea not null,
    head bytea not null,
    small bytea,
    parent text collate "C",
    shard smallint not null generated always as (jeton_shard(run)) stored
) with (fillfactor = 70);

create view outcomes as
select run, workflow, version, status,
    convert_from(head, 'UTF8')::jsonb -> 'error' as error, convert_from(head, 'UTF8')::jsonb -> 'result' as output
from runs;

create index runs_by_time on runs(submitted_at, run);
create index runs_by_status on runs(status, submitted_at, run);
create index runs_by_workflow on runs(workflow, submitted_at, run);
create index runs_by_workflow_and_status on runs(workflow, status, submitted_at, run);
create index conversations_by_time on runs(submitted_at, run) where workflow >= 'agent:' and workflow < 'agent;';
create index runs_by_parent on runs(parent, submitted_at) where parent is not null;
create index runs_to_wake on runs(wake, run) where busy = 0 and wake is not null;
create index runs_busy on runs(run) where busy = 1;
create index runs_unended on runs(run) where ended_at is null;

create table journal(
    position bigint primary key,
    run text collate "C" not null,
    number bigint not null,
    hash bytea not null,
    body bytea not null,
    unique(run, number)
);

create table sections(
    run text collate "C" not null,
    name text collate "C" not null,
    part bigint not null,
    body bytea not null,
    primary key(run, name, part)
);

create table start_keys(
    workflow text not null,
    key text not null,
    run text not null,
    input_hash bytea not null,
    digest bytea not null default '',
    primary key(workflow, key)
);

create table inbox(
    id bigint primary key,
    run text collate "C" not null,
    body bytea not null,
    digest bytea not null default '',
    shard smallint not null generated always as (jeton_shard(run)) stored
);

create index inbox_by_shard on inbox(shard, id);
create index inbox_by_run on inbox(run);

create table gates(
    run text collate "C" not null,
    token bigint not null,
    node text not null,
    path text not null,
    title text not null,
    since bigint not null,
    due bigint,
    answers bigint not null,
    question text,
    primary key(run, token)
);

create index gates_by_time on gates(since, run, token);

create table layouts(
    workflow text not null,
    version bigint not null,
    layout bytea not null,
    digest bytea not null default '',
    primary key(workflow, version)
);

create table snapshots(
    run text collate "C" not null,
    number bigint not null,
    hash bytea not null,
    digest bytea not null,
    body bytea,
    primary key(run, number)
);

create table summaries(
    run text collate "C" primary key,
    entries bigint not null,
    hash bytea not null,
    body bytea not null,
    digest bytea not null default ''
);

create table artifacts(
    rowid bigint generated always as identity,
    run text collate "C" not null,
    id text collate "C" not null,
    media_type text collate "C" not null,
    size bigint not null,
    digest bytea not null default '',
    primary key(run, id, media_type)
);

create index artifacts_by_id on artifacts(id);

-- The contents of artifacts, in pieces. `name` is the artifact's id, or that of an upload that is not finished yet.
create table pieces(
    name text collate "C" not null,
    part bigint not null,
    at timestamptz not null default now(),
    body bytea not null,
    primary key(name, part)
);

create table once(
    rowid bigint generated always as identity,
    key text collate "C" primary key,
    call text not null,
    result bytea,
    expires bigint,
    digest bytea not null default '',
    result_digest bytea
);

create index once_by_expiry on once(expires) where expires is not null;

-- Which worker makes a call that has no result yet: another that needs the same one waits for it.
create table holders(
    key text collate "C" primary key,
    worker text not null
);

create table emitted(
    number bigint primary key,
    id text not null unique,
    run text collate "C" not null,
    node text not null,
    event text not null,
    data bytea not null,
    at bigint not null,
    digest bytea not null default ''
);

create index emitted_by_event on emitted(event, number);
create index emitted_by_run on emitted(run, number);

create table triggers(
    name text collate "C" primary key,
    body bytea not null,
    seen bigint not null,
    origin text not null,
    digest bytea not null default ''
);

create table firings(
    number bigint primary key,
    trigger text not null,
    delivery text not null,
    type text not null,
    source text,
    depth bigint not null,
    at bigint not null,
    run text collate "C",
    code text,
    problem text,
    digest bytea not null default '',
    unique(trigger, delivery),
    check((run is null) = (code is not null))
);

create index firings_by_time on firings(at, number);
create index firings_by_trigger on firings(trigger, number);
create index firings_by_run on firings(run) where run is not null;
create index firings_by_cause on firings(source) where depth > 0;

create table finished(
    number bigint primary key,
    run text collate "C" not null unique,
    digest bytea not null default ''
);

create table disabled(
    workflow text primary key,
    since bigint not null,
    digest bytea not null default ''
);

create table accounts(
    name text primary key,
    balance bigint not null check(balance >= 0),
    declared bigint not null,
    digest bytea not null default ''
);

create table grants(
    run text primary key,
    amount bigint not null check(amount > 0),
    digest bytea not null default ''
);

create table usage(
    run text collate "C" not null,
    node text not null,
    day text collate "C" not null,
    workflow text not null,
    credits bigint not null,
    shortfall bigint not null,
    digest bytea not null default '',
    primary key(run, node, day)
);

create index usage_by_day on usage(day, workflow);
create index usage_by_workflow on usage(workflow, day);

create table tokens_used(
    run text collate "C" not null,
    node text not null,
    day text collate "C" not null,
    profile text not null,
    workflow text not null,
    input bigint not null,
    output bigint not null,
    digest bytea not null default '',
    primary key(run, node, day, profile)
);

create index tokens_used_by_day on tokens_used(day, workflow);
create index tokens_used_by_workflow on tokens_used(workflow, day);

create table measured(
    number bigint primary key,
    id text not null unique,
    run text collate "C" not null,
    node text not null,
    name text collate "C" not null,
    type text not null,
    labels text collate "C" not null,
    value double precision not null,
    at bigint not null,
    digest bytea not null default ''
);

create index measured_by_run on measured(run, name, labels);

create table metrics(
    name text collate "C" not null,
    labels text collate "C" not null,
    type text not null,
    value double precision not null,
    digest bytea not null default '',
    primary key(name, labels)
);

create table mcp_pins(
    server text collate "C" not null,
    tool text collate "C" not null,
    hash text not null,
    described bytea not null,
    at bigint not null,
    digest bytea not null default '',
    primary key(server, tool)
);

create table memories(
    number bigint primary key,
    id text not null unique,
    agent text not null,
    scope text not null,
    "user" text,
    type text not null,
    content text not null,
    significance double precision not null,
    metadata text not null,
    conversation text,
    turn bigint,
    tainted smallint not null,
    superseded_by text,
    created_at bigint not null,
    updated_at bigint not null,
    artifact text,
    size bigint,
    hash bytea not null,
    place text not null,
    words text not null,
    length bigint not null,
    digest bytea not null default ''
);

create index memories_by_agent on memories(agent, scope, "user", number);
create unique index memories_known on memories(hash) where superseded_by is null;
create index memories_words on memories using gin(string_to_array(place || ' ' || words, ' ')) where superseded_by is null;

create table memory_vectors(
    number bigint primary key,
    model text not null,
    vector bytea not null,
    digest bytea not null default ''
);

create table api_keys(
    id text collate "C" primary key,
    hash text not null,
    name text not null,
    scopes text not null,
    person text,
    created_at bigint not null,
    expires_at bigint,
    revoked_at bigint,
    digest bytea not null default ''
);

create table sessions(
    hash text collate "C" primary key,
    key text not null,
    created_at bigint not null,
    expires_at bigint not null,
    digest bytea not null default ''
);

create table queries(
    name text collate "C" primary key,
    q text not null,
    at bigint not null,
    digest bytea not null default ''
);

create table sources(
    hash text primary key,
    files bytea not null,
    digest bytea not null default ''
);

create table deployments(
    name text not null,
    version bigint not null,
    at bigint not null,
    source text,
    digest bytea not null default '',
    primary key(name, version)
);

create index deployments_by_source on deployments(source) where source is not null;

create table readers(
    name text primary key,
    place text not null,
    digest bytea not null default ''
);

-- The workers: who they are, and when each was last heard of. Which shards each has is known by its locks.
create table workers(
    id text primary key,
    backend integer not null,
    seen timestamptz not null default now()
);

-- Runs that wait for a worker with a Python function that none of their shard's worker has.
create table needs_app(
    run text collate "C" primary key,
    function text not null
);
