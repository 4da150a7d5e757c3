/** A few names for a message, and how many more there are: "a, b, c and 7 more". */
export function listSome(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).map(showName).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** A name may hold line ends and control characters: those are shown escaped. */
function showName(name: string): string {
  return /[\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
}
