/**
 * The address of the page: one path per view, its state in the query, and the token in the fragment, so that an address can be bookmarked.
 * In a saved page, which is one file, the fragment has the view and its state: `#/results?kind=lost`.
 */
import { isSaved, isStatic } from './saved.js';
import { createStore, useStore } from './store.js';

export interface Place {
  /** "pipeline", "runs", … */
  readonly view: string;
  readonly query: Readonly<Record<string, string>>;
}

export type Query = Readonly<Record<string, string | undefined>>;

export const FIRST_VIEW = 'pipeline';

/** The first view of a saved page. */
const FIRST_OF_SAVED = 'report';

const place = createStore(read());

if (!isStatic) for (const event of ['popstate', 'hashchange']) addEventListener(event, () => place.set(read()));

function read(): Place {
  if (isStatic) return readFragment('');
  if (isSaved) return readFragment(location.hash);
  const view = location.pathname.slice(1) || FIRST_VIEW;
  return { view, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

function readFragment(fragment: string): Place {
  if (!fragment.startsWith('#/')) {
    const at = fragment.slice(1);
    return { view: FIRST_OF_SAVED, query: at === '' ? {} : { at } };
  }
  const [path = '', search = ''] = fragment.slice(2).split('?');
  return { view: path || FIRST_VIEW, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** Calls the listener with the present place, and with every later one. */
export function onPlace(listener: (place: Place) => void): void {
  listener(place.get());
  place.subscribe(listener);
}

export function usePlace(): Place {
  return useStore(place);
}

/** The address of a view, for links. */
export function hrefOf(view: string, query: Query = {}): string {
  const entries = Object.entries(query).flatMap(([key, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[key, value]],
  );
  const search = entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
  if (isSaved || isStatic) return view === FIRST_OF_SAVED && search === '' ? '#' : `#/${view}${search}`;
  return `/${view === FIRST_VIEW ? '' : view}${search}${location.hash}`;
}

/** @param how 'replace': the state of a view changed, and "back" leaves the view. */
export function go(view: string, query: Query = {}, how: 'push' | 'replace' = 'push'): void {
  const href = hrefOf(view, query);
  if (how === 'push') history.pushState(null, '', href);
  else history.replaceState(null, '', href);
  place.set(read());
}

/** Changes some of the query of the present view. */
export function setQuery(change: Query, how: 'push' | 'replace' = 'push'): void {
  const { view, query } = place.get();
  go(view, { ...query, ...change }, how);
}
