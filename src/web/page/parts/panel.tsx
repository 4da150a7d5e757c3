/** The panel of what was picked in a view: its name, a button that closes it, and Escape, which does so from everywhere in the view. */

import type { ComponentChildren, Ref } from 'preact';
import { useEffect } from 'preact/hooks';
import { capitalize } from '../../../base/text/capitalize.js';
import { CopyButton } from './copy-button.js';

interface PanelProps {
  /** "stage". */
  readonly what: string;
  readonly name: string;
  /** Default: the name. */
  readonly title?: ComponentChildren;
  readonly headRef?: Ref<HTMLHeadingElement>;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function Panel({ what, name, title = name, headRef, close, children }: PanelProps) {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented && !hasOwnEscape(event.target)) close();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [close]);
  return (
    <aside class="panel" aria-label={`${capitalize(what)} ${name}`}>
      <div class="panel-head">
        <h2 ref={headRef ?? null} tabIndex={-1}>
          {title} <CopyButton text={name} what={`the name of the ${what}`} />
        </h2>
        <button type="button" class="quiet" onClick={close} aria-label={`Close the ${what}`}>
          ✕
        </button>
      </div>
      {children}
    </aside>
  );
}

/** Of dialogs, and of fields outside the panel: Escape empties a search field. */
function hasOwnEscape(target: EventTarget | null): boolean {
  return (
    target instanceof Element && (target.closest('dialog') !== null || target.matches('main :is(input, select, textarea):not(.panel *)'))
  );
}
