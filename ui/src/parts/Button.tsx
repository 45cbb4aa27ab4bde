import type { ButtonHTMLAttributes, ReactNode } from "react";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: "plain" | "primary" | "danger" | "quiet";
  readonly small?: boolean;
  /** Holds nothing but a glyph: then it needs an aria-label. */
  readonly square?: boolean;
  readonly children: ReactNode;
}

/** A button. It is of type `button` unless it says otherwise, so that no form is sent by chance. */
export function Button({ variant = "plain", small = false, square = false, className = "", type = "button", ...rest }: Props): ReactNode {
  const classes = ["button", variant, small ? "small" : "", square ? "square" : "", className];
  return <button type={type} className={classes.filter(Boolean).join(" ")} {...rest} />;
}
