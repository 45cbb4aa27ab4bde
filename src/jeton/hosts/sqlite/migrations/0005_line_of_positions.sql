-- Journal entries get positions of their own, in the order in which they were committed: implicit ones may be used again.

create table journal_in_line(
    position integer primary key,
    run text not null,
    number integer not null,
    hash blob not null,
    body blob not null,
    unique(run, number)
) strict;

insert into journal_in_line(position, run, number, hash, body)
select row_number() over (order by rowid), run, number, hash, body from journal order by rowid;

drop table journal;

alter table journal_in_line rename to journal;
