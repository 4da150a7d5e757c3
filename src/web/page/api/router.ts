/** The address of the page: one path per view, its state in the query, and the token in the fragment, so that an address can be bookmarked. */
import { createStore, useStore } from './store.js';

export interface Place {
  /** "pipeline", "runs", … */
  readonly view: string;
  readonly query: Readonly<Record<string, string>>;
}

export type Query = Readonly<Record<string, string | undefined>>;

export const FIRST_VIEW = 'pipeline';

const place = createStore(read());

addEventListener('popstate', () => place.set(read()));

function read(): Place {
  const view = location.pathname.slice(1) || FIRST_VIEW;
  return { view, query: Object.fromEntries(new URLSearchParams(location.search)) };
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
