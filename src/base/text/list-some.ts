/** Abbreviated lists of names for messages: "a, b, c and 7 more". */
export function listSome(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).map(showName).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** A name with line breaks and control characters escaped. */
function showName(name: string): string {
  return /[\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
}
