/** Keys of the page: one per view, one for the search field, and the list of all of them. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { access, LIVE_VIEWS } from '../api/access.js';
import { go } from '../api/router.js';
import { useStore } from '../api/store.js';
import { keep } from './keep.js';

interface ShortcutsProps {
  /** Views in the order of the navigation. */
  readonly views: readonly { readonly name: string; readonly title: string }[];
}

const KEY = 'tanren-keys';

/** The button that lists the keys. Single keys disturb those who speak to their browser, so that they can be turned off. */
export function Shortcuts({ views: all }: ShortcutsProps) {
  const isSaved = useStore(access) === 'saved';
  const views = useMemo(() => (isSaved ? all.filter(({ name }) => !LIVE_VIEWS.has(name)) : all), [all, isSaved]);
  const list = useRef<HTMLDialogElement>(null);
  const [state, setState] = useState<'on' | 'off'>(() => (keep(() => localStorage.getItem(KEY)) === 'off' ? 'off' : 'on'));
  const show = (): void => list.current?.showModal();
  useEffect(() => {
    keep(() => localStorage.setItem(KEY, state));
    if (state === 'off') return undefined;
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || hasModifier(event) || isTyping(event.target) || list.current?.open === true) return;
      const view = views[Number(event.key) - 1];
      if (event.key === '?') show();
      else if (event.key === '/') focusSearch();
      else if (view !== undefined) go(view.name);
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [state, views]);
  return (
    <>
      <button type="button" class="quiet" onClick={show} title="Keys (?)" aria-label="Keys">
        ?
      </button>
      <dialog ref={list} class="keys" aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl>
          {views.map(({ name, title }, index) => (
            <Entry key={name} keys={[String(index + 1)]} what={title} />
          ))}
          <Entry keys={['/']} what="the search field of the view" />
          <Entry keys={['?']} what="this list" />
          <Entry keys={['Enter', 'Space']} what="pick a stage, row, node or point" />
          <Entry keys={['←', '→', '↑', '↓']} what="neighbors in a graph" />
          <Entry keys={['Esc']} what="close what was picked" />
        </dl>
        <label>
          <input type="checkbox" checked={state === 'on'} onChange={() => setState(state === 'on' ? 'off' : 'on')} /> single keys of the
          page
        </label>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

function Entry({ keys, what }: { readonly keys: readonly string[]; readonly what: string }) {
  return (
    <div>
      <dt>
        {keys.map(key => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{what}</dd>
    </div>
  );
}

function hasModifier({ ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
  return ctrlKey || altKey || metaKey;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:input|select|textarea)$/i.test(target.tagName));
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('main input[type="search"]')?.focus();
}
