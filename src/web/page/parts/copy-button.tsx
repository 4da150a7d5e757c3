/** Copies a name or digest to the clipboard. */
import { useState } from 'preact/hooks';
import { isStatic } from '../api/saved.js';

interface CopyProps {
  readonly text: string;
  /** What is copied, for the tooltip and for screen readers. */
  readonly what: string;
}

const SHOWN_MS = 1500;

/** Nothing where no script runs. */
export function CopyButton({ text, what }: CopyProps) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready');
  if (isStatic) return null;
  const show = (next: 'copied' | 'refused') => (): void => {
    setState(next);
    setTimeout(() => setState('ready'), SHOWN_MS);
  };
  const copy = (event: MouseEvent): void => {
    // A row of a table that is picked by a click stays as it is.
    event.stopPropagation();
    writeClipboard(text).then(show('copied'), show('refused'));
  };
  const words = state === 'ready' ? `Copy ${what}` : state === 'copied' ? 'Copied' : 'The browser does not let this page copy';
  return (
    <button type="button" class="copy" onClick={copy} title={words} aria-label={words}>
      {state === 'ready' ? <CopyIcon /> : <span aria-hidden="true">{state === 'copied' ? '✓' : '✗'}</span>}
    </button>
  );
}

/** Two sheets. A sign of a font may be missing. */
function CopyIcon() {
  return (
    <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d="M4.5 4.5h6v6h-6zM7.5 4.5v-3h-6v6h3" />
    </svg>
  );
}

/** Browsers without a clipboard reject it like those that refuse. */
async function writeClipboard(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
