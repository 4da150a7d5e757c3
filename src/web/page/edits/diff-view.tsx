/** A difference of the pipeline file, line by line. */
import type { DiffLine } from '../../edit/line-diff.js';
import { plainText } from '../parts/text.js';

const SIGNS = { same: ' ', removed: '−', added: '+' } as const;

export function DiffView({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    <pre class="diff" tabIndex={0} aria-label="Difference of the pipeline file">
      {lines.map(({ kind, text, line }) => (
        <div key={`${kind} ${line}`} class={kind}>
          <span class="number">{line}</span> {SIGNS[kind]} {plainText(text)}
        </div>
      ))}
    </pre>
  );
}
