-- Agents remember.

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
