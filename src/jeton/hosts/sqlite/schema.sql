-- A store, as the newest version of the schema makes it. Each change is also a numbered file in migrations/, for stores
-- that are there already. Events, tokens and decisions are not here: they are read off the journal.
--
-- `digest` is over the other values of its row (actor/whole/digests.py). Tables without one follow from the journal.

create table meta(
    key text primary key,
    value any not null,
    digest blob not null default x''
) strict, without rowid;

create table definitions(
    name text not null,
    version integer not null,
    hash text not null,
    bundle blob not null,
    digest blob not null,
    deployed integer not null, -- the highest of a name is the one that new runs get
    primary key(name, version),
    unique(name, hash)
) strict, without rowid;

-- One row per run: what queries see, the head of its journal, its first section, `head`, and the others if they fit.
create table runs(
    run text primary key,
    workflow text not null,
    version integer not null,
    status text not null,
    paused integer not null,
    submitted_at integer not null,
    started_at integer,
    ended_at integer,
    wake integer,
    busy integer not null, -- 1: something of it is in work, or moves by itself; recovery asks after it
    entries integer not null,
    hash blob not null, -- of the last journal entry
    head blob not null,
    small blob, -- its other sections, packed, while they are small; null: they have rows of their own
    parent text -- the run that called it
) strict, without rowid;

-- How runs ended, for people who ask in SQL. A view: as generated columns they would be worked out at every write.
create view outcomes as
select run, workflow, version, status, cast(head as text) -> '$.error' as error, cast(head as text) -> '$.result' as output
from runs;

create index runs_by_time on runs(submitted_at);
create index runs_by_status on runs(status, submitted_at);
create index runs_by_workflow on runs(workflow, submitted_at);
create index runs_by_workflow_and_status on runs(workflow, status, submitted_at);
create index conversations_by_time on runs(submitted_at) where workflow >= 'agent:' and workflow < 'agent;';
create index runs_by_parent on runs(parent, submitted_at) where parent is not null;
-- A busy run lives in the owner's memory, and so does its alarm: a node more or less leaves both indexes alone.
create index runs_to_wake on runs(wake) where busy = 0 and wake is not null;
create index runs_busy on runs(busy) where busy = 1;

-- In order of commit, unlike the others: entries of many runs then lie side by side as they come, and a commit writes half
-- as many pages.
create table journal(
    position integer primary key, -- in the line of all runs, never used again: see commit/line.py
    run text not null,
    number integer not null,
    hash blob not null, -- over the hash before it and this body
    body blob not null,
    unique(run, number)
) strict;

create table sections(
    run text not null,
    name text not null,
    part integer not null, -- a large section lies in several
    body blob not null,
    primary key(run, name, part)
) strict, without rowid;

create table start_keys(
    workflow text not null,
    key text not null,
    run text not null,
    input_hash blob not null,
    digest blob not null default x'',
    primary key(workflow, key)
) strict, without rowid;

-- Messages from other runs, and from processes that do not own the store, until a commit has answered them.
create table inbox(
    id integer primary key autoincrement,
    run text not null,
    body blob not null,
    digest blob not null default x''
) strict;

-- Gates that are open: what waits for people, in all runs.
create table gates(
    run text not null,
    token integer not null,
    node text not null,
    path text not null,
    title text not null,
    since integer not null,
    due integer,
    answers integer not null, -- how many there are so far
    question text, -- the schema of what a task asks; null: the node has it
    primary key(run, token)
) strict, without rowid;

create index gates_by_time on gates(since);

-- Typed context: the layout by which the tables of a workflow's version were made, with all their names.
create table layouts(
    workflow text not null,
    version integer not null,
    layout blob not null,
    digest blob not null default x'',
    primary key(workflow, version)
) strict, without rowid;

-- Where a run stood after an entry, so that the history up to it can go.
create table snapshots(
    run text not null,
    number integer not null, -- of the entry
    hash blob not null, -- of the entry
    digest blob not null, -- of all sections
    body blob, -- all sections; an ended run's own do not change any more, and are not kept twice
    primary key(run, number)
) strict, without rowid;

