-- Rows that do not follow from the journal get digests over their values.

alter table meta add column digest blob not null default x'';
update meta
set digest = row_digest('meta', key, value);

update definitions
set digest = row_digest('definitions', name, version, hash, bundle, deployed);

alter table start_keys add column digest blob not null default x'';
update start_keys
set digest = row_digest('start_keys', workflow, key, run, input_hash);

alter table inbox add column digest blob not null default x'';
update inbox
set digest = row_digest('inbox', id, run, body);

alter table layouts add column digest blob not null default x'';
update layouts
set digest = row_digest('layouts', workflow, version, layout);

alter table summaries add column digest blob not null default x'';
update summaries
set digest = row_digest('summaries', run, entries, hash, body);

alter table artifacts add column digest blob not null default x'';
update artifacts
set digest = row_digest('artifacts', run, id, media_type, size);

alter table once add column digest blob not null default x'';
update once
set digest = row_digest('once', key, call);

alter table once add column result_digest blob;
update once
set result_digest = row_digest('once', key, result, expires) where result is not null;

alter table emitted add column digest blob not null default x'';
update emitted
set digest = row_digest('emitted', number, id, run, node, event, data, at);

alter table triggers add column digest blob not null default x'';
update triggers
set digest = row_digest('triggers', name, body, seen, origin);

alter table firings add column digest blob not null default x'';
update firings
set digest = row_digest('firings', number, trigger, delivery, type, source, depth, at, run, code, problem);

alter table finished add column digest blob not null default x'';
update finished
set digest = row_digest('finished', number, run);

alter table disabled add column digest blob not null default x'';
update disabled
set digest = row_digest('disabled', workflow, since);

alter table accounts add column digest blob not null default x'';
update accounts
set digest = row_digest('accounts', name, balance, declared);

alter table grants add column digest blob not null default x'';
update grants
set digest = row_digest('grants', run, amount);

alter table usage add column digest blob not null default x'';
update usage
set digest = row_digest('usage', run, node, day, workflow, credits, shortfall);

alter table tokens_used add column digest blob not null default x'';
update tokens_used
set digest = row_digest('tokens_used', run, node, day, profile, workflow, input, output);

alter table measured add column digest blob not null default x'';
update measured
set digest = row_digest('measured', number, id, run, node, name, type, labels, value, at);

alter table metrics add column digest blob not null default x'';
update metrics
set digest = row_digest('metrics', name, labels, type, value);
