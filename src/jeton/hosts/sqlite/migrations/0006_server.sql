-- A server has keys, sessions of browsers, saved queries, the texts of definitions, and readers that remember their place.

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

create table deployments(
    name text not null,
    version integer not null,
    at integer not null, -- for the first time
    source text, -- null: its texts were not kept
    digest blob not null default x'',
    primary key(name, version)
) strict, without rowid;

create index deployments_by_source on deployments(source) where source is not null;

create table readers(
    name text primary key,
    place text not null,
    digest blob not null default x''
) strict, without rowid;
