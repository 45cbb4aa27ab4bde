import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";

import { Button } from "./Button.tsx";
import { Boundary } from "./Panel.tsx";
import { CloseIcon } from "./icons.tsx";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons at the end. */
  readonly foot?: ReactNode;
  readonly wide?: boolean;
  /** There is a button “Close” at the end: then there is no second one of that name at the top. */
  readonly plainClose?: boolean;
}

/** A dialog over the page; a sheet from below on a phone. Focus goes back to where it was when it closes.
 *
 * Render it only while it is open: `{open && <Dialog title="Start run" onClose={close}>…</Dialog>}`. */
export function Dialog({ title, onClose, children, foot, wide = false, plainClose = false }: Props): ReactNode {
  return (
    <ModalOverlay className="veil" isOpen isDismissable onOpenChange={(open) => { if (!open) onClose(); }}>
      <Modal className={wide ? "modal wide" : "modal"}>
        <AriaDialog className="dialog">
          <div className="dialog-head">
            <Heading slot="title" level={2}>{title}</Heading>
            {!plainClose && (
              <Button small square variant="quiet" aria-label="Close" onClick={onClose}><CloseIcon size={14} /></Button>
            )}
          </div>
          <div className="dialog-body"><Boundary>{children}</Boundary></div>
          {foot !== undefined && <div className="dialog-foot">{foot}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
