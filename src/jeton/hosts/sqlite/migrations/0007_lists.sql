-- Every list seeks in an index, however many runs there are.

create index runs_by_workflow_and_status on runs(workflow, status, submitted_at);
create index conversations_by_time on runs(submitted_at) where workflow >= 'agent:' and workflow < 'agent;';
drop index runs_by_parent;
create index runs_by_parent on runs(parent, submitted_at) where parent is not null;
create index firings_by_run on firings(run) where run is not null;
create index usage_by_workflow on usage(workflow, day);
create index tokens_used_by_workflow on tokens_used(workflow, day);
