import { useMutation } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";

import { api } from "../../lib/api/client.ts";
import type { Scope } from "../../lib/api/queries.ts";
import { command } from "../../lib/command.ts";
import { Button } from "../../parts/Button.tsx";
import { Command } from "../../parts/Command.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { TextField } from "../../parts/Field.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { CheckIcon, CopyIcon } from "../../parts/icons.tsx";

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["read", "look at runs, definitions, usage and the store"],
  ["run", "start, cancel, pause and retry runs; check and simulate"],
  ["answer", "answer gates and talk with agents"],
  ["admin", "everything: deploy, keys, credits, verify"],
];
const DAY = 86_400_000;

/** Make a key: for whom, what it may do, for how long. The key itself is shown this once. */
export function NewKey({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }): ReactNode {
  const [name, setName] = useState("");
  const [person, setPerson] = useState("");
  const [days, setDays] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const make = useMutation({
    mutationFn: () => api.post("/v1/keys", {
      body: {
        name: name.trim(), scopes: [...scopes], ...(person.trim() === "" ? {} : { person: person.trim() }),
        ...(days === "" ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY).toISOString() }),
      },
    }),
    onSuccess: onMade,
  });
  if (make.data !== undefined) return <Shown name={make.data.name} text={make.data.key} onClose={onClose} />;
  const ordered = SCOPES.map(([scope]) => scope).filter((scope) => scopes.includes(scope));
  return (
    <Dialog
      title="New key" onClose={onClose} plainClose
      foot={<>
        <Button onClick={onClose}>Close</Button>
        <Button variant="primary" disabled={make.isPending || name.trim() === "" || scopes.length === 0} onClick={() => make.mutate()}>Create</Button>
      </>}
    >
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} hint="Who or what uses it." maxLength={200} autoFocus />
      <fieldset className="scope-choices">
        <legend className="label">Scopes</legend>
        {SCOPES.map(([scope, tells]) => <ScopeBox key={scope} scope={scope} tells={tells} checked={scopes.includes(scope)} onChange={(on) => setScopes(on ? [...scopes, scope] : scopes.filter((each) => each !== scope))} />)}
      </fieldset>
      <div className="key-more">
        <TextField label="Person" value={person} onChange={(event) => setPerson(event.target.value)} hint="Optional. It then answers as this person and nobody else." maxLength={200} />
        <TextField label="Expires in days" type="number" min={1} value={days} onChange={(event) => setDays(event.target.value)} hint="Optional." />
      </div>
      <Command text={command("keys", ["add", name.trim() === "" ? "NAME" : name.trim()], { scope: ordered.length === 0 ? "SCOPES" : ordered.join(","), person: person.trim(), expires: days })} />
      {make.isError && <ProblemAlert error={make.error} />}
    </Dialog>
  );
}

function ScopeBox({ scope, tells, checked, onChange }: { readonly scope: Scope; readonly tells: string; readonly checked: boolean; readonly onChange: (on: boolean) => void }): ReactNode {
  const id = useId();
  return (
    <div className="scope-choice">
      <input id={id} type="checkbox" className="checkbox" checked={checked} aria-describedby={`${id}-told`} onChange={(event) => onChange(event.target.checked)} />
      <label htmlFor={id}>{scope}</label>
      <span id={`${id}-told`} className="muted">{tells}</span>
    </div>
  );
}

/** The key, once. It is held by this dialog alone and is gone when it closes. */
function Shown({ name, text, onClose }: { readonly name: string; readonly text: string; readonly onClose: () => void }): ReactNode {
  const id = useId();
  const [copied, setCopied] = useState(false);
  const copy = (): void => { navigator.clipboard.writeText(text).then(() => setCopied(true), () => setCopied(false)); };
  return (
    <Dialog title="New key" onClose={onClose} plainClose foot={<Button variant="primary" onClick={onClose}>Close</Button>}>
      <p className="muted given">{`This is the key of “${name}”. It is shown this once: the server keeps only its hash.`}</p>
      <div className="field">
        <label htmlFor={id}>Key, shown once</label>
        <div className="key-shown">
          <input id={id} className="input mono" readOnly value={text} onFocus={(event) => event.target.select()} autoComplete="off" spellCheck={false} />
          <Button onClick={copy}>{copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />} {copied ? "Copied" : "Copy key"}</Button>
        </div>
      </div>
      <p className="muted">Programs send it as <code>Authorization: Bearer KEY</code>, or take it from <code>JETON_KEY</code>.</p>
    </Dialog>
  );
}
