/** What the browser keeps between visits: theme, columns, drafts. Never a key: nothing here may hold one. */
const PREFIX = "jeton:";
const KEY = /jtn_[0-9a-z]{8}_[0-9A-Za-z]{38}/;

/** A value that was kept, or null. A browser that keeps nothing is no error. */
export function kept(name: string): string | null {
  try {
    return window.localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keep a value; null forgets it. A text with a key in it is not kept. */
export function keep(name: string, value: string | null): void {
  try {
    if (value === null || KEY.test(value)) window.localStorage.removeItem(PREFIX + name);
    else window.localStorage.setItem(PREFIX + name, value);
  } catch {
    // private windows and full disks: the page works without
  }
}

/** Whether a text has a key in it. */
export function holdsKey(text: string): boolean {
  return KEY.test(text);
}