-- What pruning left of a run's history.
create table summaries(
    run text primary key,
    entries integer not null, -- how many are gone, from the first
    hash blob not null, -- of the last of them
    body blob not null,
    digest blob not null default x''
) strict, without rowid;

-- Which runs hold which artifacts. A file that nobody holds is garbage.
create table artifacts(
    run text not null,
    id text not null, -- of the content, which lies in a file
    media_type text not null,
    size integer not null,
    digest blob not null default x'',
    primary key(run, id, media_type)
) strict;

create index artifacts_by_id on artifacts(id);

-- Actions that run once per key. Without a result: begun, and perhaps done.
create table once(
    key text primary key,
    call text not null, -- the idempotency key that the call was first made with
    result blob,
    expires integer,
    digest blob not null default x'',
    result_digest blob
) strict;

create index once_by_expiry on once(expires) where expires is not null;

-- Events that actions published. The number is their order for whoever reads on from where it stopped.
create table emitted(
    number integer primary key autoincrement,
    id text not null unique, -- of the call, so that one that is made again publishes nothing new
    run text not null,
    node text not null,
    event text not null,
    data blob not null,
    at integer not null,
    digest blob not null default x''
) strict;

create index emitted_by_event on emitted(event, number);
create index emitted_by_run on emitted(run, number);

-- What starts workflows by itself. `seen`: of a schedule, the time up to which it was seen to; of an event, its number.
create table triggers(
    name text primary key,
    body blob not null,
    seen integer not null,
    origin text not null, -- the file or folder that declares it; of plain data, the name of what it starts
    digest blob not null default x''
) strict, without rowid;

-- What became of each delivery to a trigger: a run, or the reason why there is none. A run's start lies in the inbox
-- since the same commit.
create table firings(
    number integer primary key autoincrement,
    trigger text not null,
    delivery text not null,
    type text not null,
    source text,
    depth integer not null,
    at integer not null,
    run text,
    code text,
    problem text,
    digest blob not null default x'',
    unique(trigger, delivery),
    check((run is null) = (code is not null))
) strict;

create index firings_by_time on firings(at);
create index firings_by_trigger on firings(trigger, number);
create index firings_by_run on firings(run) where run is not null;
create index firings_by_cause on firings(source) where depth > 0; -- what runs set off is deeper than they are

-- Runs that ended while some trigger waits for such an end, until that trigger has fired.
create table finished(
    number integer primary key autoincrement,
    run text not null unique,
    digest blob not null default x''
) strict;

-- Workflows and flows that no trigger starts.
create table disabled(
    workflow text primary key,
    since integer not null,
    digest blob not null default x''
) strict, without rowid;

-- What the project may still spend. Never below zero, whatever happens. And, as 'day:DATE:AGENT', what agents with a
-- budget for a day have used of it, in millionths of a credit, with the credits that people added.
create table accounts(
    name text primary key,
    balance integer not null check(balance >= 0),
    declared integer not null, -- what the project's settings said last
    digest blob not null default x''
) strict, without rowid;

-- What runs under way have of an account, used or not.
create table grants(
    run text primary key,
    amount integer not null check(amount > 0),
    digest blob not null default x''
) strict, without rowid;

-- What nodes cost, those of runs that were pruned too.
create table usage(
    run text not null,
    node text not null,
    day text not null,
    workflow text not null,
    credits integer not null,
    shortfall integer not null,
    digest blob not null default x'',
    primary key(run, node, day)
) strict, without rowid;

create index usage_by_day on usage(day, workflow);
create index usage_by_workflow on usage(workflow, day);

-- What model calls used, by profile; every attempt counts, because somebody was paid for it.
create table tokens_used(
    run text not null,
    node text not null,
    day text not null,
    profile text not null,
    workflow text not null,
    input integer not null,
    output integer not null,
    digest blob not null default x'',
    primary key(run, node, day, profile)
) strict, without rowid;

