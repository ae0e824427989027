// What a tab remembers while it goes from page to page.

export const OPEN = "citewell-open";
export const PLACE = "citewell-place";

/** Null also where storage is forbidden. */
export function remembered(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
  } catch {
    // forbidden: the next page begins anew
  }
}
