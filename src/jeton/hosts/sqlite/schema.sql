-- A store, as version 1 of the schema makes it. Every change after a release is a numbered file in migrations/.
-- Events, tokens and decisions are not here: they are read off the journal.

create table meta(
    key text primary key,
    value any not null
) strict, without rowid;

create table definitions(
    name text not null,
    version integer not null,
    hash text not null,
    bundle blob not null,
    deployed integer not null, -- the highest of a name is the one that new runs get
    primary key(name, version),
    unique(name, hash)
) strict, without rowid;

-- One row per run: what queries see, the head of its journal, and its first section, `head`.
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
    error text generated always as (cast(head as text) -> '$.error') virtual,
    output text generated always as (cast(head as text) -> '$.result') virtual
) strict, without rowid;

create index runs_by_time on runs(submitted_at);
create index runs_by_status on runs(status, submitted_at);
create index runs_by_workflow on runs(workflow, submitted_at);
-- A busy run lives in the owner's memory, and so does its alarm: a node more or less leaves both indexes alone.
create index runs_to_wake on runs(wake) where busy = 0 and wake is not null;
create index runs_busy on runs(busy) where busy = 1;

create table journal(
    run text not null,
    number integer not null,
    hash blob not null, -- over the hash before it and this body
    body blob not null,
    primary key(run, number)
) strict, without rowid;

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
    primary key(workflow, key)
) strict, without rowid;

-- Messages from processes that do not own the store, until a commit has answered them.
create table inbox(
    id integer primary key autoincrement,
    run text not null,
    body blob not null
) strict;
