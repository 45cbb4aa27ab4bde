import { useMutation } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";

import { Button } from "./Button.tsx";
import { Command } from "./Command.tsx";
import { Dialog } from "./Dialog.tsx";
import { ProblemAlert } from "./ProblemAlert.tsx";
import { toast } from "./toasts.ts";

interface Props<T> {
  /** The name of the dialog: that of the button which opened it. */
  readonly title: string;
  /** What it will do, in a sentence or two. */
  readonly children: ReactNode;
  /** The same as a command; the reason is part of it. */
  readonly command: (reason: string) => string;
  /** Do it. What is refused is shown in place. */
  readonly act: (reason: string) => Promise<T>;
  /** What a toast confirms when it is done. */
  readonly done: (result: T) => string;
  readonly onDone?: (result: T) => void;
  readonly onClose: () => void;
  readonly hasReason?: boolean;
  readonly danger?: boolean;
  /** Not possible as it stands: Confirm cannot be pressed. */
  readonly blocked?: boolean;
}

/** The dialog of every action: what it will do, the same as a command, and one more press. */
export function ActionDialog<T>(props: Props<T>): ReactNode {
  const { title, children, command, act, done, onDone, onClose, hasReason = false, danger = false, blocked = false } = props;
  const [reason, setReason] = useState("");
  const field = useId();
  const action = useMutation({
    mutationFn: () => act(reason.trim()),
    onSuccess: (result) => {
      toast(done(result));
      onDone?.(result);
      onClose();
    },
  });
  const foot = (
    <>
      <Button onClick={onClose}>Close</Button>
      <Button variant={danger ? "danger" : "primary"} disabled={blocked || action.isPending} onClick={() => action.mutate()}>
        Confirm
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} foot={foot} plainClose>
      <div className="muted">{children}</div>
      {hasReason && (
        <div className="field">
          <label htmlFor={field}>Reason</label>
          <input id={field} className="input" value={reason} onChange={(event) => setReason(event.target.value)} autoComplete="off" maxLength={1000} />
        </div>
      )}
      <Command text={command(reason.trim())} />
      {action.isError && <ProblemAlert error={action.error} />}
    </Dialog>
  );
}