create index tokens_used_by_day on tokens_used(day, workflow);
create index tokens_used_by_workflow on tokens_used(workflow, day);

-- Numbers that actions measured, one row per call.
create table measured(
    number integer primary key,
    id text not null unique,
    run text not null,
    node text not null,
    name text not null,
    type text not null,
    labels text not null, -- a JSON object with its keys in order
    value real not null,
    at integer not null,
    digest blob not null default x''
) strict;

create index measured_by_run on measured(run, name, labels);

-- The same over all runs, those that were pruned too: a counter never goes down.
create table metrics(
    name text not null,
    labels text not null,
    type text not null,
    value real not null,
    digest blob not null default x'',
    primary key(name, labels)
) strict, without rowid;

-- What tools of MCP servers were when they were first used, or pinned by a person: one that changed is not called.
create table mcp_pins(
    server text not null,
    tool text not null,
    hash text not null, -- of what follows
    described blob not null, -- the description and the input schema
    at integer not null,
    digest blob not null default x'',
    primary key(server, tool)
) strict, without rowid;

-- What agents remember. A memory whose content is long has its first part here, and all of it in an artifact.
create table memories(
    number integer primary key autoincrement,
    id text not null unique,
    agent text not null,
    scope text not null, -- 'agent', or 'user': of the agent and the user, who may be nobody
    user text,
    type text not null,
    content text not null,
    significance real not null,
    metadata text not null, -- a JSON object
    conversation text,
    turn integer,
    tainted integer not null,
    superseded_by text,
    created_at integer not null,
    updated_at integer not null,
    artifact text,
    size integer, -- of the artifact
    hash blob not null, -- of place, type and content
    place text not null, -- words that stand for agent, scope and type
    words text not null, -- of the content
    length integer not null, -- in words
    digest blob not null default x''
) strict;

create index memories_by_agent on memories(agent, scope, user, number);
create index memories_counted on memories(agent, scope, user, type, length) where superseded_by is null;
create unique index memories_known on memories(hash) where superseded_by is null;

-- The words of memories that were not superseded.
create view memory_words as
select number, place, words from memories where superseded_by is null;

create virtual table memory_index using fts5(
    place, words, content = 'memory_words', content_rowid = 'number', tokenize = 'ascii', detail = 'column', columnsize = 0
);
insert into memory_index(memory_index, rank) values('secure-delete', 1);

-- What memories mean, as numbers of a model.
create table memory_vectors(
    number integer primary key,
    model text not null,
    vector blob not null,
    digest blob not null default x''
) strict;

-- Keys of the server. Only a hash of each is here.
create table api_keys(
    id text primary key,
    hash text not null,
    name text not null,
    scopes text not null, -- joined by commas
    person text, -- who alone may answer with it
    created_at integer not null,
    expires_at integer,
    revoked_at integer,
    digest blob not null default x''
) strict, without rowid;

-- Browsers that showed a key, by the hash of their cookie.
create table sessions(
    hash text primary key,
    key text not null,
    created_at integer not null,
    expires_at integer not null,
    digest blob not null default x''
) strict, without rowid;

-- Queries over runs that people saved for all.
create table queries(
    name text primary key,
    q text not null,
    at integer not null,
    digest blob not null default x''
) strict, without rowid;

-- Files of definitions that were deployed together, by the hash of all of them.
create table sources(
    hash text primary key,
    files blob not null, -- JSON: [{name, text}]
    digest blob not null default x''
) strict, without rowid;

-- Versions that were deployed.
create table deployments(
    name text not null,
    version integer not null,
    at integer not null, -- for the first time
    source text, -- null: its texts were not kept
    digest blob not null default x'',
    primary key(name, version)
) strict, without rowid;

create index deployments_by_source on deployments(source) where source is not null;

-- How far readers of the line have come, such as the one that sends spans.
create table readers(
    name text primary key,
    place text not null,
    digest blob not null default x''
) strict, without rowid;
