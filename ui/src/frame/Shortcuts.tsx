import type { ReactNode } from "react";

import { useShortcutGroups } from "../lib/shortcuts.ts";
import { Dialog } from "../parts/Dialog.tsx";

export function Keys({ keys }: { readonly keys: string }): ReactNode {
  return <span className="keys">{keys.split(" ").map((key) => <kbd key={key}>{key === "Control+k" ? "Ctrl K" : key}</kbd>)}</span>;
}

/** All keys that work now, by where they work. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const groups = useShortcutGroups();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div className="shortcuts">
        {groups.filter((each) => each.shortcuts.length > 0).map((each) => (
          <section key={each.group}>
            <h3>{each.group}</h3>
            <dl>
              {each.shortcuts.map((shortcut) => (
                <div key={shortcut.keys}><dt>{shortcut.label}</dt><dd><Keys keys={shortcut.keys} /></dd></div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h3>Everywhere</h3>
          <dl><div><dt>Commands</dt><dd><Keys keys="Control+k" /></dd></div></dl>
        </section>
      </div>
    </Dialog>
  );
}
