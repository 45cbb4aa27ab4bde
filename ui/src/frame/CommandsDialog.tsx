import { useId, useState, type KeyboardEvent, type ReactNode } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";

import { useShortcutGroups } from "../lib/shortcuts.ts";
import { Keys } from "./Shortcuts.tsx";
import { fit } from "./commands.ts";

interface Command {
  readonly name: string;
  readonly keys: string;
  readonly run: () => void;
}

/** The palette: everything that has a key, and going to a run by its id. */
export function CommandsDialog({ onClose, openRun }: { readonly onClose: () => void; readonly openRun: ((id: string) => void) | null }): ReactNode {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const groups = useShortcutGroups();
  const known: Command[] = groups.flatMap((each) => each.shortcuts.map((one) => ({ name: one.label, keys: one.keys, run: one.run })));
  const found = known
    .map((each) => [each, fit(each.name, typed)] as const)
    .filter(([, score]) => score >= 0)
    .sort(([, a], [, b]) => b - a)
    .map(([each]) => each);
  const word = typed.trim();
  if (openRun !== null && /^[0-9a-z]{8,40}$/.test(word)) found.push({ name: `Open run ${word}`, keys: "", run: () => openRun(word) });
  const current = Math.min(at, Math.max(0, found.length - 1));

  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    // after the dialog has given the focus back
    setTimeout(command.run, 0);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setAt((current + 1) % Math.max(1, found.length));
    else if (event.key === "ArrowUp") setAt((current - 1 + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") run(found[current]);
    else return;
    event.preventDefault();
  };
  return (
    <ModalOverlay className="veil" isOpen isDismissable onOpenChange={(open) => { if (!open) onClose(); }}>
      <Modal className="modal palette">
        <Dialog className="dialog" aria-label="Commands">
          <input
            className="input" role="combobox" aria-label="Command" aria-expanded="true" aria-controls={`${id}-list`} aria-autocomplete="list" autoFocus autoComplete="off" spellCheck={false}
            aria-activedescendant={found.length > 0 ? `${id}-${String(current)}` : undefined} placeholder="What do you want to do?" value={typed} onKeyDown={onKeyDown}
            onChange={(event) => { setTyped(event.target.value); setAt(0); }}
          />
          <ul role="listbox" id={`${id}-list`} aria-label="Commands">
            {found.map((each, index) => (
              <li key={`${each.name} ${each.keys}`} id={`${id}-${String(index)}`} role="option" aria-selected={index === current} onPointerMove={() => setAt(index)} onClick={() => run(each)}>
                <span className="cut">{each.name}</span>
                {each.keys !== "" && <Keys keys={each.keys} />}
              </li>
            ))}
          </ul>
          {found.length === 0 && <p className="none">Nothing is called that.</p>}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
