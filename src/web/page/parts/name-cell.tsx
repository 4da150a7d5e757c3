/** The cell that names a row of a table. As a button it is reached by the keyboard; the row handles the click. */
import { plainText } from './text.js';

export function NameCell({ name }: { readonly name: string }) {
  return (
    <button type="button" class="as-link one-line" title={plainText(name)}>
      {plainText(name)}
    </button>
  );
}
